"""How a training ends: a table of how good it was, charts, where everything lies, and what to try next."""

import sys
from collections.abc import Callable

from godojo.cli.console import err, out, progress_report
from godojo.cli.eval import show, show_alone, show_progress
from godojo.cli.training_setup import resume_words
from godojo.errors import command
from godojo.evaluate.evaluation import has_opponents, judge
from godojo.evaluate.solo import evaluate_solo, is_solo_policy
from godojo.runs.folder import RunFolder
from godojo.show.policies_to_show import can_be_shown


def conclude(run: RunFolder, judge_rounds: int, log_trajectories: int, *, has_begun_with_others: bool) -> None:
    """`judge_rounds` of each match and `log_trajectories` of every snapshot; 0 for none."""
    if judge_rounds and is_solo_policy(run.config.game):
        with progress_report() as shown:
            alone = evaluate_solo(str(run.path), rounds=judge_rounds, progress=shown.progress)
        show_alone(alone)
    elif judge_rounds and has_opponents(run.config):
        _judge(run, judge_rounds, has_begun_with_others=has_begun_with_others)
    charts = _attempt("charts", lambda: _charts(run))
    kept = _attempt("trajectories", lambda: _trajectories(run, log_trajectories)) if log_trajectories else 0
    out.print(f"\neverything lies in {run.path}", markup=False)
    for role in run.config.roles:
        out.print(f"  policy_{role}.pt", markup=False)
    if charts:
        out.print(f"  charts/ ({charts} pictures, learning.png first)", markup=False)
    if kept:
        out.print(f"  trajectories/ ({kept} rounds)", markup=False)
    out.print("next:")
    for words in _next(run):
        out.print(f"  {command(words)}", markup=False)
    sys.stdout.flush()


def _judge(run: RunFolder, rounds: int, *, has_begun_with_others: bool) -> None:
    """Whoever began with policies that knew something sees what they have learnt since."""
    learning = [role for role in run.config.roles if run.role_map().read().get(role, "train") == "train"]
    role = learning[0] if has_begun_with_others and len(learning) == 1 else None
    with progress_report() as shown:
        found = judge(str(run.path), role=role, rounds=rounds, progress=shown.progress)
        if has_begun_with_others:
            before = judge(f"{run.path}@start", role=role, rounds=rounds, progress=shown.progress)
    if has_begun_with_others:
        show_progress(before, found)
    else:
        show(found)


def _next(run: RunFolder) -> list[str]:
    """Commands that work with this run."""
    works = {
        "watch": can_be_shown(run),
        "film": can_be_shown(run),
        "eval": is_solo_policy(run.config.game) or has_opponents(run.config),
        "league": has_opponents(run.config) and "tasks" not in run.config.more,
        "export": True,
    }
    words = [f"{name} {run.name}" for name, is_there in works.items() if is_there]
    return [*words, f"train {resume_words(run)} --minutes 10"]


def _attempt(what: str, write: Callable[[], int]) -> int:
    """How many of them were written. A training that is done and saved is not to fail for lack of a picture."""
    try:
        return write()
    except Exception as error:
        err.print(f"no {what}: {error}", markup=False)
        return 0


def _charts(run: RunFolder) -> int:
    from godojo.show.charts import write_charts  # may be missing what it draws with

    return len(write_charts(run))


def _trajectories(run: RunFolder, rounds: int) -> int:
    from godojo.show.trajectories import write_trajectories

    return len(write_trajectories(run, rounds))
