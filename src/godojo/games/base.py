"""What others need to know of a game; every folder of games has a `game.py` that says it as `GAME`."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from godojo import games
from godojo.games.settings import GameSettings

HELD_OUT_SEED = 2**40
"""Training's seeds are below, those of judging begin here, so that generated arenas are others, too."""


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
    load_twin: Callable[[], Callable[..., Any]]
    """Imports the embedded game, which loads a compiler, and returns it; see `twin`."""
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

    @property
    def twin(self) -> Callable[..., Any]:
        """The embedded game: `twin(num_worlds, settings=..., ...)`; its other arguments are the game's options."""
        return self.load_twin()


class _Games(Mapping[str, Game]):
    """Every game by the name of its folder, imported when it is asked for: a wrong name is refused at once."""

    def __init__(self) -> None:
        self._names = tuple(module.name for module in pkgutil.iter_modules(games.__path__) if module.ispkg)

    def __getitem__(self, name: str) -> Game:
        if name not in self._names:
            raise KeyError(name)
        game: Game = importlib.import_module(f"{games.__name__}.{name}.game").GAME
        return game

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


GAMES: Mapping[str, Game] = _Games()
