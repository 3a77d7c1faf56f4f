"""A contiguous subset of a batch's worlds, for a player that acts in those alone."""

import dataclasses
from typing import Any

import numpy as np

from godojo.engines.base import Worlds


class WorldsSubset(Worlds):
    """Views of the arrays of some worlds: to look at and to act in. The whole batch is what is stepped."""

    def __init__(self, whole: Worlds, which: slice) -> None:
        self._whole, self._which = whole, which
        self.describe_as(whole)
        self.num_worlds = which.stop - which.start
        for name in ("ended", "winner", "length_ticks", "arena"):
            setattr(self, name, getattr(whole, name)[which])
        self.roles = {
            name: dataclasses.replace(
                role,
                **{
                    field.name: getattr(role, field.name)[which]
                    for field in dataclasses.fields(role)
                    if isinstance(getattr(role, field.name), np.ndarray)
                },
            )
            for name, role in whole.roles.items()
        }

    def privileged(self) -> Any:
        """Of these worlds alone."""
        state = self._whole.privileged()
        return type(state)(*(each[self._which] if isinstance(each, np.ndarray) else each for each in state))

    def reset(self, seed: int) -> None:
        raise NotImplementedError("a part is reset with the whole")

    def _start(self) -> None:
        raise NotImplementedError("a part is stepped with the whole")

    def finish(self) -> None:
        raise NotImplementedError("a part is stepped with the whole")
