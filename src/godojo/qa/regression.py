"""Whether a policy is worse than its baseline: by intervals of differences, never by bare numbers."""

import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from godojo.errors import GodojoError, command, option, unknown
from godojo.qa.metrics import Better, Metric, PolicyMetrics

Verdict = Literal["better", "same", "unclear", "worse"]
TOLERANCE = 0.1


class MetricChange(msgspec.Struct, frozen=True):
    """How far one metric is from its baseline. Positive differences are improvements, whichever direction that is."""

    name: str
    current: Metric
    baseline: Metric
    gain: float
    low: float
    """The 95 % interval of the gain."""
    high: float
    allowed: float
    """The loss that the tolerance allows."""

    @property
    def verdict(self) -> Verdict:
        """`worse`: surely by more than the tolerance; `unclear`: by more, but within noise."""
        if self.high < -self.allowed:
            return "worse"
        if self.gain < -self.allowed:
            return "unclear"
        return "better" if self.low > 0.0 else "same"

    @property
    def is_improved(self) -> bool:
        return self.low > 0.0

    @property
    def is_reduced(self) -> bool:
        return self.high < 0.0

    def __str__(self) -> str:
        title = "FAIL" if self.verdict == "worse" else "PASS"
        why = {
            "worse": f"worse by more than {self.allowed:.4g}",
            "unclear": "worse, but within noise: evaluate more episodes to decide",
            "better": "better",
            "same": "no regression",
        }[self.verdict]
        return f"{title} {self.name}: {self.current}, baseline {self.baseline}: {why}"


def change(name: str, current: Metric, baseline: Metric, better: Better, tolerance: float) -> MetricChange:
    """The tolerance is a share of the baseline's magnitude, so it also allows a loss from a negative one."""
    sign = -1.0 if better == "lower" else 1.0
    up, down = (current.above, current.below), (baseline.above, baseline.below)
    (rise, fall), (base_rise, base_fall) = (up, down) if sign > 0 else (up[::-1], down[::-1])
    gain = sign * (current.mean - baseline.mean) + 0.0  # rather than -0
    return MetricChange(
        name,
        current,
        baseline,
        gain,
        gain - math.hypot(fall, base_rise),
        gain + math.hypot(rise, base_fall),
        tolerance * abs(baseline.mean),
    )


def compare(
    current: PolicyMetrics,
    baseline: PolicyMetrics,
    *,
    tolerance: float = TOLERANCE,
    higher: Collection[str] = (),
    lower: Collection[str] = (),
) -> list[MetricChange]:
    """Every metric that both have and whose better direction is known; `higher` and `lower` name further ones."""
    if not 0.0 <= tolerance < math.inf:
        raise GodojoError(f"{option('tolerance')} must be 0 or more, such as 0.1 for a tenth, not {tolerance:g}")
    for part in ("game", "engine"):
        one, other = getattr(current, part), getattr(baseline, part)
        if one and other and one != other:
            raise GodojoError(f"the baseline is of {part} {other}, the current metrics are of {one}: not comparable")
    shared = [name for name in baseline.metrics if name in current.metrics]
    for name in (*higher, *lower):
        if name not in shared:
            raise unknown("metric that both files have called", name, shared)
    lost = [name for name, metric in baseline.metrics.items() if metric.better and name not in current.metrics]
    if lost:
        raise GodojoError(f"the current metrics lack {', '.join(lost)}, which the baseline has: evaluate more episodes")
    changes = list(_changes(current, baseline, shared, tolerance, higher, lower))
    if not changes:
        raise GodojoError(
            f"the two files share no metric to judge: name one with {option('higher')} or {option('lower')}"
        )
    return changes


def _changes(
    current: PolicyMetrics,
    baseline: PolicyMetrics,
    shared: list[str],
    tolerance: float,
    higher: Collection[str],
    lower: Collection[str],
) -> Iterator[MetricChange]:
    for name in shared:
        one, other = current.metrics[name], baseline.metrics[name]
        better: Better = "higher" if name in higher else "lower" if name in lower else one.better
        if better:
            yield change(name, one, other, better, tolerance)


def improves(changes: list[MetricChange]) -> bool:
    """Whether a metric is surely better and none surely worse: noise never replaces a baseline."""
    return any(one.is_improved for one in changes) and not any(one.is_reduced for one in changes)


def replace_baseline(
    current: PolicyMetrics,
    path: Path,
    baseline: PolicyMetrics | None,
    *,
    force: bool = False,
    higher: Collection[str] = (),
    lower: Collection[str] = (),
) -> str:
    """Writes the current metrics as the baseline if there is none or if they improve it; returns what it did."""
    if baseline is None or force:
        current.write(path)
        return f"{'wrote' if baseline is None else 'replaced'} {path}"
    changes = compare(current, baseline, tolerance=0.0, higher=higher, lower=lower)
    if improves(changes):
        current.write(path)
        names = ", ".join(one.name for one in changes if one.is_improved)
        return f"replaced {path}: better in {names}"
    worse = [one.name for one in changes if one.is_reduced]
    why = f"worse in {', '.join(worse)}" if worse else "no improvement beyond noise"
    return f"kept {path}: {why}"


def missing_baseline(path: Path) -> GodojoError:
    made = command(f"qa baseline --current CURRENT.json --baseline {path}")
    return GodojoError(f"there is no baseline {path}; make one: {made}")
