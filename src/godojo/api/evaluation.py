"""`godojo.evaluate`: how good a trained policy is, with 95 % confidence intervals."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from godojo.api.references import check_opponents, reference, resolved
from godojo.errors import GodojoError, option, unknown

if TYPE_CHECKING:
    from godojo.evaluation.evaluation import Evaluation
    from godojo.evaluation.external import ExternalEvaluation
    from godojo.evaluation.sim_vs_godot import Comparison
    from godojo.evaluation.solo import SoloEvaluation

ENGINES = ("sim", "godot", "both")


def evaluate(
    policy: Any,
    opponents: Sequence[str] = (),
    *,
    role: str | None = None,
    episodes: int = 500,
    arenas: str = "held-out",
    engine: str = "sim",
    seed: int = 0,
    deterministic: bool = True,
    project: str | Path | None = None,
    binary: str | Path | None = None,
    connect: bool = False,
    seconds: float | None = None,
    ray: str | None = None,
    progress: Callable[[str, float | None], None] | None = None,
) -> "Evaluation | SoloEvaluation | Comparison | ExternalEvaluation":
    """Play a trained policy on arenas that training does not use; in an external game, in that game.

    Args:
        policy: A run (a `godojo.Run`, an id, a path, `"latest"` or `RUN@SNAPSHOT`), or a policy file (`.pt`, `.dojo`,
            `.onnx`), or several of a role each, separated by commas.
        opponents: `scripted:NAME`, `"reference"`, `reference:STYLE`, `RUN`, `RUN@SNAPSHOT`, policy files,
            `file.py:Class`, or `"itself"`. By default the basic scripted opponents, the reference set and itself.
        role: Evaluate this role only.
        episodes: Episodes against each opponent.
        arenas: `"held-out"`, `"hand-made"`, `"generated"`, or a folder of arenas.
        engine: `"sim"`, `"godot"`, or `"both"` to compare them.
        seed: The same seed plays the same episodes.
        deterministic: Take the most likely actions; otherwise sample as in training.
        project: The Godot project of an external game; by default the one that the run was trained in.
        binary: The exported game, instead.
        connect: Wait for the external game, which you start.
        seconds: In an external game: the most that each player takes; 30 by default.
        ray: Play the matches as tasks of a Ray cluster: `"auto"`, `"local"` or `"HOST:PORT"`, as `godojo.train` takes
            it. Nodes must see the same files.
        progress: Called with the match in progress and the fraction of it that is done.

    Returns:
        `Evaluation` (win rates by role and opponent), `SoloEvaluation` for a game that is played alone, `Comparison`
        for `engine="both"`, or `ExternalEvaluation` (returns, lengths, successes) for an external game.

    Raises:
        GodojoError: An argument is wrong, or the game does not offer what it asks for.
    """
    if episodes < 1:
        raise GodojoError(f"{option('episodes')} must be 1 or more, not {episodes}")
    if seconds is not None and not 0.0 < seconds < math.inf:
        raise GodojoError(f"{option('seconds')} must be above 0, not {seconds:g}")
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    text = resolved(reference(policy))
    check_opponents(text, opponents)
    from godojo.evaluation.evaluation import judge  # these load torch and the kernels
    from godojo.evaluation.external import SECONDS, evaluate_external, source_of
    from godojo.evaluation.players import players_of
    from godojo.evaluation.sim_vs_godot import compare_engines
    from godojo.evaluation.solo import evaluate_solo, is_solo
    from godojo.export.players import SHIPPED
    from godojo.runs.external import is_external

    how: dict[str, Any] = {"arenas": arenas, "rounds": episodes, "seed": seed, "deterministic": deterministic}
    how |= {"files": SHIPPED, "progress": progress}
    external: dict[str, Any] = {"project": project, "binary": binary, "connect": connect}
    if is_external(next(iter(players_of(text, files=SHIPPED).values())).card.game):
        if opponents or engine == "both" or ray is not None:
            given = f"{option('opponents')}, {option('engine')} and {option('ray')}"
            raise GodojoError(f"{text} plays an external game: remove {given}")
        del how["arenas"], how["rounds"]
        source = source_of(text, **external, files=SHIPPED)
        limit_s = SECONDS if seconds is None else seconds
        return evaluate_external(text, source, role=role, episodes=episodes, seconds=limit_s, **how)
    for name, given in (external | {"seconds": seconds}).items():
        if given:
            raise GodojoError(f"{text} plays one of Godojo's own games: remove {option(name)}")
    if ray is not None and (engine == "both" or is_solo(text, SHIPPED)):
        raise GodojoError(f"{option('ray')} is for matches between roles, on one engine; remove it")
    if not is_solo(text, SHIPPED):
        if engine == "both":
            return compare_engines(text, opponents, role=role, references=True, **how)
        if ray is not None:
            from godojo.api.parallel import judge_on_ray

            return judge_on_ray(text, opponents, ray, role=role, engine=engine, **how)
        return judge(text, opponents, role=role, engine=engine, references=True, **how)
    if opponents or role is not None:
        raise GodojoError(f"{text} plays alone: remove {option('opponents')} and {option('role')}")
    if engine == "both":
        engines = f"{option('engine', 'sim')}, then on {option('engine', 'godot')}"
        raise GodojoError(f"{text} plays alone: evaluate it on {engines}")
    return evaluate_solo(text, engine=engine, **how)
