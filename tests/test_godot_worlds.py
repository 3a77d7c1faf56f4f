"""Games behind the contract: what they say arrives in the right rows, and mistakes get a sentence."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import godojo
from godojo.engines.godot.open import await_game, launch_games, open_game, spread
from godojo.engines.godot.worlds import GodotWorlds
from godojo.errors import GodojoError
from tests.watched_games import PRETEND, Marked, pid_of, pretend

Launch = Callable[..., GodotWorlds]


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Starts pretend games; none of their processes may be left afterwards."""
    opened: list[GodotWorlds] = []
    marks: list[Marked] = []

    def start(*words: str, num_worlds: int | None = 5, **options: Any) -> GodotWorlds:
        marks.append(Marked(pretend(*words)))
        opened.append(launch_games(marks[-1].recipe, num_worlds=num_worlds, **options))
        return opened[-1]

    yield start
    for worlds in opened:
        worlds.close()
    assert all(mark.all_gone() for mark in marks)


def test_worlds_are_spread_evenly() -> None:
    assert spread(5, 2) == [3, 2]
    assert spread(6, 3) == [2, 2, 2]
    for worlds, processes, sentence in (
        (0, 1, "num_worlds must be"),
        (2, 3, "num_processes=2"),
        (2, 0, "num_processes must be"),
        (True, 1, "num_worlds must be"),
        (10_000, 2, "at most 4096 worlds"),
    ):
        with pytest.raises(GodojoError, match=sentence):
            spread(worlds, processes)


@pytest.mark.parametrize("num_processes", [1, 2, 3])
def test_every_number_arrives_where_it_belongs(launch: Launch, num_processes: int) -> None:
    worlds = launch(num_processes=num_processes, seed=7)
    sizes = spread(5, num_processes)
    inside = np.concatenate([np.arange(size) for size in sizes])
    chance = np.random.default_rng(0)
    ages, lengths = np.zeros(5), 5 + inside % 7
    for decision in range(1, 40):
        actions = {
            name: chance.uniform(-1, 1, role.action.shape).astype(np.float32) for name, role in worlds.roles.items()
        }
        worlds.start(actions)
        worlds.finish()
        ages += 1
        ended = ages >= lengths
        assert np.array_equal(worlds.ended, ended)
        for name, role in worlds.roles.items():
            assert (role.observation[..., 0] == decision).all()
            assert np.array_equal(role.observation[..., 1], np.broadcast_to(inside[:, None], role.acted.shape))
            assert (role.observation[..., 2] == np.arange(role.acted.shape[1])).all()
            wanted = actions[name].sum(axis=2) + ended[:, None]
            assert np.allclose(role.reward, wanted, atol=1e-5)
            assert np.array_equal(role.terms.sum(axis=2), role.reward)
            assert role.acted.all()
            assert np.array_equal(role.terminated | role.truncated, np.broadcast_to(ended[:, None], role.acted.shape))
            assert not (role.terminated & role.truncated).any()
            assert (role.final_observation[ended][..., 0] == -decision).all()
            assert (role.final_score[ended] == 0.5).all()
        assert (worlds.length_ticks[ended] == lengths[ended] * 4).all()
        ages[ended] = 0
    assert len(worlds.incidents) == 0


def test_what_is_known_of_the_game(launch: Launch) -> None:
    worlds = launch(ticks_per_decision=6)
    assert list(worlds.roles) == ["role0", "role1"]
    assert worlds.reward_terms == ("near", "won")
    assert worlds.winners == ("nobody", "role0", "role1")
    assert worlds.arena_names == ("yard",)
    assert worlds.ticks_per_decision == 6
    assert worlds.declared_models == {}
    assert worlds.roles["role1"].action_parts[0].name == "move"
    assert worlds.hellos[0].game == "pretend"
    for role in worlds.roles.values():
        assert all(array.flags.c_contiguous for array in vars(role).values() if isinstance(array, np.ndarray))
    with pytest.raises(GodojoError, match="engine='sim'"):
        worlds.privileged()


def test_a_seed_gives_every_game_its_own_and_always_the_same(launch: Launch) -> None:
    worlds = launch(num_worlds=3, num_processes=3, seed=7)
    seeds = worlds.roles["role0"].observation[:, 0, 3].copy()
    assert seeds[0] == 7
    assert len(set(seeds)) == 3
    worlds.reset(8)
    assert (worlds.roles["role0"].observation[:, 0, 3] != seeds).all()
    os.kill(pid_of(worlds, 1), signal.SIGKILL)
    worlds.step()
    assert worlds.restarts == 1
    os.kill(pid_of(worlds, 0), signal.SIGKILL)
    worlds.reset(7)
    assert worlds.restarts == 2
    assert np.array_equal(worlds.roles["role0"].observation[:, 0, 3], seeds)
    os.kill(pid_of(worlds, 0), signal.SIGKILL)
    worlds.step()
    assert worlds.roles["role0"].observation[0, 0, 3] not in seeds  # not the same rounds once more
    worlds.reset(7)
    assert not worlds.ended.any()
    assert not worlds.roles["role0"].truncated.any()


def test_a_reset_in_the_middle_of_a_decision(launch: Launch) -> None:
    worlds = launch()
    worlds.start()
    worlds.reset(3)
    assert (worlds.roles["role0"].observation[..., 0] == 0).all()
    assert (worlds.roles["role0"].observation[..., 3] == 3).all()
    worlds.step()
    assert (worlds.roles["role0"].observation[..., 0] == 1).all()


def test_steps_out_of_turn_get_a_sentence(launch: Launch) -> None:
    worlds = launch()
    with pytest.raises(GodojoError, match=r"call start\(\) first"):
        worlds.finish()
    worlds.start()
    with pytest.raises(GodojoError, match=r"call finish\(\)"):
        worlds.start()
    worlds.finish()
    actions = np.zeros(worlds.roles["role1"].action.shape, np.float32)
    actions[2, 1, 0] = np.nan
    with pytest.raises(GodojoError, match="action 0 of role1 1 in world 2 is nan"):
        worlds.step({"role1": actions})
    worlds.roles["role1"].action[:] = 0
    worlds.step()
    for seed in (-1, 2**64, 1.5, True):
        with pytest.raises(GodojoError, match="a seed is a whole number"):
            worlds.reset(seed)  # type: ignore[arg-type]
    worlds.close()
    worlds.close()
    with pytest.raises(GodojoError, match="closed"):
        worlds.step()
    with pytest.raises(GodojoError, match="closed"):
        worlds.reset(0)


def test_a_game_that_refuses_is_quoted_and_not_tried_again(launch: Launch) -> None:
    with pytest.raises(GodojoError, match=r"refused to play.*no room for 5 worlds"):
        launch("--refuse", "no room for 5 worlds")


def test_worlds_left_to_the_garbage_collector_end_their_games() -> None:
    marked = Marked(pretend())
    worlds = launch_games(marked.recipe, num_worlds=2, num_processes=2)
    assert len(marked.running()) >= 2
    del worlds
    assert marked.all_gone()


def test_who_interrupts_a_wait_can_go_on_afterwards(launch: Launch) -> None:
    worlds = launch(num_processes=2)
    os.kill(pid_of(worlds, 1), signal.SIGSTOP)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        worlds.start()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            worlds.finish()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            worlds.reset(1)
    finally:
        signal.signal(signal.SIGALRM, previous)
        os.kill(pid_of(worlds, 1), signal.SIGCONT)
    worlds.finish()
    assert all(role.acted.all() for role in worlds.roles.values())
    worlds.reset(1)
    worlds.step()
    assert (worlds.roles["role0"].observation[..., 0] == 1).all()
    assert worlds.restarts == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_leaves_our_games_alone(launch: Launch) -> None:
    ours = launch(num_processes=2)
    child = os.fork()
    if child == 0:
        try:
            ours.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    for _ in range(10):
        ours.step()
    assert ours.restarts == 0


def test_a_game_started_by_hand_may_come_late_and_come_back() -> None:
    marked = Marked(pretend())

    def by_hand(port: int) -> "subprocess.Popen[bytes]":
        env = {**os.environ, **marked.recipe.env, "GODOJO_PORT": str(port)}
        return subprocess.Popen(
            ["/bin/sh", "-c", 'sleep 0.3; exec "$@"', "late", sys.executable, str(PRETEND)], env=env
        )

    port = free_port()
    with by_hand(port) as game, await_game(port=port, worlds_each=[2], start_timeout_s=20, reconnect_s=20) as worlds:
        worlds.step()
        before = worlds.roles["role0"].observation.copy()
        game.kill()
        with by_hand(port) as again:
            worlds.step()
            assert worlds.ended.all()
            assert worlds.roles["role0"].truncated.all()
            assert not worlds.roles["role0"].acted.any()
            assert np.array_equal(worlds.roles["role0"].final_observation, before)
            worlds.step()
            assert not worlds.ended.any()
            again.kill()
        worlds._reconnect_s = 0.3
        with pytest.raises(GodojoError, match=f"no game connected to port {port} within 0.3 s"):
            worlds.step()
    assert marked.all_gone()


def test_what_cannot_be_opened_gets_a_sentence(tmp_path: Any) -> None:
    script = tmp_path / "game.sh"
    script.write_text("#!/bin/sh\n")
    for options, sentence in (
        ({"project": tmp_path}, "no project.godot"),
        ({"binary": tmp_path / "none"}, "there is no game"),
        ({"binary": script}, r"chmod \+x"),
        ({"project": tmp_path, "binary": script}, "one of the two"),
        ({"wire": "morse"}, "no wire 'morse'; there is: dojo/1, godot_rl, any"),
        ({"port": free_port(), "start_timeout_s": 0.2}, "no game connected to port"),
    ):
        with pytest.raises(GodojoError, match=sentence):
            open_game(**options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"engine": "unreal"}, "no engine 'unreal'; there is: sim, godot"),
        ({"num_processes": 2}, "'num_processes' is an option of engine='godot' only"),
        ({"engine": "godot", "num_proceses": 2}, "no option 'num_proceses'.*num_processes"),
        ({"engine": "godot", "connect": True, "num_processes": 2}, "omit num_processes"),
        ({"engine": "godot", "generated_share": 2}, "generated_share must be from 0 to 1"),
    ],
)
def test_bad_options_get_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(GodojoError, match=sentence):
        godojo.make_vec("tag", **options)


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
