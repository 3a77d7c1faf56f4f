"""`godojo addon`: installs the addon into a Godot project, or packs it as a zip."""

from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.console import out, say
from godojo.errors import GodojoError
from godojo.export.addon import addon_zip
from godojo.export.addon import install as put
from godojo.files import atomic_write

app = typer.Typer(help="The addon in your own Godot project.", no_args_is_help=True, add_completion=False)


@app.command()
def install(
    project: Annotated[Path, typer.Argument(help="The folder of a Godot 4 project.", metavar="PROJECT_DIR")],
    force: Annotated[bool, typer.Option("--force", help="Replace changed files of the addon.")] = False,
) -> None:
    """Install the addon into a Godot project, or update it, and enable it.

    Files of your own in addons/godojo are kept.

    Example:

      godojo addon install ~/games/my_game
    """
    done = put(project.expanduser(), force=force)
    what = "installed" if done.before is None else f"updated from {done.before or 'an older version'}"
    say(f"Godojo {done.version} {what} in {done.folder}" + (" and enabled" if done.switched_on else ""))
    for name in done.kept:
        say(f"kept {name}, which is not part of the addon")
    for note in done.notes:
        say(f"note: {note}")
    out.print("next:")
    say("  open the project in Godot (if it is open: Project, Reload Current Project)")
    say("  add a DojoSync to the main scene, and a DojoAgent with your script below the body that learns")


@app.command(name="zip")
def make_zip(
    to: Annotated[
        Path | None,
        typer.Option("--out", help="A file or folder; defaults to godojo-addon-VERSION.zip here."),
    ] = None,
) -> None:
    """Write the addon as a zip for Godot's asset library."""
    name, content = addon_zip()
    path = Path(name) if to is None else to.expanduser()
    if path.is_dir():
        path /= name
    if not path.parent.is_dir():
        raise GodojoError(f"there is no folder {path.parent} to write to")
    atomic_write(path, content)
    say(f"{path}: {len(content):,} bytes")
