"""Who plays the games that connect to `godojo serve`: random actions, scripts, or trained policies."""

import abc
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from godojo.api.references import is_file, resolved
from godojo.bridge.messages import Hello, Status
from godojo.cli.console import note
from godojo.engines.base import RoleArrays, Worlds
from godojo.engines.godot.worlds import GodotWorlds
from godojo.engines.make import make_vec
from godojo.engines.random_play import play_randomly
from godojo.errors import GodojoError, command, known
from godojo.games.base import GAMES
from godojo.opponents import Opponent, make_opponent, scripted_opponents, yardstick
from godojo.plugins import load_class
from godojo.runs.folder import RunFolder

if TYPE_CHECKING:
    from godojo.evaluation.players import TrainedPlayer

RANDOM = "random"
TRAINER = Path("trainer")
"""Where `scripts/train.sh` leaves the newest policies."""
SHOWN_PLACES = "held-out"
"""The arenas in which people watch trained policies, as `judging_options` names them."""


class Seat:
    """Plays all agents of one game."""

    def __init__(self, title: str, act: Callable[[], None]) -> None:
        self.title, self.act = title, act

    def status(self) -> Status:
        """What people who watch the game are told."""
        return Status("playing", self.title)


class Players(abc.ABC):
    """Finds who plays a game that has connected."""

    def request(self, hello: Hello) -> dict[str, Any]:  # noqa: ARG002 - only some look at the game
        """Further arguments of `GodotWorlds`."""
        return {}

    @abc.abstractmethod
    def seat(self, worlds: GodotWorlds) -> Seat:
        """Who plays these worlds; a GodojoError says why nobody can."""


class RandomPlayers(Players):
    """Random actions."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def seat(self, worlds: GodotWorlds) -> Seat:
        chance = np.random.default_rng(self._seed)

        def act() -> None:
            for role in worlds.roles.values():
                play_randomly(role, chance)

        return Seat("random actions", act)


class ScriptedPlayers(Players):
    """A scripted opponent in every role, or a user's own class."""

    def __init__(self, name: str, seed: int) -> None:
        self._games = _games_of(name)  # fails now rather than when a game has come
        self._name, self._seed = name, seed

    def seat(self, worlds: GodotWorlds) -> Seat:
        game = _matching_game(worlds, self._games, self._name)
        _introduce(worlds, game)
        return seat_of(
            worlds, self._name, [make_opponent(self._name, role, self._seed, game=game) for role in worlds.roles]
        )


class TrainedPlayers(Players):
    """Policies of a run or of files; roles that they do not play are played by a script."""

    def __init__(self, texts: Sequence[str], seed: int) -> None:
        for text in texts:  # before torch is loaded
            if is_file(text) and not Path(text).expanduser().is_file():
                raise GodojoError(f"{text}: there is no such policy file")
        self._texts, self._seed = [resolved(text, note) for text in texts], seed
        self.game = next(iter(self._load().values())).card.game

    @property
    def title(self) -> str:
        return " and ".join(Path(text).name if is_file(text) else f"run {text}" for text in self._texts)

    def request(self, hello: Hello) -> dict[str, Any]:
        return shown_game(self.game, self._first().card.settings) if hello.game == self.game else {}

    def seat(self, worlds: GodotWorlds) -> Seat:
        found: dict[str, TrainedPlayer] = self._load()
        players: list[Opponent] = [found[role] for role in worlds.roles if role in found]
        if not players:
            raise GodojoError(f"{self.title} plays the {' and the '.join(found)}; this game has none")
        if self.game in GAMES:
            _introduce(worlds, self.game)
        script, others = yardstick(self.game), [role for role in worlds.roles if role not in found]
        if others and not script:
            raise GodojoError(f"{self.title} has no policy of the {' and the '.join(others)}; add one with --policy")
        players += [make_opponent(script, role, self._seed, game=self.game) for role in others]
        title = self.title + (f", {script} as the {' and the '.join(others)}" if others else "")
        return seat_of(worlds, title, players)

    def _first(self) -> "TrainedPlayer":
        return next(iter(self._load().values()))

    def _load(self) -> "dict[str, TrainedPlayer]":
        from godojo.evaluation.players import players_of  # these load torch
        from godojo.export.players import SHIPPED

        found: dict[str, TrainedPlayer] = {}
        for text in self._texts:
            found |= players_of(text, seed=self._seed, files=SHIPPED)
        games = {player.card.game for player in found.values()}
        if len(games) > 1:
            raise GodojoError(f"one server plays one game, and these policies play {' and '.join(sorted(games))}")
        return found


class NewestPlayers(Players):
    """The newest policies of the game that connects, else a script, else random actions."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def request(self, hello: Hello) -> dict[str, Any]:
        return self._for(hello.game).request(hello)

    def seat(self, worlds: GodotWorlds) -> Seat:
        try:
            return self._for(worlds.hellos[0].game).seat(worlds)
        except GodojoError as error:
            note(f"{error}; random actions play it")
            return RandomPlayers(self._seed).seat(worlds)

    def _for(self, game: str) -> Players:
        if game not in GAMES:
            return RandomPlayers(self._seed)
        for texts in newest_policies(game):
            players = TrainedPlayers(texts, self._seed)
            if players.game == game:
                return players
        script = yardstick(game)
        note(f"there is no trained policy of {game} yet: {script or RANDOM} plays; {command('train')} makes one")
        return ScriptedPlayers(script, self._seed) if script else RandomPlayers(self._seed)


def chosen_players(texts: Sequence[str], seed: int) -> Players:
    """Players by their names on the command line; those of the newest policy for none."""
    if not texts:
        return NewestPlayers(seed)
    names = [text for text in texts if not is_file(text) and (text == RANDOM or ".py" in text or _is_script(text))]
    if names and len(texts) > 1:
        raise GodojoError(f"--policy {names[0]} plays all roles: give it alone; policy files can be several")
    if not names:
        try:
            return TrainedPlayers(texts, seed)
        except GodojoError as error:
            if any("/" in text or "@" in text or Path(text).suffix for text in texts):
                raise
            there_is = known(texts[0], dict.fromkeys([RANDOM, *_all_scripts()]))
            raise GodojoError(
                f"there is no opponent {texts[0]!r}; {there_is}, a run or a policy file ({error}), "
                "or your own as file.py:Class"
            ) from None
    return RandomPlayers(seed) if names == [RANDOM] else ScriptedPlayers(names[0], seed)


def newest_policies(game: str) -> list[list[str]]:
    """The latest run, if it plays this game, and the files in `trainer/`; the newest first."""
    found: list[tuple[float, list[str]]] = []
    with suppress(GodojoError):
        run = RunFolder.open()
        if run.config.game == game:
            found.append((max(run.policy(role).stat().st_mtime for role in run.config.roles), [run.name]))
    for files in (sorted(TRAINER.glob("policy_*.pt")), sorted(TRAINER.glob("policy.pt"))):
        if files:
            found.append((max(file.stat().st_mtime for file in files), [str(file) for file in files]))
    return [texts for _, texts in sorted(found, reverse=True)]


def shown_game(game: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `GodotWorlds` for a scene in which people watch policies trained with these settings."""
    spec = GAMES[game]
    settings = spec.settings.from_values(dict(values))
    if spec.in_godot is None:
        return {}
    described = spec.in_godot(settings=settings, **spec.judging_options(settings, SHOWN_PLACES))
    return {
        "settings": described.settings,
        "options": described.configure_options,
        "ticks_per_decision": described.ticks_per_decision,
    }


def scene_settings(hello: Hello) -> tuple[str, ...]:
    """The settings that a scene has changed, as texts; GodojoError if its game has none of these names and values."""
    if hello.game not in GAMES:
        return ()
    texts = tuple(f"{name}={value:g}" for name, value in hello.settings.items())
    if lone := [text for text in texts if "." not in text]:
        raise GodojoError(f"the scene sets {lone[0]!r}, which is no setting of {hello.game}")
    GAMES[hello.game].settings.defaults().override_texts(list(texts))
    return texts


def seat_of(worlds: Worlds, title: str, players: Sequence[Opponent]) -> Seat:
    """A seat for players of all roles."""
    for player in players:
        player.begin(worlds)

    def act() -> None:
        for player in players:
            player.act(worlds, worlds.roles[player.role].action)

    return Seat(title, act)


def _introduce(worlds: GodotWorlds, game: str) -> None:
    worlds.game = game
    if worlds.settings is None:
        worlds.settings = GAMES[game].settings.defaults().override_texts(list(scene_settings(worlds.hellos[0])))


def _all_scripts() -> list[str]:
    return [name for game in GAMES for name in scripted_opponents(game)]


def _is_script(text: str) -> bool:
    return text.partition(":")[0] in _all_scripts()


def _games_of(policy: str) -> list[str]:
    """The games that a scripted opponent knows how to play; a user's own class may know any."""
    if ".py" in policy:
        path, _, name = policy.rpartition(":")
        if not path.endswith(".py"):
            raise GodojoError(f"which class of {policy}? Write it as {policy}:Class")
        load_class(Path(path).expanduser(), name)
        return list(GAMES)
    return [game for game in GAMES if policy.partition(":")[0] in scripted_opponents(game)]


def _matching_game(worlds: GodotWorlds, games: Sequence[str], policy: str) -> str:
    """The one of these games whose agents see and do what those of the connected game do."""
    for name in games:
        with make_vec(name) as own:
            if all(
                role in own.roles and _layout(arrays) == _layout(own.roles[role])
                for role, arrays in worlds.roles.items()
            ):
                return name
    known_games = " and ".join(games)
    role = next(iter(worlds.roles))
    raise GodojoError(
        f"{policy} plays {known_games} only, and this game's {role} sees or does something else: take --policy random"
    )


def _layout(role: RoleArrays) -> tuple[object, ...]:
    return role.action_parts, [part.shape for part in role.observation_parts]
