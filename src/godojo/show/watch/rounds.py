"""Where the rounds that are watched come from: a run's policies, as they are now, or files of replays."""

import itertools
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from godojo.errors import GodojoError
from godojo.evaluation.players import player_from
from godojo.games.tag.arenas import generate_arena, hand_made_arenas
from godojo.opponents import Opponent, scripted_opponents
from godojo.runs.folder import RunFolder
from godojo.runs.snapshots import policy_file
from godojo.show.policies_to_show import settings_of
from godojo.show.recording import record_rounds
from godojo.show.replay import Replay

NEWEST = "newest"
IN_TURN, GENERATED = "in turn", "generated"


@dataclass(frozen=True)
class Choice:
    """What a viewer has chosen."""

    arena: str
    players: Mapping[str, str]
    """By role: `newest`, a snapshot's name, or a scripted opponent's."""


class Rounds(Protocol):
    """Somebody who has one round after the other."""

    title: str
    roles: tuple[str, ...]

    def arenas(self) -> list[str]: ...

    def players(self, role: str) -> list[str]: ...

    def next(self, choice: Choice) -> Replay: ...


class RunRounds:
    """Rounds of a run's policies. Policies are read again when their files have changed, so a training is followed."""

    def __init__(self, run: RunFolder, seed: int = 0) -> None:
        self.run = run
        self.title = run.run_id
        self.roles = run.config.roles
        self.settings = settings_of(run)
        self._hand_made = hand_made_arenas(self.settings)
        self._seeds = itertools.count(seed)
        self._loaded: dict[tuple[str, str], tuple[float, Opponent]] = {}
        for role in self.roles:
            if not (run.path / policy_file(role)).exists() and not self._snapshots(role):
                raise GodojoError(f"run {run.run_id} has no policy of the {role} yet; train it longer")

    def arenas(self) -> list[str]:
        return [IN_TURN, *self._hand_made, GENERATED]

    def players(self, role: str) -> list[str]:
        newest = [NEWEST] if (self.run.path / policy_file(role)).exists() else []
        return [
            *newest,
            *self._snapshots(role),
            *(f"scripted: {name}" for name in scripted_opponents(self.run.config.game)),
        ]

    def _snapshots(self, role: str) -> list[str]:
        with suppress(GodojoError):  # being written anew, or damaged: then there are none to choose from
            entries = self.run.snapshots().entries()
            folder = self.run.path / "snapshots"
            return [entry.name for entry in entries if (folder / entry.name / policy_file(role)).exists()]
        return []

    def next(self, choice: Choice) -> Replay:
        seed = next(self._seeds)
        arena = choice.arena
        if arena == IN_TURN:
            arena = list(self._hand_made)[seed % len(self._hand_made)]
        place = self._hand_made.get(arena) or generate_arena(seed, self.settings)
        players = {role: self._player(role, choice.players.get(role, NEWEST)) for role in self.roles}
        names = {role: choice.players.get(role, NEWEST).removeprefix("scripted: ") for role in self.roles}
        return record_rounds(players, settings=self.settings, arenas=[place], seed=seed, names=names)[0]

    def _player(self, role: str, name: str) -> Opponent:
        if name.startswith("scripted: "):
            return player_from(name.replace(": ", ":"), role, game=self.run.config.game)
        path = self.run.policy(role, None if name == NEWEST else name)
        changed = path.stat().st_mtime
        known = self._loaded.get((role, name))
        if known is None or known[0] != changed:
            known = changed, player_from(str(path), role, game=self.run.config.game)
            self._loaded[role, name] = known
        return known[1]


class FileRounds:
    """Rounds that were recorded, over and over."""

    def __init__(self, replays: Sequence[Replay], source: Path) -> None:
        self.title = source.name
        self.roles = tuple(role.name for role in replays[0].header.roles)
        self._replays = replays
        self._turn = itertools.count()

    def arenas(self) -> list[str]:
        return []

    def players(self, role: str) -> list[str]:  # noqa: ARG002 - whoever was recorded plays
        return []

    def next(self, choice: Choice) -> Replay:  # noqa: ARG002
        return self._replays[next(self._turn) % len(self._replays)]
