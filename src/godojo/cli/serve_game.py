"""`godojo serve-game`: one of Godojo's games, played by whoever asks over HTTP."""

import ipaddress
import os
import subprocess
from typing import Annotated

import typer

from godojo.cli.engine import ready_engine
from godojo.cli.play import game_words
from godojo.engines.godot.display import has_screen
from godojo.engines.godot.http_game import HTTP_PORT, become_game, http_words
from godojo.errors import GodojoError


def serve_game(
    game: Annotated[str, typer.Argument(help="Which game, for example: navigation")],
    options: Annotated[list[str] | None, typer.Argument(help="The game's own options.", metavar="[OPTIONS]")] = None,
    port: Annotated[int, typer.Option(help="Where it listens; 0 for any free port.", min=0, max=65535)] = HTTP_PORT,
    host: Annotated[str, typer.Option(help="Which of this computer's addresses it listens on.")] = "127.0.0.1",
    window: Annotated[bool, typer.Option("--window", help="Show the game while it is played.")] = False,
) -> None:
    """Start a game that is played over HTTP; it prints its address and its token. Ctrl-C ends it.

    Options are the game's own; for navigation: --course course|obstacle_course|maze, --turn smooth|snap, --set
    key=value. Example: godojo serve-game navigation --port 8080 --course maze
    """
    if window and not has_screen():
        raise GodojoError("there is no display to show it on; leave --window away")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise GodojoError(
            f"--host takes an address of this computer such as 127.0.0.1 or 0.0.0.0, not {host!r}"
        ) from None
    own = [*game_words(options or []), f"--http-host={address}"]
    words = http_words(ready_engine(), game, port=port, window=window, options=own)
    if os.name == "nt":
        raise typer.Exit(subprocess.call(words))
    become_game(words)
