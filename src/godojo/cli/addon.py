"""`godojo addon`: the addon in your own Godot project, and as a zip."""

from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.console import out, say
from godojo.errors import GodojoError
from godojo.export.addon import addon_zip
from godojo.export.addon import install as put
from godojo.files import atomic_write

app = typer.Typer(help="The addon in your own Godot project.", no_args_is_help=True)


@app.command()
def install(
    project: Annotated[Path, typer.Argument(help="The folder of a Godot 4 project.", metavar="PROJECT_DIR")],
    force: Annotated[bool, typer.Option("--force", help="Replace files of the addon that somebody changed.")] = False,
) -> None:
    """Put the addon into a Godot project, or bring it up to date, and switch it on.

    Files of your own in addons/godojo are kept.

    Example:

      godojo addon install ~/games/my_game
    """
    done = put(project.expanduser(), force=force)
    what = "installed" if done.before is None else f"updated from {done.before or 'an older version'}"
    say(f"Godojo {done.version} {what} in {done.folder}" + (" and switched on" if done.switched_on else ""))
    for name in done.kept:
        say(f"kept {name}, which is not ours")
    for note in done.notes:
        say(f"note: {note}")
    out.print("next:")
    say("  open the project in Godot (if it is open: Project, Reload Current Project)")
    say("  put a DojoSync into the main scene, and a script that extends DojoAgent below the body that should learn")


@app.command(name="zip")
def make_zip(
    to: Annotated[
        Path | None,
        typer.Option("--out", help="The file or the folder; godojo-addon-VERSION.zip here if left away."),
    ] = None,
) -> None:
    """Write the addon as a zip in the form Godot's asset library expects."""
    name, content = addon_zip()
    path = Path(name) if to is None else to.expanduser()
    if path.is_dir():
        path /= name
    if not path.parent.is_dir():
        raise GodojoError(f"there is no folder {path.parent} to write to")
    atomic_write(path, content)
    say(f"{path}: {len(content):,} bytes")
