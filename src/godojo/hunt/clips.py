"""Clips of findings: their minimal actions, replayed in a window that draws."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from godojo.engines.godot.display import has_screen, has_virtual_screen
from godojo.errors import GodojoError
from godojo.hunt.contract import Playable
from godojo.hunt.findings import CLIP, PICTURE, Finding, minimal_trace, target_of
from godojo.hunt.game import HuntedGame, Seen, open_game
from godojo.hunt.trace import Interrupted, replay
from godojo.show.encoding import film_writer, format_of, numbered_pictures, read_pictures
from godojo.show.scratch import scratch

MOST_CLIPS = 12
"""Findings of one hunt, the worst first, that get a clip."""
LAST = 90
"""Decisions before the event that are shown."""
FPS = 15
SLOW_S = 30.0
"""Without a graphics card a frame may take a second: then the clip ends early, or there is none."""


class _Filmed:
    """A game whose last decisions before an event are drawn, each as a picture."""

    def __init__(self, game: HuntedGame, folder: Path, first: int, is_over: Callable[[], bool]) -> None:
        self._game, self._folder, self._first, self._is_over = game, folder, first, is_over
        self.action_parts, self.log, self.ui_points = game.action_parts, game.log, game.ui_points
        self._played = 0

    @property
    def is_lost(self) -> bool:
        return self._game.is_lost

    def reset(self, seed: int) -> Seen:
        return self._taken(self._game.reset(seed))

    def step(self, action: np.ndarray) -> Seen:
        self._played += 1
        return self._taken(self._game.step(action))

    def close(self) -> None: ...

    def _taken(self, seen: Seen) -> Seen:
        if self._played >= self._first and not self.is_lost and not self._is_over():
            self._game.screenshot(self._folder / f"frame_{self._played:06d}.png")
        return seen


def add_clip(folder: Path, finding: Finding, is_stopped: Callable[[], bool] = lambda: False) -> bool:
    """Writes `clip.mp4`, or a picture where there is only one frame; false where nothing can be drawn."""
    if not (has_screen() or has_virtual_screen()):
        return False
    place = folder / finding.folder
    trace, _ = minimal_trace(place)
    with suppress(GodojoError, OSError), scratch(place) as frames:
        with open_game(target_of(finding.target), detectors=finding.detectors, window=True, timeout_s=SLOW_S) as game:
            deadline = time.monotonic() + SLOW_S

            def is_over() -> bool:
                return is_stopped() or time.monotonic() > deadline

            filmed: Playable = _Filmed(game, frames, max(len(trace) - LAST, 0), is_over)
            with suppress(Interrupted):
                replay(filmed, trace, finding.event.signature, is_over=is_over)
        pictures = numbered_pictures(frames)
        if len(pictures) == 1:
            (place / PICTURE).write_bytes(pictures[0].read_bytes())
            return True
        form = format_of(pictures, FPS)
        with film_writer(place / CLIP, form) as writer:
            for picture in read_pictures(pictures, form):
                writer.write(picture)
        return True
    return False
