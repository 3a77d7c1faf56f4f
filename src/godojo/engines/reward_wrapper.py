"""Worlds with a user's rewards, or with the game's scaled."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from godojo.engines.base import RoleArrays, Worlds
from godojo.engines.wrapper import WorldsWrapper
from godojo.errors import GodojoError
from godojo.plugins import load_class, split_class, told

MAX_REWARD = 1e30
"""Of one decision; larger ones would overflow over a round."""


@dataclass(frozen=True)
class Step:
    """One decision of all agents of a role, for a reward: N worlds, n agents, as in the contract."""

    role: str
    observation: np.ndarray
    """[N, n, D]: before the decision."""
    action: np.ndarray
    """[N, n, A]."""
    next_observation: np.ndarray
    """[N, n, D]: after it; the last one of a round that ended."""
    terms: Mapping[str, np.ndarray]
    """[N, n] each: the game's own reward, by term."""
    terminated: np.ndarray
    truncated: np.ndarray
    outcome: np.ndarray
    """[N] texts: the winner of a round that ended; otherwise empty."""
    settings: Any = None
    """The game's current settings."""


class CustomReward:
    """A class of a user's own: `reward(step)` returns numbers [N, n], or a dictionary of them by term.

    Its terms are named by the class's `terms`; without them there is one, `own`. A reward that remembers something
    has `reset()`, called where all rounds begin anew, and `state()` and `load_state(state)` for resumed runs.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self._path, name = split_class(source)
        kind = load_class(self._path, name)
        try:
            self._own: Any = kind()
            inspect.signature(self._own.reward).bind(None)
        except AttributeError:
            raise GodojoError(f"{source} has no method reward; a reward has reward(self, step)") from None
        except Exception as error:
            raise GodojoError(f"{source} could not be made: {told(error, self._path)}") from error
        self.terms = tuple(str(term) for term in getattr(self._own, "terms", ("own",)))

    def reset(self) -> None:
        if hasattr(self._own, "reset"):
            self._own.reset()

    def state(self) -> dict[str, np.ndarray]:
        return dict(self._own.state()) if hasattr(self._own, "state") else {}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        if hasattr(self._own, "load_state"):
            self._own.load_state(state)

    def __call__(self, step: Step) -> np.ndarray:
        """[N, n, T]."""
        try:
            given = self._own.reward(step)
        except Exception as error:
            raise GodojoError(f"{self.source}: reward failed: {told(error, self._path)}") from error
        parts = given if isinstance(given, Mapping) else {self.terms[0]: given}
        if set(parts) != set(self.terms):
            raise GodojoError(f"{self.source}: reward gave the terms {sorted(parts)}, not {sorted(self.terms)}")
        wanted = step.action.shape[:2]
        found = np.zeros((*wanted, len(self.terms)), np.float32)
        for place, term in enumerate(self.terms):
            try:
                with np.errstate(over="ignore"):  # what is too large is refused below
                    numbers = np.asarray(parts[term], np.float32)
            except (TypeError, ValueError):
                raise GodojoError(f"{self.source}: {term} are no numbers") from None
            if numbers.shape == wanted[:1]:
                numbers = numbers[:, None]
            if numbers.shape != wanted and numbers.shape != (wanted[0], 1):
                raise GodojoError(f"{self.source}: {term} has the shape {numbers.shape}, not {wanted}")
            if not (np.abs(numbers) <= MAX_REWARD).all():
                wrong = numbers[~(np.abs(numbers) <= MAX_REWARD)].flat[0]
                raise GodojoError(f"{self.source}: {term} is {wrong:g}; it must be a number of at most {MAX_REWARD:g}")
            found[:, :, place] = numbers
        return found


class RewardWrapper(WorldsWrapper):
    """The same worlds with `reward` in place of the game's, times `scale` for the learner.

    Terms are not scaled, so tables and charts stay comparable.
    """

    def __init__(self, worlds: Worlds, *, reward: CustomReward | None = None, scale: float = 1.0) -> None:
        super().__init__(worlds)
        self._own, self._scale = reward, np.float32(scale)
        self.reward_terms = worlds.reward_terms if reward is None else reward.terms
        self._before = {name: np.zeros_like(role.observation) for name, role in worlds.roles.items()}
        self._sums: dict[str, np.ndarray] = {}
        roles: dict[str, RoleArrays] = {}
        for name, role in worlds.roles.items():
            roles[name] = replace(role, reward=np.zeros_like(role.reward))
            if reward is not None:
                shape = (*role.reward.shape, len(reward.terms))
                terms, final, self._sums[name] = (np.zeros(shape, np.float32) for _ in range(3))
                roles[name] = replace(roles[name], terms=terms, final_terms=final)
        self.roles = MappingProxyType(roles)

    def reset(self, seed: int) -> None:
        self.inner.reset(seed)
        if self._own is not None:
            self._own.reset()
        for sums in self._sums.values():
            sums[:] = 0.0

    def _start(self) -> None:
        if self._own is not None:
            for name, role in self.inner.roles.items():
                self._before[name][:] = role.observation
        self.inner._start()

    def finish(self) -> None:
        self.inner.finish()
        for name, role in self.roles.items():
            inner = self.inner.roles[name]
            if self._own is None:
                with np.errstate(over="ignore"):  # the learner notices, and names it
                    np.multiply(inner.reward, self._scale, out=role.reward)
            else:
                self._judge(name, role, inner, self._own)

    def _judge(self, name: str, role: RoleArrays, inner: RoleArrays, own: CustomReward) -> None:
        is_over = inner.terminated | inner.truncated
        outcome = np.where(self.ended, np.array(self.winners, dtype=object)[self.winner], "")
        step = Step(
            role=name,
            observation=self._before[name],
            action=inner.action,
            next_observation=np.where(is_over[:, :, None], inner.final_observation, inner.observation),
            terms={term: inner.terms[:, :, place] for place, term in enumerate(self.inner.reward_terms)},
            terminated=inner.terminated,
            truncated=inner.truncated,
            outcome=outcome,
            settings=self.settings,
        )
        role.terms[:] = own(step)
        with np.errstate(over="ignore"):
            np.multiply(role.terms.sum(axis=2), self._scale, out=role.reward)
        sums = self._sums[name]
        sums += role.terms
        role.final_terms[self.ended] = sums[self.ended]
        sums[self.ended] = 0.0

    def save_state(self) -> dict[str, np.ndarray] | None:
        state = self.inner.save_state()
        if state is None:
            return None
        own = {} if self._own is None else self._own.state()
        sums = {f"sums/{name}": sums for name, sums in self._sums.items()}
        return {**state, **sums, **{f"reward/{name}": value for name, value in own.items()}}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        own = {name.removeprefix("reward/"): array for name, array in state.items() if name.startswith("reward/")}
        if self._own is not None:
            self._own.load_state(own)
        self.inner.load_state(
            {name: array for name, array in state.items() if not name.startswith(("sums/", "reward/"))}
        )
        for name, sums in self._sums.items():
            sums[:] = state[f"sums/{name}"]


def custom_reward(text: str) -> CustomReward:
    """`file.py:Class`, with the file's full path, so that a run finds it again."""
    path, name = split_class(text)
    return CustomReward(f"{Path(path).absolute()}:{name}")
