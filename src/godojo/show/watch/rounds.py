"""The rounds that `watch` shows: those of a run's policies, as they are now, or of replay files."""

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from godojo.errors import GodojoError
from godojo.evaluation.evaluation import plays_itself
from godojo.evaluation.matches import RIVAL
from godojo.evaluation.players import SCRIPTED, player_from
from godojo.evaluation.shared_role import SharedSeats
from godojo.games.base import GAMES
from godojo.opponents import Opponent, scripted_opponents
from godojo.runs.folder import RunFolder
from godojo.runs.snapshots import find_policy
from godojo.show.policies_to_show import AGAINST, settings_of
from godojo.show.recording import record_rounds
from godojo.show.replay import Replay

NEWEST = "newest"
IN_TURN, GENERATED = "in turn", "generated"


@dataclass(frozen=True)
class Choice:
    """What a viewer has chosen."""

    arena: str
    players: Mapping[str, str]
    """By role, or `opponent`: `newest`, a snapshot's name, or `scripted:NAME`."""


class Rounds(Protocol):
    """A source of rounds."""

    title: str
    game: str
    roles: tuple[str, ...]
    sides: tuple[str, ...]
    """Those whose players can be chosen: the roles and, where agents of one play against each other, `opponent`."""

    def arenas(self) -> list[str]: ...

    def players(self, role: str) -> list[str]: ...

    def next(self, choice: Choice) -> Replay: ...


class RunRounds:
    """Rounds of a run's policies, which are read again when their files change: a training is followed."""

    def __init__(self, run: RunFolder, seed: int = 0) -> None:
        self.run = run
        self.title = run.run_id
        self._trained_against = run.config.opponents
        self.roles = (*run.config.roles, *self._trained_against)
        self.sides = (*self.roles, RIVAL) if plays_itself(run.config) else self.roles
        self.game = run.config.game
        self.settings = settings_of(run)
        offered = GAMES[self.game].places
        self._places = offered(self.settings) if offered is not None else None
        self._seeds = itertools.count(seed)
        self._loaded: dict[tuple[str, str], tuple[float, Opponent]] = {}
        for role in run.config.roles:
            if not find_policy(run.path, role).exists() and not self._snapshots(role):
                raise GodojoError(f"run {run.run_id} has no policy of the {role} yet; train it longer")

    def arenas(self) -> list[str]:
        if self._places is None:
            return [IN_TURN]
        return [IN_TURN, *self._places.hand_made, *([GENERATED] if self._places.generate else [])]

    def players(self, role: str) -> list[str]:
        role = self.roles[0] if role == RIVAL else role
        newest = [NEWEST] if find_policy(self.run.path, role).exists() else []
        newest += [against] if (against := self._usual(role)) != NEWEST else []
        scripted = (f"{SCRIPTED}{name}" for name in scripted_opponents(self.game))
        return list(dict.fromkeys([*newest, *self._snapshots(role), *scripted]))

    def _snapshots(self, role: str) -> list[str]:
        with suppress(GodojoError):  # being written, or damaged: then there are none to choose from
            entries = self.run.snapshots().entries()
            folder = self.run.path / "snapshots"
            return [entry.name for entry in entries if find_policy(folder / entry.name, role).exists()]
        return []

    def next(self, choice: Choice) -> Replay:
        seed = next(self._seeds)
        arenas = None
        if self._places is not None:
            hand_made = list(self._places.hand_made.values())
            if choice.arena == GENERATED and self._places.generate is not None:
                arenas = [self._places.generate(seed)]
            else:
                arenas = [self._places.hand_made.get(choice.arena) or hand_made[seed % len(hand_made)]]
        players: dict[str, Opponent] = {
            role: self._player(role, choice.players.get(role, self._usual(role))) for role in self.roles
        }
        names = {role: choice.players.get(role, self._usual(role)).removeprefix(SCRIPTED) for role in self.roles}
        rival = choice.players.get(RIVAL, NEWEST)
        for role, own in players.items() if RIVAL in self.sides else ():
            if rival != choice.players.get(role, NEWEST):
                players[role] = SharedSeats(role, own, self._player(role, rival), in_turn=False)
                names[role] += f"{AGAINST}{rival.removeprefix(SCRIPTED)}"
        return record_rounds(self.game, players, settings=self.settings, arenas=arenas, seed=seed, names=names)[0]

    def _usual(self, role: str) -> str:
        """The newest policy, or who played the role in training."""
        against = self._trained_against.get(role, NEWEST)
        return f"{SCRIPTED}{against}" if against in scripted_opponents(self.game) else against

    def _player(self, role: str, name: str) -> Opponent:
        if name.startswith(SCRIPTED) or name == self._trained_against.get(role):
            return player_from(name, role, game=self.game)
        path = self.run.policy(role, None if name == NEWEST else name)
        changed = path.stat().st_mtime
        known = self._loaded.get((role, name))
        if known is None or known[0] != changed:
            known = changed, player_from(str(path), role, game=self.game)
            self._loaded[role, name] = known
        return known[1]


class FileRounds:
    """Recorded rounds, over and over."""

    def __init__(self, replays: Sequence[Replay], source: Path) -> None:
        self.title = source.name
        self.game = replays[0].header.game
        self.roles = self.sides = tuple(role.name for role in replays[0].header.roles)
        self._replays = replays
        self._turn = itertools.count()

    def arenas(self) -> list[str]:
        return []

    def players(self, role: str) -> list[str]:  # noqa: ARG002 - the recorded players play
        return []

    def next(self, choice: Choice) -> Replay:  # noqa: ARG002
        return self._replays[next(self._turn) % len(self._replays)]
