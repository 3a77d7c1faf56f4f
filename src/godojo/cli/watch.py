"""`godojo watch`: rounds in 3D, in the browser."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.chosen_run import chosen_run
from godojo.cli.console import say
from godojo.errors import GodojoError
from godojo.processes import die_with_parent

DEFAULT_PORT = 8090
NICE = 19
SESSION_NICE = 15
"""Of the whole session: it weighs 36 beside a training's 1,024."""
_AUTOGROUP = Path("/proc/self/autogroup")
_AUTOGROUP_SWITCH = Path("/proc/sys/kernel/sched_autogroup_enabled")


def watch(
    run: Annotated[str, typer.Argument(help="RUN, or a replay file or folder; defaults to the latest run.")] = "latest",
    port: Annotated[int, typer.Option("--port", help="0 for any free one.", min=0, max=65535)] = DEFAULT_PORT,
    host: Annotated[
        str,
        typer.Option(
            "--host", help="Address to listen on: 127.0.0.1 for this machine only, 0.0.0.0 for all with the token."
        ),
    ] = "127.0.0.1",
    token: Annotated[
        str,
        typer.Option("--token", help="Token that viewers need; defaults to a random one.", envvar="GODOJO_TOKEN"),
    ] = "",
    seed: Annotated[int, typer.Option("--seed", help="The first round's; each round adds one.", min=0)] = 0,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Stop after this time; defaults to Ctrl-C.")
    ] = None,
) -> None:
    """Watch a run in the browser: its newest policies, any snapshot of its training, or scripted opponents.

    While the run trains, each round uses its newest policies.

    Example:

      godojo watch my-run --port 8090
    """
    if seconds is not None and seconds <= 0:
        raise GodojoError(f"--seconds must be above 0, not {seconds:g}")
    run = chosen_run(run)
    leave_terminal_session()  # before anything starts a thread
    from godojo.show.watch.serve import serve  # loads torch, the kernels and viser

    serve(run, host=host, port=port, token=token, seed=seed, seconds=seconds, say=say, loaded=give_way)


def give_way() -> None:
    """Lets a training go first, by a low priority; SCHED_IDLE might never get a turn on a busy machine.

    Linux shares its cores among sessions first and by `nice` only within one (autogroup, sched(7)): between two
    terminals `nice` alone has no effect. So the session is made nice, too, where it is our own.
    """
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    with suppress(OSError, AttributeError):
        if os.getsid(0) == os.getpid():
            _AUTOGROUP.write_text(str(SESSION_NICE))


def leave_terminal_session() -> None:
    """At a terminal, whose session is also the shell's and perhaps a training's, continues in a child with its own.

    The parent passes signals on and ends with the child.
    """
    with suppress(OSError):
        if not os.isatty(0) or os.getsid(0) == os.getpid() or _AUTOGROUP_SWITCH.read_text().strip() != "1":
            return
        child = os.fork()
        if not child:
            die_with_parent()
            os.setsid()
            return
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: os.kill(child, number))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        raise SystemExit(code if code >= 0 else 128 - code)
