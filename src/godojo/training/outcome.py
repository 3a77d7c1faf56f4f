"""Runs a prepared training, evaluates its policies, and lists the commands to try next."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from rich.console import Group, RenderableType

from godojo.engines.godot.worlds import GodotWorlds
from godojo.evaluation.evaluation import Evaluation, has_opponents, judge
from godojo.evaluation.external import ExternalEvaluation, evaluate_external, source_of
from godojo.evaluation.solo import SoloEvaluation, evaluate_solo, is_solo_policy
from godojo.evaluation.stability import Stability, http_worlds, memory_mb, stability
from godojo.evaluation.tables import progress_table, twin_table
from godojo.files import atomic_write
from godojo.runs.external import can_be_launched, is_external
from godojo.runs.folder import NON_FINITE, RunFolder
from godojo.show.policies_to_show import can_be_shown
from godojo.training.notices import TrainingNotices
from godojo.training.setup import resume_words
from godojo.training.twins import twin_worlds

if TYPE_CHECKING:
    from godojo.learn.training import Training, TrainingStatus


EXTERNAL_EPISODES, EXTERNAL_SECONDS = 100, 15.0
"""The most of an external game after training, for each player; `eval` plays longer."""


class Outcome(NamedTuple):
    """How a training ended."""

    is_spent: bool
    """Whether the budget is spent, or the scene has ended the training; otherwise the training was stopped."""
    stability: Stability | None
    """Of games that were trained over HTTP; also in the run's `stability.json`."""
    script_errors: tuple[int, str] = (0, "")
    """How many errors the game's scripts caused, and the first; also in the run's `script_errors.json`."""
    non_finite: Mapping[str, int] = {}
    """Observations and rewards that were not finite and were replaced, by node and field; also in the run's
    `non_finite.json`."""


class FinalEvaluation(NamedTuple):
    """The evaluation of a run's policies, and of those that it started with; `rich` prints it as a table."""

    after: Evaluation | SoloEvaluation | ExternalEvaluation
    before: Evaluation | None = None
    """Only for runs that started from the policies of another run."""
    on_twin: ExternalEvaluation | None = None
    """The same policies on the twin that they were trained on, where `after` is the real engine."""

    def __rich__(self) -> RenderableType:
        if self.on_twin is not None and isinstance(self.after, ExternalEvaluation):
            return Group(self.after, "", twin_table(self.on_twin, self.after))
        if self.before is None or not isinstance(self.after, Evaluation):
            return self.after
        return progress_table(self.before, self.after)


def run_training(training: "Training", report: "Callable[[TrainingStatus], None]") -> Outcome:
    """Train until the budget is spent or the training is stopped; the run is saved either way."""
    games = http_worlds(training.worlds)
    before_mb = 0.0 if games is None else memory_mb(games)
    if training.run.config.engine == "godot":
        is_spent = TrainingNotices(training).train(report)
    else:
        is_spent = training.train(report)
    if games is None:
        return Outcome(is_spent, None, _script_errors(training), _non_finite(training))
    found = stability(games, training.agent_steps, before_mb)
    text = msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n"
    atomic_write(training.run.path / "stability.json", text)
    return Outcome(is_spent, found)


def _script_errors(training: "Training") -> tuple[int, str]:
    """Those of the games, also written into the run."""
    count, first = training.worlds.script_errors if isinstance(training.worlds, GodotWorlds) else (0, "")
    if count:
        text = msgspec.json.format(msgspec.json.encode({"count": count, "first": first}), indent=2) + b"\n"
        atomic_write(training.run.path / "script_errors.json", text)
    return count, first


def _non_finite(training: "Training") -> Mapping[str, int]:
    """Those of the games, also written into the run and added to those of its earlier stretches."""
    found: dict[str, int] = training.worlds.non_finite if isinstance(training.worlds, GodotWorlds) else {}
    if found:
        total = training.run.non_finite()
        total = {where: total.get(where, 0) + found.get(where, 0) for where in {**total, **found}}
        atomic_write(training.run.path / NON_FINITE, msgspec.json.format(msgspec.json.encode(total), indent=2) + b"\n")
    return found


def evaluate_training(
    run: RunFolder,
    episodes: int,
    *,
    started_from_policies: bool = False,
    progress: Callable[[str, float | None], None] | None = None,
) -> FinalEvaluation | None:
    """Play `episodes` rounds of each match; None if the game has neither opponents nor a solo evaluation.

    A run that started from another run's policies is also evaluated as it was at its start.
    """
    where = str(run.path)
    if is_external(run.config.game):
        if "connect" in run.config.more:
            return None  # the user may have closed it
        few, source = min(episodes, EXTERNAL_EPISODES), source_of(where)
        how: dict[str, Any] = {"episodes": few, "seconds": EXTERNAL_SECONDS, "progress": progress}
        real = evaluate_external(where, source, **how)
        if run.config.engine != "sim":
            return FinalEvaluation(real)
        twin = twin_worlds(source, seed=run.config.seed)
        return FinalEvaluation(real, on_twin=evaluate_external(where, source, twin=twin, **how))
    if is_solo_policy(run.config.game):
        return FinalEvaluation(evaluate_solo(where, rounds=episodes, progress=progress))
    if not has_opponents(run.config):
        return None
    learning = [role for role in run.config.roles if run.role_map().read().get(role, "train") == "train"]
    role = learning[0] if started_from_policies and len(learning) == 1 else None
    after = judge(where, role=role, rounds=episodes, progress=progress)
    if not started_from_policies:
        return FinalEvaluation(after)
    return FinalEvaluation(after, judge(f"{where}@start", role=role, rounds=episodes, progress=progress))


def next_commands(run: RunFolder) -> list[str]:
    """The commands that work with this run, without the program's name."""
    offered = {
        "watch": can_be_shown(run),
        "film": can_be_shown(run),
        "eval": is_external(run.config.game) or is_solo_policy(run.config.game) or has_opponents(run.config),
        "record": can_be_launched(run),
        "league": has_opponents(run.config) and not run.config.opponents and "tasks" not in run.config.more,
        "export": True,
    }
    by_hand = is_external(run.config.game) and "connect" in run.config.more
    commands = [f"{name} {run.name}" for name, is_offered in offered.items() if is_offered]
    commands = [f"{words} --connect" if by_hand and words.startswith("eval ") else words for words in commands]
    return [*commands, f"train {resume_words(run)} --minutes 10"]
