"""Games that change their tree while they run: which pools of nodes they need, and how large these are.

A game is compiled without pools first: many only seem to make nodes, in code that runs while they start. A twin that
reaches such code stops, and is compiled again with pools; one whose pool is used up gets a larger one.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from godojo.errors import GodojoError
from godojo.twin.gdscript.connections import connect_templates
from godojo.twin.gdscript.program import Program, compile_program
from godojo.twin.scene.pools import MOST_SLOTS, default_slots, with_pools
from godojo.twin.scene.snapshot import Snapshot

Read = Callable[[str], str]
_MOST_ITEMS = 4096
_GROWTH = 4
"""How much larger a pool gets that is used up: a policy may need more than random play does."""


def as_built(built: Snapshot, fresh: Snapshot, read: Read) -> Snapshot:
    """A snapshot of the same game with the pools of a twin that was built."""
    fresh = msgspec.structs.replace(fresh, array_room=built.array_room)
    if built.pools is None:
        return fresh
    return with_pools(connect_templates(fresh, read), {one.name: one.slots for one in built.pools})


class TwinStopped(GodojoError):
    """A twin that reached what it cannot do."""

    def __init__(self, message: str, is_change: bool = False, pool: str = "", is_array: bool = False) -> None:
        super().__init__(message)
        self.is_change = is_change
        """Whether a script changes the tree."""
        self.pool = pool
        """The template whose pool has no instance left."""
        self.is_array = is_array
        """Whether an array has no room left."""


def compile_game(snapshot: Snapshot, read: Read) -> tuple[Snapshot, Program]:
    """The program of a game, with pools if it changes its tree for certain, or if the snapshot has them."""
    program = compile_program(snapshot, read)
    if snapshot.pools is None and program.stops and program.refusals:
        changing, other = compile_changing(snapshot, read)
        if len(other.refusals) < len(program.refusals) or not other.refusals:
            return changing, other
    return snapshot, program


def compile_changing(snapshot: Snapshot, read: Read) -> tuple[Snapshot, Program]:
    """The same with a pool for everything that scripts make."""
    snapshot = connect_templates(snapshot, read)
    every = with_pools(snapshot, {one.name: 1 for one in snapshot.templates})
    program = compile_program(every, read)
    wanted = {one.name: default_slots(one) for one in snapshot.templates if one.name in program.made}
    wanted |= {one.name: 1 for one in snapshot.templates if one.name in program.seen}
    found = with_pools(snapshot, wanted)
    return found, compile_program(found, read)


def with_room_for(snapshot: Snapshot, fresh: Snapshot, read: Read, stopped: TwinStopped) -> tuple[Snapshot, Program]:
    """A game whose twin has stopped, with pools, or with a larger one; raises why it stopped if that does not help.

    `fresh` is the same snapshot as the engine has it.
    """
    if stopped.is_array and snapshot.array_room < _MOST_ITEMS:
        roomy = msgspec.structs.replace(snapshot, array_room=_GROWTH * snapshot.array_room)
        return roomy, compile_program(roomy, read)
    fresh = msgspec.structs.replace(fresh, array_room=snapshot.array_room)
    if snapshot.pools is None and stopped.is_change:
        return compile_changing(fresh, read)
    sizes = {one.name: one.slots for one in snapshot.pools or ()}
    if stopped.pool not in sizes or sizes[stopped.pool] >= MOST_SLOTS:
        raise stopped
    sizes[stopped.pool] = min(_GROWTH * sizes[stopped.pool], MOST_SLOTS)
    found = with_pools(connect_templates(fresh, read), sizes)
    return found, compile_program(found, read)
