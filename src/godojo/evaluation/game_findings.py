"""What is wrong with a game for learning, judged by what its agents observed and earned under random actions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np

from godojo.engines.base import RoleArrays
from godojo.games.parts import ActionPart, ObservationPart

HUGE_REWARD = 100.0
SCALES = 1000.0
"""Numbers of one role that vary by more than this factor differ in scale."""
_NAMED = 4
"""Columns that a line names."""


class Finding(msgspec.Struct, frozen=True):
    """One thing about the game."""

    name: str
    state: Literal["good", "note", "bad"]
    """`note` may be intended; with `bad` nothing is learnt."""
    detail: str
    cure: str = ""
    role: str = ""
    columns: tuple[str, ...] = ()
    """Numbers of the observation or the action, such as `obs[3]`."""


class RoleStatistics:
    """Ranges of what one role's agents observed and earned, and how their episodes ended."""

    def __init__(self, role: RoleArrays) -> None:
        self.name = role.name
        self.observation_parts, self.action_parts = role.observation_parts, role.action_parts
        width = role.observation.shape[2]
        self.low, self.high = np.full(width, np.inf), np.full(width, -np.inf)
        self.least_reward, self.most_reward = np.inf, -np.inf
        self.decisions = 0
        self.lengths: list[int] = []
        self._steps = np.zeros(role.acted.shape, np.int64)

    def add(self, role: RoleArrays) -> None:
        """Counts one decision."""
        rows, rewards = role.observation[role.acted], role.reward[role.acted]
        if not len(rows):
            return
        self.low, self.high = np.minimum(self.low, rows.min(axis=0)), np.maximum(self.high, rows.max(axis=0))
        self.least_reward = min(self.least_reward, float(rewards.min()))
        self.most_reward = max(self.most_reward, float(rewards.max()))
        self.decisions += len(rows)
        self._steps += role.acted
        over = role.terminated | role.truncated
        self.lengths += self._steps[over & role.acted].tolist()
        self._steps[over] = 0


def observation_columns(parts: Iterable[ObservationPart]) -> list[str]:
    return [name for part in parts for name in _numbered(part.name, part.size)]


def action_columns(parts: Iterable[ActionPart]) -> list[str]:
    return [name for part in parts for name in _numbered(part.name, part.width)]


def findings_about(found: RoleStatistics) -> list[Finding]:
    """All about one role but its actions; at least one line for observations, rewards and episodes each."""
    if not found.decisions:
        return [Finding("agents", "bad", "never acted", "let its agents take part in the game", found.name)]
    outside = list(_out_of_bounds(found))
    wrong = [*_constant(found), *(outside or _scales(found))]
    if not wrong:
        low, high = found.low.min(), found.high.max()
        wrong = [
            Finding("observation", "good", f"{len(found.low)} numbers from {low:.3g} to {high:.3g}", "", found.name)
        ]
    return [*wrong, _rewards(found), _episodes(found)]


def action_findings(role: str, columns: Sequence[str], effects: dict[str, bool], decisions: int) -> Finding:
    """`effects`: whether another value of a column changed what happened; columns that were not tried are missing."""
    idle = tuple(name for name, has_effect in effects.items() if not has_effect)
    if idle:
        none = len(idle) == len(columns)
        return Finding(
            "actions",
            "bad" if none else "note",
            f"{_listed(idle)} had no effect on any observation or reward in {decisions} decisions",
            "use it in set_action (apply_action), or remove it; or observe what it changes",
            role,
            idle,
        )
    if not effects:
        return Finding("actions", "note", "effects were not tried", "", role)
    untried = len(columns) - len(effects)
    rest = f"; {untried} more were not tried" if untried else ""
    return Finding("actions", "good", f"{_listed(list(effects))}: with effect{rest}", "", role)


def _numbered(name: str, size: int) -> list[str]:
    return [name] if size == 1 else [f"{name}[{index}]" for index in range(size)]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _rounded(number: float) -> str:
    """To one digit."""
    return f"{float(f'{number:.0e}'):,.6g}"


def _slices(parts: Iterable[ObservationPart]) -> Iterator[tuple[ObservationPart, slice]]:
    first = 0
    for part in parts:
        yield part, slice(first, first + part.size)
        first += part.size


def _constant(found: RoleStatistics) -> Iterator[Finding]:
    """Columns with one value for all agents all the time; of a picture only all of them."""
    is_constant = found.low == found.high
    pictures = [
        part for part, where in _slices(found.observation_parts) if part.kind == "image" and is_constant[where].all()
    ]
    for part in pictures:
        yield Finding(
            "observation",
            "bad",
            f"the picture {part.name} never changes",
            "let the game draw: --window",
            found.name,
            (part.name,),
        )
    for part, where in _slices(found.observation_parts):
        if part.kind == "image":
            is_constant[where] = False
    names = tuple(
        name for name, same in zip(observation_columns(found.observation_parts), is_constant, strict=True) if same
    )
    if not names:
        return
    values = sorted(set((found.low[is_constant] + 0.0).tolist()))  # -0 becomes 0
    always = f"always {values[0]:.4g}" if len(values) == 1 else "constant"
    whole = len(names) == len(found.low)
    yield Finding(
        "observation",
        "bad" if whole else "note",
        f"{_listed(names)}: {always} in {found.decisions:,} decisions" + (", so nothing is observed" if whole else ""),
        "send what changes, or leave it out",
        found.name,
        names,
    )


def _out_of_bounds(found: RoleStatistics) -> Iterator[Finding]:
    """A little outside is normal, since -1 to 1 is what games declare that declare nothing."""
    for part, where in _slices(found.observation_parts):
        if part.kind != "box":
            continue
        margin = part.high - part.low
        outside = (found.low[where] < part.low - margin) | (found.high[where] > part.high + margin)
        if not outside.any():
            continue
        names = tuple(name for name, wrong in zip(_numbered(part.name, part.size), outside, strict=True) if wrong)
        low, high = found.low[where][outside].min(), found.high[where][outside].max()
        yield Finding(
            "observation",
            "note",
            f"{_listed(names)}: from {low:.4g} to {high:.4g}, but declared {part.low:g} to {part.high:g}",
            f"divide by {_rounded(max(abs(low), abs(high)))} or so, or declare the bounds",
            found.name,
            names,
        )


def _scales(found: RoleStatistics) -> Iterator[Finding]:
    is_box = np.array([part.kind == "box" for part in found.observation_parts for _ in range(part.size)], np.bool_)
    spread = found.high - found.low
    varies = np.flatnonzero(is_box & (spread > 0))
    if len(varies) < 2:
        return
    most, least = varies[spread[varies].argmax()], varies[spread[varies].argmin()]
    if spread[most] <= SCALES * spread[least]:
        return
    names = observation_columns(found.observation_parts)
    yield Finding(
        "observation",
        "note",
        f"{names[most]} varies by {spread[most]:.3g}, {names[least]} by {spread[least]:.3g}",
        "bring all numbers to about -1 to 1",
        found.name,
        (names[most], names[least]),
    )


def _rewards(found: RoleStatistics) -> Finding:
    low, high = found.least_reward, found.most_reward
    if low == high == 0:
        none = f"always 0 in {found.decisions:,} decisions"
        if not found.lengths:
            return Finding("reward", "note", f"{none}, and no episode ended", "play longer: --seconds", found.name)
        cure = "reward steps on the way to the goal, not the goal alone; check that the reward is added at all"
        return Finding("reward", "bad", f"{none} and {len(found.lengths):,} episodes", cure, found.name)
    if low == high:
        cure = "let it depend on what the agent does"
        return Finding("reward", "note", f"always {low:.4g}, in {found.decisions:,} decisions", cure, found.name)
    if max(-low, high) > HUGE_REWARD:
        cure = f"divide it by {_rounded(max(-low, high))} or so"
        return Finding("reward", "note", f"from {low:.4g} to {high:.4g} in a decision", cure, found.name)
    return Finding("reward", "good", f"from {low:.3g} to {high:.3g} in a decision", "", found.name)


def _episodes(found: RoleStatistics) -> Finding:
    if not found.lengths:
        cure = "limit their length (reset_after, max_ticks), or play longer: --seconds"
        return Finding("episodes", "note", f"none ended in {found.decisions:,} decisions", cure, found.name)
    mean = sum(found.lengths) / len(found.lengths)
    if mean < 2:
        cure = "check when done is set and cleared, and where agents start"
        return Finding(
            "episodes", "note", f"{len(found.lengths):,} ended, after {mean:.1f} decisions each", cure, found.name
        )
    return Finding(
        "episodes", "good", f"{len(found.lengths):,} ended, after {mean:.0f} decisions on average", "", found.name
    )
