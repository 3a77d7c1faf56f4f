"""The nightly report as Markdown: the training, the evaluation, and what changed against the baseline."""

from collections.abc import Sequence
from datetime import UTC, datetime

from godojo.qa.metrics import PolicyMetrics
from godojo.qa.regression import MetricChange
from godojo.qa.thresholds import Check
from godojo.runs.folder import RunFolder
from godojo.show.curves import read_table
from godojo.units import counted


def markdown(
    *,
    run: RunFolder | None = None,
    checks: Sequence[Check] = (),
    current: PolicyMetrics | None = None,
    changes: Sequence[MetricChange] = (),
    title: str = "Nightly report",
) -> str:
    """Sections for what is given."""
    failed = [one for one in checks if not one.passed] + [one for one in changes if one.verdict == "worse"]
    verdict = f"**FAIL**: {', '.join(one.name for one in failed)}" if failed else "**PASS**"
    lines = [f"# {title}", "", f"{verdict} · {datetime.now(UTC):%Y-%m-%d %H:%M} UTC", ""]
    if run is not None:
        lines += ["## Training", "", *_training(run), ""]
    if checks:
        lines += ["## Thresholds", "", "| | check | found |", "|---|---|---|"]
        lines += [f"| {'PASS' if one.passed else 'FAIL'} | {_cell(one.name)} | {_cell(one.detail)} |" for one in checks]
        lines.append("")
    if current is not None:
        lines += ["## Evaluation", "", *_evaluation(current), ""]
    if changes:
        lines += ["## Against the baseline", "", *_changes(changes), ""]
    return "\n".join(lines)


def _training(run: RunFolder) -> list[str]:
    updates = read_table(run.updates).columns
    config = run.config
    rows = {"run": run.name, "game": config.game, "engine": config.engine, "algorithm": config.learner}
    if updates.get("update"):
        rows["agent-steps"] = f"{int(updates['agent_steps'][-1]):,}"
        rows["time"] = f"{float(updates['seconds'][-1]):,.0f} s"
        if updates.get("time/fps", ("",))[-1]:
            rows["agent-steps per second"] = counted(float(updates["time/fps"][-1]))
    for name, values in updates.items():
        known = [value for value in values if value]
        if name.endswith(("rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/success_rate")) and known:
            rows[name] = f"{float(known[-1]):.4g} (first {float(known[0]):.4g})"
    return ["| | |", "|---|---|", *(f"| {_cell(name)} | {_cell(value)} |" for name, value in rows.items())]


def _evaluation(current: PolicyMetrics) -> list[str]:
    how = "deterministic" if current.deterministic else "stochastic"
    lines = [
        f"`{current.policy}`, {current.game} on {current.engine or 'an unknown engine'}: {current.episodes} episodes,"
        f" {how} actions, seed {current.seed}; in brackets 95 % intervals.",
        "",
        "| metric | mean | episodes | better |",
        "|---|---|---|---|",
    ]
    return lines + [
        f"| {_cell(name)} | {metric} | {metric.episodes or ''} | {metric.better} |"
        for name, metric in current.metrics.items()
    ]


def _changes(changes: Sequence[MetricChange]) -> list[str]:
    lines = ["| | metric | current | baseline | gain | verdict |", "|---|---|---|---|---|---|"]
    for one in changes:
        title = "FAIL" if one.verdict == "worse" else "PASS"
        gain = f"{one.gain:+.4g} ({one.low:+.4g} to {one.high:+.4g})"
        lines.append(f"| {title} | {_cell(one.name)} | {one.current} | {one.baseline} | {gain} | {one.verdict} |")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
