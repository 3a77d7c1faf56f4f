"""`godojo bench`: how fast things are, on this machine, now."""

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from godojo.cli.console import err, note, out, print_json, progress_report
from godojo.extras import require

if TYPE_CHECKING:
    from godojo.bench.bridge import BridgeReport
    from godojo.bench.inference import InferenceReport
    from godojo.bench.sim import BenchReport
    from godojo.bench.train import TrainReport

app = typer.Typer(help="How fast things are, on this machine, now.", no_args_is_help=True)


@app.callback()
def _bench() -> None: ...


@app.command()
def sim(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
    worlds: Annotated[int, typer.Option(help="Copies of the game in the twin.", min=1)] = 4096,
    seconds: Annotated[float, typer.Option(help="Length of each measurement.", min=0.05, max=600.0)] = 2.0,
    repeats: Annotated[int, typer.Option(help="Times each is measured; the median counts.", min=1)] = 5,
) -> None:
    """Measure the embedded tag: against the same work in plain NumPy, and against the real Godot.

    One seeker, one hider, default eyes, arenas of 16 boxes. Everything is measured in turn, several times. Close what
    else is running: the report says when the machine was not quiet.
    """
    from godojo.bench.sim import measure  # brings compilers along

    with progress_report() as report:
        found = measure(worlds=worlds, seconds=seconds, repeats=repeats, report=report)
    if as_json:
        print_json(msgspec.json.format(msgspec.json.encode(found), indent=2))
    else:
        out.print(_table(found))
        out.print(_small_print(found))
    if not found.is_quiet:
        err.print(
            f"[yellow]note:[/] the machine was not quiet ({found.busy_before:.1f} of {found.cores} cores busy before,"
            f" {found.busy_after:.1f} after, {found.core_share:.0%} of a core got): figures are low"
        )


@app.command()
def bridge(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
    worlds: Annotated[int, typer.Option(help="Copies of the game in each process.", min=1)] = 64,
    seconds: Annotated[float, typer.Option(help="Length of each measurement.", min=0.05, max=600.0)] = 2.0,
    repeats: Annotated[int, typer.Option(help="Times each is measured; the median counts.", min=1)] = 5,
    godot_rl: Annotated[bool, typer.Option(help="Measure godot_rl's client too; fetches it once from PyPI.")] = True,
) -> None:
    """Measure the real Godot through the bridge: against the engine alone, and against godot_rl's own client.

    All play the training scene of tag at random: one seeker, one hider, default eyes. Everything is measured in turn,
    several times. Close what else is running: the report says when the machine was not quiet.
    """
    from godojo.bench.bridge import measure

    with progress_report() as report:
        found = measure(worlds=worlds, seconds=seconds, repeats=repeats, godot_rl=godot_rl, report=report)
    if as_json:
        print_json(msgspec.json.format(msgspec.json.encode(found), indent=2))
    else:
        out.print(_bridge_table(found))
        out.print(_bridge_words(found))
    if not found.is_quiet:
        err.print(
            f"[yellow]note:[/] the machine was not quiet ({found.busy_before:.1f} of {found.cores} cores busy before,"
            f" {found.busy_after:.1f} after): figures are low"
        )


@app.command()
def train(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
    seconds: Annotated[float, typer.Option(help="Length of each measurement of speed.", min=0.05, max=600.0)] = 10.0,
    repeats: Annotated[int, typer.Option(help="Times each speed is measured; the median counts.", min=1)] = 3,
    skill_minutes: Annotated[
        float, typer.Option(help="Most minutes each may train to reach the skill; 0 leaves it out.", min=0.0)
    ] = 3.0,
    skill_seeds: Annotated[int, typer.Option(help="Trainings of each to the skill; the median counts.", min=1)] = 1,
    opponent: Annotated[str, typer.Option(help="The scripted hider that seekers must tag.")] = "random",
    goal: Annotated[float, typer.Option(help="Proportion of rounds to win, beyond doubt.", min=0.01, max=0.99)] = 0.6,
) -> None:
    """Measure learning on the twin: our PPO beside that of Stable-Baselines3, as it comes and with large batches.

    Agent-steps a second, playing and learning together; then how long each trains until its seeker is good enough.
    Everything is measured in turn. Close what else is running: the report says when the machine was not quiet.
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
    if as_json:
        print_json(msgspec.json.format(msgspec.json.encode(found), indent=2))
    else:
        out.print(_speed_table(found))
        if found.skills:
            out.print(_skill_table(found))
        out.print(_train_words(found))
    if not found.is_quiet:
        err.print(
            f"[yellow]note:[/] the machine was not quiet ({found.busy_before:.1f} of {found.cores} cores busy before,"
            f" {found.busy_after:.1f} after): figures are low"
        )


@app.command()
def inference(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
    seconds: Annotated[float, typer.Option(help="Length of each measurement.", min=0.05, max=60.0)] = 2.0,
    crowd: Annotated[int, typer.Option(help="Agents that decide at once.", min=1, max=4096)] = 64,
) -> None:
    """Measure policies in the real Godot, in pure GDScript: microseconds of one decision, alone and in a crowd.

    Nets with two hidden layers and 120 numbers observed. Close what else is running: the report says when the machine
    was not quiet.
    """
    from godojo.bench.inference import measure

    with progress_report() as report:
        found = measure(seconds=seconds, crowd=crowd, report=report)
    if as_json:
        print_json(msgspec.json.format(msgspec.json.encode(found), indent=2))
    else:
        out.print(_inference_table(found))
        out.print(escape(f"{found.machine}; Godot {found.engine}"))
    if not found.is_quiet:
        err.print(
            f"[yellow]note:[/] the machine was not quiet ({found.busy_before:.1f} of {found.cores} cores busy before,"
            f" {found.busy_after:.1f} after): figures are high"
        )


def _inference_table(found: "InferenceReport") -> Table:
    title = f"One decision in GDScript, {found.observation_size} numbers observed, in microseconds"
    table = Table(title=title, title_justify="left")
    table.add_column("net")
    for column in ("alone", "quickest", f"in a crowd of {found.crowd}", "quickest", "loads in ms"):
        table.add_column(column, justify="right")
    for net in found.nets:
        table.add_row(
            net.title,
            f"{net.alone_us:.1f}",
            f"{net.alone_quickest_us:.1f}",
            f"{net.crowd_us:.1f}",
            f"{net.crowd_quickest_us:.1f}",
            f"{net.load_ms:.1f}",
        )
    return table


def _table(found: "BenchReport") -> Table:
    table = Table(title="Tag, 1 seeker against 1 hider, 16 boxes", title_justify="left")
    table.add_column("what")
    for title in ("agent-steps/s", "times NumPy", "times Godot", "lowest to highest"):
        table.add_column(title, justify="right")
    rows = [
        (f"twin, {found.cores} cores", found.agent_steps_per_s, "all_cores"),
        ("twin, one core", found.agent_steps_per_s_one_core, "one_core"),
        ("plain NumPy", found.numpy_agent_steps_per_s, "numpy"),
        ("Godot, one process", found.godot_agent_steps_per_s, "godot"),
    ]
    for title, speed, name in rows:
        if speed is None:
            table.add_row(title, "not measured", "", "", "")
            continue
        godot = found.godot_agent_steps_per_s
        low, high = min(found.samples[name]), max(found.samples[name])
        table.add_row(
            title,
            f"{speed:,.0f}",
            f"{speed / found.numpy_agent_steps_per_s:.3g}",
            f"{speed / godot:.3g}" if godot else "",
            f"{low:,.0f} to {high:,.0f}",
        )
    return table


def _small_print(found: "BenchReport") -> str:
    compiled = f"kernels compiled in {found.compile_s:.0f} s; " if found.compile_s else ""
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    return escape(
        f"{found.worlds} worlds; medians of {found.repeats} turns of {found.seconds:g} s; {compiled}"
        f"NumPy within {found.numpy_position_error_m * 1000:.2g} mm of the twin; {found.machine}; {versions}"
    )


def _bridge_table(found: "BridgeReport") -> Table:
    table = Table(title="Tag in Godot, 1 seeker against 1 hider", title_justify="left")
    table.add_column("what")
    for title in ("agent-steps/s", "of the engine alone", "times godot_rl", "lowest to highest"):
        table.add_column(title, justify="right")
    rows = [
        ("bridge, one process", found.agent_steps_per_s, "bridge"),
        ("bridge, two processes", found.two_processes_agent_steps_per_s, "two"),
        ("the engine alone, one process", found.free_agent_steps_per_s, "free"),
        ("godot_rl's client, one process", found.godot_rl_agent_steps_per_s, "godot_rl"),
    ]
    for title, speed, name in rows:
        if speed is None:
            table.add_row(title, "not measured", "", "", "")
            continue
        rival = found.godot_rl_agent_steps_per_s
        share = found.share_of_free if name == "bridge" else speed / found.free_agent_steps_per_s
        low, high = min(found.samples[name]), max(found.samples[name])
        table.add_row(
            title,
            f"{speed:,.0f}",
            f"{share:.0%}",
            f"{speed / rival:.3g}" if rival else "",
            f"{low:,.0f} to {high:,.0f}",
        )
    return table


def _bridge_words(found: "BridgeReport") -> str:
    split, overlap = found.split, found.overlap
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    return escape(
        f"one step of {found.worlds} worlds ({found.step_bytes / 1024:.0f} KiB): {split.step_us:,.0f} us, of which"
        f" engine {split.engine_us:,.0f}, Python {split.python_us:,.0f}, wire {split.wire_us:,.0f}\n"
        f"two games and a policy of {overlap.policy_ms:.1f} ms: {overlap.in_turn:,.0f} agent-steps/s in turn,"
        f" {overlap.overlapped:,.0f} overlapped ({overlap.times:.2f} times)\n"
        f"{found.worlds} worlds a process; medians of {found.repeats} turns of {found.seconds:g} s; {found.machine}; "
        f"{versions}"
    )


def _speed_table(found: "TrainReport") -> Table:
    table = Table(title="Learning tag on the twin, 1 seeker against 1 hider", title_justify="left")
    table.add_column("what")
    for title in ("agent-steps/s", "godojo train is", "learnt from/s", "godojo train is", "lowest to highest"):
        table.add_column(title, justify="right")
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
    title = f"Time until the seeker wins {found.goal:.0%} against the hider '{found.opponent}', held-out arenas"
    table = Table(title=title, title_justify="left")
    table.add_column("what")
    for column in ("seconds of training", "times godojo", "best win rate", "by seed"):
        table.add_column(column, justify="right")
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
    versions = ", ".join(f"{name} {version}" for name, version in found.versions.items())
    return escape(
        "Agent-steps are decisions of all agents; learnt from are those that a policy was trained with. Our seeker and"
        " hider both learn, by self-play; Stable-Baselines3 has none, so that its seeker trains against"
        f" '{found.opponent}' itself, which ours has never met\n"
        f"medians of {found.repeats} turns of {found.seconds:g} s; {found.rounds} rounds a judgement;"
        f" load average {found.load_average:.1f}; {found.machine}; {versions}"
    )
