"""Plays rounds of any game and keeps them as replays: every tick of the twin, every decision in the real Godot."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numba
import numpy as np
import torch

from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.engines.sim import SimWorlds
from godojo.errors import GodojoError
from godojo.evaluation.matches import MAX_ROUND_DECISIONS
from godojo.games.base import game_named
from godojo.opponents import Opponent
from godojo.show.replay import Header, Layout, Observations, Outcome, Replay, ReplayRole, ReplaySpec, States

MAX_WORLDS = {"sim": 64, "godot": 8}
"""Rounds that are played at once."""

Progress = Callable[[float], None]


def record_rounds(
    game: str,
    players: Mapping[str, Opponent],
    *,
    settings: Any = None,
    arenas: Sequence[Any] | None = None,
    episodes: int = 1,
    seed: int = 0,
    engine: str = "sim",
    names: Mapping[str, str] | None = None,
    label: str = "",
    progress: Progress = lambda _: None,
) -> list[Replay]:
    """Play `episodes` rounds of a game and return their replays, in order.

    Round i is played in `arenas[i % len(arenas)]`. Its start depends on the seed, the arenas and i alone, so other
    players can be seen from the very same start.

    Args:
        game: The game's name.
        players: One for every role (`godojo.evaluation.players.player_from` finds them by name).
        settings: The game's; its defaults for None.
        arenas: The game's arenas or courses; the hand-made ones for None.
        episodes: The number of rounds.
        seed: The same seed plays the same rounds.
        engine: `"sim"` or `"godot"`.
        names: The players' names in the replay, by role.
        label: The replays' label.
        progress: Called with the share that is done.
    """
    if episodes < 1:
        raise GodojoError(f"there must be at least one round to record, not {episodes}")
    played = game_named(game)
    spec: ReplaySpec = played.require("replay", "replay")()
    settings = settings or played.settings.defaults()
    if arenas is None:
        arenas = list(played.places(settings).hand_made.values()) if played.places else [None]
    if not arenas:
        raise GodojoError("there must be at least one arena to play in")
    at_once = MAX_WORLDS.get(engine, 1)
    replays: dict[int, Replay] = {}
    with one_thread():
        for place, arena in enumerate(arenas):
            wanted = range(place, episodes, len(arenas))
            options: dict[str, Any] = {"settings": settings}
            if engine == "godot" and played.truth is not None:
                options["truth"] = True  # for oracles
            if arena is not None and played.places is not None:
                options[played.places(settings).option] = [arena]
            layout = spec.layout(settings, {} if arena is None else arena)
            for numbers in (wanted[first : first + at_once] for first in range(0, len(wanted), at_once)):
                part = functools.partial(_report, progress, len(replays) / episodes, len(numbers) / episodes)
                with make_vec(game, engine=engine, num_worlds=len(numbers), **options) as worlds:
                    worlds.reset((seed * 1_000_003 + numbers[0]) % 2**63)
                    rounds = _play(worlds, players, spec, layout, part)
                for number, recorded in zip(numbers, rounds, strict=True):
                    header = Header(
                        game=game,
                        engine=engine,
                        settings=settings,
                        arena=msgspec.json.decode(msgspec.json.encode(arena)) or {},  # lists, as in a file
                        layout=layout,
                        roles=_roles(worlds, players, names or {}),
                        teams=spec.teams,
                        reward_terms=tuple(worlds.reward_terms),
                        seed=seed,
                        episode=number,
                        label=label,
                        ticks_per_second=round(1 / worlds.tick_s),
                        ticks_per_decision=worlds.ticks_per_decision,
                        round_s=spec.round_s(settings),
                    )
                    replays[number] = recorded.replay(header, spec)
    return [replays[number] for number in range(episodes)]


def _report(progress: Progress, done: float, part: float, share: float) -> None:
    progress(done + part * share)


@contextmanager
def one_thread() -> Iterator[None]:
    """A few worlds are not worth sharing among threads, which would wait for each other longer than they compute."""
    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        numba.set_num_threads(before[1])


def _roles(worlds: Worlds, players: Mapping[str, Opponent], names: Mapping[str, str]) -> tuple[ReplayRole, ...]:
    found, first = [], 0
    for name, arrays in worlds.roles.items():
        count = arrays.action.shape[1]
        called = names.get(name) or getattr(players[name], "name", "") or type(players[name]).__name__
        found.append(ReplayRole(name, first, count, called))
        first += count
    return tuple(found)


def _play(
    worlds: Worlds, players: Mapping[str, Opponent], spec: ReplaySpec, layout: Layout, progress: Progress
) -> "list[_Round]":
    """One round in every world."""
    missing = [role for role in worlds.roles if role not in players]
    if missing:
        raise GodojoError(f"nobody plays {' and '.join(missing)}; there must be a player for every role")
    for role in worlds.roles:
        players[role].begin(worlds)
    recorder: TickRecorder | DecisionRecorder = DecisionRecorder(worlds, spec, layout)
    if isinstance(worlds, SimWorlds) and spec.now is not None and spec.trace is not None:
        recorder = TickRecorder(worlds, spec.now, spec.trace)
    start = recorder.begin()
    rounds = [_Round(start.at(world)) for world in range(worlds.num_worlds)]
    longest = max(spec.round_s(worlds.settings) / worlds.tick_s / worlds.ticks_per_decision, 1.0)
    for decision in range(MAX_ROUND_DECISIONS):
        playing = [world for world, played in enumerate(rounds) if played.outcome is None]
        if not playing:
            return rounds
        observations = {name: role.observation.copy() for name, role in worlds.roles.items()}
        for role in worlds.roles:
            players[role].act(worlds, worlds.roles[role].action)
        actions = together(worlds, "action")
        states, played = recorder.step()
        for world in playing:
            rounds[world].add(worlds, world, observations, actions[world], played[world], states.at(world))
        progress(min((decision + 1) / longest, 1.0))
    raise GodojoError(f"a round does not end: {MAX_ROUND_DECISIONS:,} decisions and no winner")


def together(worlds: Worlds, name: str) -> np.ndarray:
    """The roles' arrays side by side, in the order of the agents; narrower ones are padded with zeros."""
    arrays = [getattr(role, name) for role in worlds.roles.values()]
    width = max(array.shape[2] for array in arrays) if arrays[0].ndim == 3 else 0
    padded = [np.pad(one, ((0, 0), (0, 0), (0, width - one.shape[2]))) if width else one for one in arrays]
    return np.concatenate(padded, axis=1)


class _Round:
    """A round as recorded so far."""

    def __init__(self, start: States) -> None:
        self.ticks, self.states = [0], [start]
        self.decision_frame: list[int] = []
        self.observations: list[Observations] = []
        self.actions: list[np.ndarray] = []
        self.terms: list[np.ndarray] = []
        self.outcome: Outcome | None = None

    def add(
        self,
        worlds: Worlds,
        world: int,
        observations: Observations,
        actions: np.ndarray,
        played: Sequence[int],
        states: States,
    ) -> None:
        """A decision, the ticks that it took and the states after them."""
        self.decision_frame.append(len(self.ticks) - 1)
        self.observations.append({name: array[world] for name, array in observations.items()})
        self.actions.append(actions)
        self.terms.append(together(worlds, "terms")[world])
        start = self.ticks[-1]
        self.ticks += [start + tick for tick in played]
        self.states += [states.at(place) for place in range(len(played))]
        if worlds.ended[world]:
            self.outcome = Outcome(
                winner=worlds.winners[int(worlds.winner[world])],
                ticks=int(worlds.length_ticks[world]),
                scores=tuple(round(float(score), 4) for score in together(worlds, "final_score")[world]),
                ticks_per_second=round(1 / worlds.tick_s),
            )

    def replay(self, header: Header, spec: ReplaySpec) -> Replay:
        observations = {name: np.stack([one[name] for one in self.observations]) for name in self.observations[0]}
        if spec.marks is not None:
            marks = spec.marks(header.settings, header.arena, observations)
            header = msgspec.structs.replace(header, layout=msgspec.structs.replace(header.layout, marks=marks))
        blind = np.zeros((len(self.actions), header.agents, 0))
        sight_m, kinds = spec.read_sight(header.settings, observations) if spec.read_sight else (blind, blind)
        states = States(*(np.stack(arrays) for arrays in zip(*self.states, strict=True)))
        return Replay(
            header=header,
            tick=np.array(self.ticks, np.int32),
            **states._asdict(),
            decision_frame=np.array(self.decision_frame, np.int32),
            action=np.stack(self.actions),
            terms=np.stack(self.terms),
            sight_m=sight_m.astype(np.float32),
            sight_kind=kinds.astype(np.uint8),
            outcome=self.outcome,
        )


Trace = Callable[[Any], tuple[States, np.ndarray]]
Steps = tuple[States, list[Sequence[int]]]
"""States [N, T, A], and of every world the ticks since the decision at which they were recorded."""


class TickRecorder:
    """Records every tick of the twin."""

    def __init__(self, worlds: SimWorlds, now: Callable[[Any], States], trace: Trace) -> None:
        self.worlds, self._now, self._trace = worlds, now, trace

    def begin(self) -> States:
        return self._now(self.worlds.twin)

    def step(self) -> Steps:
        states, played = self._trace(self.worlds.twin)
        self.worlds.step()
        return states, [range(1, count + 1) for count in played.tolist()]


class DecisionRecorder:
    """Records one frame a decision, from observations: all that is known of the real Godot."""

    def __init__(self, worlds: Worlds, spec: ReplaySpec, layout: Layout) -> None:
        self.worlds, self.spec, self.layout = worlds, spec, layout
        self._states: States | None = None
        self._ticks = np.zeros(worlds.num_worlds, np.int64)

    def begin(self) -> States:
        return self._read({name: role.observation for name, role in self.worlds.roles.items()}, self._ticks)

    def step(self) -> Steps:
        self.worlds.step()
        ended, roles = self.worlds.ended, self.worlds.roles
        if (ended & ~self.worlds.played).any():
            raise GodojoError("the game was lost while a round was recorded; try again")
        ticks = np.where(ended, self.worlds.length_ticks - self._ticks, self.worlds.ticks_per_decision)
        self._ticks = np.where(ended, 0, self._ticks + ticks)
        over = ended[:, None, None]
        last = {name: np.where(over, role.final_observation, role.observation) for name, role in roles.items()}
        states = self._read(last, ticks)
        return States(*(array[:, None] for array in states)), [[int(count)] for count in ticks]

    def _read(self, observations: Observations, ticks: np.ndarray) -> States:
        self._states = self.spec.read_states(self.worlds.settings, self.layout, observations, self._states, ticks)
        return self._states
