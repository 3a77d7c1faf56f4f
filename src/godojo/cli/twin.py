"""`godojo twin`: scripts of your own game, compiled for the embedded engine."""

from pathlib import Path
from typing import Annotated

import typer

from godojo.cli.console import out, print_json

app = typer.Typer(help="Compile the scripts of your own game for the embedded engine.", no_args_is_help=True)
PATH_OF_PROJECT = Annotated[Path, typer.Argument(help="A Godot project's folder.", metavar="DIR")]


@app.callback()
def _group() -> None: ...


@app.command()
def report(
    project: PATH_OF_PROJECT,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Print which share of a project's GDScript the compiler understands, with file, line and reason for the rest.

    Scripts in `addons` are not counted.

    Examples:

      godojo twin report path/to/project
    """
    from godojo import extras
    from godojo.twin.gdscript.report import report as report_on

    extras.require("twin", out.print)
    scripts = report_on(project)
    understood, lines = sum(one.understood for one in scripts), sum(one.lines for one in scripts)
    if as_json:
        print_json(
            {
                "lines": lines,
                "understood": understood,
                "scripts": [
                    {
                        "path": one.path,
                        "lines": one.lines,
                        "understood": one.understood,
                        "refused": [{"line": line, "reason": reason} for line, reason in one.refused],
                        "left_out": [{"line": line, "call": call} for line, call in one.left_out],
                    }
                    for one in scripts
                ],
            }
        )
        return
    for one in scripts:
        for line, reason in one.refused:
            out.print(f"{one.path}:{line}: {reason}", markup=False, soft_wrap=True)
        for line, call in one.left_out:
            out.print(f"{one.path}:{line}: left out: {call}", markup=False, soft_wrap=True)
    whole = sum(not one.refused for one in scripts)
    out.print(
        f"{understood} of {lines} lines understood ({understood / max(lines, 1):.0%}); "
        f"{whole} of {len(scripts)} scripts compile whole"
    )


@app.command("compile")
def compile_(
    script: Annotated[Path, typer.Argument(help="A script.", metavar="FILE.gd")],
) -> None:
    """Print the Python that a script becomes.

    Examples:

      godojo twin compile player.gd
    """
    from godojo import extras
    from godojo.twin.gdscript import compile_script

    extras.require("twin", out.print)
    out.print(compile_script(script).source, markup=False, highlight=False, soft_wrap=True, end="")
