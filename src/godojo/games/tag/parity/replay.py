"""Plays recorded episodes again in the embedded game: from any recorded tick on, for as long as wanted."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from godojo.games.tag.arenas import Arena
from godojo.games.tag.parity.plan import Group, TagWorlds, act
from godojo.games.tag.parity.record import FIELDS, Recording
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.spec import LAYOUT

AT = {name: place for place, name in enumerate(FIELDS)}
POSITION, VELOCITY = slice(0, 3), slice(3, 6)
HEADINGS = slice(AT["heading"], AT["heading_rest"] + 1)
_FLAGS = {
    "grounded": "grounded",
    "active": "active",
    "chases": "chases",
    "coyote": "coyote_ticks",
    "immune": "immune_ticks",
}
"""Fields of an agent's record in the embedded game, by the names they have here."""
_MOST_WORLDS = 4096
"""Played at once; more would only cost memory."""


class Replay(NamedTuple):
    """W worlds, each begun with what Godot recorded in an episode at some tick, and played on."""

    episodes: np.ndarray
    """[W]: the episode's place in its group."""
    first: np.ndarray
    """[W]: the tick it began at."""
    states: np.ndarray
    """float32 [W, ticks + 1, A, FIELDS]; a world whose round is over stays as it was."""
    ended: np.ndarray
    """[W]: ticks until the embedded game's round was over; more than were played if it was not."""


class Rounds(NamedTuple):
    """Whole rounds, decision by decision, as in a Recording."""

    observations: np.ndarray
    terms: np.ndarray
    ticks: np.ndarray
    winner: np.ndarray
    scores: np.ndarray


def replay(
    group: Group, recording: Recording, arenas: Sequence[Arena], episodes: np.ndarray, first: np.ndarray, ticks: int
) -> Replay:
    """Plays on for so many ticks from each episode's recorded state at tick `first`."""
    parts = [slice(start, start + _MOST_WORLDS) for start in range(0, len(episodes), _MOST_WORLDS)]
    played = [_replay(group, recording, arenas, episodes[part], first[part], ticks) for part in parts]
    states, ended = (np.concatenate(arrays) for arrays in zip(*played, strict=True))
    return Replay(episodes, first, states, ended)


def _replay(
    group: Group, recording: Recording, arenas: Sequence[Arena], episodes: np.ndarray, first: np.ndarray, ticks: int
) -> tuple[np.ndarray, np.ndarray]:
    tick_by_tick = group.settings.override(**{"rules.ticks_per_decision": 1})
    worlds = TagWorlds(len(episodes), tick_by_tick, arenas)
    put(worlds, group.arena[episodes], recording.states[episodes, first], first)
    per_decision = group.settings.rules.ticks_per_decision
    goes_on = first < recording.ticks[episodes]
    ended = np.where(goes_on, ticks + 1, 0)
    states = np.zeros((len(episodes), ticks + 1, *recording.states.shape[2:]), np.float32)
    states[:, 0] = recording.states[episodes, first]
    for tick in range(ticks):
        decision = np.minimum((first + tick) // per_decision, group.actions.shape[1] - 1)
        act(worlds, group.actions[episodes, decision])
        worlds.step()
        states[:, tick + 1] = np.where(goes_on[:, None, None], taken(worlds), states[:, tick])
        for world in np.flatnonzero(worlds.ended & goes_on):
            states[world, tick + 1] = last_of(worlds, int(world), states[world, tick])
            ended[world] = tick + 1
        goes_on &= ~worlds.ended
    return states, ended


def replay_rounds(group: Group, recording: Recording, arenas: Sequence[Arena]) -> Rounds:
    """Whole rounds, as a learner would play them."""
    count, decisions = group.actions.shape[:2]
    worlds = TagWorlds(count, group.settings, arenas)
    put(worlds, group.arena, recording.states[:, 0], np.zeros(count, np.int64))
    rounds = Rounds(
        observations=np.zeros_like(recording.observations),
        terms=np.zeros_like(recording.terms),
        ticks=np.zeros(count, np.int64),
        winner=np.zeros(count, np.int64),
        scores=np.zeros_like(recording.scores),
    )
    rounds.observations[:, 0] = look(worlds)
    goes_on = np.ones(count, np.bool_)
    for decision in range(decisions):
        act(worlds, group.actions[:, decision])
        worlds.step()
        ended = worlds.ended & goes_on
        told = np.where(ended[:, None, None], everybody(worlds, "final_observation"), everybody(worlds, "observation"))
        shown = rounds.observations
        shown[:, decision + 1] = np.where(goes_on[:, None, None], told, shown[:, decision])
        rounds.terms[goes_on, decision] = everybody(worlds, "terms")[goes_on]
        rounds.ticks[ended] = worlds.length_ticks[ended]
        rounds.winner[ended] = worlds.winner[ended]
        rounds.scores[ended] = everybody(worlds, "final_score")[ended]
        goes_on &= ~ended
    return rounds


def looks(group: Group, recording: Recording, arenas: Sequence[Arena]) -> np.ndarray:
    """Observations [E, D + 1, A, O] from the very states that Godot recorded at its decisions."""
    shape = recording.observations.shape
    episodes = np.repeat(np.arange(shape[0]), shape[1])
    moments = np.tile(np.arange(shape[1]), shape[0]) * group.settings.rules.ticks_per_decision
    moments = np.minimum(moments, recording.ticks[episodes])
    found = np.zeros((len(episodes), *shape[2:]), np.float32)
    for start in range(0, len(episodes), _MOST_WORLDS):
        part = slice(start, start + _MOST_WORLDS)
        worlds = TagWorlds(len(episodes[part]), group.settings, arenas)
        put(worlds, group.arena[episodes[part]], recording.states[episodes[part], moments[part]], moments[part])
        found[part] = look(worlds)
    return found.reshape(shape)


def put(worlds: TagWorlds, arena: np.ndarray, states: np.ndarray, ticks: np.ndarray) -> None:
    """Begins every world with a state [W, A, FIELDS] at a tick of its round."""
    twin = worlds.twin
    twin.begin(0)
    twin.arena_slots[:] = twin.catalogue[arena]
    twin.worlds["ticks"] = ticks
    agents = twin.agents  # as `begin` leaves them: nothing remembered but where they are
    agents["position"] = states[..., POSITION]
    agents["velocity"] = states[..., VELOCITY]
    agents["heading"] = states[..., HEADINGS].astype(np.float64).sum(axis=-1)
    for name, field in _FLAGS.items():
        agents[name] = states[..., AT[field]]
    agents["nearest_m"] = _nearest_opponent_m(agents)


def look(worlds: TagWorlds) -> np.ndarray:
    """What everybody observes now, [W, A, O]."""
    worlds.twin.observe()
    return everybody(worlds, "observation")


def everybody(worlds: TagWorlds, name: str) -> np.ndarray:
    """The roles' arrays side by side, in the order of the agents."""
    return np.concatenate([getattr(role, name) for role in worlds.roles.values()], axis=1)


def taken(worlds: TagWorlds) -> np.ndarray:
    """The present state [W, A, FIELDS]."""
    agents = worlds.twin.agents
    heading = agents["heading"].astype(np.float32)
    parts = [agents["position"], agents["velocity"], heading[..., None], (agents["heading"] - heading)[..., None]]
    return np.concatenate([*parts, *(agents[name][..., None] for name in _FLAGS)], axis=-1).astype(np.float32)


def last_of(worlds: TagWorlds, world: int, before: np.ndarray) -> np.ndarray:
    """The state [A, FIELDS] in which a round ended: the next one has begun, but the last observations are kept.

    Of somebody caught in the last tick they say nothing but that; it stays where it was a tick before.
    """
    told = np.concatenate([role.final_observation[world] for role in worlds.roles.values()])
    size_m = worlds.twin.catalogue[worlds.arena[world]]["size_m"]
    return state_of(worlds.twin.settings, size_m, told, before)


def state_of(settings: TagSettings, size_m: np.ndarray, told: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The state [A, FIELDS] that observations [A, O] in an arena of this size tell of; the rest is as `before`."""
    state = before.copy()
    scale = np.array([size_m[0] / 2, settings.arena.wall_height_m, size_m[1] / 2])
    part = {name: LAYOUT.view(told, name) for name in LAYOUT.names}
    is_in = told.any(axis=1)
    chases = part["is_seeker"][:, 0] > 0.5
    top_mps = np.where(chases, settings.motion.seeker_speed_mps, settings.motion.hider_speed_mps)
    jump_mps = max(settings.motion.jump_speed_mps, 1.0)
    speeds = np.stack([top_mps, np.full_like(top_mps, jump_mps), top_mps], axis=1)
    state[is_in, POSITION] = part["position"][is_in] * scale
    state[is_in, VELOCITY] = part["velocity"][is_in] * speeds[is_in]
    state[is_in, AT["heading"]] = np.arctan2(*part["forward"][is_in].T)
    state[is_in, AT["heading_rest"]] = 0.0
    state[is_in, AT["grounded"]] = part["grounded"][is_in, 0]
    state[is_in, AT["chases"]] = chases[is_in]
    state[:, AT["active"]] = is_in
    return state


def _nearest_opponent_m(agents: np.ndarray) -> np.ndarray:
    """[W, A]: distance of centres; -1 where there is no opponent in play."""
    position = agents["position"].astype(np.float64)
    away_m = np.linalg.norm(position[:, :, None] - position[:, None, :], axis=-1)
    opposes = agents["chases"][:, :, None] != agents["chases"][:, None, :]
    both_play = (agents["active"][:, :, None] != 0) & (agents["active"][:, None, :] != 0)
    nearest = np.where(opposes & both_play, away_m, np.inf).min(axis=2)
    return np.where(np.isfinite(nearest), nearest, -1.0)
