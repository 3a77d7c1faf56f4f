"""Hosts games that connect, each in a thread of its own: what `godojo serve` does."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from rich.markup import escape
from rich.status import Status as Spinner

from godojo.bridge.listener import Connection, Listener
from godojo.bridge.messages import PeerTimeout
from godojo.cli.console import err, say
from godojo.cli.players import Players, Seat
from godojo.engines.godot.game_slots import ConnectedGame
from godojo.engines.godot.restarts import GameLost
from godojo.engines.godot.worlds import GodotWorlds
from godojo.errors import GodojoError

MAX_GAMES = 64
"""At once; each has a thread."""
_TOLD_EVERY_S = 10.0
"""Where there is no terminal to show it on."""
_REPORTED_EVERY_S = 1.0
"""To people who watch the game."""
_ACCEPT_S = 0.5
_LEAVE_S = 1.0
"""How long games have to hear the farewell."""


class Doorman(Protocol):
    """Decides what becomes of a game that has connected."""

    def admit(self, guest: Connection, is_over: Callable[[], bool]) -> Players | None:
        """Who plays it, perhaps after a wait; None if it was passed on or has left."""


class Host:
    """Plays every game that connects, each in a thread of its own, until `stop` or enough decisions."""

    def __init__(
        self, listener: Listener, players: Players | Doorman, *, worlds: int = 1, decisions: int = 0, seed: int = 0
    ) -> None:
        self.listener, self._players = listener, players
        self._worlds, self._seed = worlds, seed
        self._budget = Budget(decisions)
        self._over = threading.Event()
        self._guests: dict[threading.Thread, Score | None] = {}

    def run(self) -> None:
        """Hosts games; shows how they do."""
        with Spinner("waiting for a game", console=err) as spinner:
            try:
                while not self._is_over():
                    self._accept()
                    if err.is_terminal:
                        shown = [score.summary() for score in self._scores()]
                        spinner.update(escape(" | ".join(shown) or "waiting for a game"))
            finally:
                self.stop()

    def start(self) -> None:
        """Hosts games in the background."""

        def accept() -> None:
            while not self._is_over():
                self._accept()

        thread = threading.Thread(target=accept, name="host", daemon=True)
        self._guests[thread] = None
        thread.start()

    def stop(self) -> None:
        """Says goodbye to all games; returns after a second even if one of them does not listen."""
        self._over.set()
        deadline = time.monotonic() + _LEAVE_S
        for thread in list(self._guests):
            thread.join(max(deadline - time.monotonic(), 0.01))

    def _accept(self) -> None:
        with suppress(PeerTimeout):
            guest = self.listener.accept(_ACCEPT_S)
            if len(self._guests) >= MAX_GAMES:
                guest.close(f"the server plays {MAX_GAMES} games already")
                return
            thread = threading.Thread(target=self._host, args=(guest,), name=f"game {guest.peer}", daemon=True)
            self._guests[thread] = None
            thread.start()

    def _host(self, guest: Connection) -> None:
        try:
            self._play(guest)
        except GameLost as lost:
            say(f"the game left ({lost.cause}); waiting for the next")
        except GodojoError as error:
            guest.close(str(error))
            say(f"{error}; waiting for the next")
        finally:
            del self._guests[threading.current_thread()]

    def _play(self, guest: Connection) -> None:
        players = self._players
        if not isinstance(players, Players):
            admitted = players.admit(guest, self._over.is_set)
            if admitted is None:
                return
            players = admitted
        request = players.request(guest.hello)
        with GodotWorlds([ConnectedGame(guest)], worlds_each=[self._worlds], max_restarts=0, **request) as worlds:
            worlds.reset(self._seed)
            score = self._guests[threading.current_thread()] = Score(worlds)
            play(worlds, players, self._budget, score, self._over.is_set)

    def _is_over(self) -> bool:
        return self._over.is_set() or self._budget.is_spent

    def _scores(self) -> "list[Score]":
        return [score for score in list(self._guests.values()) if score is not None]


class Budget:
    """Decisions that are left to make, for all games together; 0 for endless ones."""

    def __init__(self, decisions: int) -> None:
        if decisions < 0:
            raise GodojoError(f"--decisions must be 0 (never stop) or more, not {decisions}")
        self._left = decisions or None
        self._lock = threading.Lock()

    @property
    def is_spent(self) -> bool:
        return self._left == 0

    def spend(self) -> bool:
        """Whether there was one left."""
        with self._lock:
            if self._left == 0:
                return False
            if self._left is not None:
                self._left -= 1
            return True


def play_alone(worlds: GodotWorlds, players: Players, decisions: int) -> None:
    """Plays a game that was started here until it is lost for good, or enough decisions were made."""
    play(worlds, players, Budget(decisions), Score(worlds), lambda: False)


def play(
    worlds: GodotWorlds,
    players: Players,
    budget: Budget,
    score: "Score",
    is_over: Callable[[], bool],
) -> None:
    """Plays one game until it is lost, enough decisions were made, or `is_over` says so."""
    seat = players.seat(worlds)
    say(_introduction(worlds, seat))
    told_at = 0.0
    while not is_over() and budget.spend():
        seat.act()
        if time.monotonic() - told_at > _REPORTED_EVERY_S:
            told_at = time.monotonic()
            status = seat.status()
            worlds.notice(status)
        worlds.step()
        score.count()
    say(score.summary())


class Score:
    """Decisions and rounds of one game so far, and their speed."""

    def __init__(self, worlds: GodotWorlds) -> None:
        self._worlds = worlds
        self._begun_s = self._shown_s = time.monotonic()
        self._decisions = 0
        self._wins: Counter[str] = Counter()

    def count(self) -> None:
        worlds = self._worlds
        self._decisions += 1
        if worlds.ended.any():
            self._wins.update(worlds.winners[winner] for winner in worlds.winner[worlds.ended])
        now = time.monotonic()
        if not err.is_terminal and now - self._shown_s > _TOLD_EVERY_S:
            self._shown_s = now
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


def _introduction(worlds: GodotWorlds, seat: Seat) -> str:
    hello = worlds.hellos[0]
    who = ", ".join(
        f"{role.acted.shape[1]} {name} (sees {role.observation.shape[2]}, does {role.action.shape[2]})"
        for name, role in worlds.roles.items()
    )
    engine = f" on Godot {hello.godot}" if hello.godot else ""
    game = f"{hello.game or 'a game'}{engine}"
    return f"{game} is here: {worlds.num_worlds} world(s), in each {who}; {seat.title} plays"
