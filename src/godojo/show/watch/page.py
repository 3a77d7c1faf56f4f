"""The page: a clock, controls, choices and curves around the scene, and the loop that moves it all."""

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
from godojo.games.tag.settings import TICK_S
from godojo.runs.folder import RunFolder
from godojo.show import style
from godojo.show.curves import read_table, smooth
from godojo.show.replay import Moment, Replay
from godojo.show.watch.rounds import Choice, Rounds
from godojo.show.watch.scene import Scene, rgb

FRAMES_PER_S = 30.0
FULL_RATE_VIEWERS = 6
FEWEST_FRAMES_PER_S = 8.0
SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "4x")
PAUSE_AFTER_S = 1.0
"""How long the end of a round stays on screen."""
NOBODY_S = 0.2
CURVES_EVERY_S = 5.0
CURVE_POINTS = 200
CURVES = {"rating": "Rating, by seconds of training", "win_rate": "Rounds won, in per cent"}
"""Columns of updates.csv, after the role's name."""
PLAY, BACK, STEP, NEXT = "Play / pause", "Back", "Step", "Next round"


class Page:
    """One page that everybody who watches shares: whoever presses a button presses it for all."""

    def __init__(self, rounds: Rounds, run: RunFolder | None = None) -> None:
        self._rounds, self._run = rounds, run
        with redirect_stdout(io.StringIO()):  # it would print an address that is not ours
            self.server = viser.ViserServer(host="127.0.0.1", port=0, label="Godojo", verbose=False)
        self.server.gui.configure_theme(
            dark_mode=True,
            show_logo=False,
            show_share_button=False,
            brand_color=rgb(style.SEEKER),
            control_width="large",
        )
        # A viewer may ask for a tunnel through which all the world could look; there is none.
        self.server.request_share_url = lambda verbose=True: None  # type: ignore[method-assign]  # noqa: ARG005
        self.server.gui.main_panel.dock_right()  # beside the scene, not over it
        self.scene = Scene(self.server)
        self.replay: Replay | None = None
        self.seconds = 0.0
        self.rounds_shown = 0
        self._wins: dict[str, int] = {}
        self._lock = threading.Lock()
        self._is_playing = True
        self._wanted_s: float | None = None
        """Where a viewer has dragged the time to."""
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

    def run(self, stop: Callable[[], bool]) -> None:
        """Shows round after round until told to stop."""
        self._ask()
        shown_at = curves_at = clock_at = -np.inf
        before = time.monotonic()
        while not stop():
            now = time.monotonic()
            passed, before = now - before, now
            viewers = len(self.server.get_clients())
            if self.replay is not None and not viewers:
                time.sleep(NOBODY_S)  # nobody looks, so nothing moves and nothing is played
                continue
            if self._advance(min(passed, 0.25)):
                shown_at = -np.inf
            if self.replay is not None and now - shown_at >= 0.9 / frames_per_s(viewers):
                shown_at = now
                moment = self.scene.show(self.seconds, rays=self._rays.value, trails=self._trails.value)
                if now - clock_at >= 0.1:
                    clock_at = now
                    self._tell(moment)
            if now - curves_at >= CURVES_EVERY_S:
                curves_at = now
                self._draw_curves()
                self._refresh_choices()
            time.sleep(max(1.0 / frames_per_s(viewers) - (time.monotonic() - now), 0.004))

    def _build(self) -> None:
        gui = self.server.gui
        self._board = gui.add_html(_board_html("…", "", [], ""))
        self._time: Any = gui.add_slider("Time", min=0.0, max=10.0, step=0.05, initial_value=0.0)
        buttons = gui.add_button_group("", (PLAY, BACK, STEP, NEXT))
        self._speed: Any = gui.add_dropdown("Speed", SPEEDS, initial_value="1x")
        self._arena: Any = None
        self._players: dict[str, Any] = {}
        arenas = self._rounds.arenas()
        if arenas:
            with gui.add_folder("Who plays where"):
                self._arena = gui.add_dropdown("Arena", arenas, initial_value=arenas[0])
                for role in self._rounds.roles:
                    players = self._rounds.players(role)
                    self._players[role] = gui.add_dropdown(role.capitalize(), players, initial_value=players[0])
            for dropdown in (self._arena, *self._players.values()):
                dropdown.on_update(self._chosen)
        with gui.add_folder("What is shown", expand_by_default=False):
            self._rays = gui.add_checkbox("What they see", initial_value=True)
            self._trails = gui.add_checkbox("Where they were", initial_value=True)
        self._curves: dict[str, Any] = {}
        self._learning = gui.add_folder("How they learn", visible=False)
        self._time.on_update(self._dragged)
        buttons.on_click(self._pressed)

    def _pressed(self, event: Any) -> None:
        word = event.target.value
        with self._lock:
            if word == PLAY:
                self._is_playing = not self._is_playing
            elif word == NEXT:
                self._is_skipped = True
            else:
                self._is_playing = False
                start = self.seconds if self._wanted_s is None else self._wanted_s
                self._wanted_s = start + (TICK_S if word == STEP else -TICK_S)

    def _dragged(self, event: Any) -> None:
        if event.client is None:  # our own hand moved it
            return
        with self._lock:
            self._is_playing = False
            self._wanted_s = float(self._time.value)

    def _chosen(self, event: Any) -> None:
        if event.client is None:
            return
        with self._lock:
            self._wins = {}
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
        """Moves time on; says whether another round has begun."""
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
                # A policy that is being replaced, or does not fit: said on the page, and tried again.
                self._complaint = str(error)
                time.sleep(0.5)
                self._ask()
                return False
            if self.replay is not None and self.replay.outcome is not None and self.rounds_shown:
                winner = self.replay.outcome.winner
                self._wins[winner] = self._wins.get(winner, 0) + 1
            self.replay, self.seconds = replay, 0.0
            self.rounds_shown += 1
            self._ask()
        self.scene.begin(replay)
        self._time.max = round(replay.seconds, 2)
        return True

    def _tell(self, moment: Moment) -> None:
        """Clock and score."""
        replay = self.replay
        assert replay is not None
        left = max(replay.settings.round_length_s - moment.seconds, 0.0)
        outcome = replay.outcome
        is_over = outcome is not None and moment.seconds >= replay.seconds - 1e-6
        line = replay.arena.title
        if is_over and outcome is not None:
            line = f"{outcome.winner} wins" if outcome.winner in self._rounds.roles else "round over"
        seen = replay.sees()[moment.decision] if moment.decision >= 0 else np.zeros(replay.header.agents, bool)
        roles = []
        for place, role in enumerate(replay.header.roles):
            sees = bool(seen[role.first : role.first + role.agents].any())
            colour = style.role_colour(role.name, place)
            roles.append((role.name, role.player, self._wins.get(role.name, 0), colour, sees and not is_over))
        self._board.content = _board_html(f"{left:.1f}", line, roles, self._complaint)
        self._time.value = round(min(moment.seconds, replay.seconds), 2)

    def _refresh_choices(self) -> None:
        """Snapshots that a training has added since."""
        for role, dropdown in self._players.items():
            players = self._rounds.players(role)
            if players and tuple(players) != tuple(dropdown.options) and dropdown.value in players:
                dropdown.options = tuple(players)

    def _draw_curves(self) -> None:
        if self._run is None:
            return
        table = read_table(self._run.updates)
        seconds = table.numbers("seconds")
        for name, title in CURVES.items():
            lines = [table.numbers(f"{role}_{name}") for role in self._rounds.roles]
            if len(seconds) < 2 or any(len(line) != len(seconds) for line in lines):
                continue
            places = np.unique(np.linspace(0, len(seconds) - 1, CURVE_POINTS).astype(int))
            scale = 100.0 if name == "win_rate" else 1.0
            data = (seconds[places], *(smooth(line, 5)[places] * scale for line in lines))
            if name in self._curves:
                self._curves[name].data = data
            else:
                self._curves[name] = self._plot(data, title)

    def _plot(self, data: tuple[np.ndarray, ...], title: str) -> Any:
        self._learning.visible = True
        with self._learning:
            return self.server.gui.add_uplot(
                data,
                _series(self._rounds.roles),
                title=title,
                scales={"x": uplot.Scale(time=False, auto=True)},
                axes=_axes(),
                legend=uplot.Legend(show=False),
                height=170,
            )


def frames_per_s(viewers: int) -> float:
    """Every frame is packed for every viewer: a crowd sees fewer of them, and costs no more for it."""
    return max(min(FRAMES_PER_S, FRAMES_PER_S * FULL_RATE_VIEWERS / max(viewers, 1)), FEWEST_FRAMES_PER_S)


def _series(roles: tuple[str, ...]) -> tuple[uplot.Series, ...]:
    lines = (
        uplot.Series(label=role, stroke=_on_dark(style.role_colour(role, place)), width=2)
        for place, role in enumerate(roles)
    )
    return (uplot.Series(label="seconds"), *lines)


def _axes() -> tuple[uplot.Axis, ...]:
    grey = "#a9adba"
    grid = uplot.Axis_Grid(stroke="rgba(255,255,255,0.08)", width=1)
    return uplot.Axis(stroke=grey, grid=grid, size=32), uplot.Axis(stroke=grey, grid=grid, size=38)


def _on_dark(colour: str) -> str:
    """The hider's blue is too deep for a dark ground; the game has a lighter one for letters."""
    return "#7fb0ff" if colour == style.HIDER else colour


def _board_html(clock: str, line: str, roles: list[tuple[str, str, int, str, bool]], complaint: str) -> str:
    cells = "".join(
        f'<div style="flex:1;min-width:0;padding:6px 10px;border-radius:8px;background:{colour};color:'
        f'{"#171a26" if colour == style.SEEKER else "#fff8ec"};outline:{"3px solid #ffec78" if sees else "none"}">'
        f'<div style="display:flex;justify-content:space-between;gap:6px;font-weight:700"><span>{_safe(name)}</span>'
        f"<span>{wins}</span></div>"
        f'<div style="font-size:11px;opacity:.85;white-space:nowrap;overflow:hidden;text-overflow:ellipsis">'
        f"{_safe(player)}</div></div>"
        for name, player, wins, colour, sees in roles
    )
    trouble = f'<div style="color:#ffb199;font-size:12px;padding-top:4px">{_safe(complaint)}</div>' if complaint else ""
    return (
        '<div style="padding:8px 10px 4px;font-family:inherit">'
        '<div style="display:flex;align-items:baseline;justify-content:space-between;padding-bottom:6px">'
        f'<span style="font-size:26px;font-weight:700;font-variant-numeric:tabular-nums">{clock}</span>'
        f'<span style="opacity:.75">{_safe(line)}</span></div>'
        f'<div style="display:flex;gap:8px">{cells}</div>{trouble}</div>'
    )


def _safe(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
