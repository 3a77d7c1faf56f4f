"""The parity gate: the same seeded play in the real engine and in a twin, and how far apart the two end up.

The game is started once per seed with the probe in it, which seeds the global random number generator at the first sync
point and writes where bodies are. The twin begins with the snapshot of that moment and gets the same actions.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np

from godojo.bridge.messages import Ready
from godojo.engines.base import RoleArrays, Worlds
from godojo.engines.godot.open import launch_games
from godojo.errors import GodojoError
from godojo.twin.scene.export import read_probe
from godojo.twin.scene.probed import Probed
from godojo.twin.scene.snapshot import Snapshot, Value

POSITION_MEDIAN_M = 0.001
POSITION_P95_M = 0.02
POSITION_MEDIAN_PX, POSITION_P95_PX = 0.1, 2.0
"""Of 2D games: Godot's gravity makes 100 pixels a metre."""
AGREEMENT = 0.97
SAME_NUMBER = 1e-3
"""Numbers of an observation and rewards that differ by less agree, relative to their size where that is above 1."""
SEEDS = 3
SECONDS = 8.0
_STEP = 1.0 / 64.0
"""Actions are multiples of it: the engine reads such numbers from text without rounding."""
_HOLD = 6
"""An action is held for this many decisions on average, as players do: else bodies never get anywhere."""
_GODOT_RL_BEGINS = 3
"""Decisions from the snapshot to the first observation of a godot_rl game (`bridge/godot_rl.py`)."""
_MOVES_M = 1e-4
_LENGTHS = ("m", "px")


class Line(msgspec.Struct, frozen=True):
    """One measured figure of a gate."""

    name: str
    value: float
    limit: float | None
    samples: int
    unit: str = "share"

    @property
    def is_met(self) -> bool:
        if self.limit is None or not self.samples:
            return True
        return self.value <= self.limit if self.unit in _LENGTHS else self.value >= self.limit


class Parity(msgspec.Struct, frozen=True):
    """How far a twin is from the real engine."""

    lines: list[Line]
    seeds: int
    seconds: float
    agents: int
    first_difference: str = ""
    """Where the two first differ, for people."""
    engine_speed: float = 0.0
    """Decisions of all agents per second that one process of the game plays."""
    twin_speed: float = 0.0
    """The same of the twin, on one core."""

    @property
    def is_slower(self) -> bool:
        """Whether the twin plays slower than the real engine."""
        return self.twin_speed < self.engine_speed

    @property
    def passes(self) -> bool:
        return all(line.is_met for line in self.lines)

    def line(self, name: str) -> Line:
        return next(line for line in self.lines if line.name == name)

    def missed(self) -> str:
        """What is missed, in one line."""
        return "; ".join(
            f"{line.name} {shown(line, line.value)} (limit {shown(line, line.limit or 0.0)})"
            for line in self.lines
            if not line.is_met
        )


class Recording(msgspec.Struct):
    """What a seeded play gave, decision by decision, beginning with the first observation."""

    snapshot: Snapshot
    actions: dict[str, np.ndarray]
    """By role: float32 [decisions, worlds, agents, numbers]."""
    observations: dict[str, np.ndarray]
    """By role: float32 [decisions + 1, worlds, agents, numbers]."""
    rewards: dict[str, np.ndarray]
    ends: dict[str, np.ndarray]
    """By role: bool [decisions, worlds, agents]."""
    positions: np.ndarray
    """float32 [decisions + 1, bodies, 3]."""
    step_s: float = 0.0
    """What a decision takes: the fastest tenth, which neither compiling nor a busy machine changes much."""


class Actor(Protocol):
    """A policy of one role; `godojo.load_policy` returns one."""

    def act(self, observation: np.ndarray) -> np.ndarray:
        """The actions for the observations of all agents."""

    def reset(self, done: np.ndarray | None = None) -> None:
        """Forgets what agents have seen whose episode is over; everything by default."""


def record_godot(
    game: Probed,
    known: Snapshot,
    seed: int,
    seconds: float = SECONDS,
    policies: Mapping[str, Actor] | None = None,
) -> Recording:
    """Plays the real game by policies, and by seeded random actions where a role has none.

    `known` is any snapshot of the game.
    """
    worlds = launch_games(
        game.started(seed=seed, is_traced=True),
        num_worlds=None if known.wire == "godot_rl" else 1,
        seed=0,
        ticks_per_decision=known.action_repeat,
        max_restarts=0,
        say=lambda _: None,
    )
    with worlds:
        ready = msgspec.convert(known.ready, Ready)
        snapshot = read_probe(_bytes(game.snapshot), ready, known.wire, str(game.snapshot))
        decisions = max(round(seconds * snapshot.ticks_per_second / snapshot.action_repeat), 1)
        actions = random_actions(worlds.roles, decisions, seed)
        recording = play(worlds, snapshot, actions, policies)
        recording.positions = _positions(game.trace, snapshot, decisions)
        return recording


def play_twin(twin: Worlds, godot: Recording) -> Recording:
    """Plays the twin by a recording's actions, from its very beginning."""
    twin.reset(godot.snapshot.seed)
    return play(twin, godot.snapshot, godot.actions)


def play(
    worlds: Worlds,
    snapshot: Snapshot,
    actions: Mapping[str, np.ndarray],
    policies: Mapping[str, Actor] | None = None,
) -> Recording:
    """Plays worlds that have just begun; notes where bodies are if the worlds tell.

    What policies choose is written into `actions`.
    """
    for policy in (policies or {}).values():
        policy.reset()
    roles = worlds.roles
    decisions = len(next(iter(actions.values())))
    found = Recording(
        snapshot,
        dict(actions),
        {name: np.empty((decisions + 1, *role.observation.shape), np.float32) for name, role in roles.items()},
        {name: np.empty((decisions, *role.reward.shape), np.float32) for name, role in roles.items()},
        {name: np.empty((decisions, *role.reward.shape), np.bool_) for name, role in roles.items()},
        np.full((decisions + 1, len(snapshot.bodies), 3), np.nan, np.float32),
    )
    where: Callable[[int], np.ndarray] | None = getattr(worlds, "body_positions", None)
    taken = np.empty(decisions)
    for decision in range(decisions + 1):
        for name, role in roles.items():
            found.observations[name][decision] = role.observation
        if where is not None:
            found.positions[decision] = where(0)
        if decision == decisions:
            break
        for name, policy in (policies or {}).items():
            actions[name][decision] = _exact(roles[name], policy.act(roles[name].observation))
        begun = time.perf_counter()
        worlds.step({name: actions[name][decision] for name in roles})
        taken[decision] = time.perf_counter() - begun
        for name, role in roles.items():
            found.rewards[name][decision] = role.reward
            found.ends[name][decision] = role.terminated | role.truncated
            if name in (policies or {}):
                policies[name].reset(found.ends[name][decision])  # type: ignore[index]
    found.step_s = float(np.percentile(taken, 10))
    return found


def _exact(role: RoleArrays, action: np.ndarray) -> np.ndarray:
    """An action whose continuous parts are multiples of the step that the engine reads exactly."""
    exact, at = np.array(action, np.float32), 0
    for part in role.action_parts:
        if part.kind == "continuous":
            exact[..., at : at + part.width] = np.round(exact[..., at : at + part.width] / _STEP) * _STEP
        at += part.width
    return exact


def compare(pairs: Sequence[tuple[Recording, Recording]]) -> Parity:
    """What the real engine gave and what the twin gave, for several seeds."""
    apart: list[np.ndarray] = []
    seen: list[np.ndarray] = []
    paid: list[np.ndarray] = []
    ended: list[np.ndarray] = []
    first = ""
    for godot, twin in pairs:
        apart.append(_errors_after_one_second(godot, twin))
        for role in godot.observations:
            seen.append(_same(godot.observations[role], twin.observations[role]).ravel())
            paid.append(_same(godot.rewards[role], twin.rewards[role]).ravel())
            ended.append(_ends_agree(godot.ends[role], twin.ends[role]))
        first = first or _first_difference(godot, twin)
    apart_by = np.concatenate(apart)
    one = pairs[0][0]
    is_flat = any("2D" in one.snapshot.nodes[body].native_class for body in one.snapshot.bodies)
    unit, median, p95 = "m", POSITION_MEDIAN_M, POSITION_P95_M
    if is_flat:
        unit, median, p95 = "px", POSITION_MEDIAN_PX, POSITION_P95_PX
    lines = [
        Line("one-second position, median", _at(apart_by, 50), median, len(apart_by), unit),
        Line("one-second position, 95th percentile", _at(apart_by, 95), p95, len(apart_by), unit),
        *(
            Line(name, float(np.mean(same)) if len(same) else 1.0, limit, len(same))
            for name, same, limit in (
                ("observations that agree", np.concatenate(seen), None),
                ("rewards that agree", np.concatenate(paid), AGREEMENT),
                ("episode ends that agree", np.concatenate(ended), AGREEMENT),
            )
        ),
    ]
    agents = sum(array.shape[1] * array.shape[2] for array in one.rewards.values())
    decisions = len(next(iter(one.rewards.values())))
    seconds = decisions * one.snapshot.action_repeat / one.snapshot.ticks_per_second
    return Parity(lines, len(pairs), seconds, agents, first, *(_speed(agents, one) for one in zip(*pairs, strict=True)))


def _speed(agents: int, played: Sequence[Recording]) -> float:
    step_s = min(one.step_s for one in played)
    return agents / step_s if step_s > 0.0 else 0.0


def random_actions(roles: Mapping[str, RoleArrays], decisions: int, seed: int) -> dict[str, np.ndarray]:
    """Seeded play, each number held for a while; the same for everybody who asks."""
    chance = np.random.default_rng([seed, 0x7717])
    found = {}
    for name, role in roles.items():
        columns = []
        for part in role.action_parts:
            shape = (decisions, *role.action.shape[:2], part.width)
            if part.kind == "continuous":
                drawn = np.round(chance.uniform(-1.0, 1.0, shape) / _STEP) * _STEP
            else:
                drawn = chance.integers(part.size, size=shape).astype(np.float64)
            columns.append(drawn)
        numbers = np.concatenate(columns, axis=-1)
        holds = chance.random(numbers.shape) < 1.0 - 1.0 / _HOLD
        for decision in range(1, decisions):
            numbers[decision] = np.where(holds[decision], numbers[decision - 1], numbers[decision])
        found[name] = numbers.astype(np.float32)
    return found


def table(parity: Parity) -> list[tuple[str, str, str, str]]:
    """Rows of a table for people: figure, value, limit, verdict."""
    rows = []
    for line in parity.lines:
        limit = "" if line.limit is None else f"{'≤' if line.unit in _LENGTHS else '≥'} {shown(line, line.limit)}"
        verdict = "" if line.limit is None else ("met" if line.is_met else "missed")
        value = shown(line, line.value) if line.samples else "nothing to compare"
        rows.append((line.name, value, limit, verdict))
    return rows


def shown(line: Line, value: float) -> str:
    if line.unit == "m":
        return f"{value * 1000:.3g} mm"
    if line.unit == "px":
        return f"{value:.3g} px"
    return f"{value:.2%}"


def _errors_after_one_second(godot: Recording, twin: Recording) -> np.ndarray:
    """Metres, or pixels of 2D games, of all bodies that moved in either."""
    snapshot = godot.snapshot
    second = min(round(snapshot.ticks_per_second / snapshot.action_repeat), len(godot.positions) - 1)
    here, there = godot.positions[: second + 1], twin.positions[: second + 1]
    with np.errstate(invalid="ignore"):
        moves = (np.abs(here - here[0]) > _MOVES_M).any(axis=(0, 2)) | (np.abs(there - there[0]) > _MOVES_M).any(
            axis=(0, 2)
        )
    errors: np.ndarray = np.linalg.norm((here[second] - there[second])[moves].astype(np.float64), axis=-1)
    return np.where(np.isnan(errors), np.inf, errors)


def _same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    size = np.maximum(np.abs(one), 1.0)
    with np.errstate(invalid="ignore"):
        same: np.ndarray = np.abs(one - other) <= SAME_NUMBER * size
    return same


def _ends_agree(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """For each episode end of either: whether the other has it, too, at most one decision earlier or later."""
    agreed: list[np.ndarray] = []
    for ends, others in ((one, other), (other, one)):
        near = others.copy()
        near[1:] |= others[:-1]
        near[:-1] |= others[1:]
        agreed.append(near[ends])
    return np.concatenate(agreed)


def _first_difference(godot: Recording, twin: Recording) -> str:
    """The first decision at which anything differs, and what."""
    found: tuple[int, str] | None = None
    ticks = godot.snapshot.action_repeat
    for role in godot.observations:
        for what, one, other, shift in (
            ("observation", godot.observations[role], twin.observations[role], 0),
            ("reward", godot.rewards[role], twin.rewards[role], 1),
            ("episode end", godot.ends[role].astype(np.float32), twin.ends[role].astype(np.float32), 1),
        ):
            differs = np.argwhere(~_same(one, other))
            if len(differs) and (found is None or differs[0][0] + shift < found[0]):
                place = tuple(differs[0])
                number = f" {place[3]}" if len(place) > 3 else ""
                found = (
                    int(place[0]) + shift,
                    f"{what}{number} of {role} {place[1] + place[2]} is {one[place]:.6g} in the engine and "
                    f"{other[place]:.6g} in the twin",
                )
    if found is None:
        return ""
    return f"after {found[0]} decisions ({found[0] * ticks} ticks): {found[1]} (seed {godot.snapshot.seed})"


def _at(values: np.ndarray, percent: float) -> float:
    return float(np.percentile(values, percent, method="higher")) if len(values) else 0.0


def _positions(trace: Path, snapshot: Snapshot, decisions: int) -> np.ndarray:
    """Where bodies were at each decision."""
    found = np.full((decisions + 1, len(snapshot.bodies), 3), np.nan, np.float32)
    if not snapshot.bodies:
        return found
    width = 1 + 3 * len(snapshot.bodies)
    content = _bytes(trace)
    rows = np.frombuffer(content[: len(content) // (4 * width) * 4 * width], "<f4").reshape(-1, width)
    begin = _GODOT_RL_BEGINS if snapshot.wire == "godot_rl" else 0
    ticks = (np.arange(decisions + 1) + begin) * snapshot.action_repeat
    places = np.searchsorted(rows[:, 0], ticks)
    if not begin:  # the trace begins with the first tick
        found[0] = [_place(snapshot.nodes[body].properties["global_transform"]) for body in snapshot.bodies]
    is_there = (places < len(rows)) & (rows[np.minimum(places, len(rows) - 1), 0] == ticks)
    found[is_there] = rows[places[is_there], 1:].reshape(-1, len(snapshot.bodies), 3)
    return found


def _place(transform: Value) -> tuple[float, float, float]:
    kind, numbers = transform
    return (*numbers[9:],) if kind == "Transform3D" else (*numbers[4:], 0.0)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise GodojoError(f"the probe in the game wrote no {path.name} ({error.strerror})") from None
