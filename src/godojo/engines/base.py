"""The contract between games and learners, the same for every engine.

N worlds are stepped at once; agents are grouped by role, which is also the name of their policy. Every array is
allocated once, C-contiguous, and written in place by `step`: copy what must outlive it. A world that ends starts its
next round within the same step; the last observations are in `final_observation`.

When the process that runs a world is lost, the world's agents are `truncated` and have not `acted`, their
`final_observation` is the last one received, and a new round has started: no transition spans a restart.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from godojo.bridge.messages import Loop, Plan, Status
from godojo.errors import GodojoError, unknown
from godojo.games.parts import ActionPart, Heading, Measure, ObservationPart

ENGINES = ("sim", "godot")


@dataclass(frozen=True)
class RoleArrays:
    """The arrays of one role: N worlds, n agents."""

    name: str
    observation: np.ndarray
    """float32 [N, n, D]: current observations."""
    action: np.ndarray
    """float32 [N, n, A]: next actions, read by `step`. From -1 to 1; a discrete action is its index."""
    reward: np.ndarray
    """float32 [N, n]: rewards of the last decision."""
    terms: np.ndarray
    """float32 [N, n, T]: the terms whose sum is the reward."""
    acted: np.ndarray
    """bool [N, n]: whether the agent took part in the last decision; if not, its row is no transition."""
    terminated: np.ndarray
    """bool [N, n]: the agent's round ended by the rules."""
    truncated: np.ndarray
    """bool [N, n]: the agent's round was cut short from outside; its last state still has a value."""
    final_observation: np.ndarray
    """float32 [N, n, D]: last observations of agents that were terminated or truncated in the last step."""
    final_terms: np.ndarray
    """float32 [N, n, T]: the terms summed over the round, in worlds that ended."""
    final_score: np.ndarray
    """float32 [N, n]: the game's own score, in worlds that ended."""
    observation_parts: tuple[ObservationPart, ...]
    """The parts of an observation, in order."""
    action_parts: tuple[ActionPart, ...]
    """The parts of an action, in order."""
    heading: Heading | None = None
    """The direction an agent faces, if the game declares it."""
    measures: tuple[Measure, ...] = ()
    """What agents report of a finished episode besides rewards, such as `success`."""
    final_measures: np.ndarray | None = None
    """float32 [N, n, M]: the measures of agents whose episode ended in the last step (a bool as 1 or 0), NaN where one
    has nothing to report; None without `measures`."""


class Worlds(abc.ABC):
    """Many copies of a game, stepped together."""

    game: str = ""
    """The game's name in `godojo.games.base.GAMES`; empty for a project of the user's own."""
    num_worlds: int
    settings: Any
    """The game's current settings."""
    ticks_per_decision: int
    godot_version: str = ""
    """Of the real engine, where it plays and reports it."""
    ticks_per_second: int = 60
    """Of the game's physics."""
    declared_models: Mapping[str, Mapping[str, Any]] = {}
    """By role: the model that the scene declares (`learn/declared.py`), if any."""
    independent_agents: bool = False
    """Agents that share a world start and end their episodes on their own, as if each were alone (then
    `agent_episodes` is true, too)."""
    agent_episodes: bool = False
    """An agent's episode may end without those of the others in its world: each agent that is terminated or truncated
    has finished an episode, and `ended` worlds are those in which all agents did so at once."""
    declared_loop: Loop | None = None
    """How the scene drives the training, if it does: each epoch begins with `plan`."""
    roles: Mapping[str, RoleArrays]
    reward_terms: tuple[str, ...]
    winners: tuple[str, ...]
    """Names of the indices in `winner`."""
    arena_names: tuple[str, ...]
    """Names of the indices in `arena`; -1 is a generated one."""
    ended: np.ndarray
    """bool [N]: the world's round ended in the last step, and another started."""
    winner: np.ndarray
    """int8 [N]: the winner, in worlds that ended."""
    length_ticks: np.ndarray
    """int32 [N]: the length of the round, in worlds that ended."""
    arena: np.ndarray
    """int32 [N]: the arena of the round, in worlds that ended."""

    def describe_as(self, worlds: "Worlds") -> None:
        """Takes over all attributes that the contract declares, for worlds that stand for others."""
        for name in Worlds.__annotations__:
            setattr(self, name, getattr(worlds, name))

    @property
    def tick_s(self) -> float:
        """Length of a physics tick."""
        return 1.0 / self.ticks_per_second

    @property
    def played(self) -> np.ndarray:
        """bool [N]: the world's round ended in the last step, and was not lost with its game: an agent took part."""
        played = np.zeros(self.num_worlds, np.bool_)
        ended = np.flatnonzero(self.ended)  # few, as a rule
        for role in self.roles.values():
            played[ended] |= role.acted.take(ended, axis=0).any(axis=1)
        return played

    @abc.abstractmethod
    def reset(self, seed: int) -> None:
        """Starts a round in every world. The same seed plays the same rounds."""

    @abc.abstractmethod
    def _start(self) -> None:
        """Starts one decision in every world, with the roles' checked `action`."""

    @abc.abstractmethod
    def finish(self) -> None:
        """Waits for the decision that `start` started; then all arrays are updated."""

    def step(self, actions: Mapping[str, np.ndarray] | None = None) -> None:
        """Plays one decision in every world, with these actions or those written into the roles' `action`."""
        self.start(actions)
        self.finish()

    def start(self, actions: Mapping[str, np.ndarray] | None = None) -> None:
        """The first half of `step`: sends the actions and returns, so that Python can work while engines do."""
        for name, given in (actions or {}).items():
            if name not in self.roles:
                raise unknown("role", name, self.roles)
            wanted = self.roles[name].action
            try:
                numbers = np.asarray(given)
                if numbers.shape != wanted.shape:
                    raise GodojoError(f"actions of {name} must have the shape {wanted.shape}, not {numbers.shape}")
                np.copyto(wanted, numbers, casting="same_kind")
            except (TypeError, ValueError) as error:
                raise GodojoError(f"actions of {name} must be numbers ({error})") from None
        for name, role in self.roles.items():
            # A sum is fast and needs no memory; only one that is not finite needs a closer look.
            with np.errstate(all="ignore"):
                total = role.action.sum()
            if not np.isfinite(total) and not np.isfinite(role.action).all():
                world, agent, number = np.argwhere(~np.isfinite(role.action))[0]
                value = role.action[world, agent, number]
                raise GodojoError(f"action {number} of {name} {agent} in world {world} is {value}, not a number")
        self._start()

    def privileged(self) -> Any:
        """The game's privileged state, for oracles and critics."""
        raise GodojoError("this engine has no privileged state; use engine='sim'")

    def change_settings(self, settings: Any) -> None:  # noqa: ARG002 - engines that can, use it
        """Changes the game's settings from the next decision or round on; observation and action spaces stay the same.

        An engine that has to start new rounds for it reports the current ones as truncated, in its next step.
        """
        raise GodojoError("this engine cannot change a game's settings while it plays; use engine='sim'")

    def plan(self, epoch: int) -> Plan:  # noqa: ARG002 - engines whose scenes drive the training use it
        """What a scene that drives the training wants of the epoch that is about to begin; others want to learn."""
        return Plan()

    def pause(self, reason: str) -> bool:  # noqa: ARG002 - the same
        """Releases games that a scene's plan has stopped and that the user can start again; false if there are none.
        Their rounds are cut short in the next step."""
        return False

    def is_resumed(self, timeout_s: float) -> bool:  # noqa: ARG002 - the same
        """Whether all games that `pause` released are back, after a wait of at most `timeout_s`."""
        return True

    def notice(self, status: Status) -> None:  # noqa: B027 - engines that people can watch use it
        """Shows people who watch the games what the trainer does."""

    def save_state(self) -> dict[str, np.ndarray] | None:
        """Everything that `load_state` needs to continue bit-exactly; None if an engine cannot."""
        return None

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:  # noqa: ARG002 - engines that can, use it
        """Continues from what `save_state` returned."""
        raise GodojoError("this engine cannot continue from a saved state; its worlds start new rounds")

    def close(self) -> None:  # noqa: B027 - not every engine has resources
        """Releases processes and sockets."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
