"""`godojo config`: prints a training configuration to edit and pass to `godojo train --config`."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from godojo.cli.console import print_json
from godojo.errors import command, unknown
from godojo.files import atomic_write

app = typer.Typer(help="Training configurations as JSON.", no_args_is_help=True, add_completion=False)
FORMS = ("game", "preset")


@app.callback()
def _group() -> None: ...


@app.command()
def example(
    game: Annotated[str, typer.Argument(help="The game.")] = "navigation",
    preset: Annotated[str, typer.Option(help="The preset to start from.")] = "default",
    form: Annotated[
        str, typer.Option(help="The form of the file: the game's own (default), or preset, as Godojo's presets.")
    ] = "game",
    file: Annotated[
        Path | None, typer.Option("--out", help="Write it here instead of printing it.", metavar="FILE.json")
    ] = None,
) -> None:
    """Print a preset with every value filled in, for `godojo train GAME --config FILE.json`."""
    from godojo.games.base import GAMES
    from godojo.learn.presets import example_config

    if game not in GAMES:
        raise unknown("game", game, GAMES)
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    tree = example_config(game, preset, own_form=form == "preset")
    text = msgspec.json.format(msgspec.json.encode(tree), indent=2) + b"\n"
    if file is None:
        print_json(text)
        return
    atomic_write(file, text)
    typer.echo(f"wrote {file}; train with it: {command(f'train {game} --config {file}')}")
