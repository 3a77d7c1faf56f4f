"""What every batch of worlds has to say to Stable-Baselines3 in the same words."""

from collections.abc import Iterable, Sequence
from typing import Any

from godojo.envs.spaces import checked_seed
from godojo.errors import GodojoError
from godojo.extras import missing

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise missing("sb3") from error

Indices = int | Iterable[int] | None


class BatchVecEnv(VecEnv):
    """A VecEnv whose worlds are one batch: they share their attributes, and have no methods of their own."""

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """One seed for all worlds, each of which has a random stream of its own; used by the next `reset`."""
        return super().seed(None if seed is None else checked_seed(seed))

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """All worlds share one set of attributes: those of this object."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        if indices is not None:
            raise GodojoError("all worlds share their attributes: leave indices away to set one for all")
        setattr(self, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *_: Any,
        indices: Indices = None,  # noqa: ARG002 (Stable-Baselines3's)
        **__: Any,
    ) -> list[Any]:
        raise GodojoError(f"the worlds of a batch have no methods of their own, so there is no {method_name!r} to call")

    def env_is_wrapped(
        self,
        wrapper_class: type[Any],  # noqa: ARG002 (Stable-Baselines3's)
        indices: Indices = None,
    ) -> list[bool]:
        """Never: wrap the whole, as in VecMonitor(env)."""
        return [False for _ in self._get_indices(indices)]
