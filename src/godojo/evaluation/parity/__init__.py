"""Whether a game's twin is the same as the game in the real engine: the report; each game brings its own check.

docs/parity.md describes the method and the results.
"""

from godojo.evaluation.parity.report import ParityPlan, Report

__all__ = ["ParityPlan", "Report"]
