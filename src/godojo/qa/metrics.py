"""An evaluation as a small JSON file: named metrics with intervals, for baselines and regressions."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from godojo.errors import GodojoError
from godojo.evaluation.evaluation import ITSELF, Evaluation
from godojo.evaluation.external import TRAINED, ExternalEvaluation
from godojo.evaluation.intervals import Z95, Mean, Proportion
from godojo.evaluation.solo import SoloEvaluation
from godojo.files import atomic_write
from godojo.formats import QA

Better = Literal["higher", "lower", ""]
REWARD, LENGTH, SUCCESS = "mean_reward", "mean_episode_length", "success_rate"
HIGHER = (REWARD, SUCCESS)
LOWER_WORDS = ("collision", "warning", "comfort_activation", "error", "leak", "fall")
"""A metric whose name has one of them is better when it is lower. Times and memory are not judged unless asked for:
they differ between machines, and `qa validate` has limits for them."""
MAX_BYTES = 2**20


class Metric(msgspec.Struct, frozen=True):
    """A mean over episodes with its 95 % interval; bounds are None where too few episodes give none."""

    mean: float
    low: float | None
    high: float | None
    episodes: int = 0
    better: Better = ""
    """Empty: reported, but never judged."""

    @property
    def below(self) -> float:
        """From the mean down to the lower bound."""
        return math.inf if self.low is None else self.mean - self.low

    @property
    def above(self) -> float:
        return math.inf if self.high is None else self.high - self.mean

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return f"{self.mean:.4g}"
        return f"{self.mean:.4g} ({self.low:.4g} to {self.high:.4g})" if self.low < self.high else f"{self.mean:.4g}"


class PolicyMetrics(msgspec.Struct, frozen=True):
    """What `godojo qa evaluate` writes. The three numbers are those of the metrics of the same name."""

    policy: str
    game: str
    engine: str
    episodes: int
    seed: int
    deterministic: bool
    agent_steps: dict[str, int]
    mean_reward: float | None
    mean_episode_length: float | None
    success_rate: float | None
    metrics: dict[str, Metric]
    format: str = QA.tag

    def write(self, path: Path) -> None:
        atomic_write(path, msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")


def policy_metrics(found: Evaluation | SoloEvaluation | ExternalEvaluation) -> PolicyMetrics:
    """The metrics of any evaluation but a comparison of engines."""
    rows = list(_rows(found))
    is_single = len(rows) == 1
    metrics = pooled([row for _, is_summed, row in rows if is_summed or is_single])
    if not is_single:
        metrics |= {f"{title}/{name}": metric for title, _, row in rows for name, metric in row.items()}
    steps = found.agent_steps if isinstance(found.agent_steps, dict) else {"": found.agent_steps}
    means: dict[str, Any] = {
        name: metrics[name].mean if name in metrics else None for name in (REWARD, LENGTH, SUCCESS)
    }
    return PolicyMetrics(
        policy=found.policy,
        game=found.game,
        engine="godot" if isinstance(found, ExternalEvaluation) else found.engine,
        episodes=found.episodes if isinstance(found, ExternalEvaluation) else found.rounds,
        seed=found.seed,
        deterministic=found.deterministic,
        agent_steps=steps,
        metrics=metrics,
        **means,
    )


def _rows(found: Evaluation | SoloEvaluation | ExternalEvaluation) -> Iterator[tuple[str, bool, dict[str, Metric]]]:
    """A title, whether it is part of the headline, and metrics by name: of each role and opponent."""
    if isinstance(found, Evaluation):
        for verdict in found.verdicts:
            values = {REWARD: verdict.reward, LENGTH: verdict.length, SUCCESS: verdict.wins, **verdict.measures}
            title = f"{verdict.role}/{verdict.opponent}"
            yield title, verdict.opponent != ITSELF, dict(_known(values, found.rounds))
    elif isinstance(found, SoloEvaluation):
        first = next(iter(found.measures), None)
        values = {REWARD: found.reward, LENGTH: found.length, **found.measures, **found.means}
        yield "", True, dict(_known({SUCCESS: found.measures[first] if first else None} | values, found.rounds))
    else:
        for one in found.performances:
            if one.player == TRAINED:
                values = {REWARD: one.reward, LENGTH: one.length, SUCCESS: one.success, **one.measures, **one.means}
                yield one.role, True, dict(_known(values, one.episodes))


def _known(values: Mapping[str, Mean | Proportion | None], episodes: int) -> Iterator[tuple[str, Metric]]:
    for name, value in values.items():
        if value is not None and name != "success":  # which is `success_rate`
            yield name, _metric(name, value, episodes)


def _metric(name: str, value: Mean | Proportion, episodes: int) -> Metric:
    if isinstance(value, Proportion):
        return Metric(value.rate, value.low, value.high, value.rounds, direction(name))
    low, high = (bound if math.isfinite(bound) else None for bound in (value.low, value.high))
    return Metric(value.mean, low, high, episodes, direction(name))


def direction(name: str) -> Better:
    last = name.rpartition("/")[2]
    if last in HIGHER:
        return "higher"
    return "lower" if any(word in name for word in LOWER_WORDS) else ""


def pooled(rows: list[dict[str, Metric]]) -> dict[str, Metric]:
    """The mean of each metric that all rows have, weighted equally."""
    names = [name for name in rows[0] if all(name in row for row in rows)] if rows else []
    return {name: _pooled([row[name] for row in rows]) for name in names}


def _pooled(metrics: list[Metric]) -> Metric:
    count = len(metrics)
    mean = sum(metric.mean for metric in metrics) / count
    below = math.hypot(*(metric.below for metric in metrics)) / count
    above = math.hypot(*(metric.above for metric in metrics)) / count
    return Metric(
        mean,
        mean - below if math.isfinite(below) else None,
        mean + above if math.isfinite(above) else None,
        sum(metric.episodes for metric in metrics),
        metrics[0].better,
    )


def over_runs(runs: list[PolicyMetrics]) -> PolicyMetrics:
    """The metrics of several trainings, as what one more may reach: bounds include how much trainings differ."""
    first = runs[0]
    for run in runs[1:]:
        if (run.game, run.engine) != (first.game, first.engine):
            raise GodojoError(f"{run.policy} plays {run.game} on {run.engine}, not {first.game} on {first.engine}")
    metrics = pooled([run.metrics for run in runs])
    if len(runs) > 1:
        for name, metric in metrics.items():
            spread = Z95 * float(np.std([run.metrics[name].mean for run in runs], ddof=1))
            low = None if metric.low is None else metric.mean - math.hypot(spread, metric.below)
            high = None if metric.high is None else metric.mean + math.hypot(spread, metric.above)
            metrics[name] = msgspec.structs.replace(metric, low=low, high=high)
    means: dict[str, Any] = {
        name: metrics[name].mean if name in metrics else None for name in (REWARD, LENGTH, SUCCESS)
    }
    policy, episodes = ", ".join(run.policy for run in runs), sum(run.episodes for run in runs)
    return msgspec.structs.replace(first, policy=policy, episodes=episodes, metrics=metrics, **means)


def read_metrics(path: Path) -> PolicyMetrics:
    """Reads what `write` wrote, or any JSON object with numbers, such as `{"mean_reward": 3.5}`, taken as exact."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        tree = msgspec.json.decode(content if len(content) <= MAX_BYTES else b"")
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise GodojoError(f"{path} is no JSON file of metrics ({error})") from None
    if not isinstance(tree, dict):
        raise GodojoError(f"{path} must be a JSON object with metrics, as `qa evaluate` writes one")
    if "metrics" not in tree:
        return _bare(path, tree)
    QA.version_of(tree.get("format"), path)
    try:
        return msgspec.convert(tree, PolicyMetrics)
    except msgspec.ValidationError as error:
        raise GodojoError(f"{path} is no file of `qa evaluate` ({error}): write it again") from None


def _bare(path: Path, tree: Mapping[str, object]) -> PolicyMetrics:
    numbers = {name: float(value) for name, value in tree.items() if type(value) in (int, float)}  # type: ignore[arg-type]
    if not numbers:
        raise GodojoError(f"{path} has no metrics: there is no number in it, such as {REWARD!r}")
    metrics = {name: Metric(value, value, value, 0, direction(name)) for name, value in numbers.items()}
    headline: dict[str, Any] = {name: numbers.get(name) for name in (REWARD, LENGTH, SUCCESS)}
    return PolicyMetrics(
        str(path), str(tree.get("game", "")), "", 0, 0, deterministic=True, agent_steps={}, metrics=metrics, **headline
    )
