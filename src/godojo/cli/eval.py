"""`godojo eval`: measures a trained policy against any opponent."""

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
            " one per role, separated by commas); defaults to the latest run."
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
    project: Annotated[Path | None, external("The external game's project; defaults to the run's.", "DIR")] = None,
    binary: Annotated[Path | None, external("The exported game, instead.", "FILE")] = None,
    connect: Annotated[bool, external("Wait for the game, which you start.", None, "--connect")] = False,
    seconds: Annotated[float | None, external("Time limit of each player; defaults to 30.", "N")] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray", metavar="ADDRESS", help="Play the matches in a Ray cluster: HOST:PORT, auto or local (a new one)."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Evaluate a trained policy: win rates of each role against each opponent, with 95 % intervals.

    Plays in arenas that training does not use. Classic tag: the share of the round not being "it". Your own game (train
    --project): returns, lengths and success rates, beside random actions and the untrained policies. --engine both
    plays on the twin and in Godot and prints the difference.

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
