"""The report of a run: one HTML page with its results first, then rounds in 3D, charts, settings and commands."""

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from godojo.errors import GodojoError, command
from godojo.evaluation.evaluation import ITSELF, Evaluation, MatchUp, has_opponents, judge
from godojo.evaluation.external import ExternalEvaluation, evaluate_external, source_of
from godojo.evaluation.intervals import Mean, Proportion
from godojo.evaluation.solo import SoloEvaluation, evaluate_solo, is_solo_policy
from godojo.evaluation.tables import interval, mean_interval, measure_texts, percent, plus_minus
from godojo.files import atomic_write
from godojo.games.base import GAMES
from godojo.opponents import scripted_opponents
from godojo.runs.external import can_be_launched
from godojo.runs.folder import RunFolder
from godojo.show import colours, style
from godojo.show.charts import write_charts
from godojo.show.curves import RunTables
from godojo.show.highlights import best_highlights
from godojo.show.policies_to_show import PoliciesToShow, can_be_shown
from godojo.show.recording import one_thread
from godojo.show.report.replay_data import viewer_round

PICKED_FROM = 60
"""Rounds of the newest policies that highlights are chosen from."""
MOST_STAGES = 4
FEW_ROUNDS = 512
"""Fewer are evaluated on one thread: on a busy machine threads that wait for each other take many times as long."""
BEFORE_S = 3.5
"""How long before a highlight its round is shown from."""
CHARTS = ("learning", "win_rate", "rating", "cross_play", "reward_terms", "episode_length", "reward", "speed")
WIDE = ("learning", "win_rate", "reward_terms")
"""Charts of several panels, which take the whole width."""
FILE = "report.html"

Progress = Callable[[str, float | None], None]


def write_report(run: RunFolder, path: Path, *, rounds: int = 300, seed: int = 0, progress: Progress) -> None:
    """Plays the rounds and writes the page."""
    progress("drawing", None)
    tables = RunTables(run)
    charts = {chart.stem: chart for chart in write_charts(run)}
    replays, results, details = [], "", ""
    if can_be_shown(run):
        progress("playing rounds to show", None)
        replays = shown_rounds(run, seed)
    if rounds:
        with one_thread() if rounds < FEW_ROUNDS else nullcontext():
            if is_solo_policy(run.config.game):
                results = _alone(evaluate_solo(str(run.path), rounds=rounds, seed=seed, progress=progress))
            elif can_be_launched(run):
                source = source_of(str(run.path))
                results = _external(
                    evaluate_external(str(run.path), source, episodes=rounds, seed=seed, progress=progress)
                )
            elif has_opponents(run.config):
                judgement = judge(str(run.path), rounds=rounds, seed=seed, progress=progress)
                results, details = _results(judgement), _details(judgement)
    parts = [
        _head(run, tables),
        results,
        _non_finite(run),
        _VIEWER if replays else "",
        _pictures([charts[name] for name in CHARTS if name in charts]),
        details,
        _settings(run),
        _commands(run, rounds, seed),
    ]
    atomic_write(path, _page(run, parts, replays))


def shown_rounds(run: RunFolder, seed: int) -> list[dict[str, Any]]:
    """Highlights of the newest policies, then stages of the training in the same place."""
    where = str(run.path.absolute())
    newest = PoliciesToShow.of(where, seed=seed)
    arenas = newest.arenas(None)
    many = newest.record(PICKED_FROM, arenas=arenas, seed=seed)
    found = [viewer_round(one.replay, one.title, max(one.seconds - BEFORE_S, 0.0)) for one in best_highlights(many)]
    for name in _stages(run):
        stage = PoliciesToShow.of(f"{where}@{name}", seed=seed)
        played = stage.record(arenas=[arenas[1 % len(arenas)]], seed=seed)
        found.append(viewer_round(played[0], f"after {name}" if name[:1].isdigit() else name))
    return found or [viewer_round(max(many, key=lambda replay: int(replay.sees().sum())), "a round")]


def _stages(run: RunFolder) -> list[str]:
    """A few snapshots, spread over the training, the first and the last among them."""
    names = [entry.name for entry in run.snapshots().entries()]
    if len(names) <= MOST_STAGES:
        return names
    return [names[place * (len(names) - 1) // (MOST_STAGES - 1)] for place in range(MOST_STAGES)]


def _page(run: RunFolder, parts: Sequence[str], replays: Sequence[dict[str, Any]]) -> bytes:
    files = resources.files(__package__)
    css, script = (files.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "viewer.js"))
    look = {"backdrop": colours.BACKDROP, "blocks": colours.BLOCKS, "marks": colours.MARKS}
    data = f"const rounds = {_script_json(replays)};\nconst look = {_script_json(look)};\n"
    body = "\n".join(part for part in parts if part)
    # The page can reach nothing outside itself, whatever a run's names and settings hold.
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    text = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{html.escape(run.run_id)} · Godojo</title>
<style>
{css}</style>
</head>
<body>
<main>
{body}
</main>
{f"<script>{chr(10)}{data}{script}</script>" if replays else ""}
</body>
</html>
"""
    return text.encode()


def _script_json(value: Any) -> str:
    """JSON that no name can break out of: `<` would end the script."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _head(run: RunFolder, tables: RunTables) -> str:
    config = run.config
    steps, seconds = float(tables.numbers("agent_steps")[-1]), float(tables.numbers("seconds")[-1])
    rounds = int(tables.numbers("episode")[-1])
    how = f"{config.game} on {config.engine}, trained with {config.learner} from seed {config.seed}"
    much = (
        f"{style.counted(steps)} agent-steps and {rounds:,} rounds in {style.clock(seconds)}"
        f" ({style.counted(steps / max(seconds, 1e-9))} agent-steps/s)"
    )
    when = f"written {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return f'<h1>{html.escape(run.run_id)}</h1>\n<p class="quiet">{html.escape(how)} · {html.escape(much)} · {when}</p>'


_VIEWER = """<h2>Rounds</h2>
<div id="viewer">
<div class="top"><span><b class="clock"></b></span><span class="line"></span><span class="who"></span></div>
<canvas aria-label="a round in 3D; drag to turn, scroll to zoom"></canvas>
<div class="bar"><button class="play">Pause</button>
<input class="scrub" type="range" min="0" max="10" step="0.01" value="0" aria-label="time">
<label><input class="all-rays" type="checkbox"> rays</label>
<select class="speed" aria-label="speed"><option value="0.25">0.25x</option><option value="0.5">0.5x</option>
<option value="1" selected>1x</option><option value="2">2x</option></select></div>
<div class="rounds"></div>
</div>"""


def _results(found: Evaluation) -> str:
    """Win rates against every opponent."""
    roles = list(dict.fromkeys(verdict.role for verdict in found.verdicts))
    tints = style.role_colours(found.game, roles)
    lead = [
        f'<b style="color:{tints[one.role]}">{html.escape(one.role)} wins'
        f" {percent(one.wins)}</b> ({interval(one.wins)})"
        for one in found.verdicts
        if one.opponent == ITSELF and one.wins is not None and one.share is None
    ]
    cards = []
    for role in roles:
        rows = "".join(_result_row(one, tints) for one in found.verdicts if one.role == role)
        is_shared = any(one.share is not None for one in found.verdicts)
        what = f": time {GAMES[found.game].shared_score}, against" if is_shared else " wins against"
        title = f'<h3 style="color:{tints[role]}">{html.escape(role)}{what}</h3>'
        cards.append(f"<section>{title}<table>{rows}</table></section>")
    actions = "most likely actions" if found.deterministic else "sampled actions"
    about = (
        f"In brackets: 95 % confidence intervals. {found.rounds} rounds against each opponent in"
        f" {html.escape(found.arenas)} arenas, which training does not use; {actions}; seed {found.seed}."
        f" Scripted opponents: {', '.join(scripted_opponents(found.game))}."
    )
    return (
        "<h2>Results</h2>\n"
        + (f'<p class="lead">Against each other: {", ".join(lead)}.</p>\n' if lead else "")
        + f'<div class="cards">{"".join(cards)}</div>\n<p class="quiet">{about}</p>'
    )


def _result_row(verdict: MatchUp, tints: Mapping[str, str]) -> str:
    against = verdict.opponent
    if against == ITSELF and verdict.share is None:
        against = f"this run's {' and '.join(role for role in tints if role != verdict.role)}"
    if verdict.wins is None:
        cells = [f"<td>no winner; reward {verdict.reward.mean:.2f}</td>"]
    else:
        cells = _share_cells(verdict.share or verdict.wins, tints[verdict.role])
    return f"<tr><th>{html.escape(against)}</th>{''.join(cells)}</tr>"


def _details(found: Evaluation) -> str:
    tints = style.role_colours(found.game, list(dict.fromkeys(verdict.role for verdict in found.verdicts)))
    rows = [
        f'<tr><td style="color:{tints[one.role]};font-weight:600">{html.escape(one.role)}</td>'
        f"<td>{html.escape(one.opponent)}</td>{_mean_cell(one.reward)}"
        f"<td>{one.median_length_s:.1f} s</td>{''.join(_mean_cell(mean) for mean in one.measures.values())}</tr>"
        for one in found.verdicts
    ]
    about = "Of the same rounds as the results; means of a round with 95 % confidence intervals."
    measures = (html.escape(name) for name in found.verdicts[0].measures)
    titles = ("role", "against", "mean reward", "median length", *measures)
    return _table("Reward and length of rounds", about, titles, rows)


def _mean_cell(mean: Mean) -> str:
    return f'<td>{mean.mean:.2f} <span class="quiet">({mean_interval(mean)})</span></td>'


def _alone(found: SoloEvaluation) -> str:
    """The same for a game without opponents: shares of rounds, beside their targets."""
    colour, rows = style.FIRST, []
    for name, share in found.measures.items():
        target = f"{100 * found.targets[name]:.0f} %" if name in found.targets else ""
        rows.append(f"<tr><td>{html.escape(name)}</td>{''.join(_share_cells(share, colour))}<td>{target}</td></tr>")
    means = "".join(f", {html.escape(name)} {one.mean:.2f} ({mean_interval(one)})" for name, one in found.means.items())
    about = (
        f"{found.rounds} rounds, seed {found.seed}; median round {found.median_length_s:.1f} s, mean reward"
        f" {found.reward.mean:.2f}{means}."
    )
    return _table("Results", about, ("rounds", "", "share", "95 % interval", "target"), rows)


def _external(found: ExternalEvaluation) -> str:
    """The same for an external game: what each kind of player earns."""
    rows = []
    for one in found.performances:
        cells = (one.role, one.player, str(one.episodes), plus_minus(one.reward), plus_minus(one.length))
        success = "" if one.success is None else f"{percent(one.success)} ({interval(one.success)})"
        texts = (*cells, success, f"{one.reward_per_step:.3g}")
        rows.append(f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in texts)}</tr>")
    about = f"Up to {found.episodes} episodes each, seed {found.seed}, with 95 % intervals."
    results = _table(
        "Results", about, ("role", "played by", "episodes", "return", "steps", "success", "reward/step"), rows
    )
    return results + (_external_measures(found) if found.has_measures else "")


def _non_finite(run: RunFolder) -> str:
    """Observations and rewards of the training that were not finite and were replaced."""
    found = run.non_finite()
    if not found:
        return ""
    rows = [f"<tr><td>{html.escape(where)}</td><td>{count:,}</td></tr>" for where, count in found.items()]
    return _table("Not finite", "Observations and rewards that were replaced.", ("node and field", "times"), rows)


def _external_measures(found: ExternalEvaluation) -> str:
    """What agents report of their episodes besides rewards."""
    rows = []
    for one in found.performances:
        for name, text in measure_texts(one).items():
            target = f"{found.targets[name]:g}" if name in found.targets else ""
            cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in (one.role, name, one.player, text, target))
            rows.append(f"<tr>{cells}</tr>")
    return _table(
        "Measures", "Of an episode; with 95 % intervals.", ("role", "measure", "played by", "", "target"), rows
    )


def _table(title: str, about: str, titles: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f"<th>{each}</th>" for each in titles)
    return (
        f'<h2>{title}</h2>\n<p class="quiet">{about}</p>\n'
        f'<div class="scroll"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
    )


def _share_cells(share: Proportion | Mean, colour: str) -> list[str]:
    middle = share.mean if isinstance(share, Mean) else share.rate
    spread = f"left:{100 * share.low:.1f}%;width:{100 * (share.high - share.low):.1f}%;background:{colour}"
    track = f'<i style="{spread}"></i><u style="left:calc({100 * middle:.1f}% - 1px);background:{colour}"></u>'
    return [
        f'<td class="bar"><span class="track">{track}</span></td>',
        f'<td class="number"><b>{percent(share)}</b></td>',
        f'<td class="number quiet">({interval(share)})</td>',
    ]


def _pictures(charts: Sequence[Path]) -> str:
    images = []
    for chart in charts:
        try:
            content = base64.b64encode(chart.read_bytes()).decode()
        except OSError as error:
            raise GodojoError(f"{chart} cannot be read ({error.strerror})") from None
        name = html.escape(chart.stem.replace("_", " "))
        wide = ' class="wide"' if chart.stem in WIDE else ""
        images.append(f'<figure{wide}><img alt="{name}" src="data:image/png;base64,{content}"></figure>')
    return '<h2>Learning curves</h2>\n<div class="charts">' + "\n".join(images) + "</div>"


def _settings(run: RunFolder) -> str:
    parts = []
    config = msgspec.to_builtins(run.config)
    for title, value in (
        ("Learner", config.pop("learner_settings")),
        ("Game", config.pop("game_settings")),
        ("Run", config),
        ("Machine and versions", run.environments()),
    ):
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
        parts.append(f"<details><summary>{title}</summary><pre>{html.escape(text)}</pre></details>")
    return "<h2>Settings</h2>\n" + "\n".join(parts)


def _commands(run: RunFolder, rounds: int, seed: int) -> str:
    name, typed = run.name, " ".join(run.config.command)
    lines = [
        *([f"# what was typed\n{command(typed)}"] if typed else []),
        f"# this page\n{command(f'report {name} --episodes {rounds} --seed {seed}')}",
        f"# the results and the charts\n{command(f'eval {name} -n {rounds or 500}')}\n{command(f'plot {name}')}",
        *([f"# the cross-play matrix\n{command(f'league {name}')}"] if has_opponents(run.config) else []),
        *([f"# to see more\n{command(f'watch {name}')}\n{command(f'film {name}')}"] if can_be_shown(run) else []),
    ]
    return f"<h2>Commands</h2>\n<pre>{html.escape(chr(10).join(lines))}</pre>"
