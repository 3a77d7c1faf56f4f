"""`godojo eval`: how good a trained policy is, against any opponent."""

from pathlib import Path
from typing import Annotated, Any

import typer

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import out, print_json, progress_report


def external(text: str, metavar: str | None, *flags: str) -> Any:
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel="Your own game")


def evaluate(
    run: Annotated[
        str,
        typer.Argument(
            help="RUN, RUN@SNAPSHOT or a policy file (*.pt, *.dojo, *.onnx, *.zip of Stable-Baselines3;"
            " one a role, separated by commas);"
            " by default the newest run."
        ),
    ] = "latest",
    opponent: Annotated[
        list[str] | None,
        typer.Option(
            "--opponent",
            "-o",
            help="scripted:NAME, reference (frozen trained policies that come with the game), reference:STYLE, RUN,"
            " RUN@SNAPSHOT, a policy file (*.pt, *.dojo, *.onnx), file.py:Class, or itself; may be given several times."
            " By default the basic scripted ones, the references and itself.",
        ),
    ] = None,
    role: Annotated[str | None, typer.Option("--role", help="Evaluate this role only, for example: seeker")] = None,
    arenas: Annotated[
        str,
        typer.Option(
            "--arenas",
            help="held-out (hand-made and freshly generated ones), hand-made, generated, or a folder of your own.",
            metavar="SET|DIR",
        ),
    ] = "held-out",
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="Rounds against each opponent.")] = 500,
    engine: Annotated[str, typer.Option("--engine", help="sim (embedded), godot (the real one), or both.")] = "sim",
    seed: Annotated[int, typer.Option("--seed", help="The same seed plays the same rounds.")] = 0,
    sampled: Annotated[
        bool,
        typer.Option("--sampled", help="Policies are stochastic, as in training, instead of deterministic."),
    ] = False,
    project: Annotated[
        Path | None, external("The external game's project; by default the one of the run.", "DIR")
    ] = None,
    binary: Annotated[Path | None, external("The exported game, instead.", "FILE")] = None,
    connect: Annotated[bool, external("Wait for the game, which you start.", None, "--connect")] = False,
    seconds: Annotated[float | None, external("The most that each player takes; defaults to 30.", "N")] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray", metavar="ADDRESS", help="Play the matches in a Ray cluster: HOST:PORT, auto or local (a new one)."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Evaluate a trained policy: how often each role wins against each opponent, with 95 % intervals.

    Of an external game (train --project): returns, lengths and successes, compared with random actions and with the
    first policies. In classic tag: how much of the round it is not "it". Played in arenas that training does not use.
    With --engine both, the same on the embedded game and in the real one, and by how much they differ.

    Examples:

      godojo eval latest
      godojo eval latest -o oracle -o my-other-run@1m --role hider
      godojo eval latest -o reference
    """
    from godojo.api.evaluation import evaluate as evaluate_policy

    run = chosen_run(run)
    with progress_report() as shown:
        found = evaluate_policy(
            run,
            opponent or [],
            role=role,
            episodes=episodes,
            arenas=arenas,
            engine=engine,
            seed=seed,
            deterministic=not sampled,
            project=project,
            binary=binary,
            connect=connect,
            seconds=seconds,
            ray=ray,
            progress=shown.progress,
        )
    if as_json:
        print_json(found)
    else:
        out.print(found)
