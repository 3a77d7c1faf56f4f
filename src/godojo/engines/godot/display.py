"""A display for Godot: the user's own, or a virtual one."""

import os
import select
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from godojo.errors import GodojoError, command
from godojo.processes import started

_START_TIMEOUT_S = 15.0
HIDDEN = "GODOJO_HIDDEN"
"""Set for a game on a virtual display, which nobody looks at; see `camera_sensor.gd`."""
XVFB_CURE = "sudo apt install xvfb"


def has_screen() -> bool:
    """Whether a window can be opened."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def has_virtual_screen() -> bool:
    return shutil.which("Xvfb") is not None


def check_screen() -> None:
    """Raises GodojoError if there is no display, real or virtual."""
    if not has_screen() and not has_virtual_screen():
        raise GodojoError(f"no display, and no Xvfb; install it with: {command('engine install --rendering')}")


@contextmanager
def display(size: str = "1920x1080") -> Iterator[dict[str, str]]:
    """Environment variables with a display; a virtual one lives as long as the block."""
    if has_screen():
        yield dict(os.environ)
        return
    check_screen()
    reading, writing = os.pipe()
    words = ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{size}x24", "-nolisten", "tcp"]
    with os.fdopen(reading, encoding="ascii") as number, started(words, pass_fds=[writing]):
        os.close(writing)
        ready, _, _ = select.select([number], [], [], _START_TIMEOUT_S)
        screen = number.readline().strip() if ready else ""
        if not screen:
            raise GodojoError(f"Xvfb did not start within {_START_TIMEOUT_S:.0f} s; try it by hand: Xvfb :99")
        yield {**os.environ, "DISPLAY": f":{screen}", HIDDEN: "1"}
