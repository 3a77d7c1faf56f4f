"""`godojo.load_policy`: a trained policy that acts on observations, without a game or an engine."""

from typing import Any

import numpy as np

from godojo.api.references import reference
from godojo.errors import GodojoError
from godojo.evaluation.players import TrainedPlayer, players_of
from godojo.export.players import SHIPPED


def load_policy(source: Any, role: str | None = None, *, seed: int = 0) -> "TrainedPolicy":
    """Load a trained policy.

    Args:
        source: A policy file (`.pt`, `.dojo` or `.onnx`), or a run: its id, its path, `"latest"`, `RUN@SNAPSHOT`, or a
            `godojo.Run`. A run loads its newest policies.
        role: The role to load, such as `"seeker"`; only needed for a run that has several.
        seed: Seeds the random numbers of stochastic actions.

    Raises:
        GodojoError: There is no such file, run or role, or the file is damaged.
    """
    text = reference(source)
    found = players_of(text, seed=seed, files=SHIPPED)
    if role is None and len(found) > 1:
        raise GodojoError(f"{text} has several roles; choose one: role={' or role='.join(map(repr, found))}")
    chosen = next(iter(found)) if role is None else role
    if chosen not in found:
        raise GodojoError(f"{text} has no role {chosen!r}; it has: {', '.join(found)}")
    return TrainedPolicy(found[chosen])


class TrainedPolicy:
    """The trained policy of one role. A policy with a memory keeps it between calls of `act`."""

    def __init__(self, player: TrainedPlayer) -> None:
        self._player = player
        self._rows: int | None = None
        self._not_done = np.ones(0, bool)

    @property
    def game(self) -> str:
        return self._player.card.game

    @property
    def role(self) -> str:
        return self._player.card.role

    @property
    def observation_size(self) -> int:
        """Numbers in one observation."""
        return self._player.card.shape.observation_size

    @property
    def action_names(self) -> tuple[str, ...]:
        """The parts of an action, in order."""
        return tuple(part.name for part in self._player.card.shape.action_parts)

    @property
    def agent_steps(self) -> int:
        """Agent-steps that it was trained for."""
        return self._player.card.agent_steps

    def reset(self, done: np.ndarray | None = None) -> None:
        """Reset the memory; call it when an episode ends.

        Args:
            done: One boolean for each agent of the batch, to reset only those whose episode ended. By default all are
                reset, and the next batch may have another size.
        """
        if done is None or self._rows is None:
            self._rows = None
            return
        done = np.asarray(done, bool).reshape(-1)
        if len(done) != self._rows:
            raise GodojoError(f"done must have one value for each of the {self._rows} agents, not {len(done)}")
        self._not_done &= ~done

    def act(self, observation: Any, deterministic: bool = True) -> np.ndarray:
        """Choose actions.

        Args:
            observation: One observation of shape `(observation_size,)`, or a batch with any leading dimensions.
                The agents of a batch keep their places from call to call.
            deterministic: Take the most likely action; otherwise sample as in training.

        Returns:
            The actions as the game takes them, with the leading dimensions of the observation.
        """
        observed = np.ascontiguousarray(observation, dtype=np.float32)
        size = self.observation_size
        if observed.ndim == 0 or observed.shape[-1] != size:
            shape = " x ".join(map(str, observed.shape)) or "a single number"
            raise GodojoError(f"the {self.role} observes {size} numbers, and this observation is {shape}")
        batch = observed.reshape(-1, size)
        if self._rows is None:
            self._rows, self._not_done = len(batch), np.ones(len(batch), bool)
            self._player.start(len(batch))
        if len(batch) != self._rows:
            raise GodojoError(
                f"the policy remembers {self._rows} agents, and this batch has {len(batch)}: call reset() first"
            )
        action = self._player.decide(batch, self._not_done, deterministic=deterministic)
        self._not_done = np.ones(len(batch), bool)
        return action.reshape(*observed.shape[:-1], -1)

    def __repr__(self) -> str:
        return f"TrainedPolicy({self.game!r}, {self.role!r}, agent_steps={self.agent_steps})"
