"""`godojo serve`: waits for games on a port and plays them, or trains while they show it."""

import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from godojo.cli.console import say
from godojo.errors import GodojoError, user_path


def _training(text: str, metavar: str | None = None, *flags: str, **limits: Any) -> Any:
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel="Training", **limits)


def serve(
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="Who plays: a run, policy files (.pt, .dojo, .onnx; one for each role), a scripted opponent such as "
            "sighted, random, or file.py:Class. Defaults to the newest policy of the game, else a scripted opponent.",
            metavar="NAME",
        ),
    ] = None,
    port: Annotated[int | None, typer.Option(help="The port; defaults to 8765, or 11008 for godot_rl.")] = None,
    host: Annotated[str, typer.Option(help="The address of this computer to listen on.")] = "127.0.0.1",
    token_file: Annotated[Path | None, typer.Option(help="A file with the token that games must send.")] = None,
    wire: Annotated[str, typer.Option(help="The protocol: dojo/1, godot_rl, or any.")] = "any",
    project: Annotated[Path | None, typer.Option(help="Start this Godot project instead of waiting.")] = None,
    binary: Annotated[Path | None, typer.Option(help="Start this exported game instead of waiting.")] = None,
    scene: Annotated[str | None, typer.Option(help="The project's scene; defaults to its main scene.")] = None,
    worlds: Annotated[
        int | None, typer.Option(help="Worlds to request; defaults to the game's own number, 64 to learn from it.")
    ] = None,
    processes: Annotated[int, typer.Option(help="Godot processes to start.")] = 1,
    decisions: Annotated[int, typer.Option(help="Stop after N decisions; 0 for never.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
    train: Annotated[
        bool, _training("Learn, from the moment a scene connects; the scene shows it.", None, "--train")
    ] = False,
    engine: Annotated[
        str | None,
        _training("Where to learn: sim, the game's twin (default), or godot, the connected game itself.", "NAME"),
    ] = None,
    minutes: Annotated[float | None, _training("Training time; defaults to 5.", "N")] = None,
    preset: Annotated[str | None, _training("A preset of the game.", "NAME")] = None,
    run_id: Annotated[str | None, _training("Name of the run; defaults to game, date and time.", "NAME")] = None,
    resume: Annotated[str | None, _training("Resume this run: an id, a path, or latest.", "RUN")] = None,
    values: Annotated[
        list[str] | None, _training("A setting of the algorithm or the game, as in `train`.", "KEY=VALUE", "--set")
    ] = None,
) -> None:
    """Wait for running Godot scenes on a port and play them, or learn while they show it; Ctrl-C ends it.

    A scene with a DojoSync node connects by itself, also after a restart; several may connect. Open the project godot/
    in the editor and press Play: tag connects. With --train, learning begins then, and the scene plays each round with
    the newest weights and draws the win rates. Ctrl-C saves the run.

    --project and --binary start the game for you, and restart it when it fails.

    Examples:

      godojo serve --train
      godojo serve
      godojo serve --policy sighted
      godojo serve --train --engine godot --minutes 30
    """
    # These load the compiler.
    from godojo.bridge.listener import DEFAULT_PORT, Listener
    from godojo.cli.hosting import Host, play_alone
    from godojo.cli.players import chosen_players
    from godojo.engines.godot.launch import checked_wire
    from godojo.engines.godot.open import GODOT_RL_PORT, open_game

    given = {"--engine": engine, "--minutes": minutes, "--preset": preset, "--run-id": run_id}
    _check_options(given | {"--resume": resume, "--set": values}, bool(policy), project or binary, train=train)
    players = None if train else chosen_players(policy or [], seed)
    checked = checked_wire(wire) or "any"
    try:
        if players is not None and (project is not None or binary is not None):
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
                play_alone(opened, players, decisions)
            return
        token = token_in(token_file)
        if token and checked == "any":
            checked = "dojo/1"  # godot_rl has no tokens
        place = port if port is not None else GODOT_RL_PORT if checked == "godot_rl" else DEFAULT_PORT
        with Listener(host, place, token, checked, log=say) as listener:
            say(f"waiting for a game on {host}:{listener.port} ({checked}); Ctrl-C ends this")
            if players is not None:
                Host(listener, players, worlds=worlds or 1, decisions=decisions, seed=seed).run()
                return
            from godojo.cli.live import LiveTraining
            from godojo.cli.train import training_display
            from godojo.training.args import TrainArgs

            args = TrainArgs(
                engine=engine,
                minutes=minutes,
                preset=preset,
                run_id=run_id,
                resume=resume,
                values=tuple(values or ()),
                num_envs=worlds,
                seed=seed or None,
                command=tuple(sys.argv[1:]),
            )
            say("learning begins when a scene connects: open godot/ in the editor and press Play")
            LiveTraining(listener, args).run(training_display)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends at once
        say("stopped")


def _check_options(given: dict[str, Any], has_policy: bool, started: Path | None, *, train: bool) -> None:
    """Refuses options that contradict each other."""
    for name, value in given.items():
        if value is not None and not train:
            raise GodojoError(f"{name} is for learning: add --train, or remove it")
    if train and has_policy:
        raise GodojoError("--train plays what it learns: remove --policy")
    if train and started is not None:
        raise GodojoError("to learn in a game that Godojo starts, use: godojo train --project PATH")
    if given["--engine"] not in (None, "sim", "godot"):
        raise GodojoError(f"--engine is sim or godot, not {given['--engine']!r}")


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
