"""The binary frames of dojo/1: actions to the game, steps back.

The game's `ready` fixes all shapes, so a frame has numbers only; `docs/protocol.md` lists the bytes.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from godojo.bridge.messages import Limits, Ready, WireError
from godojo.bridge.repairs import Repair, observation_fields, repair, reward_fields
from godojo.errors import GodojoError
from godojo.games.parts import observation_size

ACTED, TERMINATED, TRUNCATED = 1, 2, 4
ENDED = TERMINATED | TRUNCATED

_ACTIONS_KIND, _STEP_KIND = 1, 2
_ACTIONS_HEADER = struct.Struct("<BBHI")
_FLOAT, _INT = np.dtype("<f4"), np.dtype("<i4")


@dataclass(frozen=True, slots=True)
class RoleStep:
    """A step of the agents of one role: W worlds, n agents; F of them ended."""

    observation: np.ndarray
    """float32 [W, n, D]"""
    terms: np.ndarray
    """float32 [W, n, T]: the reward is their sum."""
    flags: np.ndarray
    """uint8 [W, n]: the sum of ACTED, TERMINATED and TRUNCATED."""
    final_rows: np.ndarray
    """int32 [F]: agents that ended, as world * n + agent."""
    final_observation: np.ndarray
    """float32 [F, D]: their last observations; `observation` is already the new round's."""
    final_terms: np.ndarray
    """float32 [F, T]: the terms summed over the round."""
    final_score: np.ndarray
    """float32 [F]: the game's own score."""
    final_measures: np.ndarray
    """float32 [F, M]: what the agents report of their episodes; NaN where one has nothing to report."""

    @property
    def acted(self) -> np.ndarray:
        return (self.flags & ACTED).view(np.bool_)

    @property
    def terminated(self) -> np.ndarray:
        return (self.flags & TERMINATED).astype(np.bool_)

    @property
    def truncated(self) -> np.ndarray:
        return (self.flags & TRUNCATED).astype(np.bool_)


@dataclass(frozen=True, slots=True)
class StepFrame:
    """One decision of all worlds of one game. Its arrays are read-only views of its own bytes."""

    sequence: int
    """0 after a reset, then the number of the answered actions."""
    engine_us: int
    """Time between reading the actions and sending this, by the game's clock."""
    ended: np.ndarray
    """int32 [E, 4]: world, winner, length in ticks, arena (-1: generated) of each world that ended."""
    roles: tuple[RoleStep, ...]
    """In the order of `ready`."""
    truth: np.ndarray | None = None
    """float32 [W, K]: the privileged state of each world; None if `ready` declares none."""
    repairs: tuple[Repair, ...] = ()
    """Observations and rewards that were not finite, and were replaced."""


def _writable(numbers: np.ndarray) -> np.ndarray:
    """The same view, or a copy that can be repaired where a number is not finite."""
    with np.errstate(all="ignore"):  # a sum is fast; only one that is not finite needs a look
        return numbers if np.isfinite(numbers.sum()) else numbers.copy()


@dataclass(frozen=True, slots=True)
class _Shape:
    name: str
    agents: int
    observation_size: int
    action_size: int
    measures: int


class StepLayout:
    """The layout of one game's frames."""

    def __init__(self, ready: Ready, limits: Limits | None = None) -> None:
        self.worlds, self._ready = ready.worlds, ready
        self.terms = len(ready.reward_terms)
        self.roles = tuple(
            _Shape(r.name, r.agents, r.observation_size, r.action_size, len(r.measures)) for r in ready.roles
        )
        # World, winner, length, arena.
        self._ended_least = np.array([0, 0, 0, -1], _INT)
        self._ended_most = np.array([self.worlds - 1, len(ready.winners) - 1, 2**31 - 1, len(ready.arenas) - 1], _INT)
        self._header = struct.Struct(f"<BBHIII{len(self.roles)}I")
        rows = [self.worlds * role.agents for role in self.roles]
        sizes = [role.observation_size for role in self.roles]
        self._observation_floats = sum(count * size for count, size in zip(rows, sizes, strict=True))
        self.truth = observation_size(ready.truth)
        """Numbers of the privileged state of a world."""
        self._floats = self._observation_floats + sum(rows) * self.terms + self.worlds * self.truth
        self._flags = sum(rows)
        self._final_bytes = [4 * (1 + role.observation_size + self.terms + 1 + role.measures) for role in self.roles]
        self.actions_bytes = _ACTIONS_HEADER.size + 4 * sum(
            count * role.action_size for count, role in zip(rows, self.roles, strict=True)
        )
        self.least_step_bytes = self._header.size + 4 * self._floats + self._flags
        self.most_step_bytes = (
            self.least_step_bytes
            + 16 * self.worlds
            + sum(count * size for count, size in zip(rows, self._final_bytes, strict=True))
        )
        most = (limits or Limits()).message_bytes
        largest = max(self.most_step_bytes, self.actions_bytes)
        if largest > most:
            raise WireError(
                f"a step of {self.worlds} worlds can take {largest} bytes, and at most {most} are allowed; "
                "play fewer worlds in one process, or raise the limit"
            )

    def pack_actions(self, sequence: int, actions: Sequence[np.ndarray]) -> bytes:
        """Packs one decision: an array [worlds, agents, numbers] for each role."""
        if len(actions) != len(self.roles):
            raise GodojoError(f"there are {len(self.roles)} roles, and actions for {len(actions)}")
        pieces = [_ACTIONS_HEADER.pack(_ACTIONS_KIND, 0, 0, sequence)]
        for role, action in zip(self.roles, actions, strict=True):
            wanted = (self.worlds, role.agents, role.action_size)
            if action.shape != wanted:
                raise GodojoError(f"actions of {role.name} must have the shape {wanted}, not {action.shape}")
            pieces.append(action.astype(_FLOAT, copy=False).tobytes())
        return b"".join(pieces)

    def unpack_step(self, data: bytes | bytearray, sequence: int) -> StepFrame:
        """Unpacks the step that answers the actions of this number. Raises nothing but WireError, whatever comes."""
        if len(data) < self._header.size:
            raise WireError(f"a step has {len(data)} bytes, fewer than its header")
        kind, zero, zeros, given, engine_us, ended_count, *final_counts = self._header.unpack_from(data)
        if (kind, zero, zeros) != (_STEP_KIND, 0, 0):
            raise WireError(f"a step begins with 2, 0, 0, not {kind}, {zero}, {zeros}")
        if given != sequence:
            raise WireError(f"a step answers number {given}, and number {sequence} is expected")
        self._check_counts(ended_count, final_counts)
        wanted = self.least_step_bytes + 16 * ended_count
        wanted += sum(count * size for count, size in zip(final_counts, self._final_bytes, strict=True))
        if len(data) != wanted:
            raise WireError(f"a step has {len(data)} bytes, and should have {wanted}")

        floats = _writable(np.frombuffer(data, _FLOAT, self._floats, self._header.size))
        offset = self._header.size + floats.nbytes
        ended = np.frombuffer(data, _INT, 4 * ended_count, offset).reshape(ended_count, 4)
        offset += ended.nbytes
        flags = np.frombuffer(data, np.uint8, self._flags, len(data) - self._flags)
        if flags.max() > (ACTED | ENDED):
            raise WireError(f"a step has a flag that is not known: {flags.max()}")
        if sequence == 0 and (ended_count or any(final_counts) or flags.any()):
            raise WireError("the answer to a reset says that something was done or ended")

        roles = []
        observation_at, terms_at, flags_at = 0, self._observation_floats, 0
        for role, count in zip(self.roles, final_counts, strict=True):
            rows, size, shape = self.worlds * role.agents, role.observation_size, (self.worlds, role.agents)
            final_rows = np.frombuffer(data, _INT, count, offset)
            offset += 4 * count
            final = _writable(np.frombuffer(data, _FLOAT, count * (size + self.terms + 1 + role.measures), offset))
            offset += final.nbytes
            observation_end, terms_end = count * size, count * (size + self.terms)
            score_end = terms_end + count
            roles.append(
                RoleStep(
                    floats[observation_at : observation_at + rows * role.observation_size].reshape(
                        *shape, role.observation_size
                    ),
                    floats[terms_at : terms_at + rows * self.terms].reshape(*shape, self.terms),
                    flags[flags_at : flags_at + rows].reshape(shape),
                    final_rows,
                    final[:observation_end].reshape(count, size),
                    final[observation_end:terms_end].reshape(count, self.terms),
                    final[terms_end:score_end],
                    final[score_end:].reshape(count, role.measures),
                )
            )
            observation_at, terms_at, flags_at = (
                observation_at + rows * role.observation_size,
                terms_at + rows * self.terms,
                flags_at + rows,
            )
        truth = floats[terms_at:].reshape(self.worlds, self.truth) if self.truth else None
        step = StepFrame(given, engine_us, ended, tuple(roles), truth)
        self._check_step(step, flags)
        return replace(step, repairs=repairs) if (repairs := self._repairs(step)) else step

    def _check_counts(self, ended_count: int, final_counts: Sequence[int]) -> None:
        if ended_count > self.worlds:
            raise WireError(f"{ended_count} worlds ended, and there are {self.worlds}")
        for role, count in zip(self.roles, final_counts, strict=True):
            if count > self.worlds * role.agents:
                raise WireError(f"{count} agents of {role.name} ended, and there are {self.worlds * role.agents}")

    def _repairs(self, step: StepFrame) -> tuple[Repair, ...]:
        """Replaces observations and rewards that are not finite."""
        found: list[Repair] = []
        for described, shape, said in zip(self._ready.roles, self.roles, step.roles, strict=True):
            each = np.tile(np.arange(shape.agents), self.worlds)
            last = said.final_rows % shape.agents
            for array, agents in ((said.observation, each), (said.final_observation, last)):
                if array.flags.writeable:
                    rows = array.reshape(len(agents), -1)
                    found += repair(shape.name, rows, agents, observation_fields(described.observation))
            for array, agents in ((said.terms, each), (said.final_terms, last)):
                if array.flags.writeable:
                    rows = array.reshape(len(agents), -1)
                    found += repair(shape.name, rows, agents, reward_fields(self._ready.reward_terms))
            if said.final_score.flags.writeable:
                found += repair(shape.name, said.final_score[:, None], last, ["score"])
        return tuple(found)

    def _check_step(self, step: StepFrame, flags: np.ndarray) -> None:
        if step.truth is not None and step.truth.flags.writeable and not np.isfinite(step.truth).all():
            world = int(np.argwhere(~np.isfinite(step.truth))[0, 0])
            raise WireError(f"the privileged state of world {world} has a number that is not finite")
        has_final = any(len(said.final_rows) for said in step.roles)
        if not has_final and not len(step.ended) and not (flags & ENDED).any():
            return
        self._check_ended(step.ended)
        for role, said in zip(self.roles, step.roles, strict=True):
            self._check_final(role, said, step.ended[:, 0])

    def _check_ended(self, ended: np.ndarray) -> None:
        wrong = (ended < self._ended_least) | (ended > self._ended_most)
        if wrong.any():
            row, column = (int(index) for index in np.argwhere(wrong)[0])
            what = ("world", "winner", "length", "arena")[column]
            raise WireError(f"a world ended with the {what} {ended[row, column]}, which does not exist")
        seen = np.zeros(self.worlds, np.bool_)
        seen[ended[:, 0]] = True
        if np.count_nonzero(seen) != len(ended):
            raise WireError("a world ended twice in one step")

    def _check_final(self, role: _Shape, said: RoleStep, ended_worlds: np.ndarray) -> None:
        """The final rows must be the agents whose round ended, alone or with their world, each once."""
        rows, wanted = said.final_rows, (said.flags & ENDED).astype(np.bool_)
        wanted[ended_worlds] = True
        if len(rows) and not (rows.min() >= 0 and rows.max() < wanted.size):
            raise WireError(f"a final row of {role.name} is outside of 0 to {wanted.size - 1}")
        given = np.zeros(wanted.size, np.bool_)
        given[rows] = True
        if np.count_nonzero(given) != len(rows):
            raise WireError(f"a final row of {role.name} is there twice")
        differs = given != wanted.reshape(-1)
        if differs.any():
            row = int(differs.argmax())
            what = "has a final row but did not end" if given[row] else "ended without a final row"
            raise WireError(f"{self._who(role, row)} {what}")

    @staticmethod
    def _who(role: _Shape, row: int) -> str:
        return f"{role.name} {row % role.agents} in world {row // role.agents}"
