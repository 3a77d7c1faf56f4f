"""Matches of an evaluation or a league as tasks of a Ray cluster."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from godojo.cluster.tasks import run_tasks
from godojo.errors import GodojoError
from godojo.evaluation.evaluation import Evaluation, default_opponents, judge
from godojo.evaluation.players import players_of
from godojo.evaluation.reference_set import REFERENCE
from godojo.runs.names import runs_root

Result = TypeVar("Result")


def judge_on_ray(
    policy: str,
    opponents: Sequence[str],
    address: str,
    *,
    role: str | None = None,
    progress: Callable[[str, float | None], None] | None = None,
    **how: Any,
) -> Evaluation:
    """`judge` with the reference set, every match a task; nodes must see the same files."""
    judged = players_of(policy, files=how.get("files"))
    if role is not None and role not in judged:
        raise GodojoError(f"{policy} has no role {role!r}; it has: {', '.join(judged)}")
    game = next(iter(judged.values())).card.game
    chosen = [name for name in judged if role in (None, name)]
    rivals = list(opponents) or default_opponents(game, len(judged), references=True)
    matches = [(name, rival) for name in chosen for rival in rivals]
    calls = [partial(_match, policy, name, rival, how) for name, rival in matches]
    found = run_on_ray(calls, address, "matches", progress)
    played = [one for one in found if one is not None]
    verdicts = [verdict for one in played for verdict in one.verdicts]
    if REFERENCE in opponents and not any(verdict.opponent.startswith(REFERENCE) for verdict in verdicts):
        raise GodojoError(f"{game} has no reference policy that fits the rules of {policy}")
    return msgspec.structs.replace(played[0], verdicts=verdicts)


def run_on_ray(
    calls: Sequence[Callable[[], Result]],
    address: str,
    what: str,
    progress: Callable[[str, float | None], None] | None = None,
) -> list[Result]:
    """The results of calls as Ray tasks, which find runs and relative paths where this process does."""
    where = str(runs_root().absolute()), str(Path.cwd())

    def done(count: int) -> None:
        if progress is not None:
            progress(f"{count} of {len(calls)} {what}", count / len(calls))

    return run_tasks([partial(_there, where, call) for call in calls], address, done=done)


def _there(where: tuple[str, str], call: Callable[[], Result]) -> Result:
    """Runs in a task."""
    os.environ["GODOJO_RUNS"], folder = where
    os.chdir(folder)
    return call()


def _match(policy: str, role: str, rival: str, how: dict[str, Any]) -> Evaluation | None:
    """One role against one opponent; None if no policy of the reference set fits. Runs in a task."""
    try:
        return judge(policy, [rival], role=role, **how)
    except GodojoError:
        if rival == REFERENCE:
            return None
        raise
