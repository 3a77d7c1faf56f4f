"""Tag's parity plan: the real Godot records episodes, the twin replays them tick by tick, and both are compared."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from godojo.engines.godot.find import Engine
from godojo.errors import GodojoError
from godojo.evaluation.parity.report import Curve, ParityPlan, Progress, Report, curve
from godojo.games.tag.arenas import Arena
from godojo.games.tag.parity.compare import Compared, Divergence, compare
from godojo.games.tag.parity.findings import causes, examples, figures, find_mechanisms
from godojo.games.tag.parity.oracle import oracle
from godojo.games.tag.parity.plan import default_arenas, make_plan
from godojo.games.tag.parity.record import record
from godojo.games.tag.settings import TICK_S, TagSettings

__all__ = ["PARITY", "check_parity", "default_arenas"]


def check_parity(
    engine: Engine,
    *,
    episodes: int,
    places: Sequence[Arena] | None = None,
    seed: int,
    settings: TagSettings | None = None,
    progress: Progress = lambda _, __: None,
) -> Report:
    """Plays so many episodes in Godot and in the twin, and compares them. `progress` hears what is done and how far."""
    if episodes < 1:
        raise GodojoError(f"there must be at least one episode, not {episodes}")
    arenas = default_arenas() if places is None else places
    if not arenas:
        raise GodojoError("there must be at least one arena")
    progress("making up episodes", None)
    plan = make_plan(episodes, arenas, seed, settings)
    with tempfile.TemporaryDirectory(prefix="godojo-parity-") as folder:
        recordings = record(engine, plan, Path(folder), progress)
    groups: list[Compared] = []
    for group, recording in zip(plan.groups, recordings, strict=True):
        progress("playing the same in the twin", len(groups) / len(plan.groups))
        groups.append(compare(group, recording, plan.arenas))
    progress("comparing", None)
    measured = figures(groups)
    mechanisms = find_mechanisms(groups)
    worst = examples(groups)
    return Report(
        game="tag",
        engine=engine.version,
        seed=seed,
        episodes=episodes,
        arenas=[arena.name for arena in plan.arenas],
        games={group.name: len(group.number) for group in plan.groups},
        agent_ticks=sum(int(group.ticks.counts[:, 1].sum()) for group in groups),
        figures=measured,
        mechanisms=mechanisms,
        causes=causes(measured, mechanisms, worst),
        examples=worst,
        one_second=error_curve([group.seconds for group in groups]),
        whole_round=error_curve([group.rounds for group in groups]),
    )


def error_curve(parts: Sequence[Divergence]) -> Curve:
    length = max(part.error_m.shape[1] for part in parts)
    return curve(
        (tick * TICK_S, np.concatenate([part.error_m[:, tick][part.counts[:, tick]] for part in parts]))
        for tick in range(1, length)
    )


_ROUNDS = ("round_s", "classic_round_s", "mode", "seekers", "hiders", "players")
PARITY = ParityPlan(check_parity, tuple(f"rules.{name}" for name in _ROUNDS), oracle)
