"""`godojo.evaluate`: how good a trained policy is, with 95 % confidence intervals."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from godojo.api.references import check_opponents, reference, resolved
from godojo.errors import GodojoError, option, unknown

if TYPE_CHECKING:
    from godojo.evaluation.evaluation import Evaluation
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
    progress: Callable[[str, float | None], None] | None = None,
) -> "Evaluation | SoloEvaluation | Comparison":
    """Play a trained policy on arenas that training does not use.

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
        progress: Called with the match in progress and the fraction of it that is done.

    Returns:
        `Evaluation` (win rates by role and opponent), `SoloEvaluation` for a game that is played alone, or `Comparison`
        for `engine="both"`.

    Raises:
        GodojoError: An argument is wrong, or the game does not offer what it asks for.
    """
    if episodes < 1:
        raise GodojoError(f"{option('episodes')} must be 1 or more, not {episodes}")
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    text = resolved(reference(policy))
    check_opponents(text, opponents)
    from godojo.evaluation.evaluation import judge  # these load torch and the kernels
    from godojo.evaluation.sim_vs_godot import compare_engines
    from godojo.evaluation.solo import evaluate_solo, is_solo
    from godojo.export.players import SHIPPED

    how: dict[str, Any] = {"arenas": arenas, "rounds": episodes, "seed": seed, "deterministic": deterministic}
    how |= {"files": SHIPPED, "progress": progress}
    if not is_solo(text, SHIPPED):
        if engine == "both":
            return compare_engines(text, opponents, role=role, references=True, **how)
        return judge(text, opponents, role=role, engine=engine, references=True, **how)
    if opponents or role is not None:
        raise GodojoError(f"{text} plays alone: remove {option('opponents')} and {option('role')}")
    if engine == "both":
        engines = f"{option('engine', 'sim')}, then on {option('engine', 'godot')}"
        raise GodojoError(f"{text} plays alone: evaluate it on {engines}")
    return evaluate_solo(text, engine=engine, **how)
