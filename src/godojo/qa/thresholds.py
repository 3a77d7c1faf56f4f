"""Whether a training met its thresholds: last mean reward, worst frame time, finite metrics."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from godojo.errors import GodojoError
from godojo.runs.folder import RunFolder
from godojo.show.curves import read_table

REWARD = "rollout/ep_rew_mean"
FRAME_MS = ("performance/physics_frame_time_max_ms", "worst frame ms", "worst_frame_ms")
"""Names of the worst frame time, as measures of agents and as tags."""
RATIO, BUDGET_MS = "performance/physics_frame_time_ratio", 1000.0 / 90.0


class Check(msgspec.Struct, frozen=True):
    """One threshold; prints as a line."""

    name: str
    passed: bool
    detail: str

    def __str__(self) -> str:
        return f"{'PASS' if self.passed else 'FAIL'} {self.name}: {self.detail}"


def validate(
    source: RunFolder | Path,
    *,
    min_reward: float | None = None,
    max_physics_time: float | None = None,
    role: str | None = None,
) -> list[Check]:
    """Checks a run, or a folder of TensorBoard logs, against thresholds; roles have to pass each."""
    series = _of_run(source) if isinstance(source, RunFolder) else _of_tensorboard(source)
    rewards = {name: values for name, values in series.items() if name.endswith(REWARD) and values}
    if role is not None:
        rewards = {name: values for name, values in rewards.items() if name.startswith(f"{role}/")}
    checks = []
    if min_reward is not None:
        if not rewards:
            checks.append(Check(REWARD, False, "none: no episode ended; train longer"))
        for name, values in rewards.items():
            checks.append(Check(name, values[-1] >= min_reward, f"last {values[-1]:.4g}, at least {min_reward:g}"))
    if max_physics_time is not None:
        worst_ms = _worst_frame_ms(series)
        detail = "none: put a DojoPerformanceMonitor into the scene, and its measures() into the agent's"
        if worst_ms is not None:
            detail = f"worst {worst_ms:.2f} ms, at most {max_physics_time:g} ms"
        is_met = worst_ms is not None and worst_ms <= max_physics_time
        checks.append(Check("physics frame time", is_met, detail))
    numbers = sum(len(values) for values in series.values())
    broken = sorted(name for name, values in series.items() if not all(map(math.isfinite, values)))
    found = f"not finite: {', '.join(broken)}" if broken else f"{numbers:,} numbers are finite"
    checks.append(Check("metrics", bool(numbers) and not broken, found if numbers else "there are none"))
    return checks


def _worst_frame_ms(series: dict[str, list[float]]) -> float | None:
    for names, factor in ((FRAME_MS, 1.0), ((RATIO,), BUDGET_MS)):
        values = [value for name, found in series.items() if name.endswith(names) for value in found]
        if values:
            return factor * max(values)
    return None


def _of_run(run: RunFolder) -> dict[str, list[float]]:
    """The columns of both tables; those of single episodes have the extremes that means hide."""
    series: dict[str, list[float]] = {}
    for table in (run.updates, run.metrics):
        series |= {name: list(_numbers(texts)) for name, texts in read_table(table).columns.items()}
    return {name: values for name, values in series.items() if values}


def _numbers(texts: Sequence[str]) -> Iterator[float]:
    """The numbers of a column; a column of words has none."""
    for text in texts:
        try:
            yield float(text)
        except ValueError:
            if text:
                return


def _of_tensorboard(folder: Path) -> dict[str, list[float]]:
    from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
    from tensorboard.compat.proto.event_pb2 import Event

    files = sorted(folder.rglob("events.out.tfevents.*")) if folder.is_dir() else []
    if not files:
        raise GodojoError(f"{folder} is neither a run nor a folder with TensorBoard logs")
    series: dict[str, list[float]] = {}
    for file in files:
        prefix = "" if file.parent == folder else f"{file.parent.relative_to(folder).as_posix()}/"
        for record in RawEventFileLoader(str(file)).Load():
            for value in Event.FromString(record).summary.value:
                if value.HasField("simple_value"):
                    series.setdefault(prefix + value.tag, []).append(value.simple_value)
                elif value.tensor.float_val:
                    series.setdefault(prefix + value.tag, []).append(value.tensor.float_val[0])
    return series
