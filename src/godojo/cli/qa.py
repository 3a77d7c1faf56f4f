"""`godojo qa`: checks trainings for CI: thresholds, evaluations, baselines, regressions and reports."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from godojo.cli.chosen_run import chosen_run, open_run
from godojo.cli.console import note, print_json, progress_report, say

if TYPE_CHECKING:
    from godojo.qa.regression import MetricChange
    from godojo.qa.thresholds import Check

app = typer.Typer(
    help="Check trainings against thresholds, baselines and regressions, for CI.",
    no_args_is_help=True,
    add_completion=False,
)

Current = Annotated[Path, typer.Option("--current", help="Metrics from `qa evaluate`.", metavar="FILE.json")]
Baseline = Annotated[Path, typer.Option("--baseline", help="The baseline to compare with.", metavar="FILE.json")]
Tolerance = Annotated[
    float, typer.Option("--tolerance", help="The loss allowed, as a share of the baseline's magnitude.")
]
Higher = Annotated[
    list[str] | None, typer.Option("--higher", help="Also judge this metric: higher is better.", metavar="METRIC")
]
Lower = Annotated[
    list[str] | None, typer.Option("--lower", help="Also judge this metric: lower is better.", metavar="METRIC")
]
MinReward = Annotated[
    float | None, typer.Option("--min-reward", help="Least of the last rollout/ep_rew_mean.", metavar="N")
]
MaxPhysicsTime = Annotated[
    float | None,
    typer.Option("--max-physics-time", help="Most that a physics frame may ever take; 11.11 at 90 Hz.", metavar="MS"),
]


@app.command()
def validate(
    run: Annotated[str, typer.Argument(help="A run, or a folder of TensorBoard logs.", metavar="RUN|DIR")] = "latest",
    min_reward: MinReward = None,
    max_physics_time: MaxPhysicsTime = None,
    role: Annotated[str | None, typer.Option("--role", help="The role whose reward counts; defaults to all.")] = None,
) -> None:
    """Check the metrics of a training: one PASS or FAIL line each, and status 1 if one fails.

    Metrics that are not finite always fail.

    Examples:

      godojo qa validate latest --min-reward -5 --max-physics-time 11.11
    """
    raise typer.Exit(_print_checks(_checks(run, min_reward, max_physics_time, role)))


@app.command()
def evaluate(
    run: Annotated[str, typer.Argument(help="RUN, RUN@SNAPSHOT or a policy file, as `eval` takes it.")] = "latest",
    episodes: Annotated[int, typer.Option("--episodes", "-n", help="Episodes, against each opponent.")] = 100,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write here instead of printing.", metavar="FILE.json")
    ] = None,
    opponent: Annotated[list[str] | None, typer.Option("--opponent", "-o", help="As `eval` takes it.")] = None,
    engine: Annotated[str, typer.Option("--engine", help="sim (embedded) or godot (the real one).")] = "sim",
    seed: Annotated[int, typer.Option("--seed", help="The same seed plays the same episodes.")] = 0,
    sampled: Annotated[bool, typer.Option("--sampled", help="Sample actions, as in training.")] = False,
    project: Annotated[
        Path | None, typer.Option("--project", help="An external game's project; defaults to the run's.", metavar="DIR")
    ] = None,
    binary: Annotated[Path | None, typer.Option("--binary", help="The exported game instead.", metavar="FILE")] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="External games: the most that a player takes; 30.", metavar="N")
    ] = None,
) -> None:
    """Evaluate a policy to JSON: mean_reward, mean_episode_length, success_rate and all measures, with intervals.

    Examples:

      godojo qa evaluate latest --episodes 10 --out current.json
      godojo qa evaluate latest --binary build/game.x86_64 --out current.json
    """
    from godojo.api.evaluation import evaluate as evaluate_policy
    from godojo.errors import GodojoError
    from godojo.evaluation.sim_vs_godot import Comparison
    from godojo.qa.metrics import policy_metrics

    how: dict[str, Any] = {"episodes": episodes, "engine": engine, "seed": seed, "deterministic": not sampled}
    how |= {"project": project, "binary": binary, "seconds": seconds}
    with progress_report() as shown:
        found = evaluate_policy(chosen_run(run), opponent or [], progress=shown.progress, **how)
    if isinstance(found, Comparison):
        raise GodojoError("--engine both compares engines; evaluate on sim or on godot")
    metrics = policy_metrics(found)
    if out is None:
        print_json(metrics)
    else:
        metrics.write(out)
        note(f"wrote {out}")


@app.command()
def regression(
    current: Current,
    baseline: Baseline,
    tolerance: Tolerance = 0.1,
    higher: Higher = None,
    lower: Lower = None,
) -> None:
    """Compare metrics with a baseline: status 1 if one is surely worse than the tolerance allows.

    A metric fails if the whole 95 % interval of its loss exceeds the tolerance; a loss within noise passes, with a
    line that says so.

    Examples:

      godojo qa regression --current current.json --baseline baselines/locomotion.json --tolerance 0.1
    """
    changes = _changes(current, baseline, tolerance, higher, lower)
    for one in changes:
        say(str(one))
    raise typer.Exit(1 if any(one.verdict == "worse" for one in changes) else 0)


@app.command()
def baseline(
    current: Annotated[
        list[Path],
        typer.Option(
            "--current",
            help="Metrics from `qa evaluate`; those of several trainings make one baseline that knows how much they"
            " differ.",
            metavar="FILE.json",
        ),
    ],
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="The file to keep; defaults to baselines/GAME.json.", metavar="FILE.json"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace it in any case.")] = False,
    higher: Higher = None,
    lower: Lower = None,
) -> None:
    """Keep metrics as a baseline; an older one is replaced only if something is surely better and nothing surely worse.

    Examples:

      godojo qa baseline --current current.json
      godojo qa baseline --current seed1.json --current seed2.json --current seed3.json
    """
    from godojo.qa.metrics import over_runs, read_metrics
    from godojo.qa.regression import replace_baseline

    found = over_runs([read_metrics(path) for path in current])
    path = Path("baselines", f"{found.game or 'game'}.json") if baseline is None else baseline
    old = read_metrics(path) if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    say(replace_baseline(found, path, old, force=force, higher=higher or (), lower=lower or ()))


@app.command()
def report(
    run: Annotated[str, typer.Argument(help="The run that was trained.")] = "latest",
    current: Annotated[
        Path | None, typer.Option("--current", help="Metrics from `qa evaluate`.", metavar="FILE.json")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", help="Compare with it, if it exists.", metavar="FILE.json")
    ] = None,
    tolerance: Tolerance = 0.1,
    min_reward: MinReward = None,
    max_physics_time: MaxPhysicsTime = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write here instead of printing.", metavar="FILE.md")
    ] = None,
    title: Annotated[str, typer.Option("--title", help="Its heading.")] = "Nightly report",
) -> None:
    """Write a Markdown report of a training, its thresholds, its evaluation and its baseline.

    Examples:

      godojo qa report latest --current current.json --baseline baselines/locomotion.json --out report.md
    """
    from godojo.files import atomic_write
    from godojo.qa.metrics import read_metrics
    from godojo.qa.report import markdown

    can_compare = current is not None and baseline is not None and baseline.exists()
    text = markdown(
        run=open_run(run),
        checks=_checks(run, min_reward, max_physics_time),
        current=None if current is None else read_metrics(current),
        changes=_changes(current, baseline, tolerance) if can_compare and current and baseline else (),
        title=title,
    )
    if out is None:
        typer.echo(text)
    else:
        atomic_write(out, text.encode())
        note(f"wrote {out}")


def _checks(
    run: str, min_reward: float | None, max_physics_time: float | None, role: str | None = None
) -> "list[Check]":
    from godojo.qa.thresholds import validate as check
    from godojo.runs.folder import CONFIG

    folder = Path(run).expanduser()
    is_log = folder.is_dir() and not (folder / CONFIG).is_file() and ("/" in run or run.startswith("."))
    return check(
        folder if is_log else open_run(run), min_reward=min_reward, max_physics_time=max_physics_time, role=role
    )


def _print_checks(checks: "list[Check]") -> int:
    for one in checks:
        say(str(one))
    return 0 if all(one.passed for one in checks) else 1


def _changes(
    current: Path,
    baseline: Path,
    tolerance: float,
    higher: list[str] | None = None,
    lower: list[str] | None = None,
) -> "list[MetricChange]":
    from godojo.qa.metrics import read_metrics
    from godojo.qa.regression import compare, missing_baseline

    if not baseline.exists():
        raise missing_baseline(baseline)
    return compare(
        read_metrics(current), read_metrics(baseline), tolerance=tolerance, higher=higher or (), lower=lower or ()
    )
