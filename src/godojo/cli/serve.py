"""`godojo serve`: waits for a game on a port, or starts one, and plays it."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.console import say
from godojo.errors import GodojoError, user_path


def serve(
    port: Annotated[int | None, typer.Option(help="The port; defaults to 8765, or 11008 for godot_rl.")] = None,
    host: Annotated[str, typer.Option(help="The address of this computer to listen on.")] = "127.0.0.1",
    token_file: Annotated[Path | None, typer.Option(help="A file with the token that games must send.")] = None,
    wire: Annotated[str, typer.Option(help="The protocol: dojo/1, godot_rl, or any.")] = "any",
    policy: Annotated[
        str, typer.Option(help="The player: random, a scripted opponent such as sighted, or file.py:Class.")
    ] = "random",
    project: Annotated[Path | None, typer.Option(help="Start this Godot project instead of waiting.")] = None,
    binary: Annotated[Path | None, typer.Option(help="Start this exported game instead of waiting.")] = None,
    scene: Annotated[str | None, typer.Option(help="The project's scene; defaults to its main scene.")] = None,
    worlds: Annotated[int | None, typer.Option(help="Worlds to request; defaults to the game's own number.")] = None,
    processes: Annotated[int, typer.Option(help="Godot processes to start.")] = 1,
    decisions: Annotated[int, typer.Option(help="Stop after N decisions; 0 for never.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
) -> None:
    """Wait for a running Godot scene on a port, and play it; Ctrl-C ends it.

    A scene with a DojoSync node connects by itself, also after a restart. --project and --binary start the game for
    you, and restart it when it fails.

    Example:

      godojo serve --policy random
    """
    # These load the compiler.
    from godojo.bridge.listener import DEFAULT_PORT, Listener
    from godojo.cli.hosting import Player, host_guests
    from godojo.engines.godot.launch import checked_wire
    from godojo.engines.godot.open import GODOT_RL_PORT, open_game

    player = Player(policy, decisions, seed)
    checked = checked_wire(wire) or "any"
    try:
        if project is not None or binary is not None:
            with open_game(
                project,
                binary=binary,
                scene=scene,
                wire=None if checked == "any" else checked,
                num_worlds=worlds,
                num_processes=processes,
                seed=seed,
                say=say,
            ) as opened:
                player.play(opened)
            return
        token = token_in(token_file)
        if token and checked == "any":
            checked = "dojo/1"  # godot_rl has no tokens
        place = port if port is not None else GODOT_RL_PORT if checked == "godot_rl" else DEFAULT_PORT
        with Listener(host, place, token, checked, log=say) as listener:
            say(f"waiting for a game on {host}:{listener.port} ({checked}); Ctrl-C ends this")
            host_guests(listener, player, worlds or 1)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends at once
        say("stopped")


def token_in(file: Path | None) -> str | None:
    """The token in a file."""
    if file is None:
        return None
    try:
        token = user_path("--token-file", str(file)).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise GodojoError(f"{file} cannot be read ({error})") from None
    if not token:
        raise GodojoError(f"{file} is empty: write a token into it, such as 32 random letters")
    return token
