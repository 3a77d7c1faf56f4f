"""Rounds from above: where agents went, coloured by what the game rates, with marks and collisions."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle

from godojo.show import style
from godojo.show.colours import BAD, BLOCKS, FAIR, FLOOR, GOOD, MARKS, TALL, rgb
from godojo.show.replay import Layout, Replay
from godojo.show.shots import result

COLUMNS, MOST_MAPS = 4, 12
WIDE_IN, HIGHEST_IN, LEAST_IN = 3.0, 6.5, 6.4
"""Width of a map, its largest height, and the least width of a picture."""
JUMP_M = 0.5
"""An agent that is farther on in the next frame has not walked there: a dashed line."""
NEAR_BEST = 0.95


def rating(replay: Replay) -> tuple[str, np.ndarray] | None:
    """What the game rates, its name and float32 [F, A]; None where it rates nothing."""
    return next(iter(replay.tracks.items()), None)


def rating_text(replay: Replay, seconds: float) -> str:
    """The first agent's at a moment: `comfort 80 %`."""
    found = rating(replay)
    if found is None:
        return ""
    frame = min(int(np.searchsorted(replay.tick, seconds / replay.tick_s)), len(replay.tick) - 1)
    return f"{found[0]} {100 * found[1][frame, 0]:.0f} %"


def rating_colours(replay: Replay) -> np.ndarray | None:
    """uint8 [F, A, 3]; None where the game rates nothing."""
    found = rating(replay)
    if found is None:
        return None
    grade = np.where(found[1] < replay.header.spec.warn_below(replay.settings), 2, found[1] < NEAR_BEST)
    colours: np.ndarray = np.array([rgb(colour) for colour in (GOOD, FAIR, BAD)], np.uint8)[grade]
    return colours


def draw(replays: Sequence[Replay]) -> Figure:
    """A map of every arena, `MOST_MAPS` at most, with the paths of all rounds in it."""
    arenas: dict[Any, list[Replay]] = {}
    for one in replays:
        arenas.setdefault((one.header.arena_title, one.layout.boxes), []).append(one)
    shown = list(arenas.values())[:MOST_MAPS]
    columns = min(len(shown), COLUMNS)
    rows = math.ceil(len(shown) / columns)
    tall = max(min(WIDE_IN * _deep(rounds[0].layout), HIGHEST_IN) for rounds in shown) + 0.7
    more = f"the first {len(shown)} of {len(arenas)} arenas" if len(shown) < len(arenas) else ""
    title = f"Paths in {replays[0].header.game}"
    figure = style.figure(title, more, size=(max(WIDE_IN * columns, LEAST_IN), tall * rows + 1.2))
    for place, rounds in enumerate(shown):
        _map(figure.add_subplot(rows, columns, place + 1), rounds)
    figure.legend(handles=_legend(replays[0]), loc="outside lower left", ncols=3, fontsize=10)
    return figure


def _deep(layout: Layout) -> float:
    """How high a map is, in its width."""
    return max(layout.size_m[1] / layout.size_m[0], 0.6)


def _map(axes: Axes, rounds: Sequence[Replay]) -> None:
    layout = rounds[0].layout
    (wide, deep), (x, z) = layout.size_m, layout.centre_m
    axes.set(xlim=(x - wide / 2, x + wide / 2), ylim=(z + deep / 2, z - deep / 2), aspect="equal", xticks=[], yticks=[])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.set_facecolor("#dfe7ea" if not layout.has_floor else FLOOR)
    axes.set_title("\n".join([rounds[0].header.arena_title, *_endings(rounds)]), fontsize=11)
    for box in sorted(layout.boxes, key=lambda one: one.position_m[1] + one.size_m[1] / 2):
        (at_x, _, at_z), (box_x, _, box_z) = box.position_m, box.size_m
        colour = BLOCKS.get(box.kind, TALL)
        axes.add_patch(Rectangle((at_x - box_x / 2, at_z - box_z / 2), box_x, box_z, color=colour, linewidth=0))
    for mark in dict.fromkeys(mark for replay in rounds for mark in replay.layout.marks):
        at, colour = (mark.position_m[0], mark.position_m[2]), MARKS.get(mark.kind, MARKS["waypoint"])
        axes.add_patch(Circle(at, mark.radius_m, facecolor=colour, edgecolor="white", alpha=0.6))
    for replay in rounds:
        for agent in range(replay.header.agents):
            _path(axes, replay, agent)


def _endings(rounds: Sequence[Replay]) -> list[str]:
    """How rounds ended, in lines."""
    if len(rounds) == 1:
        title, text, _ = result(rounds[0])
        return [f"{title} {text}".strip()]
    counts = Counter(result(replay)[0] or "Cut off" for replay in rounds)
    return [f"{title}: {count} of {len(rounds)}" for title, count in counts.most_common(3)]


def _path(axes: Axes, replay: Replay, agent: int) -> None:
    at = replay.position_m[:, agent, ::2]
    pieces = np.stack([at[:-1], at[1:]], axis=1)
    shades = rating_colours(replay)
    if shades is None:
        colours = np.array([rgb(team.colour) for team in replay.header.teams])[replay.team[1:, agent]] / 255.0
    else:
        colours = shades[1:, agent] / 255.0
    jumps = np.linalg.norm(at[1:] - at[:-1], axis=1) > JUMP_M
    for chosen, dashes in ((~jumps, "solid"), (jumps, "dotted")):
        if chosen.any():
            lines = LineCollection(list(pieces[chosen]), colors=colours[chosen], linewidths=2.4, linestyles=dashes)
            lines.set_capstyle("round")
            axes.add_collection(lines)
    axes.plot(*at[0], "o", color="white", markeredgecolor=style.INK, markersize=7)
    axes.plot(*at[-1], "s", color=style.INK, markersize=6)
    hits = _hits(replay, agent)
    axes.plot(at[hits, 0], at[hits, 1], "x", color=BAD, markersize=9, markeredgewidth=2.6)


def _hits(replay: Replay, agent: int) -> np.ndarray:
    """Frames with a collision."""
    if "collisions" not in replay.tracks:
        return np.zeros(0, int)
    return np.flatnonzero(np.diff(replay.tracks["collisions"][:, agent]) > 0) + 1


def _legend(replay: Replay) -> list[Line2D]:
    def spot(label: str, marker: str, colour: str, edge: str) -> Line2D:
        return Line2D([], [], linestyle="", marker=marker, color=colour, markeredgecolor=edge, label=label)

    found = [spot("start", "o", "white", style.INK), spot("end", "s", style.INK, style.INK)]
    rated = rating(replay)
    if rated is None:
        teams = replay.header.teams
        return found + [Line2D([], [], color=team.colour, label=team.name) for team in teams]
    found.append(spot("collision", "x", BAD, BAD))
    limit = replay.header.spec.warn_below(replay.settings)
    words = {GOOD: "full", FAIR: "less", BAD: f"below {100 * limit:.0f} %"}
    return found + [Line2D([], [], color=colour, label=f"{rated[0]}: {text}") for colour, text in words.items()]
