"""Demonstrations: what is recorded is what was played, damaged files are refused, and policies learn to do the same."""

import copy
import json
import math
import random
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

import godojo
from godojo.cli import main
from godojo.cli.play import Recording, own_options
from godojo.demos import DemoEpisode, DemoRole, Demos, DemoWriter, read_demos
from godojo.demos.file import DemoHeader
from godojo.demos.godot_rl import is_godot_rl, read_godot_rl
from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.games.base import GAMES
from godojo.games.parts import ActionPart, ObservationPart
from godojo.learn.imitation import Demonstrations
from godojo.learn.networks import ActionHead, Policy, PolicyShape
from godojo.opponents import make_opponent
from tests.cluster_workers import cluster_learner
from tests.conftest import ROOT
from tests.doc_pages import blocks
from tests.learning_games import SMALL, STEPS, WORDS, fingerprints, learner, tag

ROLE = DemoRole(
    "driver",
    (ObservationPart("sight", (3,)),),
    (ActionPart("steer", "continuous", 1), ActionPart("gear", "discrete", 3)),
)
SETTING = {"rules.round_s": 2.0}


def episode(steps: int, seed: int = 0) -> DemoEpisode:
    chance = np.random.default_rng(seed)
    observation = chance.normal(size=(steps, 3)).astype(np.float32)
    action = np.stack([chance.uniform(-1, 1, steps), chance.integers(0, 3, steps)], 1).astype(np.float32)
    return DemoEpisode("driver", observation, action, "truncated", float(seed))


def write(path: Path, *episodes: DemoEpisode, game: str = "driving", role: DemoRole = ROLE) -> Path:
    with DemoWriter(path, DemoHeader(game, (role,), "human", 4)) as writer:
        for one in episodes:
            writer.add(one)
    return path


def test_what_is_written_is_read_and_a_kill_costs_the_last_episode_only(tmp_path: Path) -> None:
    path = write(tmp_path / "demo.jsonl", episode(5), episode(7, seed=3))
    found = read_demos(path)
    assert (found.header.game, found.header.player, found.header.roles, found.is_cut) == (
        "driving",
        "human",
        (ROLE,),
        False,
    )
    for one, other in zip(found.episodes, [episode(5), episode(7, seed=3)], strict=True):
        assert np.array_equal(one.observation, other.observation)
        assert np.array_equal(one.action, other.action)
        assert (one.role, one.end, one.reward) == (other.role, other.end, other.reward)
    content = path.read_bytes()
    second = content.rindex(b'{"role"')
    for size in (second + 1, (second + len(content)) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        found = read_demos(path)
        assert (len(found.episodes), found.is_cut) == (1, True)
    with pytest.raises(GodojoError, match="exists; choose another name"):
        write(path)


def test_every_changed_bit_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "demo.jsonl", episode(4), episode(3))
    content, chance = path.read_bytes(), random.Random(1)
    for _ in range(150):
        at = chance.randrange(len(content) - 1)  # without its last line feed the last episode is merely unfinished
        flipped = bytearray(content)
        flipped[at] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(GodojoError) as refused:
            read_demos(path)
        assert "\n" not in str(refused.value)


def test_a_file_that_cannot_be_imitated_is_refused_in_one_line(tmp_path: Path) -> None:
    wild, choice = episode(4), episode(4)
    wild.observation[2, 1] = math.nan
    choice.action[3, 1] = 3.0
    for number, (content, why) in enumerate(
        (
            (wild, "line 2: observation 1 in step 2 is nan, not a number"),
            (choice, "line 2: action gear is 3, not a choice from 0 to 2"),
            (episode(0), "line 2"),
            (episode(4)._replace(role="pilot"), "role 'pilot' is not in the header"),
            (None, "has no finished episode"),
        )
    ):
        path = write(tmp_path / f"{number}.jsonl", *([] if content is None else [content]))
        with pytest.raises(GodojoError, match=why):
            read_demos(path)
    other = tmp_path / "other"
    for text, why in (
        ("", "is no file of demonstrations"),
        ("PK\3\4", "is no file of demonstrations"),
        ('{"format": "godojo-run/3"}', "is no godojo-demo file"),
        ('{"format": "godojo-demo/9"}', "written by a newer Godojo"),
    ):
        other.write_text(text)
        with pytest.raises(GodojoError, match=why):
            read_demos(other)
    with pytest.raises(GodojoError, match="cannot be read"):
        read_demos(tmp_path / "nowhere")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Demos:
    path = tmp_path_factory.mktemp("demos") / "wander.jsonl"
    return godojo.record_demos(path, "tag", policy="sighted", rounds=6, seed=4, settings=SETTING)


def test_a_scripted_opponent_is_recorded_as_it_plays(recorded: Demos) -> None:
    settings = GAMES["tag"].settings.defaults().override(**SETTING)
    assert len(recorded.episodes) == 12
    options = GAMES["tag"].training_options(settings)
    worlds = godojo.make_vec("tag", num_worlds=6, seed=4, settings=settings, **options)
    found = recorded.for_game(worlds)
    assert {name: len(episodes) for name, episodes in found.items()} == {"seeker": 6, "hider": 6}
    # Asked again in the same situations, it does the same.
    worlds.reset(4)
    players = {role: make_opponent("sighted", role, 4, game="tag") for role in worlds.roles}
    for player in players.values():
        player.begin(worlds)
    first = {name: role.observation[:, 0].copy() for name, role in worlds.roles.items()}
    for role, player in players.items():
        player.act(worlds, worlds.roles[role].action)
        for one in found[role]:
            (row,) = np.flatnonzero((first[role] == one.observation[0]).all(1))
            assert np.array_equal(worlds.roles[role].action[row, 0], one.action[0])
    assert {one.end for one in recorded.episodes} == {"terminated"}
    assert all(1 <= len(one.action) <= 31 for one in recorded.episodes)


def test_demonstrations_of_another_game_do_not_fit(tmp_path: Path) -> None:
    worlds = tag(2)
    with pytest.raises(GodojoError, match="of driving, not of tag"):
        read_demos(write(tmp_path / "a.jsonl", episode(3))).for_game(worlds)
    with pytest.raises(GodojoError, match="has demonstrations of driver; the game's roles: seeker, hider"):
        read_demos(write(tmp_path / "b.jsonl", episode(3), game="tag")).for_game(worlds)
    role = msgspec.structs.replace(ROLE, name="seeker")
    path = write(tmp_path / "c.jsonl", episode(3)._replace(role="seeker"), game="tag", role=role)
    with pytest.raises(GodojoError, match=r"does not fit this game: its seeker observes sight \(3\), and the game's"):
        read_demos(path).for_game(worlds)


class OneRole(Worlds):
    """The spaces of a game, and no more."""

    def __init__(self) -> None:
        from types import SimpleNamespace

        arrays: Any = SimpleNamespace(name="driver", observation_parts=ROLE.observation, action_parts=ROLE.action)
        self.roles = {"driver": arrays}

    def reset(self, seed: int) -> None: ...
    def _start(self) -> None: ...
    def finish(self) -> None: ...


def test_demonstrations_of_godot_rl_are_read(tmp_path: Path) -> None:
    path = tmp_path / "demos.json"
    # As its addon writes them: one observation more than actions, booleans among the numbers.
    path.write_text(json.dumps([[[[0.5, True, 2], [1, 0, 0], [9, 9, 9]], [[0.25, 1], [-3.0, 2]]]]))
    assert is_godot_rl(path)
    (found,) = read_godot_rl(path, OneRole()).for_game(OneRole())["driver"]
    assert found.observation.tolist() == [[0.5, 1.0, 2.0], [1.0, 0.0, 0.0]]
    assert found.action.tolist() == [[0.25, 1.0], [-1.0, 2.0]]
    # `JSON.stringify` of the addon's arrays: an episode, one that was over when it began, and one of a single decision.
    path.write_text(
        "[[[[0.5,true,2.0],[1.0,0.0,0.0],[9.0,9.0,9.0]],[[0.25,1],[-3.0,2]]],[[[1.0,0.0,0.0]],[]],"
        "[[[0.0,false,1],[1.0,0.0,0.0]],[[1.0,0]]]]"
    )
    assert [len(each.action) for each in read_godot_rl(path, OneRole()).episodes] == [2, 1]
    for content, why in (
        ([[[[0.5, 1, 2]], [[0.25, 7]]]], "episode 0: action gear is 7"),
        ([[[[0.5, 1]], [[0.25, 1]]]], "episode 0: observations of 2 numbers, and the game's have 3"),
        ([[[[0.5, 1, 2]], [[0.25, 1], [0, 0], [0, 0]]]], "1 observations and 3 actions"),
        ([], "no finished episode"),
        ([[1, 2]], "no list of"),
    ):
        path.write_text(json.dumps(content))
        with pytest.raises(GodojoError, match=why):
            read_godot_rl(path, OneRole())
    with pytest.raises(GodojoError, match="does not say which policy it demonstrates, and the game has seeker, hider"):
        read_godot_rl(path, tag(2))


@pytest.mark.parametrize("memory", ["", "leaky", "gru"])
def test_cloning_learns_what_can_be_known(memory: Any) -> None:
    """The gear follows from what is seen, the steering from what was seen at the beginning."""
    episodes = []
    for seed in range(60):
        one = episode(30, seed)
        one.observation[1:, 0] = 0.0
        steer = np.full(30, 0.8 * np.sign(one.observation[0, 0]))
        action = np.stack([steer, 1.0 + np.sign(one.observation[:, 1])], 1).astype(np.float32)
        episodes.append(one._replace(action=action))
    torch.manual_seed(1)
    policy = Policy(PolicyShape(3, ROLE.action, (32, 32), memory, 16 if memory else 0))
    found = Demonstrations(episodes, policy, 16).clone(policy, 60, 3e-3, torch.Generator().manual_seed(1))
    assert (found.episodes, found.steps) == (54, 1620)
    assert found.accuracy > 0.9
    assert (found.error < 0.5) == bool(memory), found
    assert "accuracy" in str(found)
    assert isinstance(policy.head, ActionHead)
    log_std = float(policy.head.log_std.detach())
    assert log_std < -0.5 if memory else log_std == -0.5


@pytest.mark.parametrize("is_spread", [False, True])
def test_the_term_of_the_loss_pulls_and_fades(recorded: Demos, is_spread: bool) -> None:
    settings = msgspec.structs.replace(SMALL, imitation_end=0.5, ent_coef=0.0)
    made = cluster_learner(2, settings) if is_spread else learner(settings)
    try:
        cloned = made.imitate(recorded.for_game(made.worlds), clone=False)
        assert cloned == {}
        losses = [made.iterate(progress).metrics["seeker"]["train/imitation_loss"] for progress in (0.0, 0.25, 0.5)]
        assert losses[0] > losses[1] > losses[2] == 0.0
    finally:
        made.close()


def test_a_role_is_cloned_by_its_own_settings(recorded: Demos) -> None:
    settings = msgspec.structs.replace(SMALL, imitation_epochs=1, roles={"seeker": {"learning_rate": 1e-7}})
    made = learner(settings)
    try:
        cloned = made.imitate(recorded.for_game(made.worlds), clone=True)
        gained = {role: found.loss_before - found.loss for role, found in cloned.items()}
        assert abs(gained["seeker"]) < 0.01 * abs(gained["hider"])
    finally:
        made.close()


def test_a_resumed_training_imitates_bit_for_bit(recorded: Demos) -> None:
    made, again = learner(), learner()
    try:
        cloned = made.imitate(recorded.for_game(made.worlds), clone=True)
        assert all(found.loss < found.loss_before for found in cloned.values())
        made.iterate(0.0)
        state = copy.deepcopy(made.state())
        again.imitate(recorded.for_game(again.worlds), clone=False)
        again.load_state(state)
        for one in (made, again):
            one.iterate(0.1)
        assert fingerprints(made) == fingerprints(again)
    finally:
        made.close()
        again.close()


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    file = tmp_path / "demo.jsonl"

    def call(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        return int(ended.value.code or 0), capsys.readouterr().err

    play = ("play", "tag", "--policy", "sighted", "--rounds", "4", "--set", "rules.round_s=2", "--demo", str(file))
    code, said = call(*play)
    assert (code, file.is_file()) == (0, True), said
    assert "seeker: 4 episodes" in said
    assert call(*play)[1].count("exists; choose another name") == 1
    train = ("train", "tag", "--demos", str(file), "--run-id", "cloned", "--judge", "0", *WORDS)
    code, said = call(*train, "--steps", str(STEPS))
    assert code == 0, said
    assert "cloned the seeker from 3 episodes" in " ".join(said.split())  # one is held out
    (kept,) = godojo.Run.open("cloned").config.more["demos"]
    assert kept["path"] == str(file)
    assert call("train", "--resume", "cloned", "--steps", str(2 * STEPS), "--judge", "0")[0] == 0
    file.write_bytes(file.read_bytes()[:-1])
    code, said = call("train", "--resume", "cloned", "--steps", str(3 * STEPS), "--judge", "0")
    assert (code, "has changed since the run began" in " ".join(said.split())) == (2, True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["train", "tag", "--demos", "nowhere.jsonl"], "there is no file of demonstrations"),
        (["train", "tag", "--demos", __file__, "--algorithm", "sac"], "only PPO imitates demonstrations, not sac"),
        (["train", "tag", "--demos", __file__], "is no file of demonstrations"),
        (["play", "tag", "--rounds", "3"], "--rounds needs --demo FILE"),
        (["play", "tag", "--rounds", "3", "--demo", "a.jsonl"], "--rounds needs --policy"),
        (["play", "tag", "--rounds", "0", "--demo", "a.jsonl"], "--rounds must be a number of 1 or more"),
        (["play", "--demo", "a.jsonl"], "give either a game or --project DIR"),
        (["play", "--project", ".", "--demo", "a.jsonl"], "has no addon that records"),
        (["play", "tag", "--policy", "nobody-at-all", "--rounds", "3", "--demo", "a.jsonl"], "nobody-at-all"),
    ],
)
def test_mistakes_are_one_line(
    words: list[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert why in " ".join(said.split())
    assert not (tmp_path / "a.jsonl").exists()


def test_the_program_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (program,) = (block.text for block in blocks(ROOT / "docs/imitation.md") if block.language == "python")
    exec(program, {})
    assert len(read_demos("sighted.jsonl").episodes) == 40


def test_a_bare_demo_is_the_games_own() -> None:
    ours, others = own_options(["--demo", "--arena=maze"])
    assert (ours, others) == (Recording(), ["--demo", "--arena=maze"])
