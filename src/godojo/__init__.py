"""Godojo trains, watches, evaluates and ships game-playing agents for Godot 4, from Python."""

import importlib
import os
from typing import TYPE_CHECKING, Any

from godojo.errors import GodojoError

# Otherwise torch's threads spin between two pieces of work, and take cores from the kernels and the games.
# Torch reads it once, when it is loaded; a value that the user has set stays.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.1.0"
__all__ = [
    "Behaviours",
    "Comparison",
    "Demos",
    "Evaluation",
    "Exported",
    "ExternalEvaluation",
    "Film",
    "GameCheck",
    "GodojoError",
    "League",
    "Replays",
    "Run",
    "SoloEvaluation",
    "TrainedPolicy",
    "__version__",
    "build_twin",
    "check",
    "check_twin",
    "evaluate",
    "exploit",
    "hunt_bugs",
    "load_policy",
    "make_vec",
    "open_game",
    "read_demos",
    "record_demos",
    "train",
]

if TYPE_CHECKING:
    from godojo.api.demos import record_demos
    from godojo.api.evaluation import evaluate
    from godojo.api.exports import Exported
    from godojo.api.films import Film
    from godojo.api.hunting import hunt_bugs
    from godojo.api.league import League, exploit
    from godojo.api.policies import TrainedPolicy, load_policy
    from godojo.api.replays import Replays
    from godojo.api.runs import Run
    from godojo.api.training import train
    from godojo.demos.file import Demos, read_demos
    from godojo.engines.make import make_vec, open_game
    from godojo.evaluation.evaluation import Evaluation
    from godojo.evaluation.external import ExternalEvaluation
    from godojo.evaluation.game_check import GameCheck, check
    from godojo.evaluation.sim_vs_godot import Comparison
    from godojo.evaluation.solo import SoloEvaluation
    from godojo.show.behaviours import Behaviours
    from godojo.twin.build import build_twin, check_twin

_HOMES = {
    "Behaviours": "godojo.show.behaviours",
    "Comparison": "godojo.evaluation.sim_vs_godot",
    "Demos": "godojo.demos.file",
    "Evaluation": "godojo.evaluation.evaluation",
    "Exported": "godojo.api.exports",
    "ExternalEvaluation": "godojo.evaluation.external",
    "Film": "godojo.api.films",
    "GameCheck": "godojo.evaluation.game_check",
    "League": "godojo.api.league",
    "Replays": "godojo.api.replays",
    "SoloEvaluation": "godojo.evaluation.solo",
    "Run": "godojo.api.runs",
    "TrainedPolicy": "godojo.api.policies",
    "build_twin": "godojo.twin.build",
    "check": "godojo.evaluation.game_check",
    "check_twin": "godojo.twin.build",
    "evaluate": "godojo.api.evaluation",
    "exploit": "godojo.api.league",
    "hunt_bugs": "godojo.api.hunting",
    "load_policy": "godojo.api.policies",
    "make_vec": "godojo.engines.make",
    "open_game": "godojo.engines.make",
    "read_demos": "godojo.demos.file",
    "record_demos": "godojo.api.demos",
    "train": "godojo.api.training",
}


def __getattr__(name: str) -> Any:
    """Imports public names on first use: torch and the compilers take seconds to load."""
    if name not in _HOMES:
        raise AttributeError(f"module 'godojo' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
