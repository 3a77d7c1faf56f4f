"""The command line: one small module per verb."""

import os
import signal
import sys
from typing import Annotated

import typer
from typer.exceptions import Abort, TyperException

import godojo
from godojo.cli.console import complain, configure_output
from godojo.cli.verbs import VerbGroup
from godojo.errors import GodojoError, command, naming_flags

_INTRODUCTION = """\
[bold]Godojo[/bold] trains, watches, evaluates and ships game-playing agents for Godot 4.

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
        typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None: ...


def _stop(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def main(words: list[str] | None = None) -> None:
    """Runs the command line. A user's mistake prints one line and exits with status 2, never with a traceback."""
    configure_output()
    signal.signal(signal.SIGTERM, _stop)  # so that our child processes end with us
    try:
        with naming_flags():
            status = app(args=words, prog_name=command("").strip(), standalone_mode=False)
    except GodojoError as error:
        complain(str(error))
        status = 2
    except TyperException as error:
        status = 0  # no command at all: Typer has printed the help
        if error.format_message():
            from godojo.cli.mistakes import explain

            complain(explain(error))
            status = 2
    except Abort:
        complain("stopped")
        status = 130
    except BrokenPipeError:  # as in `godojo ... | head`
        sys.stderr.close()
        status = 141
    raise SystemExit(status if isinstance(status, int) else 0)
