"""What players of tag do, found in recorded rounds by geometric rules; docs/behaviours.md has the rules in words.

Each rule takes a `Chase`, one seeker and one hider for as long as they oppose each other, and yields what it finds.
"""

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from godojo.games.settings import TICK_S
from godojo.games.tag.replay import HIDER, SEEKER
from godojo.show.replay import Highlight, Replay

RATE_HZ = 30
"""Samples per second of a chase, on the twin and in Godot alike."""
COMMITTED_MPS = 4.0
"""A seeker that approaches the hider at this speed cannot stop or turn at once."""
MOVES_MPS = 2.0
"""Faster is on the move."""


class Find(NamedTuple):
    """A behaviour in a chase, by sample."""

    begins: int
    at: int
    """Its decisive sample: the closest moment, the catch, the landing."""
    worth: float
    text: str


@dataclass(frozen=True)
class Chase:
    """One seeker and one hider while they oppose each other. F samples."""

    begins_s: float
    seeker_m: np.ndarray
    """float [F, 3]; likewise below."""
    seeker_mps: np.ndarray
    hider_m: np.ndarray
    hider_mps: np.ndarray
    grounded: np.ndarray
    """bool [F]: whether the hider stands on something."""
    is_caught: bool
    """Whether this seeker touches this hider at the last sample."""
    boxes_m: np.ndarray
    """float [2, B, 3]: low and high corners."""
    body_m: float
    eye_height_m: float
    hider_top_mps: float

    @property
    def last(self) -> int:
        return len(self.seeker_m) - 1

    @functools.cached_property
    def away_m(self) -> np.ndarray:
        """float [F, 2]: from the seeker to the hider, on the ground plane."""
        return _flat(self.hider_m - self.seeker_m)

    @functools.cached_property
    def gap_m(self) -> np.ndarray:
        """float [F]: between their edges, on the ground plane."""
        return np.asarray(np.linalg.norm(self.away_m, axis=-1) - self.body_m)

    @functools.cached_property
    def seeker_speed_mps(self) -> np.ndarray:
        return np.asarray(np.linalg.norm(_flat(self.seeker_mps), axis=-1))

    @functools.cached_property
    def hider_speed_mps(self) -> np.ndarray:
        return np.asarray(np.linalg.norm(_flat(self.hider_mps), axis=-1))

    @functools.cached_property
    def approach_mps(self) -> np.ndarray:
        """float [F]: how fast the seeker runs towards where the hider is."""
        return np.asarray((_flat(self.seeker_mps) * _unit(self.away_m)).sum(axis=-1))

    @functools.cached_property
    def in_sight(self) -> np.ndarray:
        """bool [F]: whether no box hides all of the hider (middle, top, left, right) from the seeker's eyes."""
        eyes = self.seeker_m + np.array([0.0, self.eye_height_m, 0.0])
        side = _unit(self.away_m)[:, ::-1] * np.array([1.0, -1.0]) * 0.45 * self.body_m
        aside = np.stack([side[:, 0], np.zeros(len(side)), side[:, 1]], axis=-1)
        top = np.array([0.0, 0.45 * self.body_m, 0.0])
        seen = [~_blocked(eyes, self.hider_m + offset, self.boxes_m) for offset in (0.0, top, aside, -aside)]
        return np.asarray(np.any(seen, axis=0))

    def escaped(self, closest: int, more_m: float, within_s: float) -> int | None:
        """The first sample after `closest` at which the hider has gained so much, uncaught."""
        later = self.gap_m[closest : closest + samples(within_s) + 1]
        far = np.flatnonzero(later >= later[0] + more_m)
        return closest + int(far[0]) if len(far) else None


def samples(seconds: float) -> int:
    return round(seconds * RATE_HZ)


def _flat(vectors: np.ndarray) -> np.ndarray:
    return vectors[..., [0, 2]]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-6))


def _degrees(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The angle between vectors of the ground plane."""
    return np.asarray(np.degrees(np.arccos(np.clip((_unit(one) * _unit(other)).sum(axis=-1), -1.0, 1.0))))


def _cross(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Positive where the second vector of the ground plane is counter-clockwise of the first."""
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])


def _blocked(start: np.ndarray, end: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """bool [F]: whether a box, of [2, B, 3] corners, is between two points, [F, 3]."""
    way = end - start
    way = np.where(np.abs(way) < 1e-9, 1e-9, way)[:, None]
    sides = (boxes[:, None] - start[None, :, None]) / way
    enters, leaves = sides.min(axis=0).max(axis=-1), sides.max(axis=0).min(axis=-1)
    return np.asarray(((enters < leaves) & (leaves > 0.0) & (enters < 1.0)).any(axis=-1))


def _stretches(mask: np.ndarray, at_least: int = 1) -> list[tuple[int, int]]:
    """First and end of consecutive samples that are true."""
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    return [(int(first), int(end)) for first, end in edges if end - first >= at_least]


def _stays(at_m: np.ndarray, within_m: float, mask: np.ndarray, at_least: int) -> list[tuple[int, int]]:
    """Stretches of so many samples or more in which the mask holds, each sample near the one `at_least` before it."""
    if len(at_m) <= at_least:
        return []
    windows = np.lib.stride_tricks.sliding_window_view(_flat(at_m), at_least + 1, axis=0)
    near = np.linalg.norm(windows - windows[..., :1], axis=1).max(axis=-1) <= within_m
    holds = np.lib.stride_tricks.sliding_window_view(mask, at_least + 1).all(axis=-1)
    return [(first, end + at_least) for first, end in _stretches(near & holds)]


def juke(chase: Chase) -> Iterator[Find]:
    """The hider dodges a seeker that comes at it, and the seeker runs past.

    Less than 2.5 m apart and approached at 4 m/s, the hider changes its velocity by its own top speed within 0.4 s (a
    turn by 60 degrees at full speed, or a dash from standstill). From the closest moment on, at which it stands on its
    feet, it gains 2 m within 1 s. What is part of a double back does not count.
    """
    taken = [(one.begins, one.at + samples(0.5)) for one in double_back(chase)]
    wide, until = samples(0.4), 0
    turns = np.linalg.norm(_flat(chase.hider_mps[wide:] - chase.hider_mps[:-wide]), axis=-1) >= chase.hider_top_mps
    near = (chase.gap_m <= 2.5) & (chase.approach_mps >= COMMITTED_MPS)
    for first in np.flatnonzero(turns & near[: len(turns)]).tolist():
        closest = first + int(chase.gap_m[first : first + samples(0.8) + 1].argmin())
        away = chase.escaped(closest, 2.0, 1.0)
        is_taken = any(begin <= closest <= end for begin, end in taken)
        if first < until or away is None or is_taken or not chase.grounded[closest]:
            continue
        until = away
        gap = max(float(chase.gap_m[closest]), 0.0)
        yield Find(first, closest, -gap, f"dodges at {gap:.1f} m, and the seeker runs past")


def double_back(chase: Chase) -> Iterator[Find]:
    """The hider runs away from a seeker, turns round and gets past it.

    For 0.2 s or longer the seeker approaches at 4 m/s, less than 6 m behind a hider that runs the same way. Within
    1.5 s the hider is behind it and runs the other way, and 0.5 s later it is not caught. Along the seeker's direction
    both runs take 40 % of the hider's top speed. The two pass within 2.5 m, the hider on its feet.
    """
    ahead = _unit(_flat(chase.seeker_mps))
    flees = (_flat(chase.hider_mps) * ahead).sum(axis=-1) >= 0.4 * chase.hider_top_mps
    candidates = flees & (chase.gap_m <= 6.0) & (chase.approach_mps >= COMMITTED_MPS)
    until = 0
    for begin, end in _stretches(candidates, samples(0.2)):
        first = end - 1
        if begin < until:
            continue
        later = slice(first, first + samples(1.5) + 1)
        behind = (chase.away_m[later] @ ahead[first]) <= -0.5 * chase.body_m
        returns = (_flat(chase.hider_mps[later]) @ ahead[first]) <= -0.4 * chase.hider_top_mps
        passed = np.flatnonzero(behind & returns)
        if not len(passed) or first + passed[0] + samples(0.5) > chase.last:
            continue
        end = first + int(passed[0])
        closest = first + int(chase.gap_m[first : end + 1].argmin())
        gap = max(float(chase.gap_m[closest]), 0.0)
        if gap <= 2.5 and chase.grounded[closest]:
            until = end
            yield Find(begin, closest, -gap, f"turns round and passes the seeker at {gap:.1f} m")


def cut_off(chase: Chase) -> Iterator[Find]:
    """The seeker runs to where the hider will be, and catches it there.

    Between 2 and 0.3 s before the catch, for 0.2 s or longer: the seeker runs at 4 m/s or faster within 15 degrees of
    where it will catch the hider, but 15 to 75 degrees ahead of where the hider is, which runs (at 60 % of its top
    speed or faster) and is 1 m away or farther.
    """
    if not chase.is_caught:
        return
    first = max(chase.last - samples(2.0), 0)
    part = slice(first, max(chase.last - samples(0.3) + 1, 0))
    runs, away, flees = _flat(chase.seeker_mps[part]), chase.away_m[part], _flat(chase.hider_mps[part])
    lead = _degrees(runs, away)
    aims = _degrees(runs, _flat(chase.seeker_m[-1] - chase.seeker_m[part])) <= 15.0
    leads = (lead >= 15.0) & (lead <= 75.0) & (_cross(away, runs) * _cross(away, flees) > 0.0)
    moves = chase.seeker_speed_mps[part] >= COMMITTED_MPS
    moves &= chase.hider_speed_mps[part] >= 0.6 * chase.hider_top_mps
    found = _stretches(aims & leads & moves & (chase.gap_m[part] >= 1.0), samples(0.2))
    if found:
        begin, end = max(found, key=lambda one: one[1] - one[0])
        angle, ahead_s = float(lead[begin:end].max()), (chase.last - first - begin) / RATE_HZ
        text = f"aims {angle:.0f}° ahead of the hider, {ahead_s:.1f} s before the catch"
        yield Find(first + begin, chase.last, angle * (end - begin), text)


def ambush(chase: Chase) -> Iterator[Find]:
    """The seeker waits out of sight until the hider comes, and catches it at once.

    For 1 s or longer it stays within 1 m and out of the hider's sight. No later than 0.5 s after, the hider, nearer by
    1 m or more through its own steps, comes into sight, and is caught within 2 s.
    """
    if not chase.is_caught:
        return
    for first, end in _stays(chase.seeker_m, 1.0, ~chase.in_sight, samples(1.0)):
        sight = end + int(chase.in_sight[end:].argmax())
        comes_m = np.linalg.norm(chase.away_m[first])
        comes_m -= np.linalg.norm(_flat(chase.hider_m[sight] - chase.seeker_m[first]))
        if sight <= end + samples(0.5) and chase.last - sight <= samples(2.0) and comes_m >= 1.0:
            waited_s, caught_s = (end - first) / RATE_HZ, (chase.last - sight) / RATE_HZ
            text = f"waits {waited_s:.1f} s out of sight, catches the hider {caught_s:.1f} s after seeing it"
            yield Find(first, chase.last, waited_s, text)


def hide(chase: Chase) -> Iterator[Find]:
    """The hider stays out of sight while the seeker searches.

    For 2 s or longer the hider stays within 1.5 m and out of sight, at a place 2 m from its start or farther. For 1 s
    of it or longer the seeker is within 8 m and on the move (2 m/s).
    """
    searched = (chase.gap_m <= 8.0) & (chase.seeker_speed_mps >= MOVES_MPS)
    for first, end in _stays(chase.hider_m, 1.5, ~chase.in_sight, samples(2.0)):
        ran_m = float(np.linalg.norm(_flat(chase.hider_m[end - 1] - chase.hider_m[0])))
        near = int(np.count_nonzero(searched[first:end]))
        if ran_m >= 2.0 and near >= samples(1.0):
            closest = first + int(chase.gap_m[first:end].argmin())
            text = f"{(end - first) / RATE_HZ:.1f} s out of sight, the seeker {chase.gap_m[closest]:.1f} m away"
            yield Find(first, closest, near - RATE_HZ * float(chase.gap_m[closest]), text)


def jump_escape(chase: Chase) -> Iterator[Find]:
    """The hider jumps onto or over a box, or over the seeker, and gets away.

    While it is in the air, the seeker is within 1.5 m, and the hider passes above a box or the seeker, or lands 0.4 m
    higher. Within 1.5 s of landing it is 3 m away.
    """
    took_off = chase.grounded[:-1] & ~chase.grounded[1:] & (chase.hider_mps[1:, 1] > 1.0)
    for first in np.flatnonzero(took_off).tolist():
        landed = np.flatnonzero(chase.grounded[first + 1 :])
        if not len(landed):
            continue
        end = first + 1 + int(landed[0])
        later = np.flatnonzero(chase.gap_m[end : end + samples(1.5) + 1] >= 3.0)
        closest = first + int(chase.gap_m[first : end + 1].argmin())
        what, gap = _jumped(chase, first, end), max(float(chase.gap_m[closest]), 0.0)
        if len(later) and what and gap <= 1.5:
            most = float(chase.gap_m[end : end + samples(1.5) + 1].max())
            yield Find(first, closest, most, f"jumps {what}, and is {most:.1f} m away soon after")


def _jumped(chase: Chase, first: int, end: int) -> str:
    """What a jump between two samples led over or onto; empty for nothing."""
    at, (low, high) = chase.hider_m[first : end + 1], chase.boxes_m
    above = np.abs(chase.away_m[first : end + 1]).max(axis=-1) < chase.body_m
    if (above & (at[:, 1] - chase.seeker_m[first : end + 1, 1] >= 0.8 * chase.body_m)).any():
        return "over the seeker"
    if at[-1, 1] - at[0, 1] >= 0.4:
        return "onto a box"
    inside = (_flat(at)[:, None] >= _flat(low)) & (_flat(at)[:, None] <= _flat(high))
    return "over a box" if inside.all(axis=-1).any() else ""


RULES: Mapping[str, tuple[Callable[[Chase], Iterator[Find]], int]] = {
    "ambush": (ambush, SEEKER),
    "cut-off": (cut_off, SEEKER),
    "double back": (double_back, HIDER),
    "hide": (hide, HIDER),
    "juke": (juke, HIDER),
    "jump escape": (jump_escape, HIDER),
}
"""By name: the rule, and whose behaviour it is."""


def behaviours(replay: Replay) -> dict[str, list[Highlight]]:
    """Everything that the rules find in a round, by name; `Game.behaviours` of tag."""
    found: dict[str, list[Highlight]] = {name: [] for name in RULES}
    for chase in chases(replay):
        for name, (rule, team) in RULES.items():
            found[name] += [
                Highlight(name, name.capitalize(), one.text, replay, one.worth, *_seconds(chase, one), team)
                for one in rule(chase)
            ]
    return found


def _seconds(chase: Chase, found: Find) -> tuple[float, float]:
    return chase.begins_s + found.at / RATE_HZ, chase.begins_s + found.begins / RATE_HZ


def chases(replay: Replay) -> Iterator[Chase]:
    """Every pair of opponents, for as long as one seeks, the other hides and both are in the round."""
    seeks, plays = replay.team == SEEKER, replay.active
    for seeker, hider in itertools.permutations(range(replay.header.agents), 2):
        oppose = seeks[:, seeker] & ~seeks[:, hider] & plays[:, seeker] & plays[:, hider]
        for first, end in _stretches(oppose, 2):
            yield _chase(replay, seeker, hider, first, min(end, len(oppose) - 1))


def _chase(replay: Replay, seeker: int, hider: int, first: int, last: int) -> Chase:
    """From one frame to another, the first after the chase included: it shows the touch."""
    over = not replay.active[last, hider] or replay.team[last, hider] == SEEKER
    seekers = np.flatnonzero((replay.team[last - 1] == SEEKER) & replay.active[last - 1])
    apart = np.abs(replay.position_m[last, seekers] - replay.position_m[last, hider]).max(axis=-1)
    begins_s, ends_s = float(replay.tick[first]) * TICK_S, float(replay.tick[last]) * TICK_S
    times = begins_s + np.arange(int((ends_s - begins_s) * RATE_HZ + 1e-6) + 1) / RATE_HZ
    frames = replay.tick * TICK_S

    def sampled(values: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(times, frames, one) for one in values.T], axis=-1)

    layout, motion = replay.layout, replay.settings.motion
    corners = [
        [np.array(box.position_m) + sign * np.array(box.size_m) / 2 for box in layout.boxes] for sign in (-1.0, 1.0)
    ]
    return Chase(
        begins_s=begins_s,
        seeker_m=sampled(replay.position_m[:, seeker]),
        seeker_mps=sampled(replay.velocity_mps[:, seeker]),
        hider_m=sampled(replay.position_m[:, hider]),
        hider_mps=sampled(replay.velocity_mps[:, hider]),
        grounded=replay.grounded[np.searchsorted(frames, times - 1e-9).clip(max=last), hider],
        is_caught=bool(over and seekers[apart.argmin()] == seeker),
        boxes_m=np.array(corners, np.float64).reshape(2, -1, 3),
        body_m=layout.body_m,
        eye_height_m=layout.eye_height_m,
        hider_top_mps=motion.hider_speed_mps,
    )
