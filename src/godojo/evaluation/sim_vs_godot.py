"""The same policies on the embedded game and in the real Godot: by how many points do their win rates differ?"""

from collections.abc import Callable, Mapping, Sequence

import msgspec
from rich.console import RenderableType

from godojo.errors import GodojoError
from godojo.evaluation.evaluation import Evaluation, judge
from godojo.evaluation.held_out import BOTH
from godojo.evaluation.intervals import Difference, Proportion
from godojo.evaluation.players import PlayerFile
from godojo.evaluation.tables import Printable, comparison_table

ENGINES = ("sim", "godot")


class Row(msgspec.Struct, frozen=True):
    """One role against one opponent, on both engines."""

    role: str
    opponent: str
    sim: Proportion
    godot: Proportion
    difference: Difference
    """How much more it wins in Godot."""


class Comparison(Printable, msgspec.Struct, frozen=True):
    """Win rates on both engines; prints as a table."""

    rows: list[Row]
    sim: Evaluation
    godot: Evaluation

    def __rich__(self) -> RenderableType:
        return comparison_table(self)


def compare_engines(
    policy: str,
    opponents: Sequence[str] = (),
    *,
    role: str | None = None,
    arenas: str = BOTH,
    rounds: int = 500,
    seed: int = 0,
    deterministic: bool = True,
    references: bool = False,
    files: Mapping[str, PlayerFile] | None = None,
    progress: Callable[[str, float | None], None] | None = None,
) -> Comparison:
    """Judges a policy twice, in the same arenas. Where bodies start differs: each engine draws its own lots."""
    found = {}
    for engine in ENGINES:
        report = None if progress is None else (lambda title, share, on=engine: progress(f"{on}: {title}", share))
        found[engine] = judge(
            policy,
            opponents,
            role=role,
            arenas=arenas,
            rounds=rounds,
            engine=engine,
            seed=seed,
            deterministic=deterministic,
            from_pool=True,
            references=references,
            files=files,
            progress=report,
        )
    rows = []
    for one in found["sim"].verdicts:
        other = found["godot"].verdict(one.role, one.opponent)
        if one.wins is None or other.wins is None:
            raise GodojoError(
                f"the game names no winner among the roles ({one.role}): there are no win rates to compare"
            )
        rows.append(Row(one.role, one.opponent, one.wins, other.wins, Difference.of(other.wins, one.wins)))
    return Comparison(rows, found["sim"], found["godot"])
