"""`godojo serve`: waits on a port for a game, or starts one, and plays it for as long as it stays."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.console import say
from godojo.errors import GodojoError, user_path


def serve(
    port: Annotated[int | None, typer.Option(help="Where to wait; 8765, or 11008 for godot_rl.")] = None,
    host: Annotated[str, typer.Option(help="Which of this computer's addresses to wait on.")] = "127.0.0.1",
    token_file: Annotated[Path | None, typer.Option(help="A file with the token that games must know.")] = None,
    wire: Annotated[str, typer.Option(help="dojo/1, godot_rl, or any: whichever the game speaks.")] = "any",
    policy: Annotated[
        str, typer.Option(help="Who plays: random; for tag, wander, sighted or file.py:Class.")
    ] = "random",
    project: Annotated[Path | None, typer.Option(help="Start this Godot project instead of waiting.")] = None,
    binary: Annotated[Path | None, typer.Option(help="Start this exported game instead of waiting.")] = None,
    scene: Annotated[str | None, typer.Option(help="The project's scene to start, if not its main one.")] = None,
    worlds: Annotated[int | None, typer.Option(help="How many worlds to ask for; as the game has it.")] = None,
    processes: Annotated[int, typer.Option(help="How many games to start.")] = 1,
    decisions: Annotated[int, typer.Option(help="Stop after so many; 0 for never.")] = 0,
    seed: Annotated[int, typer.Option(help="Starts the random numbers.")] = 0,
) -> None:
    """Wait for a running Godot scene on a port, and play it; Ctrl-C ends it.

    A scene with a DojoSync node connects by itself, and again after it was restarted. With --project or --binary the
    game is started for you, and started again when it fails.

    Example:

      godojo serve --policy random
    """
    # Opponents are compiled and games bring arrays along; other verbs need not wait for that.
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
            checked = "dojo/1"  # the other wire has no words for a token
        place = port if port is not None else GODOT_RL_PORT if checked == "godot_rl" else DEFAULT_PORT
        with Listener(host, place, token, checked, log=say) as listener:
            say(f"waiting for a game on {host}:{listener.port} ({checked}); Ctrl-C ends this")
            host_guests(listener, player, worlds or 1)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever is in a hurry need not wait for our goodbyes
        say("stopped")


def token_in(file: Path | None) -> str | None:
    """The token that a file holds, for everybody who waits for games."""
    if file is None:
        return None
    try:
        token = user_path("--token-file", str(file)).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise GodojoError(f"{file} cannot be read ({error})") from None
    if not token:
        raise GodojoError(f"{file} is empty: write a token into it, for example 32 random letters")
    return token
