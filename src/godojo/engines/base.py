"""The contract between a game and whoever steps it, the same for every engine.

N worlds at once; agents are grouped by role, which is also the name of their policy. Every array is made once,
C-contiguous, and written in place by `step`: take a copy of what must outlive it. A world that ends begins its next
round within the same step; what its agents saw last is in `final_observation`.

When the process that runs a world is lost, the world's agents are `truncated` and have not `acted`, their
`final_observation` is what they were told last, and a new round has begun: no transition spans a restart.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from godojo.errors import GodojoError
from godojo.games.parts import ActionPart, Heading, ObservationPart

ENGINES = ("sim", "godot")


@dataclass(frozen=True)
class RoleArrays:
    """What concerns the agents of one role: N worlds, n agents, in this order."""

    name: str
    observation: np.ndarray
    """float32 [N, n, D]: what each agent is told now."""
    action: np.ndarray
    """float32 [N, n, A]: what each does next; `step` reads it. From -1 to 1; a choice is one number, its index."""
    reward: np.ndarray
    """float32 [N, n]: what the last decision was worth."""
    terms: np.ndarray
    """float32 [N, n, T]: what the reward is the sum of, by term."""
    acted: np.ndarray
    """bool [N, n]: whether the agent took part in the last decision; if not, its row is no transition to learn from."""
    terminated: np.ndarray
    """bool [N, n]: the agent's round came to its end by the rules."""
    truncated: np.ndarray
    """bool [N, n]: the agent's round was cut short from outside: its future still has a value."""
    final_observation: np.ndarray
    """float32 [N, n, D]: what each was told at the end, where it was terminated or truncated in the last step."""
    final_terms: np.ndarray
    """float32 [N, n, T]: the terms summed over the round, in worlds that ended."""
    final_score: np.ndarray
    """float32 [N, n]: the game's own score, in worlds that ended."""
    observation_parts: tuple[ObservationPart, ...]
    """What the D numbers of an observation are, in order."""
    action_parts: tuple[ActionPart, ...]
    """What the A numbers of an action are, in order."""
    heading: Heading | None = None
    """Where an agent looks, if the game says so."""


class Worlds(abc.ABC):
    """Many copies of a game, stepped together."""

    game: str = ""
    """The game's name in `godojo.games.base.GAMES`; empty for a project of the user's own."""
    num_worlds: int
    settings: Any
    """The game's settings, as it is being played."""
    ticks_per_decision: int
    declared_model: Mapping[str, Any] | None = None
    """What the scene itself says about the model that should learn it, if it says anything."""
    roles: Mapping[str, RoleArrays]
    reward_terms: tuple[str, ...]
    winners: tuple[str, ...]
    """What the numbers in `winner` stand for."""
    arena_names: tuple[str, ...]
    """What the numbers in `arena` stand for; -1 is one that was made for the round."""
    ended: np.ndarray
    """bool [N]: the world's round ended in the last step, and another began."""
    winner: np.ndarray
    """int8 [N]: who won, in worlds that ended."""
    length_ticks: np.ndarray
    """int32 [N]: how long the round was, in worlds that ended."""
    arena: np.ndarray
    """int32 [N]: where it was played, in worlds that ended."""

    @property
    def played(self) -> np.ndarray:
        """bool [N]: the world's round ended in the last step, and was not lost with its game.

        Nobody took part in the last decision of a round that was lost.
        """
        took_part = np.zeros(self.num_worlds, np.bool_)
        for role in self.roles.values():
            took_part |= role.acted.any(axis=1)
        return self.ended & took_part

    @abc.abstractmethod
    def reset(self, seed: int) -> None:
        """Begins a round in every world. The same seed gives the same rounds."""

    @abc.abstractmethod
    def _start(self) -> None:
        """Begins one decision in every world, by the roles' `action`, which have been checked."""

    @abc.abstractmethod
    def finish(self) -> None:
        """Waits for the decision that `start` began; then all arrays are the new ones."""

    def step(self, actions: Mapping[str, np.ndarray] | None = None) -> None:
        """One decision in every world: by these actions, or by what has been written into the roles' `action`."""
        self.start(actions)
        self.finish()

    def start(self, actions: Mapping[str, np.ndarray] | None = None) -> None:
        """The first half of `step`: hands the actions over and returns, so that others can work while engines do."""
        for name, given in (actions or {}).items():
            if name not in self.roles:
                raise GodojoError(f"there is no role {name!r}; there is: {', '.join(self.roles)}")
            wanted = self.roles[name].action
            try:
                numbers = np.asarray(given)
                if numbers.shape != wanted.shape:
                    raise GodojoError(f"actions of {name} must have the shape {wanted.shape}, not {numbers.shape}")
                np.copyto(wanted, numbers, casting="same_kind")
            except (TypeError, ValueError) as error:
                raise GodojoError(f"actions of {name} must be numbers ({error})") from None
        for name, role in self.roles.items():
            # A sum is quick and needs no room; only if it is not finite is it worth looking who spoils it.
            with np.errstate(all="ignore"):
                total = role.action.sum()
            if not np.isfinite(total) and not np.isfinite(role.action).all():
                world, agent, number = np.argwhere(~np.isfinite(role.action))[0]
                value = role.action[world, agent, number]
                raise GodojoError(f"action {number} of {name} {agent} in world {world} is {value}, not a number")
        self._start()

    def privileged(self) -> Any:
        """The game's true state, for oracles and for value functions that may see everything."""
        raise GodojoError("this engine does not tell what eyes do not see; take engine='sim'")

    def change_settings(self, settings: Any) -> None:  # noqa: ARG002 - engines that can, use it
        """Plays by other settings of the game from now on; what agents see and do must stay what it is."""
        raise GodojoError("this engine cannot change a game's settings while it plays; take engine='sim'")

    def save_state(self) -> dict[str, np.ndarray] | None:
        """Everything a later `load_state` needs to go on bit by bit; None where an engine cannot."""
        return None

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:  # noqa: ARG002 - engines that can, use it
        """Goes on from what `save_state` gave."""
        raise GodojoError("this engine cannot go on from a saved state; its worlds begin new rounds")

    def close(self) -> None:  # noqa: B027 - not every engine has something to let go of
        """Lets go of everything that outlives Python's own memory."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
