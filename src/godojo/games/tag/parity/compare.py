"""Lays what both engines did side by side: how far apart bodies are, what differs within one tick, what eyes see."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from godojo.games.tag.arenas import Arena
from godojo.games.tag.parity.plan import Group
from godojo.games.tag.parity.record import Recording
from godojo.games.tag.parity.replay import AT, POSITION, VELOCITY, Replay, Rounds, looks, replay, replay_rounds
from godojo.games.tag.settings import TICK_S
from godojo.games.tag.spec import LAYOUT, RAY_DISTANCE, RAY_HIT, WINNERS

SECOND = round(1.0 / TICK_S)
SAME_M, SAME_MPS, SAME_RAD = 1e-5, 1e-4, 1e-4
"""What differs by less within one tick is rounding."""
_SAME_SCORE = 1e-3


class Divergence(NamedTuple):
    """A replay against the recording. W worlds, L ticks and the start, A agents."""

    replay: Replay
    godot: np.ndarray
    """float32 [W, L + 1, A, FIELDS]: what was recorded at the same ticks."""
    error_m: np.ndarray
    """[W, L + 1, A]: distance between where the two engines have the agent."""
    counts: np.ndarray
    """bool [W, L + 1, A]: whether the agent was in play during the tick in either engine."""

    def worst_m(self) -> np.ndarray:
        """[W, A]: the greatest error of each agent over the ticks that count; NaN where none does."""
        worst = np.where(self.counts, self.error_m, -1.0).max(axis=1)
        return np.where(worst < 0.0, np.nan, worst)


class Compared(NamedTuple):
    """Everything that is known of one group."""

    group: Group
    arenas: tuple[str, ...]
    """Names, by the group's numbers."""
    recording: Recording
    ticks: Divergence
    """Every tick by itself, begun with the state that Godot recorded before it."""
    seconds: Divergence
    """One second each, begun with Godot's state."""
    rounds: Divergence
    """Whole rounds from the same start."""
    looks: np.ndarray
    """[E, D + 1, A, O]: observations from the states that Godot recorded."""
    played: Rounds
    """Whole rounds, decision by decision."""

    def where(self, episode: int) -> dict[str, Any]:
        """An episode, as an `Example` names it."""
        number, arena = int(self.group.number[episode]), self.arenas[self.group.arena[episode]]
        return {"game": self.group.name, "arena": arena, "episode": number}


def compare(group: Group, recording: Recording, arenas: Sequence[Arena]) -> Compared:
    """Plays a group's episodes again in every way."""
    count = len(group.number)
    single = [np.arange(length) for length in recording.ticks]
    second = [np.arange(0, length, SECOND) for length in recording.ticks]

    def again(starts: list[np.ndarray], ticks: int) -> Divergence:
        episodes = np.repeat(np.arange(count), [len(first) for first in starts])
        return set_apart(recording, replay(group, recording, arenas, episodes, np.concatenate(starts), ticks))

    return Compared(
        group=group,
        arenas=tuple(arena.name for arena in arenas),
        recording=recording,
        ticks=again(single, 1),
        seconds=again(second, SECOND),
        rounds=again([np.zeros(1, np.int64)] * count, group.settings.round_ticks),
        looks=looks(group, recording, arenas),
        played=replay_rounds(group, recording, arenas),
    )


def set_apart(recording: Recording, again: Replay) -> Divergence:
    """How far the replay is from the recording. Who is out, or whose round is over, stays where it was."""
    steps = np.arange(again.states.shape[1])
    at = np.minimum(again.first[:, None] + steps, recording.states.shape[1] - 1)
    godot = recording.states[again.episodes[:, None], at]
    goes_on = (again.first[:, None] + steps <= recording.ticks[again.episodes][:, None])[..., None]
    goes_on_in_twin = (steps <= again.ended[:, None])[..., None]
    is_in, is_in_twin = godot[..., AT["active"]] > 0, again.states[..., AT["active"]] > 0
    error_m = np.linalg.norm(godot[..., POSITION].astype(np.float64) - again.states[..., POSITION], axis=-1)
    counts = np.zeros(error_m.shape, np.bool_)
    counts[:, 1:] = (is_in[:, :-1] & goes_on[:, 1:]) | (is_in_twin[:, :-1] & goes_on_in_twin[:, 1:])
    # Where the embedded game had somebody who was caught in a round's last tick is not known, only that it was.
    is_last = (steps == again.ended[:, None])[..., None]
    counts &= ~(is_last & ~is_in_twin & ~is_in)
    return Divergence(again, godot, error_m, counts)


def mechanisms(compared: Compared) -> dict[str, np.ndarray]:
    """What differs within a single tick, each by the part of the rules that it belongs to: places [n, 2] of world and
    agent in `compared.ticks`. The first that fits is taken."""
    ticks = compared.ticks
    before, godot, twin = ticks.godot[:, 0], ticks.godot[:, 1], ticks.replay.states[:, 1]
    off = np.abs(godot.astype(np.float64) - twin)
    ended = (ticks.replay.ended == 1)[:, None]
    flags_off = {name: off[..., AT[name]] > 0 for name in ("grounded", "active", "chases", "coyote_ticks")}
    flags_off["coyote_ticks"] &= ~ended
    immune_off = (off[..., AT["immune_ticks"]] > 0) & ~ended
    turn = np.abs(np.sin((godot[..., AT["heading"]] - twin[..., AT["heading"]]) / 2)) * 2
    side_off = off[..., [0, 2]].max(axis=-1) > SAME_M
    speed_off = off[..., VELOCITY].max(axis=-1) > SAME_MPS
    stopped = np.zeros(side_off.shape, np.bool_)
    for axis in (0, 2):
        halted = (godot[..., 3 + axis] == 0) | (twin[..., 3 + axis] == 0)
        stopped |= (off[..., axis] > SAME_M) & halted
    is_crowded = _is_crowded(before, compared.group.settings.body.size_m)
    tests = {
        "touch: who was caught": flags_off["active"],
        "touch: who is it, and for how long nobody can be tagged": flags_off["chases"] | immune_off,
        "landing: on the ground a tick earlier or later": flags_off["grounded"],
        "contact from above or below: where the search stops": off[..., 1] > SAME_M,
        "contact from the side: where the search stops": stopped,
        "pushing apart": (side_off | speed_off) & is_crowded,
        "steering": side_off | speed_off,
        "coyote time": flags_off["coyote_ticks"],
        "turning": turn > SAME_RAD,
    }
    left = ticks.counts[:, 1].copy()
    found = {}
    for name, differs in tests.items():
        found[name] = np.argwhere(differs & left)
        left &= ~differs
    return found


def _is_crowded(states: np.ndarray, size_m: float) -> np.ndarray:
    """[W, A]: whether somebody else overlaps."""
    gap = np.abs(states[:, :, None, POSITION] - states[:, None, :, POSITION]).max(axis=-1)
    gap = gap + 1e3 * np.eye(states.shape[1])
    return np.asarray((gap < size_m).any(axis=2))


def played_moments(recording: Recording) -> np.ndarray:
    """bool [E, D + 1]: the start and the decisions that were played."""
    count = recording.observations.shape[1]
    return np.asarray(np.arange(count) <= recording.decisions[:, None])


def rays_apart(compared: Compared) -> tuple[np.ndarray, np.ndarray]:
    """From the same poses: by how many metres each ray differs, and whether both engines saw the same kind of thing.

    Both [E, D + 1, A, rays]; NaN and true where nobody looked.
    """
    godot = LAYOUT.view(compared.recording.observations, "rays")
    twin = LAYOUT.view(compared.looks, "rays")
    looked = _looked(compared)[..., None]
    far, near = godot[..., RAY_DISTANCE].astype(np.float64), twin[..., RAY_DISTANCE]
    error_m = np.abs(far - near) * compared.group.settings.sight.range_m
    same = (godot[..., RAY_HIT] == twin[..., RAY_HIT]) & ((far < 1.0) == (near < 1.0))
    return np.where(looked, error_m, np.nan), same | ~looked


def own_numbers_apart(compared: Compared) -> np.ndarray:
    """From the same states: by how much each of an observation's own numbers differs; NaN where nobody looked."""
    own = slice(LAYOUT.start("rays"))
    godot = compared.recording.observations[..., own].astype(np.float64)
    return np.where(_looked(compared)[..., None], np.abs(godot - compared.looks[..., own]), np.nan)


def _looked(compared: Compared) -> np.ndarray:
    """bool [E, D + 1, A]: who was in play when eyes were opened."""
    is_in = compared.recording.observations.any(axis=-1)
    return np.asarray(is_in & played_moments(compared.recording)[..., None])


def terms_apart(compared: Compared) -> np.ndarray:
    """[E, D, A, 4]: by how much each term of the reward differs in whole rounds; NaN where neither played on."""
    recording, played = compared.recording, compared.played
    per_decision = compared.group.settings.rules.ticks_per_decision
    length = np.maximum(recording.decisions, -(-played.ticks // per_decision))
    counts = np.arange(recording.terms.shape[1]) < length[:, None]
    off = np.abs(recording.terms.astype(np.float64) - played.terms)
    return np.where(counts[..., None, None], off, np.nan)


def outcomes(compared: Compared) -> tuple[list[str], list[str]]:
    """How each episode ended, in Godot and in the twin, in words: who won, who was caught, who was it."""
    recording, played = compared.recording, compared.played
    is_classic = compared.group.settings.rules.mode == "classic"
    godot, twin = [], []
    for episode in range(len(recording.ticks)):
        best = int(recording.winner_index[episode])
        godot.append(_ending(recording.winner[episode], best, recording.observations[episode, -1]))
        winner = "player" if is_classic else WINNERS[played.winner[episode]]
        best = _best(played.scores[episode]) if is_classic else -1
        twin.append(_ending(winner, best, played.observations[episode, -1]))
    return godot, twin


def _ending(winner: str, best: int, told: np.ndarray) -> str:
    caught = np.flatnonzero(~told.any(axis=1)).tolist()
    chases = np.flatnonzero(LAYOUT.view(told, "is_seeker")[:, 0] > 0.5).tolist()
    won = f"{winner} {best} won" if best >= 0 else f"{winner} won"
    return f"{won}; caught {caught}; chasing {chases}"


def _best(scores: np.ndarray) -> int:
    """Who alone has the best score; -1 for a draw."""
    best = np.flatnonzero(scores >= scores.max() - _SAME_SCORE)
    return int(best[0]) if len(best) == 1 else -1
