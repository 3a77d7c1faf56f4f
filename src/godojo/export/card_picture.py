"""The picture on a model card: one round from above, and how many are won against whom."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from godojo.engines.make import make_vec
from godojo.evaluation.evaluation import Evaluation
from godojo.evaluation.held_out import game_settings, judging_seed
from godojo.evaluation.players import TrainedPlayer, player_from, players_of
from godojo.export.players import SHIPPED
from godojo.export.ship import Shipped
from godojo.opponents import yardstick

_INK = "#22262e"
_INKED: tuple[Any, ...] = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color")
_COLOURS = ("#ff8a1f", "#2f6bff", "#4aa564", "#8a4fbf")
_LONGEST = 2000
"""Decisions of a round that is drawn."""


class Round(NamedTuple):
    """What there is to see of one."""

    size_m: tuple[float, float]
    boxes_m: list[tuple[float, float, float, float]]
    """x, z, width, depth."""
    paths_m: dict[str, np.ndarray]
    """By who it is: [T, 2]."""
    length_s: float
    winner: str


def draw(written: Sequence[Shipped], judged: Mapping[str, Evaluation]) -> bytes:
    """A PNG; the round is left out for a game whose privileged state has no places of agents and boxes."""
    shown = play_one(written)
    with mpl.rc_context({"font.size": 11, **dict.fromkeys(_INKED, _INK)}):
        panels = 1 if shown is None else 2
        figure = Figure(figsize=(6.0 * panels, 5.6), dpi=110, layout="constrained", facecolor="white")
        axes = figure.subplots(1, panels, squeeze=False)[0]
        if shown is not None:
            _from_above(axes[0], shown)
        _rounds_won(axes[-1], judged)
        picture = io.BytesIO()
        figure.savefig(picture, format="png", metadata={"Software": None})
    return picture.getvalue()


def play_one(written: Sequence[Shipped]) -> Round | None:
    """A round between the last files of each role; a role without one is played by a script."""
    players: dict[str, TrainedPlayer] = {}
    for one in written:
        players |= players_of(one.path, files=SHIPPED)
    card = next(iter(players.values())).card
    settings = game_settings(card.game, card.settings)
    with make_vec(card.game, seed=judging_seed(0), settings=settings) as worlds:
        script = yardstick(card.game)
        table = {role: players.get(role) or player_from(script, role, game=card.game, seed=1) for role in worlds.roles}
        worlds.reset(judging_seed(0))
        for player in table.values():
            player.begin(worlds)
        state = worlds.privileged()
        if not {"position_m", "box_low_m", "size_m", "first_agent"} <= set(getattr(state, "_fields", ())):
            return None
        count = int(state.box_count[0])
        low, high = state.box_low_m[0][:, :count].copy(), state.box_high_m[0][:, :count].copy()
        size = float(state.size_m[0, 0]), float(state.size_m[0, 1])
        track = []
        for _ in range(_LONGEST):
            track.append(worlds.privileged().position_m[0, :, [0, 2]].copy())
            for role, player in table.items():
                player.act(worlds, worlds.roles[role].action)
            worlds.step()
            if worlds.ended[0]:
                break
        walked = np.stack(track)  # [T, 2, agents]: a list of places comes first
        paths = {}
        for role, arrays in worlds.roles.items():
            agents = arrays.action.shape[1]
            for agent in range(agents):
                name = role if agents == 1 else f"{role} {agent + 1}"
                paths[name] = walked[:, :, state.first_agent[role] + agent]
        return Round(
            size_m=size,
            boxes_m=[
                (low[0, box], low[2, box], high[0, box] - low[0, box], high[2, box] - low[2, box])
                for box in range(count)
            ],
            paths_m=paths,
            length_s=float(worlds.length_ticks[0]) * worlds.tick_s,
            winner=worlds.winners[worlds.winner[0]],
        )


def _from_above(axes: Axes, shown: Round) -> None:
    width, depth = shown.size_m
    axes.add_patch(Rectangle((-width / 2, -depth / 2), width, depth, facecolor="#f4efe4", edgecolor=_INK, linewidth=2))
    for x, z, wide, deep in shown.boxes_m:
        axes.add_patch(Rectangle((x, z), wide, deep, facecolor="#a9a2b5", edgecolor="none"))
    for (name, path), colour in zip(shown.paths_m.items(), _COLOURS * len(shown.paths_m), strict=False):
        axes.plot(path[:, 0], path[:, 1], color=colour, linewidth=2.2, label=name)
        axes.plot(*path[0], marker="o", color="white", markeredgecolor=colour, markersize=8)
        axes.plot(*path[-1], marker="s", color=colour, markersize=10)
    axes.set_xlim(-width / 2 - 0.5, width / 2 + 0.5)
    axes.set_ylim(depth / 2 + 0.5, -depth / 2 - 0.5)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(f"a round from above: {shown.winner} wins after {shown.length_s:.1f} s", fontsize=12, loc="left")
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4)


def _rounds_won(axes: Axes, judged: Mapping[str, Evaluation]) -> None:
    names = [verdict.opponent for verdict in next(iter(judged.values())).verdicts]
    tall = 0.8 / len(judged)
    roles = [found.verdicts[0].role for found in judged.values()]
    colours = dict(zip(dict.fromkeys(roles), _COLOURS, strict=False))
    for index, (path, found) in enumerate(judged.items()):
        shares = [verdict.wins for verdict in found.verdicts if verdict.wins is not None]
        at = np.arange(len(shares)) + (index - (len(judged) - 1) / 2) * tall
        rates = np.array([share.rate for share in shares])
        wide = np.abs(np.array([[share.low, share.high] for share in shares]).T - rates)
        axes.barh(
            at,
            100 * rates,
            0.9 * tall,
            xerr=100 * wide,
            color=colours.get(roles[index], _INK),
            alpha=(1 + roles[: index + 1].count(roles[index])) / (1 + roles.count(roles[index])),  # later files darker
            error_kw={"ecolor": _INK, "elinewidth": 1.2, "capsize": 3},
            label=Path(path).name,
        )
    axes.set_yticks(np.arange(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 100.0)
    axes.set_title("rounds won against scripted opponents, in per cent", fontsize=12, loc="left")
    axes.grid(axis="x", color="#e3e6eb", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.06), ncols=2)
