"""The real Godot behind the contract: many worlds in several games, stepped together and watched over."""

import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from time import monotonic
from typing import Any

import msgspec
import numpy as np

from godojo.bridge.codec import StepFrame
from godojo.bridge.listener import Connection
from godojo.bridge.messages import (
    Configure,
    ConnectionLost,
    GameRefused,
    Hello,
    PeerTimeout,
    Plan,
    Ready,
    Status,
    WireError,
    shown,
)
from godojo.bridge.repairs import LIMIT
from godojo.engines.base import Worlds
from godojo.engines.godot.arrays import Truth, checked_seed, game_seed, make_arrays
from godojo.engines.godot.game_slots import GameSlot
from godojo.engines.godot.restarts import Incident, Restarts
from godojo.errors import GodojoError, option

MAX_RESTARTS = 200
STEP_TIMEOUT_S = 10.0
"""A game that has not answered by then is taken to be frozen."""
_GOODBYE_S = 1.0
_READING_S = 1.0
"""For what has come while another game made us wait until the deadline."""
_Lost = (ConnectionLost, PeerTimeout, WireError)


class FixedWorldCount(GodojoError):
    """The game has a fixed number of worlds, and another one was requested."""


class _Game:
    """One of the games, and which worlds it plays."""

    def __init__(self, seat: GameSlot, number: int, worlds: slice) -> None:
        self.seat = seat
        self.number = number
        self.worlds = worlds
        self.connection: Connection | None = None
        """None while it is lost."""
        self.ready: Ready | None = None
        self.has_come = False
        self.cuts = 0
        """Losses since the last reset."""
        self.is_acting = False
        """Whether a step is pending."""


class GodotWorlds(Worlds):
    """Worlds in one or several games. A game that dies, freezes or violates the protocol is ended and restarted.

    `seats` provide the games; each plays the same number of worlds, or one more. `worlds_each=None` requests one world
    per game and accepts what each has. A game that takes longer than `step_timeout_s` for a step counts as frozen.
    `max_restarts` losses within ten minutes are restarted; a game that is lost three times without a good step is
    broken, and raises GodojoError. `incidents` lists the losses.
    """

    def __init__(
        self,
        seats: Sequence[GameSlot],
        *,
        worlds_each: Sequence[int] | None = None,
        ticks_per_decision: int | None = None,
        options: Mapping[str, Any] | None = None,
        settings: Any = None,
        truth: Truth | None = None,
        start_timeout_s: float = 60.0,
        step_timeout_s: float = STEP_TIMEOUT_S,
        reconnect_s: float | None = None,
        max_restarts: int = MAX_RESTARTS,
        resources: ExitStack | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """With `truth`, games send their privileged state; see `privileged`.

        `say` is called with each field of an observation or reward that is not finite, when it is first seen.
        `resources`, such as a virtual display, are released when the games have ended.
        """
        self.settings = settings
        self._truth = truth
        self._say = say or (lambda _: None)
        self.non_finite: dict[str, int] = {}
        """Observations and rewards that were not finite and were replaced, counted by node and field."""
        self._quota = Restarts(max_restarts)
        self.engine_us = np.zeros(len(seats), np.int64)
        """Time of each game for the last step, by its own clock."""
        self._start_timeout_s = start_timeout_s
        self._reconnect_s = start_timeout_s if reconnect_s is None else reconnect_s
        self._step_timeout_s = step_timeout_s
        self._ticks_per_decision = ticks_per_decision
        self._options = dict(options or {})
        self._seed: int | None = None
        self._has_started = False
        self._must_restart = False
        self._plan = Plan()
        """The last one of a scene that drives the training."""
        self._asks_for_worlds = worlds_each is not None
        self._games = _seated(seats, worlds_each or [1] * len(seats))
        self._end = weakref.finalize(self, _end_all, os.getpid(), self._games, resources or ExitStack())
        try:
            self._fill(self._games)
            self._make_arrays()
        except BaseException:
            self.close()
            raise

    @property
    def seats(self) -> list[GameSlot]:
        """The slots of the games."""
        return [game.seat for game in self._games]

    @property
    def incidents(self) -> Sequence[Incident]:
        """Every loss of a game, oldest first."""
        return self._quota.incidents

    @property
    def restarts(self) -> int:
        """The number of losses."""
        return len(self._quota.incidents)

    @property
    def script_errors(self) -> tuple[int, str]:
        """How many errors the games' scripts have caused up to now, and the first of them; raises if it is `strict`."""
        for seat in self.seats:
            seat.look_after(is_end=True)
        first = next((seat.first_script_error for seat in self.seats if seat.first_script_error), "")
        return sum(seat.script_errors for seat in self.seats), first

    @property
    def hellos(self) -> list[Hello]:
        """The games' hello messages."""
        return [game.connection.hello for game in self._games if game.connection is not None]

    def reset(self, seed: int) -> None:
        checked = checked_seed(seed)
        self._check_open()
        self._collect_steps()  # a pending decision is finished first: every request gets one answer
        self._has_started = False
        self._seed = checked
        for game in self._games:
            game.cuts = 0
            if game.connection is None:
                continue
            try:
                game.is_acting = True  # if we are interrupted, its answer is still to come
                frame = game.connection.reset(self._seed_of(game), self._start_timeout_s)
            except _Lost as error:
                self._lose(game, error)
            else:
                game.is_acting = False
                self._arrays.begin(game.worlds, frame)
                self._note_repairs(frame)
        self._revive(is_cut_short=False)

    def _start(self) -> None:
        self._check_open()
        if self._seed is None:
            raise GodojoError("there are no rounds to play: call reset(seed) first")
        if self._has_started:
            raise GodojoError("a decision is pending: call finish() before the next start()")
        self._has_started = True
        for game in self._games:
            if game.connection is None:
                continue
            try:
                game.is_acting = True
                game.connection.send_actions(self._arrays.actions(game.worlds), self._step_timeout_s)
            except _Lost as error:
                self._lose(game, error)

    def finish(self) -> None:
        self._check_open()
        if not self._has_started:
            raise GodojoError("no decision is pending: call start() first, or step()")
        self._collect_steps()
        if self._must_restart:
            self._reconfigure()
        self._revive(is_cut_short=True)
        self._has_started = False

    def change_settings(self, settings: Any) -> None:
        """Plays by these from the end of the next decision on; rounds are cut short. Games that cannot be configured
        again are replaced."""
        if "settings" not in self._options:
            raise GodojoError("an external game has no settings to change")
        if settings != self.settings:
            self.settings, self._must_restart = settings, True
            self._options["settings"] = msgspec.to_builtins(settings)

    def privileged(self) -> Any:
        if self._truth is None:
            raise GodojoError("these games do not send their privileged state; use engine='sim' or truth=True")
        return self._arrays.privileged

    def notice(self, status: Status) -> None:
        for game in self._games:
            if game.connection is not None:
                try:
                    game.connection.notice(status.text, status)
                except _Lost as error:
                    self._lose(game, error)

    def plan(self, epoch: int) -> Plan:
        """Asks all games; the first one decides who learns, and any of them may stop."""
        if self.declared_loop is None:
            return Plan()
        asked: list[_Game] = []
        plans: list[Plan] = []
        for game in self._games:
            if game.connection is not None:
                try:
                    game.connection.ask_plan(epoch)
                    asked.append(game)
                except _Lost as error:
                    self._lose(game, error)
        for game in asked:
            assert game.connection is not None
            try:
                plans.append(game.connection.receive_plan(self._step_timeout_s))
            except GameRefused as error:
                raise GodojoError(f"game {game.number} refused to continue: {error}") from None
            except _Lost as error:
                self._lose(game, error)
        if plans:
            trained = self.declared_loop.agents
            wanted = {role: plans[0].deterministic.get(role, role not in trained) for role in self.roles}
            self._plan = Plan(all(plan.running for plan in plans), wanted)
        return self._plan

    def pause(self, reason: str) -> bool:
        if not all(game.seat.is_started_by_hand for game in self._games):
            return False
        self._plan = Plan(deterministic=self._plan.deterministic)
        self._dismiss(reason)
        return True

    def is_resumed(self, timeout_s: float) -> bool:
        return all(game.connection is not None or game.seat.has_arrived(timeout_s) for game in self._games)

    def close(self) -> None:
        """Says goodbye to every game and ends those that we started."""
        self._end()

    def _check_open(self) -> None:
        if not self._end.alive:
            raise GodojoError("these worlds are closed")

    def _collect_steps(self) -> None:
        """Waits for all pending steps; they share one deadline."""
        deadline = monotonic() + self._step_timeout_s
        for game in self._games:
            if not game.is_acting or game.connection is None:
                continue
            try:
                frame = game.connection.receive_step(max(deadline - monotonic(), _READING_S))
            except PeerTimeout:
                self._lose(game, PeerTimeout(f"gave no answer within {self._step_timeout_s:g} s"))
            except _Lost as error:
                self._lose(game, error)
            else:
                game.is_acting = False
                self._arrays.take(game.worlds, frame)
                self._note_repairs(frame)
                self.engine_us[game.number] = frame.engine_us
                self._quota.good_step(game.number)
                game.seat.look_after()

    def _note_repairs(self, frame: StepFrame) -> None:
        for role, agent, field, count in frame.repairs:
            assert self._games[0].ready is not None
            nodes = next(each.nodes for each in self._games[0].ready.roles if each.name == role)
            where = f"{nodes[agent] if agent < len(nodes) else f'{role} {agent}'}: {field}"
            if where not in self.non_finite:
                self._say(f"{shown(where, 200)} is not finite; NaN is replaced by 0, infinite numbers by ±{LIMIT:g}")
            self.non_finite[where] = self.non_finite.get(where, 0) + count

    def _reconfigure(self) -> None:
        """Lets games that can play by other settings; `_revive` calls others in place of those that cannot."""
        self._must_restart = False
        for game in self._games:
            if game.connection is None or game.ready is None:
                continue
            if not game.ready.reconfigures:
                game.connection.close("the settings change")
                game.connection = None
                continue
            try:
                self._check_ready(game, game.connection.configure(self._request(game), self._start_timeout_s))
                game.cuts += 1
                frame = game.connection.reset(self._seed_of(game), self._start_timeout_s)
            except GameRefused as error:
                raise GodojoError(f"game {game.number} refused to play: {error}") from None
            except _Lost as error:
                self._lose(game, error)
            else:
                self._arrays.cut_short(game.worlds, frame)

    def _dismiss(self, reason: str) -> None:
        """Says goodbye to all games; `_revive` calls others."""
        for game in self._games:
            if game.connection is not None:
                game.connection.close(reason)
                game.connection = None

    def _revive(self, *, is_cut_short: bool) -> None:
        """Replaces lost games; their worlds' rounds end here and new ones start."""
        lost = [game for game in self._games if game.connection is None]
        if not lost:
            return
        for game in lost:
            game.cuts += is_cut_short  # rounds that were cut short are not played once more
        for game, frame in self._fill(lost):
            if is_cut_short:
                self._arrays.cut_short(game.worlds, frame)
            else:
                self._arrays.begin(game.worlds, frame)

    def _fill(self, games: Sequence[_Game]) -> list[tuple[_Game, Any]]:
        """Fills each seat with a game, up to its first observations if there is a seed."""
        for game in games:
            game.seat.call()
        return [(game, self._received(game)) for game in games]

    def _received(self, game: _Game) -> Any:
        """A connected game that is ready to play; retries within the quota."""
        while True:
            connection = None
            try:
                connection = game.seat.receive(self._reconnect_s if game.has_come else self._start_timeout_s)
                game.has_come = True
                ready = connection.configure(self._request(game), self._start_timeout_s)
                self._check_ready(game, ready)
                frame = None
                if self._seed is not None:
                    frame = connection.reset(self._seed_of(game), self._start_timeout_s)
            except GameRefused as error:
                kind = GodojoError if error.worlds is None else FixedWorldCount
                raise kind(f"game {game.number} refused to play: {error}") from None
            except _Lost as error:
                if isinstance(error, PeerTimeout):
                    game.seat.check_can_play()
                self._note(game, connection, error)
                game.seat.call()
            except GodojoError as error:
                if connection is not None:
                    connection.close(str(error))
                raise
            else:
                game.connection, game.ready = connection, ready
                return frame

    def _request(self, game: _Game) -> Configure:
        return Configure(
            worlds=_size(game),
            ticks_per_decision=self._ticks_per_decision,
            options=self._options,
            truth=self._truth is not None,
        )

    def _check_ready(self, game: _Game, ready: Ready) -> None:
        """A game must play what was requested, and the same as all others."""
        asked = _size(game)
        if ready.worlds != asked and self._asks_for_worlds:
            raise _wrong_number(sum(_size(each) for each in self._games), ready.worlds)
        if self._truth is not None and ready.truth != self._truth.parts:
            raise GodojoError(
                "the game does not tell what oracles have to know: copy the addon and the game of this Godojo"
            )
        known = next((each.ready for each in self._games if each.ready is not None), None)
        is_changed = game.ready is not None and ready.worlds != game.ready.worlds
        if is_changed or (known is not None and ready != known and _without_worlds(ready) != _without_worlds(known)):
            raise GodojoError(f"game {game.number} describes itself otherwise than the others, or than before")

    def _make_arrays(self) -> None:
        self.num_worlds = 0
        for game in self._games:
            assert game.ready is not None
            game.worlds = slice(self.num_worlds, self.num_worlds + game.ready.worlds)
            self.num_worlds = game.worlds.stop
        first = self._games[0]
        assert first.ready is not None
        self._arrays = make_arrays(self, first.ready, self._truth)

    def _lose(self, game: _Game, error: GodojoError) -> None:
        game.is_acting = False
        connection, game.connection = game.connection, None
        self._note(game, connection, error)

    def _note(self, game: _Game, connection: Connection | None, error: GodojoError) -> None:
        cause = game.seat.clear(error)
        if connection is not None:  # afterwards, since one who is gone does not keep us waiting for a farewell
            connection.close("lost")
        about = (game.seat.log, game.seat.last_words(), game.seat.remedy)
        # Text that a script wrote will be the same again; damaged bytes need not be.
        by_its_messages = isinstance(error, WireError) and connection is not None and connection.wire == "godot_rl"
        self._quota.note(game.number, cause, *about, by_its_messages=by_its_messages)

    def _seed_of(self, game: _Game) -> int:
        assert self._seed is not None
        return game_seed(self._seed, game.number, game.cuts)


def _seated(seats: Sequence[GameSlot], worlds_each: Sequence[int]) -> list[_Game]:
    games, first = [], 0
    for number, (seat, worlds) in enumerate(zip(seats, worlds_each, strict=True)):
        games.append(_Game(seat, number, slice(first, first + worlds)))
        first += worlds
    return games


def _size(game: _Game) -> int:
    return int(game.worlds.stop - game.worlds.start)


def _wrong_number(asked: int, each: int) -> GodojoError:
    """A game that has a number of worlds of its own was asked for another one."""
    if asked % each:
        return FixedWorldCount(
            f"the game has {each} worlds in each process: ask for a multiple of that, not for {asked}"
        )
    needed = f"{asked} worlds need {asked // each} processes ({option('processes', asked // each)})"
    return FixedWorldCount(f"the game has {each} worlds in each process: {needed}")


def _without_worlds(ready: Ready) -> tuple[object, ...]:
    return msgspec.structs.astuple(msgspec.structs.replace(ready, worlds=0))


def _end_all(owner: int, games: Sequence[_Game], resources: ExitStack) -> None:
    """Says goodbye to all games first, so that they end in parallel."""
    if os.getpid() != owner:  # a forked child of ours has no business with our games
        return
    with resources:
        for game in games:
            if game.connection is not None:
                game.connection.close("the trainer is done")
        deadline = monotonic() + _GOODBYE_S
        for game in games:
            has_heard, game.connection = game.connection is not None, None
            game.seat.end(max(deadline - monotonic(), 0.01) if has_heard else 0.0)
