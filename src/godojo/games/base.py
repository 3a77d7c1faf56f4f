"""What others need to know of a game; every folder of games has a `game.py` that says it as `GAME`."""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from godojo import games
from godojo.games.settings import GameSettings


@dataclass(frozen=True)
class PlayedRounds:
    """Rounds that one role played, one row each, for a game that judges them by more than who won."""

    outcome: np.ndarray
    """Texts: one of the game's `winners` each."""
    length_s: np.ndarray
    terms: Mapping[str, np.ndarray]
    """Of the reward, summed over the round."""
    score: np.ndarray


def _no_options(*_: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Game:
    """One game, on every engine."""

    name: str
    settings: type[GameSettings]
    twin: Callable[..., Any]
    """The embedded game: `twin(num_worlds, settings=..., ...)`; its other arguments are the game's options."""
    in_godot: Callable[..., Any]
    """The same for the real engine: `in_godot(seed=..., settings=..., ...)` with the same options."""
    training_options: Callable[[Any], dict[str, Any]] = _no_options
    """From settings: options of worlds to train in."""
    judging_options: Callable[[Any, str], dict[str, Any]] = _no_options
    """From settings and what was asked for (`held-out`, ...): options of worlds to judge in."""
    pool_options: Callable[[Any, dict[str, Any], int], dict[str, Any]] = _no_options
    """From settings, those options and a seed: what more the twin is told so that it plays where Godot would."""
    measures: Callable[[Any, PlayedRounds], dict[str, np.ndarray]] | None = None
    """From settings and rounds: what a round is judged by besides winning, each a bool a round."""
    targets: Mapping[str, float] = field(default_factory=dict)
    """Shares of rounds that a good policy reaches, by measure."""


def all_games() -> Mapping[str, Game]:
    """Every game there is, by name."""
    found = {}
    for module in pkgutil.iter_modules(games.__path__):
        if module.ispkg:
            game: Game = importlib.import_module(f"{games.__name__}.{module.name}.game").GAME
            found[game.name] = game
    return MappingProxyType(found)
