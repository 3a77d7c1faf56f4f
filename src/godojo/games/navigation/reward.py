"""Navigation's reward in NumPy, from what an agent sees and does: to read, to check, and to change in a subclass."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from godojo.games.navigation.settings import LAYOUT, NavigationSettings, Rewards
from godojo.games.navigation.spec import REWARD_TERMS, WALKER
from godojo.games.settings import TICK_S

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_SAME_MARK_M = 0.01
"""The goal of two observations is the same mark if it is nearer than this; marks are farther apart."""


class Decision(NamedTuple):
    """What matters for the reward of one decision; arrays of one number each."""

    progress_m: Array
    """How much shorter the way to the goal became."""
    new_ground_m: Array
    """How much shorter it became than ever before in the episode."""
    smoothness: Array
    """1 where the action stayed as it was, 0 where it changed by 2 or more in all."""
    comfort: Array
    """1, less a loss for fast turning, fast walking and a tilted head."""
    is_warning: Array
    """Whether comfort is below `comfort.warn_below`."""
    collisions: Array
    teleports: Array
    """Jumps of the view: teleports and snap turns."""
    winner: Array
    """Texts: `walker`, `gap` or `clock` where the round ended so; else `nobody` or empty."""


class RewardCalculator:
    """The game's own reward, term by term. Override `weigh` to change it, for `--reward file.py:Class`, too.

    `calculate` takes one decision, observation `[48]` and action `[3]`, or a batch, `[..., 48]` and `[..., 3]` (4 with
    a teleport). It remembers the last action and the ground covered in the episode; `reset` begins new episodes
    everywhere.

    Args:
        settings: The game's settings; by default those of the training, or the game's defaults.
    """

    terms: ClassVar[tuple[str, ...]] = REWARD_TERMS
    """Names of the terms that `weigh` returns."""

    def __init__(self, settings: NavigationSettings | None = None) -> None:
        self._is_own = settings is not None
        self.settings = settings or NavigationSettings.defaults()
        self._memory: dict[str, Array] = {}

    def weigh(self, decision: Decision, rewards: Rewards) -> dict[str, Array]:
        """The terms of the reward."""
        new_m = decision.new_ground_m
        return {
            "goal": rewards.goal * (decision.winner == WALKER),
            "progress": rewards.progress_per_m * decision.progress_m,
            "smooth": (rewards.smooth + rewards.smooth_per_m * new_m) * decision.smoothness,
            "comfort": (rewards.comfort + rewards.comfort_per_m * new_m) * decision.comfort
            + rewards.comfort_warning * decision.is_warning,
            "collision": rewards.collision * decision.collisions,
            "fall": rewards.fall * (decision.winner == "gap"),
            "timeout": rewards.timeout * (decision.winner == "clock"),
            "teleport": rewards.teleport * decision.teleports,
        }

    def calculate(
        self, observation: Any, action: Any, next_observation: Any, info: Mapping[str, Any] | None = None
    ) -> dict[str, Array]:
        """The terms by name; their sum is the reward.

        Args:
            observation: What the agent saw.
            action: What it did.
            next_observation: What it saw then; the last observation of an episode that ended.
            info: `winner` (a text, or one each), as in the environments' last info; `collisions` in this decision,
                which nothing but the game knows (0 if missing); `teleports` (if missing, turns and moves that are too
                large to be walked); `ended`, whether episodes ended (default: where there is a winner).
        """
        info = info or {}
        before, after = np.asarray(observation, np.float64), np.asarray(next_observation, np.float64)
        shape = before.shape[:-1]
        winner = np.broadcast_to(np.asarray(info.get("winner", ""), object), shape)
        progress_m = _way_m(before, after)
        comfort = self._comfort(after)
        decision = Decision(
            progress_m=progress_m,
            new_ground_m=self._new_ground_m(progress_m),
            smoothness=self._smoothness(_cut(np.asarray(action, np.float64))),
            comfort=comfort,
            is_warning=comfort < self.settings.comfort.warn_below,
            collisions=np.broadcast_to(np.asarray(info.get("collisions", 0), np.float64), shape),
            teleports=np.broadcast_to(np.asarray(info.get("teleports", self._teleports(before, after))), shape),
            winner=winner,
        )
        ended = np.broadcast_to(np.asarray(info.get("ended", winner != ""), np.bool_), shape)
        for kept in self._memory.values():
            kept[ended] = 0.0
        return self.weigh(decision, self.settings.rewards)

    def reward(self, step: Any) -> dict[str, Array]:
        """The terms of a `godojo.engines.reward_wrapper.Step`: what `--reward` calls."""
        if not self._is_own:
            self.settings = step.settings
        info = {"winner": step.outcome[:, None], "ended": step.terminated | step.truncated}
        for count, term in (("collisions", "collision"), ("teleports", "teleport")):
            if weight := getattr(step.settings.rewards, term):
                info[count] = step.terms[term] / weight
        return self.calculate(step.observation, step.action, step.next_observation, info)

    def reset(self) -> None:
        """New episodes begin everywhere."""
        self._memory.clear()

    def state(self) -> dict[str, Array]:
        """What is remembered of the episodes, for `load_state`."""
        return {name: kept.copy() for name, kept in self._memory.items()}

    def load_state(self, state: Mapping[str, Array]) -> None:
        self._memory = {name: np.array(kept) for name, kept in state.items()}

    def _remembered(self, name: str, like: Array) -> Array:
        """Zeros at the start of an episode."""
        kept = self._memory.get(name)
        if kept is None or kept.shape != like.shape:
            kept = self._memory[name] = np.zeros(like.shape)
        return kept

    def _new_ground_m(self, progress_m: Array) -> Array:
        gained_m, best_m = self._remembered("gained_m", progress_m), self._remembered("best_m", progress_m)
        gained_m += progress_m
        new_m: Array = np.maximum(gained_m - best_m, 0.0)
        best_m += new_m
        return new_m

    def _smoothness(self, action: Array) -> Array:
        last = self._remembered("last_action", action)
        change = np.abs(action - last).sum(axis=-1)
        last[...] = action
        return np.asarray(np.maximum(1.0 - change / 2.0, 0.0))

    def _comfort(self, after: Array) -> Array:
        limits, motion = self.settings.comfort, self.settings.motion
        right, _, back = np.moveaxis(LAYOUT.view(after, "camera_velocity"), -1, 0)
        rotate = np.abs(LAYOUT.view(after, "camera_angular_velocity")[..., 1]) / np.radians(motion.turn_rate_degps)
        x, y, z, w = np.moveaxis(LAYOUT.view(after, "camera_rotation"), -1, 0)
        roll = 2.0 * np.arctan2(np.hypot(x, z), np.hypot(y, w))
        turns_fast = (rotate > limits.turn_share) & (motion.turn == "smooth")
        walks_fast = np.hypot(right, back) > limits.speed_share * motion.speed_mps
        found: Array = (
            1.0
            - limits.turn_loss * turns_fast
            - limits.speed_loss * walks_fast
            - limits.roll_loss * (roll > limits.roll_rad)
        )
        return found

    def _teleports(self, before: Array, after: Array) -> Array:
        motion = self.settings.motion
        found = np.zeros(before.shape[:-1])
        if motion.turn == "snap":
            turned = _yaw(after) - _yaw(before)
            turned = np.abs((turned + np.pi) % (2.0 * np.pi) - np.pi)
            found += np.rint(turned / np.radians(motion.snap_deg))
        if motion.teleport_m > 0.0:
            moved = LAYOUT.view(after, "camera_position") - LAYOUT.view(before, "camera_position")
            walked_m = motion.speed_mps * self.settings.rules.ticks_per_decision * TICK_S
            found += np.hypot(moved[..., 0], moved[..., 2]) > walked_m + _SAME_MARK_M
        return found


def _way_m(before: Array, after: Array) -> Array:
    """How much shorter the way to the goal became. Where a mark was reached, the way from there to the next counts."""
    to_next_m = np.linalg.norm(_mark(after) - _mark(before), axis=-1)
    to_next_m = np.where(to_next_m < _SAME_MARK_M, 0.0, to_next_m)
    return _distance_m(before) + to_next_m - _distance_m(after)


def _distance_m(observation: Array) -> Array:
    return LAYOUT.view(observation, "goal_distance")[..., 0]


def _mark(observation: Array) -> Array:
    """The current mark in the world's frame, its height above the eyes' height."""
    yaw = _yaw(observation)
    right, up, back = np.moveaxis(LAYOUT.view(observation, "goal_position"), -1, 0)
    x, z = right * np.cos(yaw) + back * np.sin(yaw), back * np.cos(yaw) - right * np.sin(yaw)
    return np.asarray(LAYOUT.view(observation, "camera_position") + np.stack([x, up, z], axis=-1))


def _yaw(observation: Array) -> Array:
    turn = LAYOUT.view(observation, "camera_rotation")
    return np.asarray(2.0 * np.arctan2(turn[..., 1], turn[..., 3]))


def _cut(action: Array) -> Array:
    """As the game does, without a teleport: each number from -1 to 1, and the walking direction no longer than 1."""
    action = np.nan_to_num(action[..., :3], nan=0.0, posinf=0.0, neginf=0.0).clip(-1.0, 1.0)
    length = np.maximum(np.hypot(action[..., 0], action[..., 1]), 1.0)
    action[..., :2] /= length[..., None]
    return action
