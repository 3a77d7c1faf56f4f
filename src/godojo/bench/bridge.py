"""How fast the real Godot is through the bridge, beside the engine alone and godot_rl's own client.

All of them play a game's training scene at random with the same number of worlds in a process. A turn measures each
once, one right after the other; the median over the turns counts. An agent-step is one decision of one agent: its
ticks, rules, rewards and observation, there and back.
"""

import os
import shlex
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import filelock
import msgspec
import numpy as np
import platformdirs

from godojo.bench.measure import (
    ENGINE_TIMEOUT_S,
    RING,
    Actions,
    Conditions,
    Part,
    Surroundings,
    agent_count,
    check_lengths,
    printed_speed,
    random_actions,
    speed,
    speed_of_script,
    take_turns,
)
from godojo.engines.godot.find import Engine, find
from godojo.engines.godot.project import prepared_project
from godojo.engines.godot.report import Report, Silent
from godojo.engines.godot.worlds import GodotWorlds
from godojo.engines.make import make_vec
from godojo.games.base import game_named
from godojo.processes import finish
from godojo.resources import godot_sources

GODOT_RL = "0.8.2"
WARM_UP = 10
FETCH_TIMEOUT_S = 120.0


class Split(msgspec.Struct):
    """Where the time of one step of a process with all its worlds goes, in microseconds; medians."""

    step_us: float
    engine_us: float
    """From when the game has read the actions until it has its answer ready, by its own clock."""
    python_us: float
    """What our side works: packing, checks, unpacking into the arrays."""
    wire_us: float
    """The rest: both sockets, and waking up."""


class Overlap(msgspec.Struct):
    """Two games and a policy that thinks half as long as an engine works: in turn, or one while the other."""

    policy_ms: float
    in_turn: float
    """Agent-steps a second; likewise below."""
    overlapped: float
    times: float


class BridgeReport(Conditions, kw_only=True):
    """The result of `godojo bench bridge`."""

    game: str
    agent_steps_per_s: float
    """One process."""
    two_processes_agent_steps_per_s: float
    free_agent_steps_per_s: float | None
    """The engine alone: the same worlds in one process, acting at random with nobody connected; None for a game without
    `bench/free_worlds.gd`."""
    godot_rl_agent_steps_per_s: float | None
    """The `godot-rl` package driving the same worlds over its own wire; None if it was not measured."""
    share_of_free: float | None
    """Median over the turns of: one process through the bridge, by the engine alone."""
    times_godot_rl: float | None
    split: Split
    overlap: Overlap
    worlds: int
    """In each process."""
    step_bytes: int
    """Bytes that one step of a process brings to Python."""
    repeats: int
    seconds: float
    samples: dict[str, list[float]]


def measure(
    game: str = "tag",
    worlds: int = 64,
    seconds: float = 2.0,
    repeats: int = 5,
    *,
    godot_rl: bool = True,
    report: Report | None = None,
) -> BridgeReport:
    """Measures everything; takes about `repeats` times five times `seconds`."""
    check_lengths(seconds, repeats, worlds)
    report = report or Silent()
    scene = game_named(game).require("in_godot", "bench bridge")().scene
    surroundings, engine = Surroundings(report), find()
    prepared_project(engine)
    package = fetched_package(report) if godot_rl else None
    splits: list[Split] = []
    with (
        make_godot(game, worlds, 1) as one,
        make_godot(game, worlds, 1) as other,
        make_godot(game, 2 * worlds, 2) as two,
    ):

        def bridge() -> float:
            found, split = through_bridge(one, seconds)
            splits.append(split)
            return found

        parts: list[Part] = [
            ("bridge", "one process through the bridge", bridge),
            ("two", "two processes", lambda: through_bridge(two, seconds)[0]),
        ]
        script = f"games/{game}/bench/free_worlds.gd"
        if (godot_sources() / script).is_file():
            words = [f"res://{script}", f"--worlds={worlds}"]
            parts.insert(1, ("free", "the engine alone", lambda: speed_of_script(engine, words, seconds)))
        if package is not None:
            client = lambda: by_godot_rl(engine, package, scene, worlds, seconds)  # noqa: E731
            parts.append(("godot_rl", "godot_rl's client", client))
        samples = take_turns(parts, repeats, report)
        report.step("a policy beside the engines")
        split = Split(
            **{name: statistics.median(getattr(each, name) for each in splits) for name in Split.__struct_fields__}
        )
        overlap = overlapping(one, other, split.engine_us * 0.5e-6, seconds)
        step_bytes = sum(
            array.nbytes for role in one.roles.values() for array in (role.observation, role.terms, role.acted)
        )
    median = {name: statistics.median(values) for name, values in samples.items()}
    ratios = [one / free for one, free in zip(samples["bridge"], samples.get("free", ()), strict=False)]
    versions = {"godot": engine.version, "godot-rl": GODOT_RL if "godot_rl" in median else "not measured"}
    return BridgeReport(
        **surroundings.conditions(("numpy",), **versions),
        game=game,
        agent_steps_per_s=median["bridge"],
        two_processes_agent_steps_per_s=median["two"],
        free_agent_steps_per_s=median.get("free"),
        godot_rl_agent_steps_per_s=median.get("godot_rl"),
        share_of_free=statistics.median(ratios) if ratios else None,
        times_godot_rl=median["bridge"] / median["godot_rl"] if "godot_rl" in median else None,
        split=split,
        overlap=overlap,
        worlds=worlds,
        step_bytes=step_bytes,
        repeats=repeats,
        seconds=seconds,
        samples=samples,
    )


def make_godot(game: str, worlds: int, processes: int) -> GodotWorlds:
    made = make_vec(game, engine="godot", num_worlds=worlds, num_processes=processes, seed=1)
    assert isinstance(made, GodotWorlds)
    return made


def through_bridge(worlds: GodotWorlds, seconds: float) -> tuple[float, Split]:
    """Agent-steps a second, and where a step's time goes."""
    ring, agents = random_actions(worlds), agent_count(worlds)
    for turn in range(WARM_UP):
        worlds.step(ring[turn % RING])
    taken_us: list[tuple[float, float, float]] = []
    steps, begun = 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < seconds:
        _act(worlds, ring[steps % RING])
        first, worked = time.perf_counter(), time.thread_time()
        worlds.step()
        worked, whole = time.thread_time() - worked, time.perf_counter() - first
        taken_us.append((whole * 1e6, float(worlds.engine_us.max()), worked * 1e6))
        steps += 1
    step_us, engine_us, python_us = (statistics.median(column) for column in zip(*taken_us, strict=True))
    return steps * agents / passed, Split(step_us, engine_us, python_us, max(step_us - engine_us - python_us, 0.0))


def by_godot_rl(engine: Engine, package: Path, scene: str, worlds: int, seconds: float) -> float:
    """godot_rl's own client with the training scene as its game."""
    words = [str(engine.program), "--path", str(prepared_project(engine)), scene]
    return game_by_godot_rl(words, package, worlds, seconds)


def game_by_godot_rl(words: Sequence[str], package: Path, worlds: int, seconds: float, speedup: int = 0) -> float:
    """godot_rl's own client, in a Python of its own, with the game that this command starts.

    `speedup`: the game keeps to the clock, times this; 0: it plays as fast as it can.
    """
    with tempfile.TemporaryDirectory() as folder:
        game = Path(folder) / "game.x86_64"  # it starts nothing with another ending
        game.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        game.chmod(0o755)
        script = Path(__file__).with_name("godot_rl_client.py")
        done = finish(
            [sys.executable, script, game, str(_free_port()), str(worlds), str(seconds), str(speedup)],
            timeout_s=ENGINE_TIMEOUT_S + seconds,
            env={**os.environ, "PYTHONPATH": str(package)},
        )
    return printed_speed(done.output, done.code, "godot_rl's client")


def fetched_package(report: Report) -> Path | None:
    """The `godot-rl` package alone, without what it would bring along; fetched once."""
    folder = platformdirs.user_cache_path("godojo") / "bench" / f"godot-rl-{GODOT_RL}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder.with_suffix(".lock"), timeout=FETCH_TIMEOUT_S):
        if not (folder / "godot_rl/core/godot_env.py").is_file():
            report.step(f"fetching godot-rl {GODOT_RL}")
            words = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), f"godot-rl=={GODOT_RL}"]
            done = finish([sys.executable, *words], timeout_s=FETCH_TIMEOUT_S)
            if done.code or done.timed_out:
                report.say(f"not measured against godot_rl, which cannot be fetched: {done.output.strip()[-200:]}")
                return None
    return folder


def overlapping(one: GodotWorlds, other: GodotWorlds, policy_s: float, seconds: float) -> Overlap:
    """How much a policy costs when it thinks about one game's agents while the other game plays."""
    pair = [(worlds, random_actions(worlds)) for worlds in (one, other)]
    agents = agent_count(one)
    numbers = np.random.default_rng(1).standard_normal(4096).astype(np.float32)

    def think() -> None:
        """Works as long as the policy would, on one core."""
        until = time.thread_time() + policy_s
        while time.thread_time() < until:
            np.tanh(numbers)

    def in_turn(turn: int) -> None:
        for worlds, ring in pair:
            think()
            _act(worlds, ring[turn % RING])
            worlds.step()

    def overlapped(turn: int) -> None:
        for worlds, ring in pair:
            worlds.finish()
            think()
            _act(worlds, ring[turn % RING])
            worlds.start()

    apart = speed(in_turn, 2 * agents, seconds)
    for worlds, _ in pair:
        worlds.start()
    together = speed(overlapped, 2 * agents, seconds)
    for worlds, _ in pair:
        worlds.finish()
    return Overlap(policy_s * 1e3, apart, together, together / apart)


def _act(worlds: GodotWorlds, actions: Actions) -> None:
    for name, action in actions.items():
        worlds.roles[name].action[:] = action


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
