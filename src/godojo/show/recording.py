"""Plays rounds and keeps them as replays: tick by tick on the embedded twin, decision by decision in the real Godot."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numba
import numpy as np
import torch

from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.engines.sim import SimWorlds
from godojo.errors import GodojoError
from godojo.evaluation.matches import MAX_ROUND_DECISIONS
from godojo.games.tag.arenas import Arena, hand_made_arenas
from godojo.games.tag.settings import TICK_S, TagSettings
from godojo.games.tag.sim.twin import TagTwin
from godojo.games.tag.spec import LAYOUT, RAY_DISTANCE, RAY_HIT
from godojo.opponents import Opponent
from godojo.show.replay import HIDER, NOTHING, SEEKER, WALL, Header, Outcome, Replay, ReplayRole
from godojo.show.tick_recorder import FIELDS, states_now, trace

MOST_WORLDS = {"sim": 64, "godot": 8}
"""Rounds that are played at once."""
_POSITION, _VELOCITY, _HEADING, _GROUNDED, _ACTIVE, _CHASES = slice(0, 3), slice(3, 6), 6, 7, 8, 9

Progress = Callable[[float], None]


def record_rounds(
    players: Mapping[str, Opponent],
    *,
    settings: TagSettings | None = None,
    arenas: Sequence[Arena] | None = None,
    episodes: int = 1,
    seed: int = 0,
    engine: str = "sim",
    names: Mapping[str, str] | None = None,
    label: str = "",
    progress: Progress | None = None,
) -> list[Replay]:
    """Plays `episodes` rounds of tag and gives them back in full, in order.

    `players` has somebody for every role (`godojo.evaluation.players.player_from` finds them by name), `names` their
    names in the replay. Round i is played in `arenas[i % len(arenas)]` (the hand-made ones if left away); where it
    begins depends on the seed, the arenas and i alone, so that other players can be seen from the very same start.
    """
    if episodes < 1:
        raise GodojoError(f"there must be at least one round to record, not {episodes}")
    settings = settings or TagSettings.defaults()
    chosen = list(hand_made_arenas(settings).values()) if arenas is None else list(arenas)
    if not chosen:
        raise GodojoError("there must be at least one arena to play in")
    with one_thread():
        return _record(players, settings, chosen, episodes, seed, engine, names or {}, label, progress)


@contextmanager
def one_thread() -> Iterator[None]:
    """A few worlds are not worth sharing out: threads that wait for each other cost more than they do."""
    before = torch.get_num_threads(), numba.get_num_threads()
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        numba.set_num_threads(before[1])


def _record(
    players: Mapping[str, Opponent],
    settings: TagSettings,
    arenas: Sequence[Arena],
    episodes: int,
    seed: int,
    engine: str,
    names: Mapping[str, str],
    label: str,
    progress: Progress | None,
) -> list[Replay]:
    replays: dict[int, Replay] = {}
    for place, arena in enumerate(arenas):
        wanted = range(place, episodes, len(arenas))
        for first in range(0, len(wanted), MOST_WORLDS.get(engine, 1)):
            numbers = wanted[first : first + MOST_WORLDS.get(engine, 1)]
            with make_vec("tag", engine=engine, num_worlds=len(numbers), settings=settings, arenas=[arena]) as worlds:
                worlds.reset((seed * 1_000_003 + numbers[0]) % 2**63)
                rounds = _play(worlds, players, arena, _part(progress, len(replays), len(numbers), episodes))
            for number, played in zip(numbers, rounds, strict=True):
                header = Header(
                    game="tag",
                    engine=engine,
                    settings=settings,
                    arena=arena,
                    roles=_roles(worlds, players, names),
                    reward_terms=tuple(worlds.reward_terms),
                    seed=seed,
                    episode=number,
                    label=label,
                    ticks_per_second=round(1 / TICK_S),
                    ticks_per_decision=worlds.ticks_per_decision,
                )
                replays[number] = played.replay(header)
    return [replays[number] for number in range(episodes)]


def _part(progress: Progress | None, before: int, count: int, episodes: int) -> Progress | None:
    """The whole's progress from that of a part."""
    if progress is None:
        return None
    return lambda share: progress((before + share * count) / episodes)


def _roles(worlds: Worlds, players: Mapping[str, Opponent], names: Mapping[str, str]) -> tuple[ReplayRole, ...]:
    found, first = [], 0
    for name, arrays in worlds.roles.items():
        count = arrays.action.shape[1]
        called = names.get(name) or getattr(players[name], "name", "") or type(players[name]).__name__
        found.append(ReplayRole(name, first, count, called))
        first += count
    return tuple(found)


def _play(worlds: Worlds, players: Mapping[str, Opponent], arena: Arena, progress: Progress | None) -> "list[_Round]":
    """One round in every world."""
    missing = [role for role in worlds.roles if role not in players]
    if missing:
        raise GodojoError(f"nobody plays {' and '.join(missing)}; there must be a player for every role")
    for role in worlds.roles:
        players[role].begin(worlds)
    witness: _TickWitness | _DecisionWitness
    witness = _TickWitness(worlds) if isinstance(worlds, SimWorlds) else _DecisionWitness(worlds, arena)
    rounds = [_Round(worlds.winners, state) for state in witness.begin()]
    for decision in range(MAX_ROUND_DECISIONS):
        going = [world for world, played in enumerate(rounds) if played.outcome is None]
        if not going:
            return rounds
        told = _everybody(worlds, "observation").copy()
        for role in worlds.roles:
            players[role].act(worlds, worlds.roles[role].action)
        actions = _everybody(worlds, "action").copy()
        frames = witness.step()
        for world in going:
            rounds[world].add(worlds, world, told[world], actions[world], *frames[world])
        if progress is not None:
            longest = worlds.settings.round_ticks / worlds.ticks_per_decision
            progress(min((decision + 1) / longest, 1.0))
    raise GodojoError(f"a round does not end: {MAX_ROUND_DECISIONS:,} decisions and no winner")


def _everybody(worlds: Worlds, name: str) -> np.ndarray:
    """The roles' arrays side by side, in the order of the agents."""
    return np.concatenate([getattr(role, name) for role in worlds.roles.values()], axis=1)


class _Round:
    """What has been seen of a round so far."""

    def __init__(self, winners: Sequence[str], start: np.ndarray) -> None:
        self.winners = winners
        self.ticks, self.states = [0], [start]
        self.decision_frame: list[int] = []
        self.told: list[np.ndarray] = []
        self.actions: list[np.ndarray] = []
        self.terms: list[np.ndarray] = []
        self.outcome: Outcome | None = None

    def add(
        self,
        worlds: Worlds,
        world: int,
        told: np.ndarray,
        actions: np.ndarray,
        ticks: Sequence[int],
        states: Sequence[np.ndarray],
    ) -> None:
        """A decision: what everybody was told and did, and how they stood after these ticks."""
        self.decision_frame.append(len(self.ticks) - 1)
        self.told.append(told)
        self.actions.append(actions)
        self.terms.append(_everybody(worlds, "terms")[world].copy())
        start = self.ticks[-1]
        self.ticks += [start + tick for tick in ticks]
        self.states += states
        if worlds.ended[world]:
            self.outcome = Outcome(
                winner=self.winners[int(worlds.winner[world])],
                ticks=int(worlds.length_ticks[world]),
                scores=tuple(round(float(score), 4) for score in _everybody(worlds, "final_score")[world]),
            )

    def replay(self, header: Header) -> Replay:
        states = np.stack(self.states)
        range_m = header.settings.sight.range_m
        rays = LAYOUT.view(np.stack(self.told), "rays")
        hit, solid = rays[..., RAY_HIT], np.where(rays[..., RAY_DISTANCE] < 1.0, WALL, NOTHING)
        kinds = np.where(hit > 0.0, HIDER, np.where(hit < 0.0, SEEKER, solid))
        return Replay(
            header=header,
            tick=np.array(self.ticks, np.int32),
            position_m=states[..., _POSITION],
            velocity_mps=states[..., _VELOCITY],
            heading_rad=states[..., _HEADING],
            grounded=states[..., _GROUNDED] > 0.5,
            active=states[..., _ACTIVE] > 0.5,
            chases=states[..., _CHASES] > 0.5,
            decision_frame=np.array(self.decision_frame, np.int32),
            action=np.stack(self.actions),
            terms=np.stack(self.terms),
            sight_m=rays[..., RAY_DISTANCE] * range_m,
            sight_kind=kinds.astype(np.uint8),
            outcome=self.outcome,
        )


Frames = tuple[list[int], list[np.ndarray]]
"""Ticks since the decision was taken, and how everybody stood after them."""


class _TickWitness:
    """Sees every tick of the twin."""

    def __init__(self, worlds: SimWorlds) -> None:
        assert isinstance(worlds.twin, TagTwin)
        self.worlds, self.twin = worlds, worlds.twin

    def begin(self) -> np.ndarray:
        return states_now(self.twin)

    def step(self) -> list[Frames]:
        ticks = trace(self.twin)
        self.worlds.step()
        return [
            (list(range(1, count + 1)), list(states[:count]))
            for states, count in zip(ticks.states, ticks.played.tolist(), strict=True)
        ]


class _DecisionWitness:
    """Knows of the real Godot what agents are told of themselves, once a decision."""

    def __init__(self, worlds: Worlds, arena: Arena) -> None:
        self.worlds, self.settings = worlds, worlds.settings
        wide, deep = arena.size_m
        self._metres = np.array([wide / 2, self.settings.arena.wall_height_m, deep / 2], np.float32)
        agents = sum(role.action.shape[1] for role in worlds.roles.values())
        self._states = np.zeros((worlds.num_worlds, agents, FIELDS), np.float32)
        self._ticks = np.zeros(worlds.num_worlds, np.int64)

    def begin(self) -> np.ndarray:
        return self._read(_everybody(self.worlds, "observation"), np.zeros_like(self._ticks))

    def step(self) -> list[Frames]:
        self.worlds.step()
        ended = self.worlds.ended
        took_part = np.any([role.acted.any(axis=1) for role in self.worlds.roles.values()], axis=0)
        if (ended & ~took_part).any():
            raise GodojoError("the game was lost while a round was recorded; try again")
        ticks = np.where(ended, self.worlds.length_ticks - self._ticks, self.worlds.ticks_per_decision)
        self._ticks = np.where(ended, 0, self._ticks + ticks)
        last, now = (_everybody(self.worlds, name) for name in ("final_observation", "observation"))
        states = self._read(np.where(ended[:, None, None], last, now), ticks)
        return [([int(count)], [state]) for count, state in zip(ticks, states, strict=True)]

    def _read(self, told: np.ndarray, ticks: np.ndarray) -> np.ndarray:
        """States from observations. An agent that was just caught observes zeros: it moved on as it did."""
        part = {name: LAYOUT.view(told, name) for name in LAYOUT.names}
        motion, before = self.settings.motion, self._states
        active = told.any(axis=-1)
        chases = part["is_seeker"][..., 0] > 0.5
        top_mps = np.where(chases, motion.seeker_speed_mps, motion.hider_speed_mps)
        up_mps = np.full_like(top_mps, max(motion.jump_speed_mps, 1.0))
        states = before.copy()
        caught = ~active & (before[..., _ACTIVE] > 0.5)
        seconds = (ticks * TICK_S)[:, None, None].astype(np.float32)
        moved = before[..., _POSITION] + before[..., _VELOCITY] * seconds * [1.0, 0.0, 1.0]
        states[caught, _POSITION] = moved[caught]
        states[active, _POSITION] = (part["position"] * self._metres)[active]
        states[active, _VELOCITY] = (part["velocity"] * np.stack([top_mps, up_mps, top_mps], axis=-1))[active]
        states[active, _HEADING] = np.arctan2(part["forward"][..., 0], part["forward"][..., 1])[active]
        states[active, _GROUNDED] = part["grounded"][active, 0]
        states[active, _CHASES] = chases[active]
        states[..., _ACTIVE] = active
        self._states = states
        return states
