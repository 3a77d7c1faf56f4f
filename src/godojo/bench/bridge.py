"""How fast the real Godot is through the bridge: against the engine left alone, and against godot_rl's own client.

All of them play the training scene of tag at random: one seeker, one hider, default eyes, the hand-made arenas, the
same number of worlds in a process. A turn measures each once, one right after the other; what counts is the median over
the turns. An agent-step is one decision of one agent: its ticks, tags, rewards and observation, there and back.
"""

import json
import os
import platform
import shlex
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import filelock
import msgspec
import numpy as np
import platformdirs

import godojo
from godojo.bench.sim import QUIET_BUSY, busy_cores, cpu_name, load
from godojo.engines.godot.find import Engine, find
from godojo.engines.godot.project import prepared_project, problem_lines, run_project
from godojo.engines.godot.report import Report, Silent
from godojo.engines.godot.worlds import GodotWorlds
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.games.tag.godot import SCENE
from godojo.processes import finish

GODOT_RL = "0.8.2"
RING = 16
"""Sets of random actions, drawn beforehand and used in turn."""
WARM_UP = 10
TIMEOUT_S = 60.0
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


class BridgeReport(msgspec.Struct):
    """What `godojo bench bridge` found."""

    agent_steps_per_s: float
    """One process."""
    two_processes_agent_steps_per_s: float
    free_agent_steps_per_s: float
    """The engine alone: the same worlds in one process, acting at random with nobody connected."""
    godot_rl_agent_steps_per_s: float | None
    """The `godot-rl` package driving the same worlds over its own wire; none if it was not measured."""
    share_of_free: float
    """Median over the turns of: one process through the bridge, by the engine alone."""
    times_godot_rl: float | None
    split: Split
    overlap: Overlap
    worlds: int
    """In each process."""
    step_bytes: int
    """What one step of a process brings to Python."""
    repeats: int
    seconds: float
    cores: int
    busy_before: float
    """Cores that were busy with something else just before; likewise after."""
    busy_after: float
    load_average: float
    is_quiet: bool
    machine: str
    versions: dict[str, str]
    samples: dict[str, list[float]]


def measure(
    worlds: int = 64,
    seconds: float = 2.0,
    repeats: int = 5,
    *,
    godot_rl: bool = True,
    report: Report | None = None,
) -> BridgeReport:
    """Measures everything; takes about `repeats` times five times `seconds`."""
    if worlds < 1 or not 0.05 <= seconds <= 600 or repeats < 1:
        raise GodojoError("bench needs at least one world and one repeat, and from 0.05 to 600 seconds")
    report = report or Silent()
    load_average, busy_before, cores = load(), busy_cores(), os.cpu_count() or 1
    if busy_before > QUIET_BUSY * cores:
        report.say(f"the machine is not quiet ({busy_before:.1f} of {cores} cores are busy): figures will be low")
    engine = find()
    prepared_project(engine)
    package = fetched_package(report) if godot_rl else None
    samples: dict[str, list[float]] = {name: [] for name in ("bridge", "two", "free", "godot_rl")}
    splits: list[Split] = []
    with make_godot(worlds, 1) as one, make_godot(worlds, 1) as other, make_godot(2 * worlds, 2) as two:

        def bridge() -> float:
            speed, split = through_bridge(one, seconds)
            splits.append(split)
            return speed

        parts: list[tuple[str, str, Callable[[], float]]] = [
            ("bridge", "one process through the bridge", bridge),
            ("free", "the engine alone", lambda: alone(engine, worlds, seconds)),
            ("two", "two processes", lambda: through_bridge(two, seconds)[0]),
        ]
        if package is not None:
            parts.append(("godot_rl", "godot_rl's client", lambda: by_godot_rl(engine, package, worlds, seconds)))
        for repeat in range(repeats):
            for place, (name, title, run) in enumerate(parts):
                done = (repeat * len(parts) + place) / (repeats * len(parts))
                report.progress(f"turn {repeat + 1} of {repeats}: {title}", done)
                samples[name].append(run())
        report.step("a policy beside the engines")
        split = Split(
            **{name: statistics.median(getattr(each, name) for each in splits) for name in Split.__struct_fields__}
        )
        overlap = overlapping(one, other, split.engine_us * 0.5e-6, seconds)
        step_bytes = sum(
            array.nbytes for role in one.roles.values() for array in (role.observation, role.terms, role.acted)
        )
    median = {name: statistics.median(values) for name, values in samples.items() if values}
    busy_after = busy_cores()
    rival = median.get("godot_rl")
    return BridgeReport(
        agent_steps_per_s=median["bridge"],
        two_processes_agent_steps_per_s=median["two"],
        free_agent_steps_per_s=median["free"],
        godot_rl_agent_steps_per_s=rival,
        share_of_free=statistics.median(b / f for b, f in zip(samples["bridge"], samples["free"], strict=True)),
        times_godot_rl=median["bridge"] / rival if rival else None,
        split=split,
        overlap=overlap,
        worlds=worlds,
        step_bytes=step_bytes,
        repeats=repeats,
        seconds=seconds,
        cores=cores,
        busy_before=busy_before,
        busy_after=busy_after,
        load_average=load_average,
        is_quiet=max(busy_before, busy_after) <= QUIET_BUSY * cores,
        machine=f"{platform.machine()}, {cpu_name()}, {cores} cores",
        versions={
            "godojo": godojo.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "godot": engine.version,
            "godot-rl": GODOT_RL if rival else "not measured",
        },
        samples=samples,
    )


def make_godot(worlds: int, processes: int) -> GodotWorlds:
    made = make_vec("tag", engine="godot", num_worlds=worlds, num_processes=processes, seed=1)
    assert isinstance(made, GodotWorlds)
    return made


def through_bridge(worlds: GodotWorlds, seconds: float) -> tuple[float, Split]:
    """Agent-steps a second, and where a step's time goes."""
    ring, agents = _ring(worlds), sum(role.acted.size for role in worlds.roles.values())
    for turn in range(WARM_UP):
        _act(worlds, ring[turn % RING])
        worlds.step()
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


def alone(engine: Engine, worlds: int, seconds: float) -> float:
    """The same worlds in a process of their own, with nobody connected."""
    words = ["--headless", "--fixed-fps", "60", "--script", "res://games/tag/bench/free_worlds.gd", "--"]
    done = run_project(engine, [*words, f"--worlds={worlds}", f"--seconds={seconds}"], timeout_s=TIMEOUT_S + seconds)
    if done.timed_out or problem_lines(done.output):
        raise GodojoError(f"Godot could not be measured: {' '.join(done.output.split())[-300:]}")
    return _speed(done.output, done.code, "Godot")


def by_godot_rl(engine: Engine, package: Path, worlds: int, seconds: float) -> float:
    """godot_rl's own client, in a Python of its own, with the training scene as its game."""
    words = shlex.join([str(engine.program), "--path", str(prepared_project(engine)), SCENE])
    with tempfile.TemporaryDirectory() as folder:
        game = Path(folder) / "game.x86_64"  # it starts nothing with another ending
        game.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        game.chmod(0o755)
        script = Path(__file__).with_name("godot_rl_client.py")
        done = finish(
            [sys.executable, script, game, str(_free_port()), str(worlds), str(seconds)],
            timeout_s=TIMEOUT_S + seconds,
            env={**os.environ, "PYTHONPATH": str(package)},
        )
    return _speed(done.output, done.code, "godot_rl's client")


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
    pair = [(worlds, _ring(worlds)) for worlds in (one, other)]
    agents = sum(role.acted.size for role in one.roles.values())
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

    apart = _timed(in_turn, 2 * agents, seconds)
    for worlds, _ in pair:
        worlds.start()
    together = _timed(overlapped, 2 * agents, seconds)
    for worlds, _ in pair:
        worlds.finish()
    return Overlap(policy_s * 1e3, apart, together, together / apart)


def _timed(step: Callable[[int], None], agent_steps: int, seconds: float) -> float:
    step(0)
    turns, begun = 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < seconds:
        step(turns)
        turns += 1
    return turns * agent_steps / passed


def _ring(worlds: GodotWorlds) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(5)
    return [
        {name: rng.uniform(-1.0, 1.0, role.action.shape).astype(np.float32) for name, role in worlds.roles.items()}
        for _ in range(RING)
    ]


def _act(worlds: GodotWorlds, actions: dict[str, np.ndarray]) -> None:
    for name, action in actions.items():
        worlds.roles[name].action[:] = action


def _speed(output: str, code: int | None, who: str) -> float:
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if code or not lines:
        raise GodojoError(f"{who} could not be measured: {' '.join(output.split())[-300:]}")
    told = json.loads(lines[-1])
    return float(told["agent_steps"] / told["seconds"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
