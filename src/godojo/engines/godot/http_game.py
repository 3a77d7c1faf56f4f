"""Starting a game that listens for HTTP: where it answers, and the token it wants to hear."""

import secrets
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from godojo.bridge.http import TOKEN_VARIABLE
from godojo.engines.godot.find import Engine, find
from godojo.engines.godot.game_process import GameProcess
from godojo.engines.godot.project import game_scenes, prepared_project, project_folder
from godojo.errors import GodojoError, known
from godojo.games.base import GAMES

_LOOK_AGAIN_S = 0.02


class HttpGame(NamedTuple):
    """A game that listens."""

    url: str
    token: str
    process: GameProcess


class _Note(msgspec.Struct, frozen=True):
    """What the game leaves in the file it is told to."""

    url: str


def http_words(
    engine: Engine, game: str, *, port: int, window: bool = False, paced: bool = False, options: Sequence[str] = ()
) -> list[str]:
    """The command that starts one of Godojo's games with its API.

    Without a window it runs as fast as it is asked, or `paced`: by the clock, as a game with a window does.
    """
    check_has_api(game)
    folder, scenes = prepared_project(engine), game_scenes()
    manner = ("--audio-driver", "Dummy") if window else ("--headless", *(() if paced else ("--fixed-fps", "60")))
    project = ("--path", str(folder), scenes[game])
    return [str(engine.program), "--no-header", *manner, *project, "--", "--http", f"--http-port={port}", *options]


@contextmanager
def started_game(
    game: str = "navigation",
    *,
    port: int = 0,
    paced: bool = False,
    options: Sequence[str] = (),
    timeout_s: float = 60.0,
) -> Iterator[HttpGame]:
    """A headless game that answers over HTTP on a free port as long as the block lasts."""
    token = secrets.token_urlsafe(24)
    with tempfile.TemporaryDirectory(prefix="godojo-http-") as folder:
        note = Path(folder) / "note.json"
        words = http_words(find(), game, port=port, paced=paced, options=[*options, f"--http-note={note}"])
        process = GameProcess(words, {TOKEN_VARIABLE: token})
        try:
            yield HttpGame(_url_in(note, process, timeout_s), token, process)
        finally:
            process.end()


def check_has_api(game: str) -> None:
    """Refuses a game that cannot be played over HTTP."""
    folder, scenes = project_folder(), game_scenes()
    listeners = [name for name, scene in scenes.items() if _has_api(folder / scene.removeprefix("res://"))]
    if game not in listeners:
        what = f"{game} has no API" if game in {*scenes, *GAMES} else f"there is no game {game!r}"
        raise GodojoError(f"{what}; {known(game, listeners)}")


def _has_api(scene: Path) -> bool:
    return "addons/godojo/http/dojo_http.gd" in scene.read_text(encoding="utf-8")


def _url_in(note: Path, process: GameProcess, timeout_s: float) -> str:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            return msgspec.json.decode(note.read_bytes(), type=_Note).url
        except (OSError, msgspec.DecodeError):
            time.sleep(_LOOK_AGAIN_S)
        if not process.alive():
            raise GodojoError(f"the game {process.how_it_ended()} before it listened: {process.quoted()}")
    raise GodojoError(f"the game did not listen within {timeout_s:g} s: {process.quoted()}")
