"""What agents do in recorded rounds: the game's behaviours counted, a clip of each, and how agents move."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from rich.console import Group, RenderableType
from rich.markup import escape

from godojo.evaluation.intervals import Proportion
from godojo.evaluation.tables import Printable, interval, percent, plain_table
from godojo.games.base import game_named
from godojo.show import titles
from godojo.show.colours import rgb
from godojo.show.encoding import film_writer
from godojo.show.frame_renderer import Scene, drawing, painted
from godojo.show.highlights import MOVES_MPS
from godojo.show.progress import Progress
from godojo.show.replay import Highlight, Replay
from godojo.show.scratch import scratch
from godojo.show.shots import Format, Shot, letter_colour, steadily, usual_camera

LEAD_S, REST_S = 1.2, 1.2
"""Shown before and after what a clip is about."""
SLOW, SLOW_S = 0.5, 1.2
"""Speed of the decisive seconds, and how many there are before the decisive moment."""
CLOSER = 1.5
TURN_DEG, TURN_TICKS, TURN_MPS = 45.0, 15, 1.0
"""A sharp turn: the direction of travel changes by so much within so many ticks, at this speed or faster."""


class Behaviour(msgspec.Struct, frozen=True):
    """How often a behaviour was found, and where it is seen best."""

    name: str
    rounds: Proportion
    """In which it was found."""
    per_100: float
    """How many times in a hundred rounds."""
    text: str = ""
    """The best one in words, the round it is in, and its seconds; empty where there is none."""
    round: int = -1
    arena: str = ""
    begins_s: float = 0.0
    seconds: float = 0.0
    clip: str = ""
    """Its film, where one was made."""


class Motion(msgspec.Struct, frozen=True):
    """How the agents of a role move while they are in the round."""

    role: str
    in_air: float
    """Share of the time."""
    still: float
    """Share of the time, slower than 0.3 m/s."""
    speed_mps: float
    """Mean on the ground plane."""
    distance_m: float
    """Of one agent in a round."""
    turns_per_s: float
    """Sharp turns: by 45 degrees or more within a quarter of a second."""


class Behaviours(Printable, msgspec.Struct, frozen=True):
    """What agents did in some rounds."""

    rounds: int
    players: str
    behaviours: tuple[Behaviour, ...]
    motion: tuple[Motion, ...]

    def __rich__(self) -> RenderableType:
        found = plain_table(("behaviour",), ("rounds", "95 % interval", "per 100 rounds"))
        found.add_column("best seen in")
        for one in self.behaviours:
            where = f"round {one.round} ({one.arena}), {one.begins_s:.1f} s: {one.text}"
            shown = [escape(where if one.round >= 0 else ""), *([escape(one.clip)] if one.clip else [])]
            numbers = percent(one.rounds), interval(one.rounds), f"{one.per_100:.0f}"
            found.add_row(one.name, *numbers, "\n".join(shown))
        moves = plain_table(("role",), ("in the air", "still", "speed", "distance a round", "sharp turns"))
        for role in self.motion:
            moves.add_row(
                role.role,
                f"{100 * role.in_air:.0f} %",
                f"{100 * role.still:.0f} %",
                f"{role.speed_mps:.1f} m/s",
                f"{role.distance_m:.0f} m",
                f"{role.turns_per_s:.2f}/s",
            )
        return Group(f"{self.rounds} rounds: {escape(self.players)}", "", found, "", moves)


def found_in(replays: Sequence[Replay]) -> dict[str, list[Highlight]]:
    """By name, everything that the game's rules find; GodojoError where it has none."""
    rules = game_named(replays[0].header.game).require("behaviours", "behaviours")()
    found: dict[str, list[Highlight]] = {}
    for replay in replays:
        for name, every in rules(replay).items():
            found.setdefault(name, []).extend(every)
    return found


def best_of(found: Mapping[str, Sequence[Highlight]]) -> dict[str, Highlight]:
    """The best example of each behaviour that was found."""
    return {name: max(every, key=lambda one: one.worth) for name, every in found.items() if every}


def described(
    replays: Sequence[Replay], found: Mapping[str, Sequence[Highlight]], clips: Mapping[str, Path]
) -> Behaviours:
    """A table of rounds of the same players, and of what was found in them."""
    table, picks = [], best_of(found)
    for name, every in found.items():
        seen_in = Proportion.of(len({id(one.replay) for one in every}), len(replays))
        best: dict[str, Any] = {}
        if name in picks:
            pick = picks[name]
            best = {"text": pick.text, "round": pick.replay.header.episode, "arena": pick.replay.header.arena_title}
            best |= {"begins_s": round(pick.begins, 2), "seconds": round(pick.seconds, 2)}
            best |= {"clip": str(clips[name])} if name in clips else {}
        table.append(Behaviour(name, seen_in, 100 * len(every) / len(replays), **best))
    players = ", ".join(f"{role.name} {role.player}" for role in replays[0].header.roles)
    return Behaviours(len(replays), players, tuple(table), motion_of(replays))


def motion_of(replays: Sequence[Replay]) -> tuple[Motion, ...]:
    """How every role moves, over all its agents and rounds."""
    found = []
    for role in replays[0].header.roles:
        sums = np.zeros(5)  # seconds, in the air, still, metres, turns
        for replay in replays:
            for agent in range(role.first, role.first + role.agents):
                sums += _moved(replay, agent)
        seconds, in_air, still, metres, turns = sums.tolist()
        seconds, agents = max(seconds, replays[0].tick_s), role.agents * len(replays)
        found.append(
            Motion(role.name, in_air / seconds, still / seconds, metres / seconds, metres / agents, turns / seconds)
        )
    return tuple(found)


def _moved(replay: Replay, agent: int) -> np.ndarray:
    """Seconds in the round, in the air and still; metres; sharp turns."""
    # A frame shows the state at its tick: it stands for the time since the frame before.
    frame_s = np.diff(replay.tick, prepend=0) * replay.tick_s * replay.active[:, agent]
    velocity = replay.velocity_mps[:, agent][:, [0, 2]].astype(np.float64)
    speed = np.linalg.norm(velocity, axis=-1)
    before = np.searchsorted(replay.tick, replay.tick - TURN_TICKS)
    along = (velocity * velocity[before]).sum(axis=-1)
    moves = (np.minimum(speed, speed[before]) >= TURN_MPS) & (frame_s > 0.0)
    turning = moves & (along <= np.cos(np.radians(TURN_DEG)) * speed * speed[before])
    turns = np.count_nonzero(np.diff(turning.astype(np.int8), prepend=0) > 0)
    aloft, still = ~replay.grounded[:, agent], speed < MOVES_MPS
    return np.array([frame_s.sum(), frame_s[aloft].sum(), frame_s[still].sum(), (frame_s * speed).sum(), turns])


def write_clips(
    picks: Mapping[str, Highlight], folder: Path, film: Format, *, fine: bool = False, progress: Progress
) -> dict[str, Path]:
    """One short film of each, named after it, with its name as a caption."""
    scenes = [clip_of(pick, film) for pick in picks.values()]
    paths = {scene.name: folder / f"{scene.name.replace(' ', '-')}.mp4" for scene in scenes}
    progress("starting Godot", None)
    with scratch(folder) as room, drawing(room, fine=fine) as crew:
        for scene, pictures in itertools.groupby(painted(crew, room, scenes, progress), key=lambda one: one[0]):
            with film_writer(paths[scene.name], film) as writer:
                for _, picture in pictures:
                    writer.write(picture)
    return paths


def clip_of(pick: Highlight, film: Format) -> Scene:
    """What leads to it at full speed, its last second at half speed, and what follows."""
    replay, layout = pick.replay, titles.Layout(film)
    slow_from, slow_to = max(pick.begins, pick.seconds - SLOW_S), pick.seconds + 0.3
    parts = (
        steadily(max(pick.begins - LEAD_S, 0.0), slow_from, film.fps),
        steadily(slow_from, slow_to, film.fps, SLOW),
        steadily(slow_to, slow_to + REST_S, film.fps),
    )
    shot = Shot(replay, np.concatenate(parts), camera=usual_camera(replay), zoom=CLOSER, announced=False)
    colour = rgb(letter_colour(replay.header.teams[pick.team].colour))
    plate, slowly = titles.caption(layout, pick.title, pick.text, colour), titles.chip(layout, "half speed", size=20)
    first, last = len(parts[0]), len(parts[0]) + len(parts[1])

    def paint(frame: int, pictures: Sequence[np.ndarray]) -> np.ndarray:
        made = pictures[0].copy()
        titles.lay(made, plate, layout.px(28), film.height - plate.height - layout.px(28))
        if first <= frame < last:
            titles.lay(made, slowly, (film.width - slowly.width) // 2, layout.px(86))
        return made

    return Scene(pick.kind, shot.frames, (shot,), film, paint)
