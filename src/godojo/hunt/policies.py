"""Trained policies as explorers: they reach what random play does not, at several levels of skill."""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from godojo.bridge.messages import RoleDescription
from godojo.errors import GodojoError
from godojo.evaluation.players import TrainedPlayer, players_of
from godojo.export.players import SHIPPED
from godojo.hunt.actions import ActionSpace
from godojo.hunt.archive import Archive
from godojo.hunt.contract import Playable
from godojo.hunt.explorers import POLICY, Explorer, Sticky
from godojo.hunt.game import HuntedGame, Seen
from godojo.hunt.target import Target
from godojo.hunt.trace import Trace
from godojo.resources import godot_sources
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference

MOST_LEVELS = 3
_DEVIATIONS = (0.0, 0.1, 0.3)
"""Shares of decisions in which something else is done: one is drawn for each attempt."""


def levels_of(text: str) -> list[str]:
    """A run as some of its snapshots, spread over its training, and its newest policies; files as they are."""
    if "." in text.rpartition("/")[2] or split_reference(text)[1] is not None:
        return [text]
    names = [entry.name for entry in RunFolder.open(text).snapshots().entries()]
    early = names[1 : -1 : max(len(names) // MOST_LEVELS, 1)][: MOST_LEVELS - 1]
    return [*(f"{text}@{name}" for name in early), text]


def shipped_levels(target: Target) -> list[str]:
    """The policies that come with a game, as `policies/LEVEL_ROLE.dojo`: for each level, its files."""
    if target.game is None:
        return []
    levels: dict[str, list[str]] = {}
    for path in sorted((godot_sources() / "games" / target.game / "policies").glob("*_*.dojo")):
        levels.setdefault(path.stem.partition("_")[0], []).append(str(path))
    return [",".join(files) for files in levels.values()]


def explorers_of(
    target: Target,
    policies: Sequence[str],
    game: HuntedGame,
    space: ActionSpace,
    archive: Archive,
    rng: np.random.Generator,
) -> list[Explorer]:
    """Those of the given policies, or of the ones that come with the game."""
    if target.input_map:
        return []
    if policies:
        return [PolicyExplorer(level, game, space, archive, rng) for text in policies for level in levels_of(text)]
    found: list[Explorer] = []
    for level in shipped_levels(target):
        with suppress(GodojoError):  # those of another mode or build of the game
            found.append(PolicyExplorer(level, game, space, archive, rng))
    return found


class PolicyExplorer(Sticky):
    """Plays with trained policies, with a share of random actions in some attempts."""

    def __init__(
        self, text: str, game: HuntedGame, space: ActionSpace, archive: Archive, rng: np.random.Generator
    ) -> None:
        super().__init__(space, archive, rng)
        self.name = f"{POLICY}:{level_name(text)}"
        found = players_of(text, seed=int(rng.integers(2**31)), deterministic=False, files=SHIPPED)
        self._roles = game.ready.roles
        self._players = {role.name: found[role.name] for role in self._roles if role.name in found}
        if not self._players:
            there = ", ".join(role.name for role in self._roles)
            raise GodojoError(f"{text} plays the {' and the '.join(found)}, and the hunted game has: {there}")
        for role in self._roles:
            player = self._players.get(role.name)
            if player is not None and not _fits(player, role):
                raise GodojoError(
                    f"{text} was trained with other observations or actions of the {role.name}; train it anew"
                )

    def begin(self, game: Playable) -> Trace:
        self._deviation = float(self.rng.choice(_DEVIATIONS))
        for role in self._roles:
            if role.name in self._players:
                self._players[role.name].start(role.agents)
        return super().begin(game)

    def choose(self, seen: Seen) -> np.ndarray:
        action = super().choose(seen)
        if self.rng.random() < self._deviation:
            return action
        action, told, done = action.copy(), 0, 0
        for role in self._roles:
            player, observed = self._players.get(role.name), role.agents * role.observation_size
            size = role.agents * role.action_size
            if player is not None:
                rows = seen.observation[told : told + observed].reshape(role.agents, -1)
                not_done = np.full(role.agents, not seen.ended)
                decided = player.decide(rows, not_done, deterministic=player.deterministic)
                action[done : done + size] = decided.reshape(-1)
            told, done = told + observed, done + size
        return action


def _fits(player: TrainedPlayer, role: RoleDescription) -> bool:
    shape = player.card.shape
    is_same = [(part.kind, part.size) for part in shape.action_parts] == [
        (part.kind, part.size) for part in role.action
    ]
    return shape.observation_size == role.observation_size and is_same


def level_name(text: str) -> str:
    """`easy` for `…/easy_seeker.dojo,…`, `run@snapshot` as it is."""
    first = text.partition(",")[0].rpartition("/")[2]
    return first.partition("_")[0] if first.endswith(".dojo") and "," in text else first
