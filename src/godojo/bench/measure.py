"""What all benchmarks share: the machine and how busy others keep it, random actions, and taking turns."""

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import godojo
from godojo.engines.base import Worlds
from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import problem_lines, run_project
from godojo.engines.godot.report import Report
from godojo.engines.random_play import play_randomly
from godojo.errors import GodojoError
from godojo.runs.config import processor

RING = 16
"""Sets of random actions, drawn beforehand and used in turn."""
QUIET_BUSY = 0.3
"""A machine of which others keep less than this share busy is quiet."""
SAMPLED_S = 0.5
ENGINE_TIMEOUT_S = 60.0

Part = tuple[str, str, Callable[[], float]]
"""A contender's name, its title, and a function that measures it once."""
Actions = dict[str, np.ndarray]


class Conditions(msgspec.Struct, kw_only=True):
    """The machine, and what else it did meanwhile."""

    cores: int
    busy_before: float
    """Cores that other programs kept busy just before; likewise after."""
    busy_after: float
    load_average: float
    """Processes that wanted a core in the minute before."""
    is_quiet: bool
    machine: str
    versions: dict[str, str]


class Surroundings:
    """Measures how busy the machine is before and after a benchmark."""

    def __init__(self, report: Report) -> None:
        self.load_average, self.busy_before, self.cores = load(), busy_cores(), os.cpu_count() or 1
        if self.busy_before > QUIET_BUSY * self.cores:
            busy = f"{self.busy_before:.1f} of {self.cores} cores are busy"
            report.say(f"the machine is not quiet ({busy}): the figures will be off")

    def conditions(self, packages: Sequence[str], **versions: str) -> dict[str, Any]:
        """The fields of `Conditions`, as of now."""
        busy_after = busy_cores()
        return {
            "cores": self.cores,
            "busy_before": self.busy_before,
            "busy_after": busy_after,
            "load_average": self.load_average,
            "is_quiet": max(self.busy_before, busy_after) <= QUIET_BUSY * self.cores,
            "machine": f"{platform.machine()}, {processor()}, {self.cores} cores",
            "versions": {"godojo": godojo.__version__, "python": platform.python_version()}
            | {name: metadata.version(name) for name in packages}
            | versions,
        }


def check_lengths(seconds: float, repeats: int, worlds: int = 1) -> None:
    if worlds < 1 or not 0.05 <= seconds <= 600 or repeats < 1:
        raise GodojoError("bench needs at least one world and one repeat, and from 0.05 to 600 seconds")


def take_turns(parts: Sequence[Part], repeats: int, report: Report) -> dict[str, list[float]]:
    """Measures each part once per turn, one right after the other, so other load affects all of them alike."""
    samples: dict[str, list[float]] = {name: [] for name, _, _ in parts}
    for repeat in range(repeats):
        for place, (name, title, run) in enumerate(parts):
            report.progress(f"turn {repeat + 1} of {repeats}: {title}", repeat / repeats + place / repeats / len(parts))
            samples[name].append(run())
    return samples


def random_actions(worlds: Worlds) -> list[Actions]:
    """`RING` sets of random actions of all roles; the actions of `worlds` are overwritten."""
    rng, ring = np.random.default_rng(5), []
    for _ in range(RING):
        for role in worlds.roles.values():
            play_randomly(role, rng)
        ring.append({name: role.action.copy() for name, role in worlds.roles.items()})
    return ring


def agent_count(worlds: Worlds) -> int:
    return sum(role.acted.size for role in worlds.roles.values())


def speed(step: Callable[[int], None], agent_steps: int, seconds: float) -> float:
    """Agent-steps per second over at least this many seconds, after two steps to warm up."""
    step(0)
    step(1)
    turns, begun = 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < seconds:
        step(turns % RING)
        turns += 1
    return turns * agent_steps / passed


def speed_of_script(engine: Engine, words: Sequence[str], seconds: float) -> float:
    """Agent-steps per second that a script of the Godot project measures: `words` are its path and its options."""
    script, *options = words
    command = ["--headless", "--fixed-fps", "60", "--script", script, "--", *options, f"--seconds={seconds}"]
    done = run_project(engine, command, timeout_s=ENGINE_TIMEOUT_S + seconds)
    code = 1 if done.timed_out or problem_lines(done.output) else done.code
    return printed_speed(done.output, code, "Godot")


def printed_speed(output: str, code: int | None, who: str) -> float:
    """From the last line of JSON that a program printed."""
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if code or not lines:
        raise GodojoError(f"{who} could not be measured: {' '.join(output.split())[-300:]}")
    found = json.loads(lines[-1])
    return float(found["agent_steps"] / found["seconds"])


def busy_cores() -> float:
    """Cores that are busy now; where the system does not say, the processes that wanted one in the last minute."""
    try:
        first = _ticks()
        time.sleep(SAMPLED_S)
        idle, every = (after - before for before, after in zip(first, _ticks(), strict=True))
        return (os.cpu_count() or 1) * (1.0 - idle / every) if every else load()
    except OSError:
        return load()


def _ticks() -> tuple[int, int]:
    """Ticks that all cores have idled since the machine started, and all ticks."""
    words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]
    ticks = [int(word) for word in words]
    return ticks[3] + ticks[4], sum(ticks)


def load() -> float:
    """Processes that wanted a core in the last minute."""
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # Windows has none
        return 0.0
