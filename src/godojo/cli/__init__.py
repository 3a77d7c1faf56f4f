"""The command line: one small file a verb, put together here."""

import os
import signal
import sys
from typing import Annotated

import typer
from typer.exceptions import Abort, TyperException

import godojo
from godojo.cli.console import complain, configure_output
from godojo.cli.verbs import VerbGroup
from godojo.errors import GodojoError, command

_INTRODUCTION = """\
[bold]Godojo[/bold] trains, watches, judges and ships game-playing agents for Godot 4.

Start with [cyan]{train}[/cyan]: a seeker and a hider learn tag in five minutes, without Godot.
[cyan]{verb} --help[/cyan] explains a command.
"""

_LAUNCHER = """
[cyan]{run}[/cyan] runs your own script, [cyan]{install}[/cyan] adds Stable-Baselines3.
"""

app = typer.Typer(
    name="godojo",
    cls=VerbGroup,
    help=_INTRODUCTION.format(train=command("train"), verb=command("COMMAND"))
    + (
        _LAUNCHER.format(run=command("run FILE.py"), install=command("install sb3"))
        if "GODOJO_LAUNCHED_AS" in os.environ
        else ""
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"godojo {godojo.__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Say which Godojo this is, and stop."),
    ] = False,
) -> None: ...


def _stop(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def main(words: list[str] | None = None) -> None:
    """Runs the command line. A user's mistake ends in one line and exit status 2, never in a traceback."""
    configure_output()
    signal.signal(signal.SIGTERM, _stop)  # so that what we started is ended with us
    try:
        status = app(args=words, prog_name=command("").strip(), standalone_mode=False)
    except GodojoError as error:
        complain(str(error))
        status = 2
    except TyperException as error:
        status = 0  # no command at all: the help has been shown instead
        if error.format_message():
            from godojo.cli.mistakes import explain

            complain(explain(error))
            status = 2
    except Abort:
        complain("stopped")
        status = 130
    except BrokenPipeError:  # the reader of our output has gone, as in `godojo ... | head`
        sys.stderr.close()
        status = 141
    raise SystemExit(status if isinstance(status, int) else 0)
