"""`godojo.check`: plays a game for a few seconds and reports what keeps agents from learning in it."""

import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
from rich.console import Group, RenderableType
from rich.markup import escape

from godojo.engines.godot.game_source import GameSource
from godojo.engines.godot.restarts import GameLost
from godojo.engines.godot.worlds import GodotWorlds
from godojo.engines.random_play import play_randomly
from godojo.errors import GodojoError, command, option
from godojo.evaluation.game_findings import (
    Finding,
    RoleStatistics,
    action_columns,
    action_findings,
    findings_about,
)
from godojo.evaluation.tables import Printable

SECONDS = 10.0
REPLAYED = 48
"""Decisions that are played again, for determinism and for the effect of actions."""
PATIENCE = 5.0
"""Times as long as asked for that a slow game is played until every role has finished an episode."""
MAX_TRIED = 6
"""Numbers of an action that are tried: each takes another launch."""
_MARKS = {"good": "[green]✓[/]", "note": "[yellow]![/]", "bad": "[red]✗[/]"}
Progress = Callable[[str, float | None], None]


class GameCheck(Printable, msgspec.Struct, frozen=True):
    """What is right and wrong with a game; prints as a list."""

    project: str
    """The project's folder or the exported game."""
    scene: str | None
    """None: the main scene."""
    window: bool
    seed: int
    findings: list[Finding]

    @property
    def healthy(self) -> bool:
        """Whether no finding is `bad`."""
        return all(finding.state != "bad" for finding in self.findings)

    def __rich__(self) -> RenderableType:
        lines = []
        for one in self.findings:
            who = f"{escape(one.role)}: " if one.role else ""
            lines.append(f"{_MARKS[one.state]} {one.name:<12} {who}{escape(one.detail)}")
            if one.cure:
                lines.append(f"               [dim]→ {escape(one.cure)}[/]")
        words = ["train", "--binary" if Path(self.project).is_file() else "--project", self.project]
        words += ["--scene", self.scene] if self.scene else []
        words += ["--window"] if self.window else []
        end = f"Ready: {command(shlex.join(words))}"
        return Group(
            *lines, f"[green]{escape(end)}[/]" if self.healthy else "[red]Fix the lines with ✗ before training.[/]"
        )


def check(
    project: str | Path,
    *,
    scene: str | None = None,
    window: bool = False,
    seconds: float = SECONDS,
    seed: int = 0,
    progress: Progress | None = None,
) -> GameCheck:
    """Play a game with random actions and report what is wrong with it for learning.

    Afterwards its first decisions are played again with the same seed: with the same actions, to see whether it is
    deterministic, and with each number of an action held constant, to see whether that number has an effect.

    Args:
        project: A folder with a project.godot, or an exported game (dojo/1 or godot_rl).
        scene: The project's training scene; its main scene by default.
        window: Let the game draw, as camera sensors need.
        seconds: How long it is played, or up to five times as long until every role has finished an episode; replays
            are shorter.
        seed: Seeds the game and the random actions.
        progress: Called with the part in progress and the fraction of it that is done.

    Raises:
        GodojoError: There is no such game, or it cannot be started.
    """
    place = Path(project).expanduser().absolute()
    if not place.exists():
        raise GodojoError(f"there is no project and no exported game at {place}")
    if not seconds > 0:
        raise GodojoError(f"{option('seconds')} must be more than 0, not {seconds:g}")
    source = GameSource(project=str(place), scene=scene, window=window)
    said = progress or (lambda _what, _share: None)
    played = _play(source, seed, seconds, partial(said, "random actions"))
    findings = [*_about_game(played)]
    for one in played.roles.values():
        findings += findings_about(one)
    if played.loss is None:
        findings += _replays(source, played, seed, seconds, said)
    return GameCheck(str(project), scene, window, seed, findings)


@dataclass
class _Play:
    """What one play of the game showed."""

    roles: dict[str, RoleStatistics] = field(default_factory=dict)
    first: list[list[np.ndarray]] = field(default_factory=list)
    """Observations and rewards of all roles, for the first decisions."""
    num_worlds: int = 0
    agents: dict[str, int] = field(default_factory=dict)
    """Of all worlds together."""
    seconds: float = 0.0
    script_errors: tuple[int, str] = (0, "")
    non_finite: dict[str, int] = field(default_factory=dict)
    loss: GameLost | None = None


def _play(
    source: GameSource,
    seed: int,
    seconds: float,
    report: Callable[[float], None],
    *,
    most: int | None = None,
    constant: tuple[str, int] | None = None,
) -> _Play:
    """Plays random actions, with one number of a role's action held constant if asked for."""
    played = _Play()
    try:
        with source.open(seed=seed, say=lambda _: None, max_restarts=0) as worlds:
            try:
                _record(played, worlds, seed, seconds, report, most, constant)
            finally:
                played.script_errors, played.non_finite = worlds.script_errors, worlds.non_finite
    except GameLost as error:
        played.loss = error
    return played


def _record(
    played: _Play,
    worlds: GodotWorlds,
    seed: int,
    seconds: float,
    report: Callable[[float], None],
    most: int | None,
    constant: tuple[str, int] | None,
) -> None:
    played.num_worlds = worlds.num_worlds
    played.roles = {name: RoleStatistics(role) for name, role in worlds.roles.items()}
    played.agents = {name: role.acted.size for name, role in worlds.roles.items()}
    chance, begun, steps = np.random.default_rng(seed), time.monotonic(), 0
    while _is_unfinished(played, seconds) and (most is None or steps < most):
        for role in worlds.roles.values():
            play_randomly(role, chance)
        if constant is not None:
            worlds.roles[constant[0]].action[..., constant[1]] = _held(played.roles[constant[0]], constant[1])
        worlds.step()
        steps += 1
        for name, role in worlds.roles.items():
            played.roles[name].add(role)
        if len(played.first) < REPLAYED:
            played.first.append([a.copy() for role in worlds.roles.values() for a in (role.observation, role.reward)])
        played.seconds = time.monotonic() - begun
        report(min(played.seconds / seconds, 1.0))


def _is_unfinished(played: _Play, seconds: float) -> bool:
    awaited = any(not role.lengths for role in played.roles.values())
    return played.seconds < (PATIENCE * seconds if awaited else seconds)


def _held(role: RoleStatistics, column: int) -> float:
    """A value that random actions rarely have: an end of the range, or the first choice."""
    kinds = [part.kind for part in role.action_parts for _ in range(part.width)]
    return 1.0 if kinds[column] == "continuous" else 0.0


def _about_game(played: _Play) -> Iterator[Finding]:
    if played.loss is not None:
        cause = played.loss.cause
        yield Finding("game", "bad", f"was lost: it {cause}", "run the project in the editor and look at its output")
    for where, times in played.non_finite.items():
        cure = "look for a division by zero, or the direction of a zero vector"
        yield Finding("numbers", "bad", f"{where} is not finite, {times:,} times", cure)
    count, first = played.script_errors
    if count:
        yield Finding(
            "scripts", "bad", f"{count:,} errors; the first: {first}", "fix it: what follows an error is skipped"
        )
    elif played.agents:
        yield Finding("scripts", "good", "no errors")
    if not played.agents:
        return
    agents = ", ".join(f"{number} of {name}" for name, number in played.agents.items())
    worlds = f"{played.num_worlds} world{'s' if played.num_worlds != 1 else ''}"
    decisions = sum(one.decisions for one in played.roles.values())
    per_s = decisions / played.seconds if played.seconds else 0.0
    if sum(played.agents.values()) == 1:
        cure = "put copies of the game into the training scene: one process then plays them all"
        yield Finding("agents", "note", f"{agents} in {worlds}", cure)
    else:
        yield Finding("agents", "good", f"{agents} in {worlds}")
    yield Finding("speed", "good", f"{per_s:,.0f} decisions per second of all agents, in one process")


def _replays(source: GameSource, played: _Play, seed: int, seconds: float, said: Progress) -> Iterator[Finding]:
    """Whether the game is deterministic and, if so, which actions have an effect."""
    count = len(played.first)
    again = _play(source, seed, seconds, partial(said, "the same again"), most=count)
    difference = _first_difference(played, again)
    if again.loss is not None or difference is not None:
        what = "was lost" if again.loss is not None else f"differs from decision {difference} on"
        yield Finding(
            "determinism",
            "note",
            f"the same seed and actions again: it {what}; whether actions have an effect cannot be told",
            "for reproducible episodes: a random generator that the seed sets, and no time from the clock",
        )
        return
    yield Finding("determinism", "good", f"the same seed and actions give the same {count} decisions")
    columns = {name: action_columns(one.action_parts) for name, one in played.roles.items()}
    effects: dict[str, dict[str, bool]] = {name: {} for name in columns}
    tried = sorted((index, name) for name, names in columns.items() for index in range(len(names)))[:MAX_TRIED]
    for index, name in tried:
        report = partial(said, f"effect of {name} {columns[name][index]}")
        other = _play(source, seed, seconds, report, most=count, constant=(name, index))
        if other.loss is None:
            effects[name][columns[name][index]] = _first_difference(played, other) is not None
    for name, names in columns.items():
        yield action_findings(name, names, effects[name], count)


def _first_difference(one: _Play, other: _Play) -> int | None:
    """The first decision after which something differs, counted from 1."""
    for number, (left, right) in enumerate(zip(one.first, other.first, strict=False), 1):
        if any(not np.array_equal(a, b) for a, b in zip(left, right, strict=True)):
            return number
    return None
