"""The statistics of VecNormalize beside a model of Stable-Baselines3, read without running code."""

import io
import math
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from godojo.errors import GodojoError
from godojo.files import TRAILER
from godojo.learn.networks import NORMALISED_LIMIT, VARIANCE_FLOOR

MAX_BYTES = 256 * 2**20
_NUMBERED = re.compile(r"(.+)_(\d+)_steps")


@dataclass(frozen=True)
class Moments:
    """Of a running mean."""

    mean: np.ndarray
    var: np.ndarray
    count: float


class Normalization(NamedTuple):
    """What VecNormalize does, under its own names."""

    obs: Moments | None
    """None without `norm_obs`."""
    ret: Moments
    norm_obs: bool = True
    norm_reward: bool = True
    clip_obs: float = NORMALISED_LIMIT
    epsilon: float = VARIANCE_FLOOR


def statistics_name(name: str) -> str:
    """The statistics of a zip, by their names without suffix, as Stable-Baselines3's CheckpointCallback has them."""
    numbered = _NUMBERED.fullmatch(name)
    return f"{numbered[1]}_vecnormalize_{numbered[2]}_steps" if numbered else f"{name}_vecnormalize"


def statistics_file(path: Path) -> Path | None:
    """The statistics beside a zip, if there are any."""
    names = (statistics_name(path.stem), f"{path.stem}_normalize", "vecnormalize", "vec_normalize")
    return next((found for name in names if (found := path.parent / f"{name}.pkl").is_file()), None)


def read_normalization(path: Path) -> Normalization:
    """Reads a `VecNormalize.save`, without making a VecNormalize of it."""
    try:
        with path.open("rb") as file:
            if file.seek(0, io.SEEK_END) > MAX_BYTES:
                raise GodojoError(f"{path} is larger than statistics are")
            TRAILER.check(file)
            file.seek(0)
            state = vars(_ArraysOnly(file).load())
        norm_obs, norm_reward = bool(state["norm_obs"]), bool(state["norm_reward"])
        found = Normalization(
            obs=_moments(vars(state["obs_rms"])) if norm_obs else None,
            ret=_moments(vars(state["ret_rms"])),
            norm_obs=norm_obs,
            norm_reward=norm_reward,
            clip_obs=float(state["clip_obs"]),
            epsilon=float(state["epsilon"]),
        )
        if found.ret.mean.shape != () or not 0.0 < found.clip_obs < math.inf or not 0.0 <= found.epsilon < math.inf:
            raise ValueError("its numbers are out of range")
        return found
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None
    except GodojoError:
        raise
    except Exception as error:  # pickle raises nearly anything on what is damaged
        why = " ".join(str(error).split())[:160]
        raise GodojoError(
            f"{path} holds no statistics of VecNormalize ({why}); restore it, or move it away to go on without"
        ) from None


def _moments(kept: Mapping[str, Any]) -> Moments:
    mean, var = np.asarray(kept["mean"], np.float64), np.asarray(kept["var"], np.float64)
    count = float(kept["count"])
    is_finite = np.isfinite(mean).all() and np.isfinite(var).all() and math.isfinite(count)
    if mean.shape != var.shape or not is_finite or not (var >= 0.0).all() or count <= 0.0:
        raise ValueError("there is no mean and variance")
    return Moments(mean, var, count)


class _Inert:
    """Stands for an object of any class: keeps what it is given, and does nothing."""

    def __new__(cls, *_: Any, **__: Any) -> "_Inert":
        return super().__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            vars(self).update(state)

    def append(self, _: Any) -> None: ...

    def extend(self, _: Any) -> None: ...

    def __setitem__(self, *_: Any) -> None: ...


class _ArraysOnly(pickle.Unpickler):
    """Makes NumPy arrays and numbers; everything else becomes `_Inert`, whatever the file asks for."""

    _MODULES = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric")
    _NAMES = ("ndarray", "dtype", "_reconstruct", "scalar", "_frombuffer")

    def find_class(self, module: str, name: str) -> Any:
        if module in self._MODULES and name in self._NAMES:
            return super().find_class(module, name)
        return _Inert
