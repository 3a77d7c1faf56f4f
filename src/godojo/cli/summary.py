"""The end of `godojo train`: evaluation, charts, where the files are, and what to do next."""

import sys
from collections.abc import Callable

from godojo.cli.console import err, out, progress_report
from godojo.errors import command
from godojo.runs.external import is_external
from godojo.runs.folder import RunFolder
from godojo.runs.snapshots import policy_file
from godojo.training.outcome import evaluate_training, next_commands


def conclude(run: RunFolder, judge_rounds: int, log_trajectories: int, *, started_from_policies: bool) -> None:
    """Plays `judge_rounds` of each match and records `log_trajectories` of every snapshot; 0 for none."""
    if judge_rounds:
        with progress_report() as shown:
            found = evaluate_training(
                run, judge_rounds, started_from_policies=started_from_policies, progress=shown.progress
            )
        if found is not None:
            out.print(found)
        elif "connect" in run.config.more and is_external(run.config.game):
            err.print("not evaluated: the game is yours to start", markup=False)
    charts = _attempt("charts", lambda: _charts(run))
    kept = _attempt("trajectories", lambda: _trajectories(run, log_trajectories)) if log_trajectories else 0
    out.print(f"\nsaved in {run.path}", markup=False)
    for role in run.config.roles:
        out.print(f"  {policy_file(role)}", markup=False)
    if charts:
        out.print(f"  charts/ ({charts} pictures, learning.png first)", markup=False)
    if kept:
        out.print(f"  trajectories/ ({kept} rounds)", markup=False)
    out.print("next:")
    for words in next_commands(run):
        out.print(f"  {command(words)}", markup=False)
    sys.stdout.flush()


def _attempt(what: str, write: Callable[[], int]) -> int:
    """The number of files written. A finished training does not fail because a chart does."""
    try:
        return write()
    except Exception as error:
        err.print(f"no {what}: {error}", markup=False)
        return 0


def _charts(run: RunFolder) -> int:
    from godojo.show.charts import write_charts  # loads matplotlib

    return len(write_charts(run))


def _trajectories(run: RunFolder, rounds: int) -> int:
    from godojo.show.trajectories import write_trajectories

    return len(write_trajectories(run, rounds))
