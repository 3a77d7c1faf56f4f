"""`Game`: everything the platform knows about a game, and `GAMES`, which finds them by name.

Every folder of `godojo.games` with a `game.py` that defines `GAME` is a game: a `Game`, which has an embedded twin, or
a `SceneGame`, which exists in Godot only. `GODOJO_GAMES` names further folders that hold such folders, so a game may
live outside the package.
"""

import importlib
import os
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from godojo import games
from godojo.errors import GodojoError, known, user_path
from godojo.games.settings import GameSettings

SEARCH_PATH = "GODOJO_GAMES"
"""The environment variable with folders of further games, separated by `os.pathsep`."""
HELD_OUT_SEED = 2**40
"""Seeds of training are below, those of evaluation start here, so generated arenas differ, too."""
GENERATED = "generated:"
"""Prefix of a generated arena's name; its seed follows."""


@dataclass(frozen=True)
class PlayedRounds:
    """Finished rounds, one row each, for a game that measures more than who won."""

    outcome: np.ndarray
    """Texts: one of the game's `winners` each."""
    length_s: np.ndarray
    terms: Mapping[str, Mapping[str, np.ndarray]]
    """By role: reward terms, summed over the round and averaged over the role's agents."""
    score: Mapping[str, np.ndarray]
    """By role: the game's own score, averaged over the role's agents."""


@dataclass(frozen=True)
class Places:
    """The arenas or courses that rounds are played in."""

    kind: str
    """One of them in a word: `arena`, `course`."""
    option: str
    """The option of `make_vec` that takes a list of them: `arenas`, `courses`."""
    hand_made: Mapping[str, Any]
    """Those that come with the game, by name."""
    read: Callable[[Path], Any]
    """Reads one from a `.json` file and checks it."""
    generate: Callable[[int], Any] | None = None
    """Generates one from a seed, if the game can."""

    def find(self, text: str | None, also: Sequence[str] = ()) -> list[Any]:
        """One by its name, its file or as `generated:SEED`; all of a folder; all hand-made ones for None.

        `also` are further names that the caller understands, for the error.
        """
        if text is None:
            return list(self.hand_made.values())
        if text in self.hand_made:
            return [self.hand_made[text]]
        if self.generate is not None and text.startswith(GENERATED):
            seed = text.removeprefix(GENERATED)
            if not seed.isdigit() or int(seed) >= 2**63:
                raise GodojoError(f"{text}: a generated {self.kind} is named by its seed, as in {GENERATED}7")
            return [self.generate(int(seed))]
        path = Path(text).expanduser()
        if text.endswith(".json"):
            return [self.read(path)]
        if path.is_dir():
            return self.read_folder(path)
        ways = f"one {self.kind}'s file, a folder of them" + (f", or {GENERATED}SEED" if self.generate else "")
        raise GodojoError(f"there is no {self.kind} {text!r}; {known(text, [*also, *self.hand_made])} (or {ways})")

    def read_folder(self, folder: Path) -> list[Any]:
        """Every `.json` file of a folder, in the order of their names."""
        if not folder.is_dir():
            raise GodojoError(f"{folder} is not a folder of {self.kind}s")
        found = [self.read(path) for path in sorted(folder.glob("*.json"))]
        if not found:
            raise GodojoError(f"{folder} holds no {self.kind} (*.json)")
        return found


def _no_options(*_: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Game:
    """One game, on every engine. Optional fields are lazy: a callable imports what it returns when it is called."""

    name: str
    settings: type[GameSettings]
    load_twin: Callable[[], Callable[..., Any]]
    """Imports the embedded game, which may load a compiler, and returns it; see `twin`."""
    in_godot: Callable[..., Any] | None = None
    """Describes the game to the real engine: `in_godot(seed=..., settings=..., ...)` takes the twin's options; the
    result has `scene`, `settings`, `ticks_per_decision`, `configure_options`, and may have `project`, the folder of a
    Godot project other than Godojo's own."""
    training_options: Callable[[Any], dict[str, Any]] = _no_options
    """From settings: options of worlds to train in."""
    judging_options: Callable[[Any, str], dict[str, Any]] = _no_options
    """From settings and a set of places (`held-out`, ...): options of worlds to evaluate in."""
    pool_options: Callable[[Any, dict[str, Any], int], dict[str, Any]] = _no_options
    """From settings, those options and a seed: further options that make the twin play where Godot would."""
    measures: Callable[[Any, PlayedRounds], dict[str, np.ndarray]] | None = None
    """From settings and rounds: further measures of a round besides winning, by name. A bool a round is reported as a
    share of rounds, a number as a mean. A game without `opponents` is evaluated by them alone, the first a bool."""
    targets: Mapping[str, float] = field(default_factory=dict)
    """Shares of rounds that a good policy reaches, by measure."""
    shared_score: str = ""
    """What `final_score` counts, in seconds, where agents of the only role play against each other (`not it`): they
    are judged by its share of the round. Empty for games without such rounds."""
    opponents: Callable[[], Mapping[str, Any]] | None = None
    """Scripted opponents: classes of `godojo.opponents.Opponent` by name, the weakest first."""
    references: Path | None = None
    """A folder of frozen trained policies to evaluate against, `STYLE_ROLE.dojo`; it may be empty or missing."""
    parity: Callable[[], Any] | None = None
    """A `godojo.evaluation.parity.ParityPlan`: how twin and real engine are compared."""
    numpy_baseline: Callable[[], Any] | None = None
    """A `godojo.bench.sim.Baseline`: the same rules in plain NumPy, the yardstick of `bench sim`."""
    on_device: Callable[[], Callable[[Any], Any]] | None = None
    """A class that offers a twin's arrays and rules to a GPU (`godojo.engines.device.OnDevice`)."""
    truth: Callable[[Any], Any] | None = None
    """From the `options` of `in_godot`: reads the privileged state that the real engine sends to evaluations."""
    places: Callable[[Any], Places] | None = None
    """From settings: the arenas or courses of the game."""
    replay: Callable[[], Any] | None = None
    """A `godojo.show.replay.ReplaySpec`: how a round is recorded and drawn."""
    behaviours: Callable[[], Callable[[Any], Mapping[str, Sequence[Any]]]] | None = None
    """From a `godojo.show.replay.Replay`, a round, to what agents do in it: `Highlight`s by the behaviour's name, every
    name the game knows included."""
    advice: Callable[[Any, float], str] = lambda *_: ""
    """From settings and the learner's discount factor: one line about what is likely to go wrong, if anything."""
    config_form: Callable[[], Any] | None = None
    """A `godojo.learn.presets.ConfigForm`: another form of configuration files than that of presets."""
    checkpoint_prefix: str = ""
    """Of Stable-Baselines3's checkpoints, `PREFIX_model_N_steps.zip`; the game's name if empty."""
    film_scene: str | None = None
    """The Godot scene that draws replays; None for the game-neutral one."""

    @property
    def twin(self) -> Callable[..., Any]:
        """The embedded game: `twin(num_worlds, settings=..., ...)`; its other arguments are the game's options."""
        return self.load_twin()

    def require(self, what: str, verb: str) -> Any:
        """The optional field `what`; a one-line GodojoError that names the verb if the game does not offer it."""
        found = getattr(self, what)
        if found is None:
            raise GodojoError(f"{self.name} has no {_IN_WORDS[what]}, which `{verb}` needs")
        return found


@dataclass(frozen=True)
class SceneGame:
    """A game that exists in Godot only: its scene declares roles, observations, actions, rewards and measures."""

    name: str
    description: str
    """One line."""
    scene: str = ""
    """`res://games/NAME/NAME.tscn` if empty."""
    project: Path | None = None
    """The Godot project with the scene; None for Godojo's own."""
    window: bool = False
    """Whether it must draw to be played, as camera sensors need."""
    targets: Mapping[str, float] = field(default_factory=dict)
    """What a good policy reaches, by measure of `DojoAgent.measures`: a share of episodes, or a mean."""

    @property
    def scene_path(self) -> str:
        return self.scene or f"res://games/{self.name}/{self.name}.tscn"


_IN_WORDS = {
    "in_godot": "Godot side",
    "measures": "measures",
    "opponents": "scripted opponents",
    "parity": "parity plan",
    "numpy_baseline": "NumPy baseline",
    "on_device": "kernels for a GPU",
    "truth": "privileged state in Godot",
    "places": "arenas to choose from",
    "replay": "replay",
    "behaviours": "rules of behaviours",
}


Kind = TypeVar("Kind", Game, SceneGame)


class _Games(Mapping[str, Kind], Generic[Kind]):
    """Every game of a kind by the name of its folder, imported on access: a wrong name is refused at once."""

    def __init__(self, kind: type[Kind]) -> None:
        self._kind: type[Kind] = kind

    def _folders(self) -> list[str]:
        for text in filter(None, os.environ.get(SEARCH_PATH, "").split(os.pathsep)):
            folder = user_path(SEARCH_PATH, text)
            if not folder.is_dir():
                raise GodojoError(f"{SEARCH_PATH}: there is no folder {folder}")
            if str(folder) not in games.__path__:
                games.__path__.append(str(folder))
        return [module.name for module in pkgutil.iter_modules(games.__path__) if module.ispkg]

    def _found(self, name: object) -> Kind | None:
        if name not in self._folders():
            return None
        game = importlib.import_module(f"{games.__name__}.{name}.game").GAME
        return game if isinstance(game, self._kind) else None

    def __getitem__(self, name: str) -> Kind:
        game = self._found(name)
        if game is None:
            raise KeyError(name)
        return game

    def __contains__(self, name: object) -> bool:
        return self._found(name) is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._folders() if name in self)

    def __len__(self) -> int:
        return len(list(iter(self)))


GAMES: Mapping[str, Game] = _Games(Game)
"""Every game with a twin, by name."""
SCENE_GAMES: Mapping[str, SceneGame] = _Games(SceneGame)
"""Every game that exists in Godot only."""


def game_named(name: str) -> Game:
    """The game with a twin; GodojoError suggests a name if there is none."""
    if name in SCENE_GAMES:
        raise GodojoError(f"{name} has no embedded twin: it is played in Godot only")
    if name not in GAMES:
        raise GodojoError(f"there is no game {name!r}; {known(name, GAMES)}")
    return GAMES[name]
