"""The embedded engine on a GPU: torch tensors that kernels write in place.

`DeviceWorlds` has the names of the contract (`engines/base.py`), with tensors on the GPU in place of arrays. Learners
that take arrays play on the CPU.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from godojo.engines.sim import Twin
from godojo.errors import GodojoError, unknown
from godojo.games.parts import ActionPart, Heading, ObservationPart
from godojo.kernels import cuda as kernels
from godojo.kernels.random import seed_streams


class OnDevice(Protocol):
    """A game's rules and arrays for a GPU, such as `games/tag/sim/device.py`.

    Arrays are passed in this order: constants, state, actions (to `step`), scratch, results (all of them to `step`, the
    observation to `begin`).
    """

    twin: Twin
    step: Callable[..., None]
    """One decision of the world whose number comes first."""
    begin: Callable[..., None]
    constants: dict[str, np.ndarray]
    state: dict[str, np.ndarray]
    streams: str
    """The array of `state` whose records have the worlds' random streams."""
    scratch: dict[str, np.ndarray]
    """One piece a world."""
    results: dict[str, np.ndarray]


class RoleTensors(NamedTuple):
    """The tensors of one role, as `RoleArrays` documents them."""

    name: str
    observation: Tensor
    action: Tensor
    reward: Tensor
    terms: Tensor
    acted: Tensor
    terminated: Tensor
    truncated: Tensor
    final_observation: Tensor
    final_terms: Tensor
    final_score: Tensor
    observation_parts: tuple[ObservationPart, ...]
    action_parts: tuple[ActionPart, ...]
    heading: Heading | None


class DeviceWorlds:
    """Many copies of a twin on a GPU."""

    game = ""

    def __init__(self, game: OnDevice) -> None:
        self._cuda, self._game, twin = kernels.load(), game, game.twin
        self.twin, self.num_worlds, self.settings = twin, twin.num_worlds, twin.settings
        self.ticks_per_decision, self.ticks_per_second = twin.ticks_per_decision, twin.settings.ticks_per_second
        self.reward_terms, self.winners, self.arena_names = twin.reward_terms, twin.winners, twin.arena_names
        self.device = torch.device("cpu" if kernels.IS_SIMULATED else "cuda")
        own = game.constants | game.state | game.scratch
        arrays = game.results | {"actions": twin.actions}
        self.memory_bytes = sum(array.nbytes for array in (own | arrays).values())
        """On the GPU."""
        try:
            self._tensors = {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}
            self._own = {name: self._cuda.to_device(np.ascontiguousarray(array)) for name, array in own.items()}
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise self._too_many() from error
        except Exception as error:  # Numba's driver has an error of its own for it
            raise self._too_many() if "OUT_OF_MEMORY" in str(error) else error from error
        views = {name: self._view(tensor) for name, tensor in self._tensors.items()}
        have = self._own | views
        records = [have[name] for name in (*game.constants, *game.state)]
        scratch = [have[name] for name in game.scratch]
        self._step_arrays = [*records, have["actions"], *scratch, *(have[name] for name in game.results)]
        self._begin_arrays = [*records, *scratch, have["observation"]]
        compiler = kernels.Compiler(self._cuda)
        self._step = kernels.Launcher(self._cuda, compiler, game.step)
        self._begin = kernels.Launcher(self._cuda, compiler, game.begin)
        self.ended, self.winner = self._tensors["ended"], self._tensors["winner"]
        self.length_ticks, self.arena = self._tensors["length_ticks"], self._tensors["arena"]
        self.roles: Mapping[str, RoleTensors] = MappingProxyType({role.name: self._role(role) for role in twin.roles})

    def _too_many(self) -> GodojoError:
        each = self.memory_bytes // self.num_worlds
        return GodojoError(f"{self.num_worlds} worlds of {each:,} bytes do not fit into the GPU: lower num_worlds")

    def _view(self, tensor: Tensor) -> Any:
        """The same memory for kernels."""
        return tensor.numpy() if kernels.IS_SIMULATED else self._cuda.as_cuda_array(tensor)

    def _role(self, role: Any) -> RoleTensors:
        rows = slice(role.first * self.num_worlds, (role.first + role.agents) * self.num_worlds)

        def part(name: str) -> Tensor:
            tensor = self._tensors[name]
            return tensor[rows].view(self.num_worlds, role.agents, *tensor.shape[1:])

        named: dict[str, Any] = {name: part(name) for name in RoleTensors._fields if name in self._tensors}
        named |= {"observation_parts": role.observation_parts, "action_parts": role.action_parts}
        return RoleTensors(name=role.name, action=part("actions"), heading=role.heading, **named)

    def reset(self, seed: int) -> None:
        """Start a round in every world; the same seed as on the CPU starts the same rounds."""
        for name, array in self._game.state.items():
            fresh = np.zeros_like(array)
            if name == self._game.streams:
                seed_streams(fresh, seed)
            self._own[name].copy_to_device(fresh)
        for name in ("ended", "terminated", "truncated"):
            self._tensors[name].zero_()
        self._begin(self.num_worlds, self._begin_arrays)

    def step(self, actions: Mapping[str, Tensor] | None = None) -> None:
        """One decision in every world by `roles[...].action`, or by these actions."""
        for name, action in (actions or {}).items():
            if name not in self.roles:
                raise unknown("role", name, self.roles)
            self.roles[name].action.copy_(action)
        self._step(self.num_worlds, self._step_arrays)

    def synchronize(self) -> None:
        """Wait until the GPU has finished."""
        if not kernels.IS_SIMULATED:
            self._cuda.synchronize()

    def save_state(self) -> dict[str, np.ndarray]:
        """As `SimWorlds.save_state`; either loads the other's."""
        found = {name: self._own[name].copy_to_host() for name in self._game.state}
        return found | {"observation": self._tensors["observation"].cpu().numpy().copy()}

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        own = self.twin.state()
        for name, array in own.items():
            given = state.get(name)
            if given is None or given.shape != array.shape or given.dtype != array.dtype:
                raise GodojoError(f"the saved state does not fit these worlds ({name} differs)")
        for name in self._game.state:
            self._own[name].copy_to_device(np.ascontiguousarray(state[name]))
        self._tensors["observation"].copy_(torch.from_numpy(state["observation"]))

    def close(self) -> None:
        """Does nothing: memory goes back when it is collected."""
