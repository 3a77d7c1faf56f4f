"""`godojo bench`: measures speed on this machine."""

from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from godojo.cli.console import err, note, out, print_json, progress_report
from godojo.extras import require

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from godojo.bench.bridge import BridgeReport
    from godojo.bench.inference import InferenceReport
    from godojo.bench.measure import Conditions
    from godojo.bench.sim import SimReport
    from godojo.bench.train import TrainReport

app = typer.Typer(help="Measure speed on this machine.", no_args_is_help=True, add_completion=False)

AsJson = Annotated[bool, typer.Option("--json", help="As JSON, for programs.")]
GameName = Annotated[str, typer.Argument(help="Which game.")]
Repeats = Annotated[int, typer.Option(help="Times each is measured; the median counts.", min=1)]
Seconds = Annotated[float, typer.Option(help="Length of each measurement.", min=0.05, max=600.0)]


@app.callback()
def _bench() -> None: ...


@app.command()
def sim(
    game: GameName = "tag",
    as_json: AsJson = False,
    worlds: Annotated[int, typer.Option(help="Copies of the game in the twin.", min=1)] = 4096,
    seconds: Seconds = 2.0,
    repeats: Repeats = 5,
    device: Annotated[str, typer.Option(help="cuda: the twin on a GPU as well.", metavar="cpu|cuda")] = "cpu",
) -> None:
    """Measure a game's twin, beside the same rules in plain NumPy and in the real Godot where the game offers them.

    Everything is measured in turn, several times. Close other programs: the report shows when the machine was not
    quiet.
    """
    from godojo.bench.sim import measure  # loads compilers

    with progress_report() as report:
        found = measure(game, worlds=worlds, seconds=seconds, repeats=repeats, device=device, report=report)
    _show(found, as_json, [_sim_table, _sim_words], f", {found.core_share:.0%} of a core available")


@app.command()
def bridge(
    game: GameName = "tag",
    as_json: AsJson = False,
    worlds: Annotated[int, typer.Option(help="Copies of the game in each process.", min=1)] = 64,
    seconds: Seconds = 2.0,
    repeats: Repeats = 5,
    godot_rl: Annotated[bool, typer.Option(help="Measure godot_rl's client too; fetches it once from PyPI.")] = True,
) -> None:
    """Measure the real Godot through the bridge, beside the engine alone and godot_rl's own client.

    All play the game's training scene at random. Everything is measured in turn, several times. Close other programs:
    the report shows when the machine was not quiet.
    """
    from godojo.bench.bridge import measure

    with progress_report() as report:
        found = measure(game, worlds=worlds, seconds=seconds, repeats=repeats, godot_rl=godot_rl, report=report)
    _show(found, as_json, [_bridge_table, _bridge_words])


@app.command()
def train(
    as_json: AsJson = False,
    seconds: Annotated[float, typer.Option(help="Length of each measurement of speed.", min=0.05, max=600.0)] = 10.0,
    repeats: Repeats = 3,
    skill_minutes: Annotated[
        float, typer.Option(help="Most minutes each may train to reach the skill; 0 leaves it out.", min=0.0)
    ] = 3.0,
    skill_seeds: Annotated[int, typer.Option(help="Trainings of each to the skill; the median counts.", min=1)] = 1,
    opponent: Annotated[str, typer.Option(help="The scripted opponent to beat.")] = "random",
    goal: Annotated[float, typer.Option(help="Proportion of rounds to win, beyond doubt.", min=0.01, max=0.99)] = 0.6,
) -> None:
    """Measure learning tag on its twin: our PPO beside that of Stable-Baselines3, default and with large batches.

    Agent-steps per second, playing and learning together; then how long each trains until its seeker is good enough.
    Everything is measured in turn. Close other programs: the report shows when the machine was not quiet.
    """
    require("sb3", note)
    import godojo.kernels.compile  # noqa: F401 - before torch: from here all threads know to wait without spinning
    from godojo.bench.sb3 import sb3_contenders
    from godojo.bench.train import measure

    with progress_report() as report:
        found = measure(
            sb3_contenders(opponent),
            seconds=seconds,
            repeats=repeats,
            skill_minutes=skill_minutes,
            skill_seeds=skill_seeds,
            opponent=opponent,
            goal=goal,
            report=report,
        )
    _show(found, as_json, [_speed_table, *([_skill_table] if found.skills else []), _train_words])


@app.command()
def inference(
    as_json: AsJson = False,
    seconds: Annotated[float, typer.Option(help="Length of each measurement.", min=0.05, max=60.0)] = 2.0,
    crowd: Annotated[int, typer.Option(help="Agents that decide at once.", min=1, max=4096)] = 64,
) -> None:
    """Measure policies in the real Godot, in pure GDScript: microseconds of one decision, alone and in a crowd.

    Networks with two hidden layers and 120 numbers observed. Close other programs: the report shows when the machine
    was not quiet.
    """
    from godojo.bench.inference import measure

    with progress_report() as report:
        found = measure(seconds=seconds, crowd=crowd, report=report)
    _show(found, as_json, [_inference_table, _machine])


def _show(found: "Conditions", as_json: bool, pieces: "Sequence[Callable[[Any], Table | str]]", more: str = "") -> None:
    """A report as JSON or piece by piece, with a note if the machine was not quiet."""
    if as_json:
        print_json(found)
    else:
        for piece in pieces:
            out.print(piece(found))
    if not found.is_quiet:
        busy = f"{found.busy_before:.1f} of {found.cores} cores busy before, {found.busy_after:.1f} after{more}"
        err.print(f"[yellow]note:[/] the machine was not quiet ({busy}): the figures are off")


def _machine(found: "Conditions") -> str:
    return escape(f"{found.machine}; {', '.join(f'{name} {version}' for name, version in found.versions.items())}")


def _table(title: str, *columns: str) -> Table:
    """With the contenders at the left and numbers in the other columns."""
    table = Table(title=escape(title), title_justify="left")
    table.add_column("what")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _speed_rows(
    table: Table, found: "SimReport | BridgeReport", rows: "Sequence[tuple[str, str, float | None, float | None]]"
) -> Table:
    """One row for each contender: its title, its name among the samples, and its speed by those of two others."""
    for title, name, one, two in rows:
        values = found.samples.get(name)
        if not values:
            table.add_row(title, "not measured", "", "", "")
            continue
        ratios = ("" if ratio is None else f"{ratio:.3g}" for ratio in (one, two))
        table.add_row(title, f"{median(values):,.0f}", *ratios, f"{min(values):,.0f} to {max(values):,.0f}")
    return table


def _ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other is not None else None


def _sim_table(found: "SimReport") -> Table:
    table = _table(f"{found.game}: {found.title}", "agent-steps/s", "times NumPy", "times Godot", "lowest to highest")
    numpy, godot = found.numpy_agent_steps_per_s, found.godot_agent_steps_per_s
    return _speed_rows(
        table,
        found,
        [
            (f"twin, {found.cores} cores", "all_cores", found.times_numpy, found.times_godot),
            ("twin, one core", "one_core", found.times_numpy_one_core, found.times_godot_one_core),
            ("plain NumPy", "numpy", _ratio(numpy, numpy), _ratio(numpy, godot)),
            ("Godot, one process", "godot", _ratio(godot, numpy), _ratio(godot, godot)),
        ],
    )


def _sim_words(found: "SimReport") -> str:
    compiled = f"kernels compiled in {found.compile_s:.0f} s; " if found.compile_s else ""
    errors = found.numpy_errors_m.values()
    within = f"NumPy within {max(errors) * 1000:.2g} mm of the twin; " if errors else ""
    medians = f"{found.worlds} worlds; medians of {found.repeats} turns of {found.seconds:g} s; "
    return f"{medians}{compiled}{within}{_machine(found)}"


def _bridge_table(found: "BridgeReport") -> Table:
    columns = ("agent-steps/s", "times the engine alone", "times godot_rl", "lowest to highest")
    table = _table(f"{found.game} in Godot", *columns)
    free, rival = found.free_agent_steps_per_s, found.godot_rl_agent_steps_per_s
    one, two = found.agent_steps_per_s, found.two_processes_agent_steps_per_s
    return _speed_rows(
        table,
        found,
        [
            ("bridge, one process", "bridge", found.share_of_free, _ratio(one, rival)),
            ("bridge, two processes", "two", _ratio(two, free), _ratio(two, rival)),
            ("the engine alone, one process", "free", _ratio(free, free), _ratio(free, rival)),
            ("godot_rl's client, one process", "godot_rl", _ratio(rival, free), _ratio(rival, rival)),
        ],
    )


def _bridge_words(found: "BridgeReport") -> str:
    split, overlap = found.split, found.overlap
    return (
        f"one step of {found.worlds} worlds ({found.step_bytes / 1024:.0f} KiB): {split.step_us:,.0f} us, of which"
        f" engine {split.engine_us:,.0f}, Python {split.python_us:,.0f}, wire {split.wire_us:,.0f}\n"
        f"two games and a policy of {overlap.policy_ms:.1f} ms: {overlap.in_turn:,.0f} agent-steps/s in turn,"
        f" {overlap.overlapped:,.0f} overlapped ({overlap.times:.2f} times)\n"
        f"{found.worlds} worlds a process; medians of {found.repeats} turns of {found.seconds:g} s; {_machine(found)}"
    )


def _speed_table(found: "TrainReport") -> Table:
    columns = ("agent-steps/s", "godojo train is", "learnt from/s", "godojo train is", "lowest to highest")
    table = _table(f"Learning {found.game} on its twin", *columns)
    for speed in found.speeds:
        table.add_row(
            speed.title,
            f"{speed.agent_steps_per_s:,.0f}",
            f"{speed.times:.3g} times",
            f"{speed.learnt_steps_per_s:,.0f}",
            f"{speed.times_learnt:.3g} times",
            f"{min(speed.agent_step_samples):,.0f} to {max(speed.agent_step_samples):,.0f}",
        )
    return table


def _skill_table(found: "TrainReport") -> Table:
    title = f"Time until the {found.role} wins {found.goal:.0%} against '{found.opponent}', held-out arenas"
    table = _table(title, "seconds of training", "times godojo", "best win rate", "by seed")
    for skill in found.skills:
        table.add_row(
            skill.title,
            f"more than {found.skill_minutes * 60:.0f}" if skill.seconds is None else f"{skill.seconds:.0f}",
            "" if skill.times is None else f"{skill.times:.3g}",
            f"{skill.best:.0%}",
            ", ".join("not reached" if seconds is None else f"{seconds:.0f}" for seconds in skill.reached),
        )
    return table


def _train_words(found: "TrainReport") -> str:
    return (
        "Agent-steps are decisions of all agents; learnt from are those that a policy was trained with. Our roles"
        " learn together, by self-play; Stable-Baselines3 has none, so its policy trains against"
        f" '{found.opponent}' itself, which ours never meets in training\n"
        f"medians of {found.repeats} turns of {found.seconds:g} s; {found.rounds} rounds an evaluation;"
        f" load average {found.load_average:.1f}; {_machine(found)}"
    )


def _inference_table(found: "InferenceReport") -> Table:
    title = f"One decision in GDScript, {found.observation_size} numbers or a picture observed, in microseconds"
    table = _table(title, "alone", "quickest", f"in a crowd of {found.crowd}", "quickest", "loads in ms")
    for net in found.nets:
        times = (net.alone_us, net.alone_quickest_us, net.crowd_us, net.crowd_quickest_us, net.load_ms)
        table.add_row(net.title, *(f"{value:.1f}" for value in times))
    return table
