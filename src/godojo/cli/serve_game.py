"""`godojo serve-game`: starts a game that programs play over HTTP."""

import ipaddress
import os
import socket
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.engine import ready_engine
from godojo.cli.play import game_words
from godojo.engines.godot.display import has_screen
from godojo.errors import GodojoError
from godojo.processes import GuardedProcess

HTTP_PORT = 8080
NOTE = "--http-note="
_LOOK_AGAIN_S = 1.0


def serve_game(
    game: Annotated[str, typer.Argument(help="The game, such as navigation.", metavar="GAME")],
    options: Annotated[list[str] | None, typer.Argument(help="The game's own options.", metavar="[OPTIONS]")] = None,
    port: Annotated[int, typer.Option(help="The port; 0 for any free one.", metavar="N", min=0, max=65535)] = HTTP_PORT,
    num_envs: Annotated[
        int, typer.Option(help="Environments that are played at once.", metavar="N", min=1, max=256)
    ] = 1,
    host: Annotated[str, typer.Option(help="The address of this computer to listen on.", metavar="IP")] = "127.0.0.1",
    window: Annotated[bool, typer.Option("--window", help="Show the game in a window.")] = False,
) -> None:
    """Start a game that programs play over HTTP; prints its address and token. Ctrl-C ends it.

    Options of the game, for navigation: --course course|obstacle_course|maze, --turn smooth|snap, --set key=value.

    Example:

      godojo serve-game navigation --port 8080 --course maze --num-envs 8
    """
    from godojo.engines.godot.http_game import check_has_api, http_words

    if window and not has_screen():
        raise GodojoError("there is no display; remove --window")
    check_has_api(game)
    address = _free_address(host, port)
    own = [*game_words(options or []), f"--http-host={address}", f"--http-envs={num_envs}"]
    with tempfile.TemporaryDirectory(prefix="godojo-") as folder:
        note = next((word for word in own if word.startswith(NOTE)), "")
        if not note:
            note = f"{NOTE}{Path(folder) / f'godojo_http_{port}.json'}"
            own.append(note)
        words = http_words(ready_engine(), game, port=port, window=window, options=own)
        game_process = GuardedProcess(words, env=os.environ, output=sys.stdout.buffer)
        try:
            while not game_process.wait(_LOOK_AGAIN_S):
                pass
            status = game_process.status()
        finally:
            game_process.end()
            Path(note.removeprefix(NOTE)).unlink(missing_ok=True)  # its token is no longer valid
    raise typer.Exit(status if status is not None and status >= 0 else 1)


def _free_address(host: str, port: int) -> str:
    """The address to listen on, if the port is free there."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise GodojoError(
            f"--host takes an address of this computer such as 127.0.0.1 or 0.0.0.0, not {host!r}"
        ) from None
    with socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6) as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((str(address), port))
        except OSError as error:
            raise GodojoError(
                f"cannot listen on {host}:{port} ({error.strerror}); choose another port, or --port 0 takes a free one"
            ) from None
    return str(address)
