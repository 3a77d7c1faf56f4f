"""The pieces of a navigation training, for programs of your own:

    python3 dojo.py run my_program.py

with `sys.path.insert(0, "scripts/ml")` and `from rl_utils import ObservationPreprocessor` in it, or, which is the same,
`from godojo.envs.processing import ObservationPreprocessor`.
"""

from godojo.bridge.http import GameClient
from godojo.envs.processing import ActionPostprocessor, ObservationPreprocessor
from godojo.games.navigation.reward import RewardCalculator
from godojo.training.metrics import PerformanceMonitor, TrainingMetrics

__all__ = [
    "ActionPostprocessor",
    "GameClient",
    "ObservationPreprocessor",
    "PerformanceMonitor",
    "RewardCalculator",
    "TrainingMetrics",
]
