"""Clips of findings: their minimal actions, replayed in a window that draws."""

import math
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from godojo.engines.godot.display import has_screen, has_virtual_screen
from godojo.errors import GodojoError
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
"""Where every decision is shown; a clip with fewer pictures takes as long."""
SLOW_S = 30.0
"""Without a graphics card a frame may take a second: then the clip has fewer of them."""


class _Filmed:
    """A game whose last decisions before an event are drawn: all of them, or as many as there is time for."""

    def __init__(self, game: HuntedGame, folder: Path, length: int, is_stopped: Callable[[], bool]) -> None:
        self._game, self._folder, self._length, self._is_stopped = game, folder, length, is_stopped
        self.action_parts, self.log, self.ui_points = game.action_parts, game.log, game.ui_points
        self.starts, self.is_quick, self.is_hurried = game.starts, False, False
        self._played, self._next, self._deadline = 0, max(length - LAST, 0), math.inf

    def is_over(self) -> bool:
        return self._is_stopped()

    @property
    def is_lost(self) -> bool:
        return self._game.is_lost

    def reset(self, seed: int) -> Seen:
        seen = self._game.reset(seed)
        self._played, self._deadline = 0, time.monotonic() + SLOW_S
        return self._taken(seen)

    @property
    def settings_left(self) -> frozenset[str]:
        return self._game.settings_left

    def restart(self, seed: int) -> Seen:
        seen = self._game.restart(seed)
        self._played, self._deadline = 0, time.monotonic() + SLOW_S
        return self._taken(seen)

    def step(self, action: np.ndarray) -> Seen:
        self._played += 1
        return self._taken(self._game.step(action))

    def close(self) -> None: ...

    def _taken(self, seen: Seen) -> Seen:
        """The first decision that is due, and the last one in any case."""
        is_due = self._played >= self._next or self._played == self._length
        if is_due and not self.is_lost and not self.is_over():
            began = time.monotonic()
            self._game.screenshot(self._folder / f"frame_{self._played:06d}.png")
            took_s, left_s = time.monotonic() - began, max(self._deadline - time.monotonic(), 0.1)
            rest = max(self._length - self._played, 1)
            self._next = self._played + max(math.ceil(rest * took_s / left_s), 1)
        return seen


def add_clip(folder: Path, finding: Finding, is_stopped: Callable[[], bool] = lambda: False) -> bool:
    """Writes `clip.mp4`, or a picture where there is only one frame; false where nothing can be drawn."""
    if not (has_screen() or has_virtual_screen()) or "http" in finding.target:
        return False
    place = folder / finding.folder
    trace, _ = minimal_trace(place)
    with suppress(GodojoError, OSError), scratch(place) as frames:
        with open_game(
            target_of(finding.target), detectors=finding.detectors, is_filmed=True, timeout_s=SLOW_S
        ) as game:
            filmed = _Filmed(game, frames, len(trace), is_stopped)
            with suppress(Interrupted):
                replay(filmed, trace, finding.event.signature, is_over=filmed.is_over)
        pictures = numbered_pictures(frames)
        if len(pictures) == 1:
            (place / PICTURE).write_bytes(pictures[0].read_bytes())
            return True
        share = len(pictures) / min(len(trace) + 1, LAST + 1)
        form = format_of(pictures, max(round(FPS * share), 2))
        with film_writer(place / CLIP, form) as writer:
            for picture in read_pictures(pictures, form):
                writer.write(picture)
        return True
    return False
