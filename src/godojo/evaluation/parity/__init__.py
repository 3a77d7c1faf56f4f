"""Whether the embedded game is the same as the real one: both play the same episodes, and every difference is measured.

docs/parity.md says how, and what came out.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from godojo.engines.godot.find import Engine
from godojo.errors import GodojoError
from godojo.evaluation.parity.compare import Compared, compare
from godojo.evaluation.parity.examples import causes, examples, find_mechanisms
from godojo.evaluation.parity.plan import default_arenas, make_plan
from godojo.evaluation.parity.record import Progress, record
from godojo.evaluation.parity.report import Report, curve, figures
from godojo.games.tag.arenas import Arena
from godojo.games.tag.settings import TagSettings

__all__ = ["Report", "check_parity", "default_arenas"]


def check_parity(
    engine: Engine,
    *,
    episodes: int,
    arenas: Sequence[Arena],
    seed: int,
    settings: TagSettings | None = None,
    progress: Progress = lambda _, __: None,
) -> Report:
    """Plays so many episodes in Godot and in the twin, and compares them. `progress` hears what is done and how far."""
    if episodes < 1:
        raise GodojoError(f"there must be at least one episode, not {episodes}")
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
    mechanisms = find_mechanisms(groups, plan.arenas)
    worst = examples(groups, plan.arenas)
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
        one_second=curve([group.seconds for group in groups]),
        whole_round=curve([group.rounds for group in groups]),
    )
