"""`TwinWorlds`: many copies of a user's game, stepped together without Godot."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np

from godojo.bridge.messages import Ready
from godojo.engines.base import Worlds
from godojo.engines.godot.arrays import checked_seed, make_arrays
from godojo.errors import GodojoError, option
from godojo.files import atomic_write
from godojo.kernels.compile import CACHE_FOLDER
from godojo.twin.changing import TwinStopped
from godojo.twin.gdscript.compiled import _import as import_file
from godojo.twin.gdscript.program import Program
from godojo.twin.gdscript.runtime.chance import PythonRandom, seed
from godojo.twin.scene.pools import MOST_SLOTS
from godojo.twin.scene.snapshot import Snapshot
from godojo.twin.world.agents import DojoAgents, GodotRlAgents, Wire
from godojo.twin.world.dojo import with_native_agents, world_seed
from godojo.twin.world.dojo_tick import DojoTickWriter
from godojo.twin.world.layout import make_layout
from godojo.twin.world.pools import INSIDE
from godojo.twin.world.refs import ERROR_AT, ERRORS, OVERFLOW, POOL_FULL, STOPPED, RefClass
from godojo.twin.world.tables import NATIVE
from godojo.twin.world.tick import TickWriter

TWINS = CACHE_FOLDER.parent.parent / "twins"
"""Where the generated Python is kept, to be read."""
_MIX = 0x9E3779B97F4A7C15
_STEP, _BEGIN = 0, 1


class TwinWorlds(Worlds):
    """A game of the user's own, compiled.

    An instance of a godot_rl scene is a world for each agent if all agents have one policy, and one world otherwise, as
    `bridge/godot_rl.py` counts them. The first instance plays what the engine plays from the same snapshot and seed.
    """

    def __init__(
        self, snapshot: Snapshot, program: Program, num_worlds: int | None = None, folder: Path | None = None
    ) -> None:
        if program.refusals:
            path, line, reason = program.refusals[0]
            raise GodojoError(f"{path}:{line}: {reason}")
        snapshot = with_native_agents(snapshot)
        ready = msgspec.convert(snapshot.ready, Ready)
        self._per_instance = ready.worlds
        self._instances = max(-(-(num_worlds or ready.worlds) // ready.worlds), 1)
        self.num_worlds = self._instances * ready.worlds
        self.settings, self.godot_version = None, snapshot.godot_version
        self._snapshot, self._stops = snapshot, program.stops
        self.layout = make_layout(snapshot, program)
        is_dojo = snapshot.wire == "dojo"
        writer = (DojoTickWriter if is_dojo else TickWriter)(snapshot, program, self.layout)
        self.source = writer.module()
        self._module, self.path = _load(self.source, Path(snapshot.scene).stem, folder or TWINS)
        ready = msgspec.structs.replace(
            ready, ticks_per_decision=snapshot.action_repeat, ticks_per_second=snapshot.ticks_per_second
        )
        make_arrays(self, ready)
        self._wire: Wire = (DojoAgents if is_dojo else GodotRlAgents)(self, list(writer.roles()), self._instances)
        self._arrays = self._wire.arrays()
        self._rows = np.tile(self.layout.row, (self._instances, 1))
        self.layout.set_addresses(self._rows)

    def reset(self, seed: int) -> None:
        """The first instance begins as the snapshot does, with the engine's global generator seeded as by `seed()`; the
        others have random numbers of their own."""
        first = checked_seed(seed)
        self._rows[...] = self.layout.row
        self.layout.set_addresses(self._rows)
        for index in range(self._instances):
            state = seeded(first if index == 0 else (first + index * _MIX) % 2**64)
            self._rows[index, :8].view(np.uint64)[0] = state
            if index:
                self._reseed(index, first)
        self._wire.send(rests=True)
        self._call(_BEGIN)
        self._wire.begin()

    def _reseed(self, index: int, seed: int) -> None:
        """Gives an instance generators of its own, as DojoSync does it for its worlds."""
        chances = {agent.chance._offset for agent in self._agents(index)} if self._snapshot.wire == "dojo" else ()
        for at in self.layout.generators:
            state = self._rows[index, at : at + 8].view(np.uint64)
            if at in chances:
                state[0] = seeded(world_seed(seed, index))
            else:
                state[0] ^= seeded((seed + (index + 1) * _MIX) % 2**64)

    def _agents(self, index: int) -> list[Any]:
        agent = RefClass(NATIVE, "DojoAgent")
        return [agent.at(self._rows[index], self.layout.offsets[one.node]) for one in self._snapshot.agents]

    def _start(self) -> None:
        """Does nothing: the kernels use every core, so there is nothing to overlap."""

    def finish(self) -> None:
        self._wire.send()
        self._call(_STEP)
        self._wire.receive()

    def save_state(self) -> dict[str, np.ndarray]:
        state = {name: array.copy() for name, array in self._state().items()}
        self.layout.clear_addresses(state["rows"])
        return state

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        own = self._state()
        for name, array in own.items():
            given = state.get(name)
            if given is None or given.shape != array.shape or given.dtype != array.dtype:
                raise GodojoError(f"the saved state does not fit these worlds ({name} differs)")
        for name, array in own.items():
            array[...] = state[name]
        self.layout.set_addresses(self._rows)

    def _state(self) -> dict[str, np.ndarray]:
        return {"rows": self._rows, **self._wire.state()}

    # For the gate and for tests

    def body_positions(self, world: int) -> np.ndarray:
        """float32 [bodies, 3]: where the bodies of the snapshot are, in the instance of this world."""
        row = self._rows[world // self._per_instance]
        found = np.full((len(self._snapshot.bodies), 3), np.nan, np.float32)
        for place, node in enumerate(self._snapshot.bodies):
            if self.layout.offsets[node] >= 0 and self.layout.node(row, node).tree_bits & INSIDE:
                found[place] = self.layout.global_position(row, node)
        return found

    def check_room(self) -> None:
        """Raises if more than half of a pool was ever used: other play may need more than this."""
        record = RefClass(NATIVE, "NodePool")
        for number, pool in enumerate(self._snapshot.pools or ()):
            at = self.layout.pools_at + number * NATIVE["NodePool"].size
            most = max(int(record.at(row, at).most_used) for row in self._rows)
            if 2 * most > pool.slots > 1 and pool.slots < MOST_SLOTS:
                raise TwinStopped(f"{most} of {pool.slots} nodes of {pool.name} were used", pool=pool.name)

    def node(self, world: int, path: str) -> Any:
        """A node of a world: its members are attributes."""
        return self.layout.node(self._rows[world // self._per_instance], self._snapshot.node(path).index)

    def _call(self, mode: int) -> None:
        if self._module.run_worlds(self._rows, mode, *self._arrays) != 0:
            errors = self._rows[:, ERROR_AT : ERROR_AT + 4].view(np.int32)
            world = int(np.flatnonzero(errors)[0])
            raise self._stopped(world, int(errors[world, 0]))

    def _stopped(self, world: int, number: int) -> TwinStopped:
        advice, pool = f"; train it with {option('engine', 'godot')}", ""
        if number >= POOL_FULL:
            full = (self._snapshot.pools or [])[number - POOL_FULL]
            pool, reason = full.name, f"there are more than {full.slots} nodes of {full.name} at once{advice}"
        else:
            reason = ERRORS[number] if number < STOPPED else self._stops[number - STOPPED] + advice
        message = f"the twin of {self._snapshot.scene} stopped in instance {world}: {reason}"
        return TwinStopped(message, STOPPED <= number < POOL_FULL, pool, number == OVERFLOW)


def seeded(value: int) -> np.uint64:
    """The state of Godot's generator after `seed(value)`."""
    generator = PythonRandom()
    with np.errstate(over="ignore"):
        seed(generator, np.uint64(value))  # type: ignore[no-untyped-call]
    return generator.state


def _load(source: str, name: str, folder: Path) -> tuple[ModuleType, Path]:
    """The module of this source, and the file that it is kept in, to be read."""
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    path = folder / f"{name}_{digest}.py"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        atomic_write(path, source.encode())
    return import_file(f"godojo_twin_{name}_{digest}", path), path
