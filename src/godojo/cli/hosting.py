"""Playing games that come by or were started: what `godojo serve` does, game after game."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from rich.markup import escape
from rich.status import Status

from godojo.bridge.listener import Listener
from godojo.bridge.messages import PeerTimeout
from godojo.cli.console import err, say
from godojo.engines.base import RoleArrays
from godojo.engines.godot.game_slots import ConnectedGame
from godojo.engines.godot.restarts import GameLost
from godojo.engines.godot.worlds import GodotWorlds
from godojo.engines.make import make_vec
from godojo.engines.random_play import play_randomly
from godojo.errors import GodojoError, known
from godojo.games.base import GAMES
from godojo.opponents import make_opponent, scripted_opponents
from godojo.plugins import load_class

RANDOM = "random"
_SHOWN_EVERY_S = 0.5
_TOLD_EVERY_S = 10.0
"""Where there is no terminal to show it on."""
_LOOK_AROUND_S = 0.1


def host_guests(listener: Listener, player: "Player", worlds: int) -> None:
    """One game after the other; games that connect meanwhile wait for their turn."""
    while not player.is_done:
        try:
            guest = listener.accept(1.0)
        except PeerTimeout:
            continue
        try:
            with GodotWorlds([ConnectedGame(guest)], worlds_each=[worlds], max_restarts=0) as opened:
                opened.reset(player.seed)
                player.play(opened, listener)
        except GameLost as lost:
            say(f"the game left ({lost.cause}); waiting for the next")
        except GodojoError as error:
            say(f"{error}; waiting for the next")


class Player:
    """Plays every role of whatever game it is given."""

    def __init__(self, policy: str, decisions: int, seed: int) -> None:
        self._games = _games_of(policy)  # fails now rather than when a game has come
        if decisions < 0:
            raise GodojoError(f"--decisions must be 0 (never stop) or more, not {decisions}")
        self.seed = seed
        self._policy = policy
        self._left = decisions or None

    @property
    def is_done(self) -> bool:
        return self._left == 0

    def play(self, worlds: GodotWorlds, listener: Listener | None = None) -> None:
        """Until the game is lost for good, or enough decisions were made."""
        say(_introduction(worlds))
        act = self._actor(worlds)
        score = _Score(worlds)
        looked_s = 0.0
        with Status("playing", console=err) as status:
            while not self.is_done:
                act()
                worlds.step()
                if self._left is not None:
                    self._left -= 1
                score.count(status)
                now = time.monotonic()
                if listener is not None and now - looked_s > _LOOK_AROUND_S:
                    looked_s = now
                    listener.poll()
        say(score.summary())

    def _actor(self, worlds: GodotWorlds) -> Callable[[], None]:
        if self._policy == RANDOM:
            chance = np.random.default_rng(self.seed)

            def act_randomly() -> None:
                for role in worlds.roles.values():
                    play_randomly(role, chance)

            return act_randomly
        game = _matching_game(worlds, self._games, self._policy)
        worlds.game, worlds.settings = game, GAMES[game].settings.defaults()
        players = [make_opponent(self._policy, name, self.seed, game=game) for name in worlds.roles]
        for player in players:
            player.begin(worlds)

        def act() -> None:
            for player in players:
                player.act(worlds, worlds.roles[player.role].action)

        return act


class _Score:
    """Decisions and rounds so far, and their speed."""

    def __init__(self, worlds: GodotWorlds) -> None:
        self._worlds = worlds
        self._begun_s = self._shown_s = time.monotonic()
        self._decisions = 0
        self._wins: Counter[str] = Counter()
        self._every_s = _SHOWN_EVERY_S if err.is_terminal else _TOLD_EVERY_S

    def count(self, status: Status) -> None:
        worlds = self._worlds
        self._decisions += 1
        if worlds.ended.any():
            self._wins.update(worlds.winners[winner] for winner in worlds.winner[worlds.ended])
        now = time.monotonic()
        if now - self._shown_s > self._every_s:
            self._shown_s = now
            if err.is_terminal:
                status.update(escape(self.summary()))
            else:
                say(self.summary())

    def summary(self) -> str:
        took_s = max(time.monotonic() - self._begun_s, 1e-9)
        agents = sum(role.acted.size for role in self._worlds.roles.values())
        wins = ", ".join(f"{name} {count}" for name, count in self._wins.most_common(8))
        restarts = f", {self._worlds.restarts} restarts" if self._worlds.restarts else ""
        return (
            f"{self._decisions} decisions, {self._decisions * agents / took_s:.0f} agent-steps/s, "
            f"{self._wins.total()} rounds{f' ({wins})' if wins else ''}{restarts}"
        )


def _introduction(worlds: GodotWorlds) -> str:
    hello = worlds.hellos[0]
    who = ", ".join(
        f"{role.acted.shape[1]} {name} (sees {role.observation.shape[2]}, does {role.action.shape[2]})"
        for name, role in worlds.roles.items()
    )
    engine = f" on Godot {hello.godot}" if hello.godot else ""
    return f"{hello.game or 'a game'}{engine} is here: {worlds.num_worlds} world(s), in each {who}"


def _games_of(policy: str) -> list[str]:
    """The games that a scripted opponent knows how to play; a user's own class may know any."""
    if ".py" in policy:
        path, _, name = policy.rpartition(":")
        if not path.endswith(".py"):
            raise GodojoError(f"which class of {policy}? Write it as {policy}:Class")
        load_class(Path(path).expanduser(), name)
        return list(GAMES)
    names = {name: scripted_opponents(name) for name in GAMES}
    found = [name for name, there in names.items() if policy in there]
    if not found and policy != RANDOM:
        there_is = known(policy, dict.fromkeys(one for there in names.values() for one in (RANDOM, *there)))
        raise GodojoError(f"there is no opponent {policy!r}; {there_is}, or your own as file.py:Class")
    return found


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
