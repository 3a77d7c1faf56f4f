"""How fast a game's twin is, on all cores and on one, beside the same rules in plain NumPy and the real Godot.

Everything plays at random. A turn measures each contender once, one right after the other; the median over the turns
counts. An agent-step is one decision of one agent: its ticks, rules, rewards and observation.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numba

from godojo.bench.measure import (
    RING,
    Actions,
    Conditions,
    Part,
    Surroundings,
    agent_count,
    check_lengths,
    random_actions,
    speed,
    speed_of_script,
    take_turns,
)
from godojo.engines.base import Worlds
from godojo.engines.godot.find import Engine, EngineMissing, find
from godojo.engines.godot.report import Report, Silent
from godojo.engines.make import DEVICES, make_vec
from godojo.errors import GodojoError, unknown
from godojo.games.base import game_named
from godojo.kernels.compile import is_compiled

if TYPE_CHECKING:
    from godojo.engines.device import DeviceWorlds

CUDA_WORLDS = 131072
"""Fewer do not fill a large GPU."""
SAME_M = 1e-3
QUIET_SHARE = 0.95
"""A measurement on one core that got less of it than this was disturbed."""


class NumpyGame(Protocol):
    """A game's rules on arrays over many worlds."""

    def step(self, actions: Actions) -> None:
        """One decision in every world."""


@dataclass(frozen=True)
class Baseline:
    """What a game offers so that its twin's speed can be compared."""

    title: str
    """The rounds that are played."""
    options: dict[str, Any]
    """Options of the twin's worlds."""
    start: Callable[[Worlds], NumpyGame]
    """The game in NumPy, started from the state of these worlds."""
    worlds: int
    """The number of worlds at which NumPy is fastest."""
    errors_m: Callable[[], dict[str, float]]
    """How far NumPy is from the twin after a few decisions."""
    script: Callable[[Path, int], list[str]] | None = None
    """From a scratch folder and the turn's number: a script of the Godot project that plays the game with nobody
    connected, and its options."""


class SimReport(Conditions, kw_only=True):
    """The result of `godojo bench sim`."""

    game: str
    title: str
    agent_steps_per_s: float
    """The twin on all cores."""
    agent_steps_per_s_one_core: float
    numpy_agent_steps_per_s: float | None
    """None for a game without a NumPy baseline."""
    godot_agent_steps_per_s: float | None
    """One headless process; None without Godot or a script that measures it."""
    times_numpy: float | None
    times_numpy_one_core: float | None
    times_godot: float | None
    times_godot_one_core: float | None
    worlds: int
    repeats: int
    seconds: float
    compile_s: float
    """Seconds of compiling kernels; 0 when they were compiled before."""
    numpy_errors_m: dict[str, float]
    core_share: float
    """The share of a core that the measurement on one core got."""
    samples: dict[str, list[float]]
    cuda_agent_steps_per_s: float | None = None
    """The twin on a GPU; None unless it is asked for."""
    cuda_worlds: int = 0
    cuda_bytes: int = 0
    """Of the GPU's memory, taken by the worlds."""
    cuda_device: str = ""


def measure(
    game: str = "tag",
    worlds: int = 4096,
    seconds: float = 2.0,
    repeats: int = 5,
    device: str = "cpu",
    report: Report | None = None,
) -> SimReport:
    """Measures everything; takes about `repeats` times four times `seconds`.

    With `device="cuda"`, the twin on a GPU as well: as many worlds, but at least `CUDA_WORLDS`.
    """
    check_lengths(seconds, repeats, worlds)
    if device not in DEVICES:
        raise unknown("device", device, DEVICES)
    report = report or Silent()
    on_gpu = _on_gpu(game, max(worlds, CUDA_WORLDS)) if device == "cuda" else None
    offered = game_named(game).numpy_baseline
    baseline: Baseline | None = offered() if offered is not None else None
    surroundings, cores = Surroundings(report), numba.get_num_threads()
    engine = _engine(report) if baseline is not None and baseline.script is not None else None
    options = {} if baseline is None else baseline.options
    report.step("loading the kernels")  # the engine reports when they must be compiled first
    was_compiled, begun = is_compiled(), time.perf_counter()
    twin = make_vec(game, num_worlds=worlds, seed=1, **options)
    twin.step()
    compile_s = 0.0 if was_compiled else time.perf_counter() - begun
    ring, agents = random_actions(twin), agent_count(twin)
    shares: list[float] = []

    def twin_on(threads: int) -> float:
        numba.set_num_threads(threads)
        try:
            begun_cpu, begun = time.process_time(), time.perf_counter()
            found = speed(lambda turn: twin.step(ring[turn]), agents, seconds)
            if threads == 1:
                shares.append((time.process_time() - begun_cpu) / (time.perf_counter() - begun))
            return found
        finally:
            numba.set_num_threads(cores)

    parts: list[Part] = [
        ("all_cores", f"twin on {cores} cores", lambda: twin_on(cores)),
        ("one_core", "twin on one core", lambda: twin_on(1)),
    ]
    if on_gpu is not None:
        parts.append(("cuda", "twin on the GPU", lambda: on_gpu.speed(seconds)))
    errors_m: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        if baseline is None:
            report.say(f"not measured against NumPy: {game} has no NumPy baseline")
        else:
            report.step("checking that NumPy plays the same game")
            errors_m = baseline.errors_m()
            if (worst_m := max(errors_m.values())) > SAME_M:
                raise GodojoError(f"NumPy and the twin disagree by {worst_m:.4f} m; nothing was measured")
            start = make_vec(game, num_worlds=baseline.worlds, seed=2, **options)
            plain, plain_ring, count = baseline.start(start), random_actions(start), agent_count(start)
            parts.append(("numpy", "NumPy", lambda: speed(lambda turn: plain.step(plain_ring[turn]), count, seconds)))
            if engine is not None and baseline.script is not None:
                script, turns = baseline.script, iter(range(repeats))
                godot = lambda: speed_of_script(engine, script(Path(folder), next(turns)), seconds)  # noqa: E731
                parts.append(("godot", "Godot", godot))
        samples = take_turns(parts, repeats, report)
    median = {name: statistics.median(values) for name, values in samples.items()}
    conditions = surroundings.conditions(("numba", "numpy"), godot=engine.version if engine else "none")
    share = statistics.median(shares)
    conditions["is_quiet"] = conditions["is_quiet"] and share >= QUIET_SHARE

    def times(ours: str, theirs: str) -> float | None:
        return median[ours] / median[theirs] if theirs in median else None

    return SimReport(
        **conditions,
        game=game,
        title=baseline.title if baseline is not None else "random play",
        agent_steps_per_s=median["all_cores"],
        agent_steps_per_s_one_core=median["one_core"],
        numpy_agent_steps_per_s=median.get("numpy"),
        godot_agent_steps_per_s=median.get("godot"),
        times_numpy=times("all_cores", "numpy"),
        times_numpy_one_core=times("one_core", "numpy"),
        times_godot=times("all_cores", "godot"),
        times_godot_one_core=times("one_core", "godot"),
        worlds=worlds,
        repeats=repeats,
        seconds=seconds,
        compile_s=compile_s,
        numpy_errors_m=errors_m,
        core_share=share,
        samples=samples,
        cuda_agent_steps_per_s=median.get("cuda"),
        cuda_worlds=on_gpu.worlds.num_worlds if on_gpu else 0,
        cuda_bytes=on_gpu.worlds.memory_bytes if on_gpu else 0,
        cuda_device=on_gpu.name if on_gpu else "",
    )


class OnGpu:
    """The twin on a GPU, with random actions that are there already."""

    def __init__(self, worlds: "DeviceWorlds") -> None:
        import torch

        self.worlds = worlds
        self.name = torch.cuda.get_device_name() if worlds.device.type == "cuda" else "simulated"
        self._ring = [
            {name: torch.rand_like(role.action) * 2.0 - 1.0 for name, role in worlds.roles.items()} for _ in range(RING)
        ]
        self._agents = sum(role.reward.numel() for role in worlds.roles.values())

    def speed(self, seconds: float) -> float:
        def step(turn: int) -> None:
            self.worlds.step(self._ring[turn])
            if turn == RING - 1:
                self.worlds.synchronize()

        return speed(step, self._agents, seconds)


def _on_gpu(game: str, worlds: int) -> OnGpu:
    offered = game_named(game).numpy_baseline
    options = {} if offered is None else offered().options
    made: Any = make_vec(game, num_worlds=worlds, seed=1, device="cuda", **options)
    return OnGpu(made)


def _engine(report: Report) -> Engine | None:
    try:
        return find()
    except EngineMissing as error:
        report.say(f"not measured against Godot: {error}")
        return None
