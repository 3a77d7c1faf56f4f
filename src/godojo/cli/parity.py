"""`godojo parity`: compares the embedded twin with the real engine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape

from godojo.cli.console import out, print_json, progress_report
from godojo.cli.engine import ready_engine
from godojo.errors import GodojoError
from godojo.games.base import game_named

if TYPE_CHECKING:
    from godojo.evaluation.parity.report import Example, Figure, ParityPlan, Report


def parity(
    game: Annotated[str, typer.Argument(help="Which game, for example: tag")],
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="Episodes to play.")] = 64,
    arenas: Annotated[
        Path | None,
        typer.Option("--arenas", help="A folder of your own arenas or courses (*.json); otherwise those of the game."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The same seed plays the same episodes.")] = 1,
    values: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of the game, on both sides: motion.gravity_mps2=20", metavar="KEY=VALUE"),
    ] = None,
    between: Annotated[
        tuple[str, str] | None,
        typer.Option("--between", help="cpu cuda: compare the twin on both, without Godot.", metavar="DEVICE DEVICE"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
    folder: Annotated[Path, typer.Option("--out", help="Where the report and the plot go.", metavar="FOLDER")] = Path(
        "runs/parity"
    ),
) -> None:
    """Play the same episodes in the real Godot and in the twin, and measure every difference.

    Leaves report.json (with examples of the largest differences, tick by tick) and error_over_time.png in FOLDER. Exits
    with 1 when a target is missed. With --between, prints how far the twin on the CPU and on a GPU are apart.
    """
    played = game_named(game)
    if between is not None:
        if sorted(between) != ["cpu", "cuda"]:
            raise GodojoError(f"--between {' '.join(between)}: it is --between cpu cuda")
        raise typer.Exit(_between_devices(game, seed, as_json))
    if episodes < 1 or seed < 0:
        raise GodojoError("--episodes must be 1 or more, --seed 0 or more")
    settings = played.settings.defaults().override_texts(values or [])
    load_plan = played.require("parity", "parity")
    places = None if arenas is None else played.require("places", "--arenas")(settings).read_folder(arenas)
    from godojo.evaluation.parity.picture import draw  # loads matplotlib

    plan: ParityPlan = load_plan()
    for value in values or []:
        if value.partition("=")[0].strip() in plan.chosen_settings:
            raise GodojoError(f"--set {value}: parity chooses {', '.join(plan.chosen_settings)} itself")
    engine = ready_engine()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GodojoError(f"--out {folder}: {error.strerror}") from None
    with progress_report() as shown:
        report = plan.check(
            engine, episodes=episodes, places=places, seed=seed, settings=settings, progress=shown.progress
        )
        shown.step("drawing")
        draw(report, folder / "error_over_time.png")
    tree = {"is_met": report.is_met, "set": values or [], **msgspec.to_builtins(report)}
    text = msgspec.json.format(msgspec.json.encode(tree))
    (folder / "report.json").write_bytes(text)
    if as_json:
        print_json(text)
    else:
        show(report, folder)
        if values:
            out.print(f"With {escape(', '.join(values))}; nothing else was changed.")
    raise typer.Exit(0 if report.is_met else 1)


def _between_devices(game: str, seed: int, as_json: bool) -> int:
    """Compares the twin on the CPU and on a GPU; 1 where a bit differs."""
    from godojo.kernels import cuda

    cuda.load()  # whether there is a GPU, before torch and the kernels load
    from godojo.evaluation.parity.devices import compare

    report = compare(game, seed=seed)
    if as_json:
        print_json(msgspec.json.encode(report))
    else:
        count = f"{report.worlds:,} worlds, {report.decisions} decisions, {report.rounds:,} rounds"
        out.print(f"[bold]{escape(game)} on the CPU and on the GPU[/]: {count}")
        out.print(f"  the same to the last bit: {100 * report.same_worlds:.6g} % of worlds")
        if report.first_difference is not None:
            out.print(f"  first difference at decision {report.first_difference}, the largest is {report.worst:.3g}")
    return 0 if report.is_met else 1


def show(report: "Report", folder: Path) -> None:
    """The report for a person."""
    from godojo.evaluation.tables import plain_table  # loads torch

    games = ", ".join(f"{count} of {name}" for name, count in report.games.items())
    out.print(f"[bold]Parity of {report.game}[/]: {report.episodes} episodes ({games}) in {len(report.arenas)} arenas")
    out.print(f"[dim]Godot {escape(report.engine)}, seed {report.seed}, {report.agent_ticks:,} agent ticks[/]\n")
    table = plain_table(["", "figure"], ["measured", "target", "samples"])
    for figure in report.figures:
        table.add_row(_mark(figure), figure.name, _value(figure), _target(figure), f"{figure.samples:,}")
    out.print(table)
    if report.mechanisms:
        out.print("\nSingle ticks, begun with Godot's own state, that came out differently:")
        for mechanism in report.mechanisms:
            count = f"{mechanism.agent_ticks} of {report.agent_ticks:,}"
            out.print(f"  {escape(mechanism.name)}: {count}, worst {_length(mechanism.worst_m)}")
            out.print(f"    [dim]{escape(_place(mechanism.example))}[/]")
    elif report.mechanisms is not None:
        out.print("\nNo single tick, begun with Godot's own state, came out differently.")
    out.print("\nLargest differences:")
    for example in report.examples:
        by = f"{example.godot}; twin: {example.twin}" if example.agent < 0 else _length(example.error)
        out.print(f"  {escape(example.what)}: {escape(by)} [dim]({escape(_place(example))})[/]")
    for cause in report.causes:
        out.print(f"[red]✗[/] {escape(cause)}")
    out.print(
        f"\nReport and plot: {escape(str(folder / 'report.json'))}, {escape(str(folder / 'error_over_time.png'))}"
    )
    out.print(
        "[green]The twin is the game.[/]" if report.is_met else "[red]A target is missed: see the lines with ✗.[/]"
    )


def _mark(figure: "Figure") -> str:
    if figure.at_most is None and figure.at_least is None:
        return " "
    return "[green]✓[/]" if figure.is_met else "[red]✗[/]"


def _value(figure: "Figure") -> str:
    return _length(figure.value) if figure.name.endswith("_m") else f"{100 * figure.value:.6g} %"


def _target(figure: "Figure") -> str:
    if figure.at_most is not None:
        return f"≤ {_length(figure.at_most)}"
    return f"≥ {100 * figure.at_least:g} %" if figure.at_least is not None else ""


def _length(metres: float) -> str:
    """In the unit that suits it."""
    for least, unit in ((1.0, "m"), (1e-2, "cm"), (1e-3, "mm")):
        if metres >= least:
            return f"{metres / least:.3g} {unit}"
    return f"{metres * 1e6:.3g} µm"


def _place(example: "Example") -> str:
    who = f", agent {example.agent}" if example.agent >= 0 else ""
    return f"{example.arena}, {example.game}, episode {example.episode}, tick {example.tick}{who}"
