"""`godojo watch`: rounds in 3D, in the browser."""

import os
from contextlib import suppress
from typing import Annotated

import typer

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import say
from godojo.errors import GodojoError

DEFAULT_PORT = 8090


def watch(
    run: Annotated[
        str, typer.Argument(help="RUN, or a replay's file or a folder of them; the newest run if left away.")
    ] = "latest",
    port: Annotated[int, typer.Option("--port", help="0 for any free one.", min=0, max=65535)] = DEFAULT_PORT,
    host: Annotated[
        str,
        typer.Option("--host", help="Who can look: 127.0.0.1 is this machine alone, 0.0.0.0 everybody with the token."),
    ] = "127.0.0.1",
    token: Annotated[
        str, typer.Option("--token", help="What others must know to look; made up if left away.", envvar="GODOJO_TOKEN")
    ] = "",
    seed: Annotated[int, typer.Option("--seed", help="The first round's; each round adds one.", min=0)] = 0,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Stop after so long; until Ctrl-C if left away.")
    ] = None,
) -> None:
    """Watch a run in the browser: its newest policies, any moment of its training, or scripted opponents.

    A training that runs is followed: each round is played by the policies as they are by then.

    Example:

      godojo watch my-run --port 8090
    """
    if seconds is not None and seconds <= 0:
        raise GodojoError(f"--seconds must be above 0, not {seconds:g}")
    run = chosen_run(run)
    from godojo.show.watch.serve import serve  # loads torch, the kernels and viser

    give_way()
    serve(run, host=host, port=port, token=token, seed=seed, seconds=seconds, say=say)


def give_way() -> None:
    """Whoever trains goes first; but not so that we would never get a turn on a busy machine (SCHED_IDLE)."""
    with suppress(OSError, AttributeError):
        os.nice(19)
