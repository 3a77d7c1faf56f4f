"""The page: board, controls, choices and curves around the scene, and the loop that animates it."""

import io
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import viser
from viser import uplot

from godojo.errors import GodojoError
from godojo.evaluation.evaluation import has_opponents
from godojo.games.settings import TICK_S
from godojo.learn.training import WIN_RATE_ROUNDS
from godojo.runs.folder import RunFolder
from godojo.show import style
from godojo.show.colours import rgb
from godojo.show.curves import Table, read_table, smooth
from godojo.show.maps import rating_text
from godojo.show.replay import Moment, Replay
from godojo.show.shots import is_alone, result
from godojo.show.watch.board import RECORDED, RoleLine, agent_lines, board_html, rates_html, training_status
from godojo.show.watch.rounds import Choice, Rounds
from godojo.show.watch.scene import Scene

FRAMES_PER_S = 30.0
FULL_RATE_VIEWERS = 6
FEWEST_FRAMES_PER_S = 8.0
SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "4x")
PAUSE_AFTER_S = 1.0
"""How long the end of a round stays on screen."""
NOBODY_S = 0.2
RUN_EVERY_S = 5.0
"""How often the run's files are read: status, win rates, curves, snapshots."""
CURVE_POINTS = 200
CURVES = {"win_rate": "{kind}, % by seconds of training", "rating": "Rating by seconds of training"}
"""Columns of updates.csv, after the role's name."""
PLAY, PAUSE, BACK, STEP, NEXT = "Play", "Pause", "Back", "Step", "Next round"


class Page:
    """One page that all viewers share: a button pressed by one is pressed for all."""

    def __init__(self, rounds: Rounds, run: RunFolder | None = None) -> None:
        self._rounds, self._run = rounds, run
        self._colours = style.role_colours(rounds.game, rounds.roles)
        self._is_contest = run is None or has_opponents(run.config)
        self._kind = "Win rate" if self._is_contest else "Success rate"
        self._titles = {name: title.format(kind=self._kind) for name, title in CURVES.items()}
        if not self._is_contest:
            del self._titles["rating"]
        with redirect_stdout(io.StringIO()):  # it would print an address that is not ours
            self.server = viser.ViserServer(host="127.0.0.1", port=0, label=rounds.title, verbose=False)
        self.server.gui.configure_theme(
            dark_mode=True,
            show_logo=False,
            show_share_button=False,
            brand_color=rgb(style.FIRST),
            control_width="large",
        )
        # A viewer could request a public tunnel to the page; there is none.
        self.server.request_share_url = lambda verbose=True: None  # type: ignore[method-assign]  # noqa: ARG005
        self.server.gui.main_panel.dock_right()  # beside the scene, not over it
        self.scene = Scene(self.server)
        self.replay: Replay | None = None
        self.seconds = 0.0
        self.rounds_shown = 0
        self._ended = 0
        """Rounds shown to their end with the players chosen, and how many of them each role won."""
        self._wins: dict[str, int] = {}
        self._status = RECORDED
        self._lock = threading.Lock()
        self._is_playing = True
        self._wanted_s: float | None = None
        """The time that a viewer has dragged to."""
        self._is_skipped = False
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="rounds")
        self._coming: Future[Replay] | None = None
        self._complaint = ""
        self._build()

    @property
    def port(self) -> int:
        """Of the server behind the gate, on loopback."""
        return self.server.get_port()

    def close(self) -> None:
        self._worker.shutdown(wait=False, cancel_futures=True)
        with redirect_stdout(io.StringIO()):
            self.server.stop()

    def run(self, stop: Callable[[], bool], loaded: Callable[[], None] = lambda: None) -> None:
        """Shows round after round until `stop` returns true; calls `loaded` when the first one is there."""
        self._ask()
        shown_at = read_at = clock_at = -np.inf
        before = time.monotonic()
        while not stop():
            now = time.monotonic()
            passed, before = now - before, now
            viewers = len(self.server.get_clients())
            if self.replay is not None and not viewers:
                time.sleep(NOBODY_S)  # without viewers nothing moves and nothing is played
                continue
            if self._advance(min(passed, 0.25)):
                shown_at = -np.inf
                if self.rounds_shown == 1:
                    loaded()
            if self.replay is not None and now - shown_at >= 0.9 / frames_per_s(viewers):
                shown_at = now
                moment = self.scene.show(self.seconds, rays=self._rays.value, trails=self._trails.value)
                if now - clock_at >= 0.1:
                    clock_at = now
                    self._tell(moment)
            if now - read_at >= RUN_EVERY_S:
                read_at = now
                self._read_run()
                self._refresh_choices()
            time.sleep(max(1.0 / frames_per_s(viewers) - (time.monotonic() - now), 0.004))

    def _build(self) -> None:
        gui = self.server.gui
        self._board = gui.add_html(board_html(self._status))
        self._time: Any = gui.add_slider("Time, s", min=0.0, max=10.0, step=0.05, initial_value=0.0)
        self._buttons: Any = gui.add_button_group(
            "Playback", (PAUSE, BACK, STEP, NEXT), hint="Back and Step move by one tick, 1/60 s."
        )
        self._speed: Any = gui.add_dropdown("Speed", SPEEDS, initial_value="1x")
        self._arena: Any = None
        self._players: dict[str, Any] = {}
        arenas = self._rounds.arenas()
        if arenas:
            with gui.add_folder("Arena and players"):
                self._arena = gui.add_dropdown("Arena", arenas, initial_value=arenas[0])
                for role in self._rounds.sides:
                    players = self._rounds.players(role)
                    self._players[role] = gui.add_dropdown(role.capitalize(), players, initial_value=players[0])
            for dropdown in (self._arena, *self._players.values()):
                dropdown.on_update(self._chosen)
        with gui.add_folder("Display"):
            hint = "A ray that meets an opponent is red and always shown." if self._is_contest else None
            self._rays = gui.add_checkbox("All rays", initial_value=False, hint=hint)
            self._trails = gui.add_checkbox("Trails" if self._is_contest else "Path", initial_value=True)
        self._curves: dict[str, Any] = {}
        self._learning = gui.add_folder("Training progress", visible=self._run is not None)
        with self._learning:
            self._rates = gui.add_html("")
        self._time.on_update(self._dragged)
        self._buttons.on_click(self._pressed)

    def _pressed(self, event: Any) -> None:
        word = event.target.value
        with self._lock:
            if word in (PLAY, PAUSE):
                self._play(word == PLAY)
            elif word == NEXT:
                self._is_skipped = True
            else:
                self._play(False)
                start = self.seconds if self._wanted_s is None else self._wanted_s
                self._wanted_s = start + (TICK_S if word == STEP else -TICK_S)

    def _dragged(self, event: Any) -> None:
        if event.client is None:  # set by this program
            return
        with self._lock:
            self._play(False)
            self._wanted_s = float(self._time.value)

    def _play(self, is_playing: bool) -> None:
        if is_playing != self._is_playing:
            self._is_playing = is_playing
            self._buttons.options = (PAUSE if is_playing else PLAY, BACK, STEP, NEXT)

    def _chosen(self, event: Any) -> None:
        if event.client is None:
            return
        with self._lock:
            self._wins, self._ended = {}, 0
            self._is_skipped = True
            self._coming = None
            self._ask()

    def _choice(self) -> Choice:
        arena = self._arena.value if self._arena is not None else ""
        return Choice(arena, {role: dropdown.value for role, dropdown in self._players.items()})

    def _ask(self) -> None:
        """Has the next round played while this one is shown."""
        self._coming = self._worker.submit(self._rounds.next, self._choice())

    def _advance(self, passed_s: float) -> bool:
        """Advances time; returns whether another round has begun."""
        with self._lock:
            replay = self.replay
            if self._wanted_s is not None and replay is not None:
                self.seconds = float(np.clip(self._wanted_s, 0.0, replay.seconds))
                self._wanted_s = None
            elif self._is_playing and replay is not None:
                self.seconds += passed_s * float(self._speed.value.rstrip("x"))
            over = replay is None or self._is_skipped
            if replay is not None and self._is_playing:
                over = over or self.seconds > replay.seconds + PAUSE_AFTER_S
            if not over or self._coming is None or not self._coming.done():
                return False
            coming, self._is_skipped = self._coming, False
            try:
                replay = coming.result()
                self._complaint = ""
            except (GodojoError, OSError) as error:
                # A policy that is being replaced, or does not fit: shown on the page, and tried again.
                self._complaint = str(error)
                time.sleep(0.5)
                self._ask()
                return False
            self.replay, self.seconds, self._is_counted = replay, 0.0, False
            self.rounds_shown += 1
            self._ask()
        self.scene.begin(replay)
        self._time.max = round(replay.seconds, 2)
        return True

    def _tell(self, moment: Moment) -> None:
        """Clock and score."""
        replay = self.replay
        assert replay is not None
        header = replay.header
        clock = f"{max(header.round_s - moment.seconds, 0.0):.1f} s" if header.round_s else f"{moment.seconds:.1f} s"
        outcome = replay.outcome
        is_over = outcome is not None and moment.seconds >= replay.seconds - 1e-6
        where = f"{header.arena_title} · round {self.rounds_shown}"
        if is_over and outcome is not None:
            where = result(replay)[0]
            self._count(outcome.winner)
        seen = replay.sees()[moment.decision] if moment.decision >= 0 else np.zeros(header.agents, bool)
        roles = []
        for role in header.roles:
            own = slice(role.first, role.first + role.agents)
            roles.append(
                RoleLine(
                    role.name,
                    role.player,
                    self._wins.get(role.name, 0),
                    self._colours.get(role.name, style.FIRST),
                    sees=bool(seen[own].any()) and not is_over,
                    agents=role.agents,
                    still_in=int(np.count_nonzero(moment.active[own])),
                    is_alone=is_alone(replay),
                    rating=rating_text(replay, moment.seconds),
                )
            )
        if len(header.roles) == 1 and header.agents > 1:
            roles = agent_lines(replay, moment, seen & (not is_over))
        self._board.content = board_html(
            self._status, clock, where, roles, self._ended, self._complaint, counts_down=header.round_s > 0
        )
        self._time.value = round(min(moment.seconds, replay.seconds), 2)

    def _count(self, winner: str) -> None:
        """Counts the round that is shown, once."""
        with self._lock:
            if not self._is_counted:
                self._is_counted = True
                self._ended += 1
                self._wins[winner] = self._wins.get(winner, 0) + 1

    def _refresh_choices(self) -> None:
        """Snapshots that a training has added since."""
        for role, dropdown in self._players.items():
            players = self._rounds.players(role)
            if players and tuple(players) != tuple(dropdown.options) and dropdown.value in players:
                dropdown.options = tuple(players)

    def _read_run(self) -> None:
        """Status, win rates and curves, from the files of the run."""
        if self._run is None:
            return
        table = read_table(self._run.updates)
        self._status = training_status(self._run, table)
        if self.replay is None:
            self._board.content = board_html(self._status, trouble=self._complaint)
        roles = self._rounds.roles
        light = {role: _on_dark(colour) for role, colour in self._colours.items()}
        rates = last_win_rates(table, roles)
        self._rates.content = rates_html(rates, light, WIN_RATE_ROUNDS, last_measures(table), kind=self._kind)
        for name, title in self._titles.items():
            data = curve_data(table, roles, name)
            if data is None:
                continue
            if name in self._curves:
                self._curves[name].data = data
            else:
                self._curves[name] = self._plot(data, title)

    def _plot(self, data: tuple[np.ndarray, ...], title: str) -> Any:
        with self._learning:
            return self.server.gui.add_uplot(
                data,
                _series(self._colours),
                title=title,
                scales={"x": uplot.Scale(time=False, auto=True)},
                axes=_axes(),
                legend=uplot.Legend(show=False),
                height=170,
            )


def frames_per_s(viewers: int) -> float:
    """Every frame is packed for every viewer: a crowd sees fewer of them, and costs no more for it."""
    return max(min(FRAMES_PER_S, FRAMES_PER_S * FULL_RATE_VIEWERS / max(viewers, 1)), FEWEST_FRAMES_PER_S)


def last_win_rates(updates: Table, roles: tuple[str, ...]) -> dict[str, float]:
    """By role, as of the last update; empty where no round has ended yet."""
    lines = {role: updates.numbers(f"{role}/rollout/win_rate") for role in roles}
    rates = {role: float(line[-1]) for role, line in lines.items() if len(line)}
    return rates if any(rates.values()) else {}


def last_measures(updates: Table) -> dict[str, float]:
    """The game's measures (`rollout/NAME`, of no role), as of the last update in which a round ended."""
    means: dict[str, float] = {}
    for column in updates.columns:
        kind, _, name = column.partition("/")
        if kind == "rollout":
            known = updates.numbers(column)
            known = known[np.isfinite(known)]
            means |= {name.replace("_", " "): float(known[-1])} if len(known) else {}
    return means


def curve_data(updates: Table, roles: tuple[str, ...], name: str) -> tuple[np.ndarray, ...] | None:
    """Seconds and a line for each role, of those updates that have the figure; None where there are too few."""
    seconds, lines = updates.numbers("seconds"), [updates.numbers(f"{role}/rollout/{name}") for role in roles]
    if not len(seconds) or any(len(line) != len(seconds) for line in lines):
        return None
    known = np.isfinite(lines).all(axis=0)
    if name == "win_rate":
        known &= np.sum(lines, axis=0) > 0  # older runs wrote 0 for every role where no round had ended
    if np.count_nonzero(known) < 2:
        return None
    scale = 100.0 if name == "win_rate" else 1.0
    places = np.unique(np.linspace(0, np.count_nonzero(known) - 1, CURVE_POINTS).astype(int))
    return seconds[known][places], *(smooth(line[known], 5)[places] * scale for line in lines)


def _series(colours: dict[str, str]) -> tuple[uplot.Series, ...]:
    lines = (uplot.Series(label=role, stroke=_on_dark(colour), width=2) for role, colour in colours.items())
    return (uplot.Series(label="seconds"), *lines)


def _axes() -> tuple[uplot.Axis, ...]:
    grey = "#a9adba"
    grid = uplot.Axis_Grid(stroke="rgba(255,255,255,0.08)", width=1)
    return uplot.Axis(stroke=grey, grid=grid, size=32), uplot.Axis(stroke=grey, grid=grid, size=38)


def _on_dark(colour: str) -> str:
    """The second role's blue is too deep for a dark ground."""
    return "#7fb0ff" if colour == style.SECOND else colour
