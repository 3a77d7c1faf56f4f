"""Observations before a policy and actions after it: small steps for one agent `[d]` or a batch `[N, d]`.

`PreprocessObservation` and `PostprocessAction` are the same as Gymnasium wrappers.
"""

import io
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TypeAlias

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.wrappers.utils import RunningMeanStd

from godojo.errors import GodojoError
from godojo.files import atomic_write

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
State: TypeAlias = dict[str, Array]


class _Processor(ABC):
    """A state that is saved as an `.npz` without pickles."""

    @abstractmethod
    def state(self) -> State:
        """Everything that `load_state` needs to continue exactly."""

    @abstractmethod
    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continues from the result of `state`; GodojoError if it does not fit."""

    def save(self, path: str | Path) -> None:
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **self.state())
        atomic_write(Path(path), buffer.getvalue())

    def load(self, path: str | Path) -> Self:
        """Continues from a file that `save` wrote."""
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                state = dict(arrays)
        except OSError as error:
            raise GodojoError(f"{path} cannot be read ({error.strerror or error})") from None
        except (ValueError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise GodojoError(f"{path} holds no state of a {type(self).__name__} ({error})") from None
        try:
            self.load_state(state)
        except (GodojoError, TypeError, ValueError) as error:
            raise GodojoError(f"{path}: {error}") from None
        return self


class ObservationPreprocessor(_Processor):
    """Normalises, clips and stacks observations, in this order.

    Args:
        normalize: Subtract the mean and divide by the standard deviation of each number. The statistics are running
            ones, updated by every call while `training` is True, unless `mean` and `variance` are given.
        mean: A fixed mean, `[d]`.
        variance: A fixed variance, `[d]`.
        clip: Limit of the result, on both sides; None for none.
        frame_stack: The last so many observations one after the other, the newest at the end, as Stable-Baselines3's
            VecFrameStack has them. The first of an episode is repeated in place of those before it.
        epsilon: Added to the variance.
    """

    def __init__(
        self,
        *,
        normalize: bool = True,
        mean: Any = None,
        variance: Any = None,
        clip: float | None = 10.0,
        frame_stack: int = 1,
        epsilon: float = 1e-8,
    ) -> None:
        if (mean is None) != (variance is None):
            raise GodojoError("mean and variance are given together")
        if frame_stack < 1:
            raise GodojoError(f"frame_stack must be 1 or more, not {frame_stack}")
        if clip is not None and not clip > 0.0:
            raise GodojoError(f"clip must be above 0, not {clip}")
        self.normalize, self.clip, self.frame_stack, self.epsilon = normalize, clip, frame_stack, epsilon
        self.training = mean is None
        """Whether calls update the statistics; set it to False to evaluate."""
        self.statistics: Any = None
        """`mean`, `var` and `count` of the observations so far; None before the first."""
        self._frames: Array | None = None
        """The last frames, [N, k, d]."""
        if mean is not None:
            self._set_statistics(mean, variance, 1.0)

    def __call__(self, observation: Any, starts: Any = None) -> Array:
        """The processed observation, float32: `[k * d]` for `[d]`, `[N, k * d]` for `[N, d]`.

        Args:
            observation: One observation or a batch.
            starts: Whether it is the first of an episode; for a batch a bool each. A batch whose worlds restart within
                a step passes `terminated | truncated`.
        """
        given = _checked(observation, "observation")
        rows = np.atleast_2d(given)
        frames = self._prepared(rows, self.training)
        if self._frames is None or self._frames.shape[0] != len(rows):
            starts = True
        begun = np.broadcast_to(np.asarray(False if starts is None else starts, np.bool_), len(rows))
        self._frames = self._pushed(slice(None), frames, begun)
        return self._flat(self._frames, given)

    def final(self, observation: Any, rows: Any = slice(None)) -> Array:
        """The last observation of episodes that ended in these rows: stacked on their frames, which stay unchanged.

        Call it before the call with the first observations of the next episodes.
        """
        given = _checked(observation, "observation")
        batch = np.atleast_2d(given)
        frames = self._prepared(batch, False)
        return self._flat(self._pushed(rows, frames, np.full(len(batch), self._frames is None)), given)

    def reset(self) -> None:
        """Forgets the frames: the next observation is the first of an episode. The statistics stay."""
        self._frames = None

    def state(self) -> State:
        found: State = {"frame_stack": np.array(self.frame_stack)}
        if self.statistics is not None:
            found |= {name: np.asarray(getattr(self.statistics, name)) for name in ("mean", "var", "count")}
        return found if self._frames is None else {**found, "frames": self._frames.copy()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        if int(_part(state, "frame_stack")) != self.frame_stack:
            raise GodojoError(f"it stacks {int(state['frame_stack'])} frames, not {self.frame_stack}")
        frames = np.asarray(state["frames"], np.float32) if "frames" in state else None
        if frames is not None and (frames.ndim != 3 or frames.shape[1] != self.frame_stack):
            raise GodojoError(f"its frames have the shape {frames.shape}")
        if "mean" in state:
            self._set_statistics(state["mean"], _part(state, "var"), float(_part(state, "count")))
        self._frames = frames

    def _set_statistics(self, mean: Any, variance: Any, count: float) -> None:
        mean, variance = _checked(mean, "mean", np.float64), _checked(variance, "variance", np.float64)
        if mean.ndim != 1 or mean.shape != variance.shape or (variance < 0.0).any():
            raise GodojoError(f"mean and variance must be [d] and not negative, not {mean.shape} and {variance.shape}")
        self.statistics = _running(mean.shape)
        self.statistics.mean, self.statistics.var, self.statistics.count = mean, variance, count

    def _prepared(self, rows: Array, training: bool) -> Array:
        """Normalised and clipped, [N, d]."""
        if self.normalize:
            if self.statistics is None:
                self.statistics = _running(rows.shape[1:])
            if self.statistics.mean.shape != rows.shape[1:]:
                raise GodojoError(f"an observation has {len(self.statistics.mean)} numbers, not {rows.shape[1]}")
            if training:
                self.statistics.update(rows.astype(np.float64))
            rows = (rows - self.statistics.mean) / np.sqrt(self.statistics.var + self.epsilon)
        return (rows if self.clip is None else rows.clip(-self.clip, self.clip)).astype(np.float32)

    def _pushed(self, rows: Any, frames: Array, begun: Array) -> Array:
        repeated = np.repeat(frames[:, None], self.frame_stack, axis=1)
        if self._frames is None or begun.all():
            return repeated
        stacked = np.concatenate([self._frames[rows][:, 1:], frames[:, None]], axis=1)
        return np.where(begun[:, None, None], repeated, stacked)

    def _flat(self, frames: Array, given: Array) -> Array:
        """A copy, of as many dimensions as were given."""
        return frames.reshape(*given.shape[:-1], -1).copy()


class ActionPostprocessor(_Processor):
    """Dead zone, smoothing and scale for actions from -1 to 1, in this order.

    Args:
        smoothing: From 0 (none) to below 1: the share of the last smoothed action in the next,
            `smoothing * last + (1 - smoothing) * action`. An episode starts from rest, 0.
        scale: Factor of the result, one or `[d]`; results stay from -1 to 1.
        dead_zone: Smaller numbers become 0; the rest of the range is stretched, so that nothing jumps.
    """

    def __init__(self, *, smoothing: float = 0.0, scale: Any = 1.0, dead_zone: float = 0.0) -> None:
        for name, value in (("smoothing", smoothing), ("dead_zone", dead_zone)):
            if not 0.0 <= value < 1.0:
                raise GodojoError(f"{name} must be from 0 to below 1, not {value}")
        self.smoothing, self.dead_zone = smoothing, dead_zone
        self.scale = _checked(scale, "scale")
        self._last: Array | None = None
        """The last smoothed actions, [N, d]."""

    def __call__(self, action: Any, starts: Any = None) -> Array:
        """The processed action, float32, of the same shape; `starts` as in `ObservationPreprocessor`: whether it is
        the first of an episode."""
        given = _checked(action, "action")
        rows = np.atleast_2d(given).clip(-1.0, 1.0)
        if self.dead_zone:
            beyond = np.maximum(np.abs(rows) - self.dead_zone, 0.0) / (1.0 - self.dead_zone)
            rows = np.sign(rows) * beyond
        if self._last is None or self._last.shape != rows.shape:
            self._last = np.zeros_like(rows)
        elif starts is not None:
            self._last[np.broadcast_to(np.asarray(starts, np.bool_), len(rows))] = 0.0
        self._last = self.smoothing * self._last + (1.0 - self.smoothing) * rows
        scaled = (self._last * self.scale).clip(-1.0, 1.0)
        return scaled.astype(np.float32).reshape(given.shape)

    def reset(self) -> None:
        """The next action is the first of an episode."""
        self._last = None

    def state(self) -> State:
        return {} if self._last is None else {"last": self._last.copy()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        last = None if "last" not in state else _checked(state["last"], "last")
        if last is not None and last.ndim != 2:
            raise GodojoError(f"its last actions have the shape {last.shape}")
        self._last = last


class PreprocessObservation(gymnasium.Wrapper[Array, Any, Array, Any]):
    """Observations of an environment through an `ObservationPreprocessor`; a reset starts the stack anew."""

    def __init__(self, env: gymnasium.Env[Array, Any], preprocessor: ObservationPreprocessor) -> None:
        super().__init__(env)
        self.preprocessor = preprocessor
        inner = env.observation_space
        if not isinstance(inner, Box) or len(inner.shape) != 1:
            raise GodojoError(f"only a Box [d] can be preprocessed, not {inner}")
        limit = np.inf if preprocessor.clip is None else preprocessor.clip
        self.observation_space = Box(-limit, limit, (inner.shape[0] * preprocessor.frame_stack,), np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self.preprocessor.reset()
        return self.preprocessor(observation), info

    def step(self, action: Any) -> tuple[Array, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self.preprocessor(observation), reward, terminated, truncated, info


class PostprocessAction(gymnasium.Wrapper[Any, Array, Any, Array]):
    """Actions of an environment through an `ActionPostprocessor`; a reset starts from rest."""

    def __init__(self, env: gymnasium.Env[Any, Array], postprocessor: ActionPostprocessor) -> None:
        super().__init__(env)
        if not isinstance(env.action_space, Box):
            raise GodojoError(f"only continuous actions can be postprocessed, not {env.action_space}")
        self.postprocessor = postprocessor

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        self.postprocessor.reset()
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Array) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        return self.env.step(self.postprocessor(action))


def _running(shape: tuple[int, ...]) -> Any:
    make: Any = RunningMeanStd  # untyped
    return make(shape=shape)


def _checked(values: Any, name: str, kind: Any = np.float32) -> Array:
    try:
        found = np.asarray(values, kind)
    except (TypeError, ValueError):
        raise GodojoError(f"{name} must be numbers, not {values!r}") from None
    if not np.isfinite(found).all():
        place = np.argwhere(~np.isfinite(found))[0].tolist()
        raise GodojoError(f"{name}{place} is {found[tuple(place)]}, not a finite number")
    return found


def _part(state: Mapping[str, Any], name: str) -> Any:
    if name not in state:
        raise GodojoError(f"it has no {name!r}")
    return state[name]
