"""`godojo twin`: your own game, compiled for the embedded engine."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from godojo.cli.console import note, out, print_json

if TYPE_CHECKING:
    from godojo.twin.gate import Actor, Parity

app = typer.Typer(help="Compile your own game for the embedded engine.", no_args_is_help=True, add_completion=False)
PATH_OF_PROJECT = Annotated[Path, typer.Argument(help="A Godot project's folder.", metavar="DIR")]
SCENE = Annotated[
    str | None, typer.Option("--scene", help="The training scene; defaults to the main scene.", metavar="SCENE")
]
ACTION_REPEAT = Annotated[
    int | None, typer.Option(help="Physics ticks per decision; defaults to the scene's.", metavar="N", min=1)
]
AS_JSON = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]


@app.callback()
def _group() -> None: ...


@app.command()
def build(
    project: PATH_OF_PROJECT,
    scene: SCENE = None,
    action_repeat: ACTION_REPEAT = None,
    report: Annotated[
        bool, typer.Option("--report", help="Print what is understood, left out and refused, with file and line.")
    ] = False,
    anew: Annotated[bool, typer.Option("--anew", help="Build even if nothing has changed.")] = False,
    as_json: AS_JSON = False,
) -> None:
    """Build the twin of a Godot project: its scene and scripts, compiled for the embedded engine.

    The project stays as it is. Anything that is not understood is refused with file, line and reason.

    Examples:

      godojo twin build path/to/project
      godojo twin build path/to/project --scene train.tscn --report
    """
    _require(project)
    from godojo.twin import build as twins

    try:
        built = twins.build_twin(project, scene, action_repeat=action_repeat, say=note, anew=anew)
    except twins.TwinRefused as refused:
        record = twins.stored_record(project, scene, action_repeat)
        if as_json:
            print_json(twins.as_json(record) if record else {"refusals": [str(one) for one in refused.refusals]})
        elif report and record is not None:
            _print_lines(twins.report_lines(record))
        else:
            _print_lines(str(one) for one in refused.refusals)
        raise
    if as_json:
        print_json(twins.as_json(built.record))
        return
    if report:
        _print_lines(twins.report_lines(built.record))
    agents = len(built.snapshot.agents)
    _print_lines(
        [
            f"built in {built.record.seconds:.1f} s: {agents} agents, {len(built.snapshot.nodes)} nodes",
            f"generated Python: {built.source}",
        ]
    )


@app.command()
def check(
    project: PATH_OF_PROJECT,
    scene: SCENE = None,
    action_repeat: ACTION_REPEAT = None,
    seeds: Annotated[int | None, typer.Option(help="Rounds of play.", metavar="N", min=1)] = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds of each.", metavar="S", min=0.1)] = None,
    policy: Annotated[
        str | None, typer.Option(help="Play by the policies of this run, instead of at random.", metavar="RUN")
    ] = None,
    as_json: AS_JSON = False,
) -> None:
    """Compare a twin with the real engine: the same seeded play in both. Exits with 1 if they are too far apart.

    Examples:

      godojo twin check path/to/project
      godojo twin check path/to/project --policy latest
      godojo twin check path/to/project --scene train.tscn --seeds 8
    """
    _require(project)
    from godojo.twin import build as twins
    from godojo.twin import gate

    built = twins.build_twin(project, scene, action_repeat=action_repeat, say=note)
    found = twins.check_twin(
        built,
        seeds=seeds or gate.SEEDS,
        seconds=gate.SECONDS if seconds is None else seconds,
        policies=None if policy is None else _policies(policy, list(built.worlds().roles)),
        say=note,
    )
    if as_json:
        print_json({"passes": found.passes, **twins.parity_as_json(found)})
    else:
        print_parity(found)
    if not found.passes:
        raise typer.Exit(1)


def _require(project: Path) -> None:
    """Refuses a folder that is no Godot project before anything is installed for it."""
    from godojo import extras
    from godojo.engines.godot.project_check import require_project

    require_project(project.expanduser().absolute())
    extras.require("twin", out.print)


def _policies(run: str, roles: list[str]) -> "dict[str, Actor]":
    """The policies of a run, by role."""
    from godojo.api.policies import TrainedPolicy
    from godojo.api.references import reference
    from godojo.errors import GodojoError
    from godojo.evaluation.players import players_of
    from godojo.export.players import SHIPPED

    found = players_of(reference(run), files=SHIPPED)
    if not set(found) <= set(roles):
        raise GodojoError(f"{run} was trained as {', '.join(found)}; this game has {', '.join(roles)}")
    return {name: TrainedPolicy(player) for name, player in found.items()}


def print_parity(found: "Parity") -> None:
    """Prints a gate's table and its verdict."""
    from rich.table import Table

    from godojo.twin.gate import table

    shown = Table(box=None, pad_edge=False, header_style="dim")
    for title in ("twin and real engine", "measured", "limit", ""):
        shown.add_column(title)
    for row in table(found):
        shown.add_row(*row)
    out.print(shown)
    _print_lines(
        [
            f"{found.seeds} seeds of {found.seconds:g} s, {found.agents} agents: "
            f"{'the twin can be trained on' if found.passes else 'the twin is too far from the real engine'}",
            f"on one core the twin plays {found.twin_speed:,.0f} decisions of agents per second, "
            f"the engine {found.engine_speed:,.0f}",
            *([f"first difference: {found.first_difference}"] if found.first_difference else []),
        ]
    )


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


@app.command()
def report(
    project: PATH_OF_PROJECT,
    as_json: AS_JSON = False,
) -> None:
    """Print which share of a project's GDScript the compiler understands, with file, line and reason for the rest.

    Scripts in `addons` are not counted.

    Examples:

      godojo twin report path/to/project
    """
    _require(project)
    from godojo.twin.gdscript.report import report as report_on

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
    from godojo.errors import GodojoError
    from godojo.twin.gdscript import compile_script

    if not script.is_file():
        raise GodojoError(f"there is no script {script}")
    extras.require("twin", out.print)
    out.print(compile_script(script).source, markup=False, highlight=False, soft_wrap=True, end="")
