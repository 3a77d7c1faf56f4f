"""A scene that drives its training: plans of epochs, turns, pauses, numbered copies, and what people are shown."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

import godojo
from godojo.bridge.listener import Listener
from godojo.bridge.messages import (
    Configure,
    Control,
    Loop,
    Notice,
    Plan,
    Ready,
    WireError,
    decode_control,
    encode_control,
)
from godojo.cli.live import GuestSlot
from godojo.engines.godot.game_slots import ConnectedGame, GameSlot, PendingGame
from godojo.engines.godot.worlds import GodotWorlds
from godojo.errors import GodojoError
from godojo.learn.ppo import minibatches
from godojo.learn.presets import Preset
from godojo.learn.training import Training, TrainingStatus
from godojo.runs.config import SCENE_LOOP, RunConfig
from godojo.runs.folder import RunFolder
from godojo.runs.role_map import FileMode
from godojo.training import external_game
from godojo.training.args import ListenAddress, TrainArgs
from godojo.training.outcome import run_training
from godojo.training.setup import prepared
from tests.conftest import ROOT
from tests.dojo_client import DojoClient, PretendGame, play

LOOP = Loop(("role0", "role1"), steps_in_round=8, train_steps={"role0": 3, "role1": 0}, checkpoint_every=2)
SMALL = ("net_arch=[8]", "memory_size=4")
PATIENCE_S = 60.0


def looped(loop: Loop = LOOP) -> PretendGame:
    game = PretendGame(Configure(4))
    game.ready = msgspec.structs.replace(game.ready, loop=loop)
    return game


class NotingClient(DojoClient):
    """Keeps the notices that it gets."""

    def __init__(self, port: int, notices: list[Notice]) -> None:
        super().__init__(port)
        self._notices = notices

    def receive(self) -> Control | bytes:
        message = super().receive()
        if isinstance(message, Notice):
            self._notices.append(message)
        return message


class Scene(threading.Thread):
    """A game that drives its training; connects once more after each of its `stops`."""

    def __init__(self, port: int, *stops: int, loop: Loop = LOOP) -> None:
        super().__init__(daemon=True)
        self.port, self.stops, self.loop = port, list(stops), loop
        self.epochs: list[int] = []
        self.starts = 0
        self.may_start = threading.Event()
        self.notices: list[Notice] = []
        self.start()

    def run(self) -> None:
        while self.starts == 0 or self.may_start.wait(PATIENCE_S):
            self.may_start.clear()
            self.starts += 1
            with NotingClient(self.port, self.notices) as client:
                client.hello()
                play(client, looped(self.loop), plan=self.plan)
            if not self.stops:
                return

    def plan(self, epoch: int) -> Plan:
        if self.stops and epoch == self.stops[0]:
            self.stops.pop(0)
            return Plan(running=False)
        self.epochs.append(epoch)
        return Plan(deterministic={"role0": epoch % 2 == 1, "role1": epoch % 2 == 0})


@contextmanager
def driven(slot_of: Any, *stops: int, steps: int = 10**6) -> Iterator[tuple[Training, Scene, list[str]]]:
    """A training that a scene drives, about to begin."""
    said: list[str] = []
    with Listener(port=0) as listener:
        scene = Scene(listener.port, *stops)
        slot: GameSlot = slot_of(listener)
        args = TrainArgs(
            listen=ListenAddress(None, None, None, slot), steps=steps, run_id="driven", num_envs=4, values=SMALL
        )
        with prepared(args, said.append) as training:
            yield training, scene, said


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))


def hand_started(listener: Listener) -> GameSlot:
    return PendingGame(listener)


def launched(listener: Listener) -> GameSlot:
    """As a game that does not come back."""
    return ConnectedGame(listener.accept(PATIENCE_S))


def test_agents_take_turns_and_a_stop_pauses_until_the_next_start() -> None:
    with driven(hand_started, 3, 6) as (training, scene, said):
        modes: list[dict[str, str]] = []
        changes: dict[int, dict[str, FileMode]] = {1: {"role1": "frozen"}, 3: {"role0": "train"}, 4: {}}
        run = godojo.Run(training.run)

        def report(status: TrainingStatus) -> None:
            modes.append(dict(status.modes))
            if (change := changes.get(status.updates)) is not None:
                run.set_modes(change)

        pause = training.worlds.pause

        def paused(reason: str) -> bool:
            assert run.path.joinpath("policy_role0.pt").is_file(), "it saves before it leaves"
            if scene.stops:
                scene.may_start.set()
            else:
                training.stop()
            return pause(reason)

        training.worlds.pause = paused  # type: ignore[method-assign]
        assert run_training(training, report).is_spent is False
        assert (training.learner.updates, scene.starts) == (6, 2)
        assert modes == [
            {"role0": "train", "role1": "deterministic"},
            {"role0": "deterministic", "role1": "frozen"},  # by `set_modes`, against the scene
            {"role0": "train", "role1": "frozen"},
            {"role0": "train", "role1": "train"},
            {"role0": "train", "role1": "deterministic"},
            {"role0": "deterministic", "role1": "train"},
        ]
        assert [line for line in said if "waits for its next start" in line]
        assert list(RunFolder.open("driven").numbered_policies("role0")) == [2, 4, 6]
        settings = training.run.config.learner_settings
        assert (settings["n_steps"], settings["train_steps"], settings["copy_interval"]) == (8, {"role0": 3}, 2)
    statuses = [notice.status for notice in scene.notices if notice.status is not None]
    assert [status.phase for status in statuses[:3]] == ["playing", "submitting", "training"]
    assert statuses[0].learns == ("role0",)
    assert statuses[-1].phase == "done training"
    assert statuses[-1].epoch == 6
    assert set(statuses[-1].rewards) == {"role0", "role1"}


def test_a_scene_that_a_trainer_started_ends_the_training() -> None:
    with driven(launched, 2) as (training, scene, _):
        assert run_training(training, lambda _: None).is_spent
        assert (scene.epochs, training.learner.updates) == ([0, 1], 2)
    assert RunFolder.open("driven").policy("role0", "final").is_file()


def test_a_resumed_run_drops_copies_of_later_epochs() -> None:
    with driven(launched, 2) as (training, *_):
        run_training(training, lambda _: None)
        training.run.save_numbered("role0", 1000, b"later")
        training.run.save_numbered("role0", 20, b"later")
        assert list(training.run.numbered_policies("role0")) == [2, 20, 1000]
    with Listener(port=0) as listener:
        Scene(listener.port)
        args = TrainArgs(resume="driven", listen=ListenAddress(None, None, None, launched(listener)))
        with prepared(args, lambda _: None) as training:
            assert list(training.run.numbered_policies("role0")) == [2]


def test_an_agent_that_is_not_in_the_loop_does_not_learn() -> None:
    with Listener(port=0) as listener:
        scene = Scene(listener.port, loop=Loop(("role1",)))
        scene.plan = lambda _: Plan()  # type: ignore[method-assign,assignment]
        with GodotWorlds([launched(listener)], worlds_each=[4]) as worlds:
            assert worlds.plan(0) == Plan(True, {"role0": True, "role1": False})


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        ({"agents": ["nobody"]}, "no role 'nobody'"),
        ({"agents": ["role0"], "train_steps": {"ghost": 1}}, "no role 'ghost'"),
        ({"agents": ["role0"], "steps_in_round": -1}, "steps_in_round must be"),
    ],
)
def test_a_loop_that_makes_no_sense_is_refused(loop: dict[str, Any], words: str) -> None:
    tree = msgspec.to_builtins(looped().ready) | {"loop": loop}
    with pytest.raises(WireError, match=words):
        decode_control(msgspec.json.encode(tree))
    assert isinstance(decode_control(encode_control(looped().ready)), Ready)


def test_a_plan_may_name_roles_only_and_come_only_when_it_is_asked_for() -> None:
    with Listener(port=0) as listener:
        scene = Scene(listener.port)
        scene.plan = lambda _: Plan(deterministic={"ghost": True})  # type: ignore[method-assign,assignment]
        connection = listener.accept(PATIENCE_S)
        connection.configure(Configure(4), PATIENCE_S)
        connection.ask_plan(0)
        with pytest.raises(WireError, match="names 'ghost', which is no role"):
            connection.receive_plan(PATIENCE_S)
    with Listener(port=0) as listener:
        Scene(listener.port)
        with listener.accept(PATIENCE_S) as connection, pytest.raises(GodojoError, match="configured first"):
            connection.ask_plan(0)


def test_gradient_steps_of_an_agent() -> None:
    generator = torch.Generator()
    assert [len(batch) for batch in minibatches(8, 4, 2, 0, generator)] == [2] * 8
    assert [len(batch) for batch in minibatches(8, 4, 2, 11, generator)] == [2] * 11
    first = torch.cat(list(minibatches(8, 4, 2, 4, generator)))
    assert sorted(first.tolist()) == list(range(8)), "a pass uses every sequence once"


def test_modes_from_python_are_checked() -> None:
    page = (ROOT / "docs/training-loop.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    with driven(launched, 0) as (training, *_):
        run = godojo.Run(training.run)
        for role in ("role0", "role1"):  # `latest` is the newest run with a policy
            training.run.save_policy(role, b"")
        exec(program.replace("mouse", "role0"), {})
        assert run.modes == {"role0": "frozen", "role1": "scene"}
        run.set_modes({})
        assert run.modes == {"role0": "scene", "role1": "scene"}
        run.set_modes({"role1": "frozen"})
        assert godojo.Run.open("driven").modes == {"role0": "scene", "role1": "frozen"}
        for wrong, words in (({"role2": "frozen"}, "no role 'role2'"), ({"role1": "asleep"}, "no mode 'asleep'")):
            with pytest.raises(GodojoError, match=words):
                run.set_modes(wrong)  # type: ignore[arg-type]


def test_a_server_takes_the_next_game_after_a_pause() -> None:
    slot = GuestSlot()
    with Listener(port=0) as listener:
        first, second = (listener.accept(PATIENCE_S) for _ in (Scene(listener.port), Scene(listener.port)))
        assert slot.take(first)
        assert slot.has_arrived(0.0)
        assert slot.receive(PATIENCE_S) is first
        assert not slot.take(second), "one game at a time is learned from"
        assert not slot.has_arrived(0.0), "from here on it waits for another"
        assert slot.take(second)
        assert slot.has_arrived(0.0)
        assert slot.receive(PATIENCE_S) is second
        first.close()
        second.close()


@pytest.mark.parametrize(
    ("by_user", "left"), [({}, {"role0": 3}), ({"n_epochs": 2}, None), ({"gamma": 0.9}, {"role0": 3})]
)
def test_epochs_that_the_user_gives_replace_the_gradient_steps_of_the_loop(
    by_user: dict[str, Any], left: dict[str, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_game, "samples_per_s", lambda *_: 500.0)
    role = SimpleNamespace(acted=np.zeros((4, 1)))
    worlds: Any = SimpleNamespace(num_worlds=4, roles={"role0": role}, declared_models={}, declared_loop=LOOP)
    config = RunConfig("game", "godot", (), "ppo", {}, {}, 1, {"minutes": 1.0})
    _, layers = external_game.from_scene(config, worlds, None, Preset(), by_user, lambda _: None)
    assert layers[-1].values.get("train_steps") == left
    assert layers[-1].values["n_steps"] == 8


def test_stable_baselines3_says_what_it_leaves_of_the_loop() -> None:
    said: list[str] = []
    role = SimpleNamespace(action=np.zeros((4, 1, 2)))
    worlds: Any = SimpleNamespace(num_worlds=4, roles={"role0": role}, declared_models={}, declared_loop=LOOP)
    config = RunConfig("game", "godot", (), "ppo", {}, {}, 1, {"minutes": 1.0})
    found, _ = external_game.from_scene(config, worlds, "sb3", Preset(), {}, said.append)
    assert (found.learner, found.more[SCENE_LOOP]) == ("sb3", True)
    assert "DojoTrainingLoop only decides when it learns" in said[0]
