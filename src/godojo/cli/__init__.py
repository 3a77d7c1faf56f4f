"""The command line: one small file a verb, put together here."""

import signal
import sys
from typing import Annotated

import typer
from typer.exceptions import Abort, TyperException

import godojo
from godojo.cli import (
    addon,
    bench,
    config,
    distil,
    doctor,
    engine,
    export,
    film,
    league,
    parity,
    play,
    plot,
    record,
    replay,
    report,
    serve,
    serve_game,
    train,
    watch,
)
from godojo.cli import eval as judging
from godojo.cli.console import complain, speak_plainly
from godojo.errors import GodojoError, command

_TEACHING = """\
[bold]Godojo[/bold] trains, watches, judges and ships game-playing agents for Godot 4.

Begin here:

  [cyan]godojo train[/cyan]            seeker and hider learn tag in five minutes, without Godot
  [cyan]godojo train navigation[/cyan] a walker learns a VR course; --trainer sb3 for Stable-Baselines3
  [cyan]godojo engine install[/cyan]   the real Godot, for you alone, nothing else touched
  [cyan]godojo play tag[/cyan]         3D tag by hand, against a trained opponent
  [cyan]godojo parity tag[/cyan]       the embedded twin against the real engine, tick by tick
  [cyan]godojo eval RUN[/cyan]         how often a trained policy wins, against whom you like
  [cyan]godojo league RUN[/cyan]       how it got better: its training's moments against each other
  [cyan]godojo watch RUN[/cyan]        any moment of its training in the browser, in 3D, while it trains too
  [cyan]godojo plot RUN[/cyan]         its curves as pictures; several runs are compared
  [cyan]godojo report RUN[/cyan]       all of it in one page
  [cyan]godojo export RUN[/cyan]       policies as files for games: pure GDScript, or ONNX
  [cyan]godojo distil RUN[/cyan]       a smaller net that does the same, and what that costs
  [cyan]godojo addon install[/cyan]    the addon in your own Godot project
  [cyan]godojo film RUN[/cyan]         the film of how it got good; [cyan]record RUN[/cyan] films some rounds
  [cyan]godojo serve[/cyan]            waits for your own Godot scene on port 8765, and plays it
  [cyan]godojo serve-game[/cyan]       VR navigation in the real engine, played by you over HTTP
  [cyan]godojo bench sim[/cyan]        how fast the twin is here
  [cyan]godojo doctor[/cyan]           what is installed, what is missing, and the cure

From a checkout, [cyan]python3 dojo.py VERB[/cyan] sets everything up first and is otherwise the same.
Every verb explains itself: [cyan]godojo VERB --help[/cyan].
"""

app = typer.Typer(
    name="godojo",
    help=_TEACHING,
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(engine.app, name="engine")
app.add_typer(addon.app, name="addon")
app.command(name="doctor")(doctor.doctor)
app.command(name="parity")(parity.parity)
app.add_typer(bench.app, name="bench")
app.command(name="train")(train.train)
app.add_typer(config.app, name="config")
app.command(name="eval")(judging.evaluate)
app.command(name="league")(league.league)
app.command(name="plot")(plot.plot)
app.command(name="report")(report.report)
app.command(name="replay")(replay.replay)
app.command(name="record")(record.record)
app.command(name="encode")(record.encode)
app.command(name="film")(film.film)
app.command(name="watch")(watch.watch)
app.command(name="export")(export.export)
app.command(name="distil")(distil.distil)
app.command(name="serve")(serve.serve)
app.command(name="serve-game", context_settings={"ignore_unknown_options": True})(serve_game.serve_game)
app.command(name="play", context_settings={"ignore_unknown_options": True})(play.play)


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
    speak_plainly()
    signal.signal(signal.SIGTERM, _stop)  # so that what we started is ended with us
    try:
        status = app(args=words, prog_name=command("").strip(), standalone_mode=False)
    except GodojoError as error:
        complain(str(error))
        status = 2
    except TyperException as error:
        status = 2
        if error.format_message():
            complain(f"{error.format_message()} (see: {command('--help')})")
        else:  # no verb at all: the help has been shown instead
            status = 0
    except (KeyboardInterrupt, Abort):
        complain("stopped")
        status = 130
    except BrokenPipeError:  # the reader of our output has gone, as in `godojo ... | head`
        sys.stderr.close()
        status = 141
    raise SystemExit(status if isinstance(status, int) else 0)
