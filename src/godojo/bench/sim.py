"""How fast the twin is, against the same work in plain NumPy and against the real Godot, measured side by side.

All of them play tag, one seeker against one hider, with the default settings in arenas of 16 boxes, at random. A turn
measures each once, one right after the other, so that whatever else the machine does falls on all of them; what counts
is the median over the turns. An agent-step is one decision of one agent: its ticks, tags, rewards and observation.
"""

import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numba
import numpy as np

import godojo
from godojo.bench.numpy_tag import NumpyTag
from godojo.engines.godot.find import Engine, EngineMissing, find
from godojo.engines.godot.project import problem_lines, run_project
from godojo.engines.godot.report import Report, Silent
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.games.tag.arenas import Arena, Box, SpawnArea, check_arena
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.spec import LAYOUT, RAY_DISTANCE
from godojo.kernels.compile import is_compiled

ARENAS = 8
ROWS = 4
"""Boxes stand in rows of four: 16 in each arena."""
NUMPY_WORLDS = 2048
"""Where NumPy was fastest, of 128 to 8192: fewer cost it in calls, more in memory."""
RING = 16
"""Sets of random actions, drawn beforehand and used in turn."""
CHECKED_DECISIONS = 5
SAME_M = 1e-3
QUIET_BUSY = 0.3
"""A machine of which less than this share is busy is quiet."""
LISTEN_S = 0.5
QUIET_SHARE = 0.95
"""A measurement on one core that got less of it than this was disturbed."""
GODOT_TIMEOUT_S = 60.0


class BenchReport(msgspec.Struct):
    """What `godojo bench sim` found."""

    agent_steps_per_s: float
    """The twin on all cores."""
    agent_steps_per_s_one_core: float
    numpy_agent_steps_per_s: float
    godot_agent_steps_per_s: float | None
    """One headless process; none where there is no Godot."""
    times_numpy: float
    times_numpy_one_core: float
    times_godot: float | None
    times_godot_one_core: float | None
    worlds: int
    cores: int
    repeats: int
    seconds: float
    compile_s: float
    """What the kernels' compilation took; 0 when it had been done before."""
    numpy_position_error_m: float
    numpy_ray_error_m: float
    busy_before: float
    """Cores that were busy with something else just before; likewise after."""
    busy_after: float
    load_average: float
    """Processes that wanted a core in the minute before."""
    core_share: float
    """Of a core's time, how much a measurement on one core got."""
    is_quiet: bool
    machine: str
    versions: dict[str, str]
    samples: dict[str, list[float]]


def arenas_of_16(settings: TagSettings) -> list[Arena]:
    """Rooms with 16 boxes each, tall ones and low ones, the same every time."""
    rng = np.random.default_rng(16)
    found = []
    for number in range(ARENAS):
        boxes, spawns = [], []
        for row in range(ROWS):
            for column in range(ROWS):
                wide, deep = (round(float(size), 2) for size in rng.uniform(1.0, 3.0, 2))
                high = 2.4 if rng.random() < 0.65 else 0.8
                x = round(float((column - 1.5) * 5.5 + rng.uniform(-0.5, 0.5)), 2)
                z = round(float((row - 1.5) * 5.5 + rng.uniform(-0.5, 0.5)), 2)
                boxes.append(Box((x, high / 2, z), (wide, high, deep), "tall" if high > 1 else "low"))
        for row in range(ROWS + 1):
            for column in range(ROWS + 1):
                at = ((column - 2) * 5.5, 0.0, (row - 2) * 5.5)
                if all(_is_apart(at, box, settings.body.size_m) for box in boxes):
                    spawns.append(SpawnArea(at, (0.4, 0.4), ("seeker", "hider")))
        arena = Arena(1, f"bench_{number}", f"Bench {number}", (24.0, 24.0), tuple(boxes), tuple(spawns))
        check_arena(arena, settings, arena.name)
        found.append(arena)
    return found


def _is_apart(at: tuple[float, float, float], box: Box, size_m: float) -> bool:
    reach = size_m / 2 + 0.25
    return abs(at[0] - box.position_m[0]) > box.size_m[0] / 2 + reach or (
        abs(at[2] - box.position_m[2]) > box.size_m[2] / 2 + reach
    )


def measure(worlds: int = 4096, seconds: float = 2.0, repeats: int = 5, report: Report | None = None) -> BenchReport:
    """Measures everything; takes about `repeats` times four times `seconds`."""
    if worlds < 1 or not 0.05 <= seconds <= 600 or repeats < 1:
        raise GodojoError("bench needs at least one world and one repeat, and from 0.05 to 600 seconds")
    report = report or Silent()
    load_average, busy_before = load(), busy_cores()
    cores = numba.get_num_threads()
    if busy_before > QUIET_BUSY * cores:
        report.say(f"the machine is not quiet ({busy_before:.1f} of {cores} cores are busy): figures will be low")
    settings = TagSettings.defaults()
    arenas = arenas_of_16(settings)
    engine = _engine(report)
    report.step("loading the kernels")  # the engine itself says when they must be compiled first
    was_compiled, begun = is_compiled(), time.perf_counter()
    twin = make_vec("tag", num_worlds=worlds, seed=1, settings=settings, arenas=arenas)
    twin.step()
    compile_s = 0.0 if was_compiled else time.perf_counter() - begun
    report.step("checking that NumPy plays the same game")
    position_m, ray_m = numpy_errors(settings, arenas)
    if max(position_m, ray_m) > SAME_M:
        raise GodojoError(f"NumPy and the twin disagree by {max(position_m, ray_m):.4f} m; nothing was measured")
    plain = NumpyTag(settings, *_start(settings, arenas, NUMPY_WORLDS))
    ring = [_actions((worlds, 1, 3), seed) for seed in range(RING)]
    plain_ring = [
        np.concatenate([_actions((NUMPY_WORLDS, 1, 3), seed + k) for k in (0, RING)], 1) for seed in range(RING)
    ]
    shares: list[float] = []

    def twin_on(threads: int) -> float:
        numba.set_num_threads(threads)
        try:
            begun_cpu, begun = time.process_time(), time.perf_counter()
            speed = _timed(lambda turn: twin.step({"seeker": ring[turn], "hider": ring[turn - 1]}), worlds * 2, seconds)
            if threads == 1:
                shares.append((time.process_time() - begun_cpu) / (time.perf_counter() - begun))
            return speed
        finally:
            numba.set_num_threads(cores)

    samples: dict[str, list[float]] = {"all_cores": [], "one_core": [], "numpy": [], "godot": []}
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats):
            parts: list[tuple[str, str, Callable[[], float]]] = [
                ("all_cores", f"twin on {cores} cores", lambda: twin_on(cores)),
                ("one_core", "twin on one core", lambda: twin_on(1)),
                (
                    "numpy",
                    "NumPy",
                    lambda: _timed(lambda turn: plain.step(plain_ring[turn]), NUMPY_WORLDS * 2, seconds),
                ),
            ]
            if engine is not None:
                arena = arenas[repeat % len(arenas)]
                parts.append(("godot", "Godot", partial(_godot, engine, arena, Path(folder), seconds)))
            for place, (name, title, run) in enumerate(parts):
                done = (repeat * len(parts) + place) / (repeats * len(parts))
                report.progress(f"turn {repeat + 1} of {repeats}: {title}", done)
                samples[name].append(run())
    return _sum_up(
        samples, worlds, cores, seconds, compile_s, (position_m, ray_m), (load_average, busy_before), shares, engine
    )


def numpy_errors(settings: TagSettings, arenas: list[Arena], worlds: int = 256) -> tuple[float, float]:
    """How far NumPy's positions and rays are from the twin's after a few decisions of random play."""
    twin = make_vec("tag", num_worlds=worlds, seed=3, settings=settings, arenas=arenas)
    kernel: Any = twin.twin  # type: ignore[attr-defined]
    plain = NumpyTag(settings, kernel.arena_slots.copy(), kernel.agents.copy())
    going = np.ones(worlds, bool)
    position_m = ray_m = 0.0
    for decision in range(CHECKED_DECISIONS):
        action = np.concatenate([_actions((worlds, 1, 3), seed + decision) for seed in (100, 200)], 1)
        twin.step({"seeker": action[:, :1], "hider": action[:, 1:]})
        plain.step(action)
        going &= ~twin.ended & ~plain.ended
        apart = np.abs(np.stack(plain.position, -1) - kernel.agents["position"])[going]
        seen = np.concatenate([twin.roles[name].observation for name in ("seeker", "hider")], 1)[going]
        rays = LAYOUT.view(np.abs(seen - plain.observation[going]), "rays")
        position_m = max(position_m, float(apart.max()))
        # A ray may pass an edge on either side of it; that is no difference of the game.
        ray_m = max(ray_m, float(np.quantile(rays[..., RAY_DISTANCE] * settings.sight.range_m, 0.999)))
    return position_m, ray_m


def _start(settings: TagSettings, arenas: list[Arena], worlds: int) -> tuple[np.ndarray, np.ndarray]:
    twin: Any = make_vec("tag", num_worlds=worlds, seed=2, settings=settings, arenas=arenas)
    return twin.twin.arena_slots.copy(), twin.twin.agents.copy()


def _actions(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, shape).astype(np.float32)


def _timed(step: Callable[[int], None], agent_steps: int, seconds: float) -> float:
    """Agent-steps a second over at least so many seconds, after two steps to warm up."""
    step(0)
    step(1)
    turns, begun = 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < seconds:
        step(turns % RING)
        turns += 1
    return turns * agent_steps / passed


def _engine(report: Report) -> Engine | None:
    try:
        return find()
    except EngineMissing as error:
        report.say(f"not measured against Godot: {error}")
        return None


def _godot(engine: Engine, arena: Arena, folder: Path, seconds: float) -> float:
    path = folder / f"{arena.name}.json"
    path.write_bytes(arena.to_json())
    words = ["--headless", "--fixed-fps", "60", "--script", "res://games/tag/bench/free_running.gd", "--"]
    words += [f"--arena={path}", f"--seconds={seconds}"]
    done = run_project(engine, words, timeout_s=GODOT_TIMEOUT_S + seconds)
    lines = [line for line in done.output.splitlines() if line.startswith("{")]
    if done.code or done.timed_out or problem_lines(done.output) or not lines:
        raise GodojoError(f"Godot could not be measured: {' '.join(done.output.split())[-300:]}")
    told = json.loads(lines[-1])
    return float(told["agent_steps"] / told["seconds"])


def busy_cores() -> float:
    """How many cores others keep busy now; where the system does not tell, how many they wanted in the last minute."""
    try:
        first = _ticks()
        time.sleep(LISTEN_S)
        idle, every = (after - before for before, after in zip(first, _ticks(), strict=True))
        return (os.cpu_count() or 1) * (1.0 - idle / every) if every else load()
    except OSError:
        return load()


def _ticks() -> tuple[int, int]:
    """What all cores have idled since the machine started, and what they have done in all."""
    words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    ticks = [int(word) for word in words]
    return ticks[3] + ticks[4], sum(ticks)


def load() -> float:
    """How many processes wanted a core in the last minute."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # Windows has none
        return 0.0


def _sum_up(
    samples: dict[str, list[float]],
    worlds: int,
    cores: int,
    seconds: float,
    compile_s: float,
    errors_m: tuple[float, float],
    busy: tuple[float, float],
    shares: list[float],
    engine: Engine | None,
) -> BenchReport:
    median = {name: statistics.median(values) for name, values in samples.items() if values}
    godot = median.get("godot")
    share, busy_after = statistics.median(shares), busy_cores()
    return BenchReport(
        agent_steps_per_s=median["all_cores"],
        agent_steps_per_s_one_core=median["one_core"],
        numpy_agent_steps_per_s=median["numpy"],
        godot_agent_steps_per_s=godot,
        times_numpy=median["all_cores"] / median["numpy"],
        times_numpy_one_core=median["one_core"] / median["numpy"],
        times_godot=median["all_cores"] / godot if godot else None,
        times_godot_one_core=median["one_core"] / godot if godot else None,
        worlds=worlds,
        cores=cores,
        repeats=len(samples["all_cores"]),
        seconds=seconds,
        compile_s=compile_s,
        numpy_position_error_m=errors_m[0],
        numpy_ray_error_m=errors_m[1],
        busy_before=busy[1],
        busy_after=busy_after,
        load_average=busy[0],
        core_share=share,
        is_quiet=max(busy[1], busy_after) <= QUIET_BUSY * cores and share >= QUIET_SHARE,
        machine=f"{platform.machine()}, {cpu_name()}, {os.cpu_count()} cores",
        versions={
            "godojo": godojo.__version__,
            "python": platform.python_version(),
            "numba": numba.__version__,
            "numpy": np.__version__,
            "godot": engine.version if engine else "none",
        },
        samples=samples,
    )


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
