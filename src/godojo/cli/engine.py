"""`godojo engine`: find, install, run and remove the real Godot."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.markup import escape

from godojo.cli.console import ProgressReport, note, out, print_json, progress_report
from godojo.engines.godot.find import Engine, EngineMissing, find
from godojo.engines.godot.install import install as install_engine
from godojo.engines.godot.install import uninstall as uninstall_engine
from godojo.engines.godot.paths import engine_folder, program_of, read_installed
from godojo.engines.godot.project import prepared_project, project_folder
from godojo.engines.godot.templates import has_templates

Result = TypeVar("Result")

app = typer.Typer(
    help="Find, install and run Godot: the one in GODOT_BIN, the installed one, or the one on the PATH.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command()
def status(as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False) -> None:
    """Print which Godot is used, and where it comes from."""
    engine = find()
    if as_json:
        print_json(engine)
        return
    out.print(f"Godot [bold]{escape(engine.version)}[/]")
    out.print(f"  program  {escape(str(engine.program))}")
    out.print(f"  found    {_origin(engine)}")


@app.command()
def install(
    rendering: Annotated[
        bool, typer.Option("--rendering", help="Also Mesa and Xvfb, to render without a GPU or a display.")
    ] = False,
    templates: Annotated[bool, typer.Option("--templates", help="Also export templates, to export games.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Reinstall, add-ons included.")] = False,
) -> None:
    """Install Godot for this user: the official build, or Debian's if that cannot be reached.

    It is installed into your data folder ($GODOJO_HOME) and tested. You can interrupt the installation and start it
    again at any moment. Installed add-ons stay.
    """
    with progress_report() as report:
        installed = install_engine(rendering=rendering, templates=templates, force=force, report=report)
    engine = Engine(program_of(installed), installed.version, "installed")
    out.print(f"Godot [bold]{installed.version}[/] is installed in {escape(str(engine_folder()))}")
    out.print(f"  {_origin(engine)}")
    used = find()
    if used.source != "installed":
        out.print(f"[yellow]note:[/] {used.source} is set and takes precedence: {used.program}")


@app.command()
def path() -> None:
    """Print the program's path, for scripts."""
    sys.stdout.write(f"{find().program}\n")


@app.command(context_settings={"ignore_unknown_options": True})
def run(
    words: Annotated[list[str] | None, typer.Argument(help="Arguments for Godot, after --.", metavar="-- ARGS")] = None,
) -> None:
    """Run Godot with your own arguments.

    Godojo's own project (`--path godot` in a checkout), and any project to export, is imported first if needed.

    Example:

      godojo engine run -- --headless --version
    """
    engine = find()
    words = words or []
    project = Path(words[words.index("--path") + 1] if "--path" in words[:-1] else ".").resolve()
    exports = any(word.startswith("--export-") for word in words) and (project / "project.godot").is_file()
    if exports or ("--path" in words and project == project_folder().resolve()):
        prepared_project(engine, project)
    become([str(engine.program), *words])


@app.command()
def uninstall() -> None:
    """Remove the Godot that Godojo installed, and no other."""
    removed = uninstall_engine()
    out.print("Removed the installed Godot." if removed else "Godojo has not installed Godot; nothing to remove.")


def become(command: list[str]) -> None:
    """Replaces this process by a program, so that signals and the exit status are its own."""
    if os.name == "nt":
        raise typer.Exit(subprocess.call(command))
    os.execv(command[0], command)  # noqa: S606 - no shell is needed


def ready_engine() -> Engine:
    """The engine; installs it first if there is none."""
    with progress_report() as report:
        return with_engine(find, report)


def with_engine(call: Callable[[], Result], report: ProgressReport) -> Result:
    """Calls a function that needs Godot; installs Godot first if there is none."""
    try:
        return call()
    except EngineMissing:
        note("Godot is not installed yet: installing it, once")
        install_engine(report=report)
        return call()


def _origin(engine: Engine) -> str:
    if engine.source != "installed":
        return f"by {engine.source}"
    installed = read_installed()
    assert installed is not None
    addons = ["with export templates" if has_templates(engine) else "without export templates"]
    if installed.origin == "debian":  # an official build draws with the system's drivers
        addons.insert(0, "with drivers for pictures" if installed.rendering else "without drivers for pictures")
    return f"installed by Godojo: {installed.origin} build, {', '.join(addons)}"
