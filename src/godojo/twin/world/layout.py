"""The memory of a world: where each node is in a row, and the row that every world begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from godojo.errors import GodojoError
from godojo.twin.gdscript.program import Program, capacity_for
from godojo.twin.physics.engines import JOLT
from godojo.twin.physics.space import AREA, REMOVED, STATIC, Statics
from godojo.twin.scene.pools import pool_of
from godojo.twin.scene.snapshot import NodeInfo, Snapshot, Value, can_process
from godojo.twin.world.api import ancestors, is_ignored
from godojo.twin.world.bodies import (
    body_nodes,
    fill_character,
    has_flat_bodies,
    physics_of,
    refuse_unknown,
    wheel_nodes,
)
from godojo.twin.world.calls import ENTRIES
from godojo.twin.world.calls_2d import ENTRY_2D
from godojo.twin.world.classes import ADDRESSES, PARTICLES
from godojo.twin.world.entries import NO_ENTRY
from godojo.twin.world.links import link_nodes
from godojo.twin.world.refs import Ref, RefClass
from godojo.twin.world.rigid_calls import RIGID_ENTRIES
from godojo.twin.world.scene_2d import SHAPES as SHAPES_2D
from godojo.twin.world.scene_2d import fill_character_2d, gravity_of_2d
from godojo.twin.world.tables import NATIVE, ClassTable, size_of

_PACKED = {
    "PackedFloat32Array": "Array[float32]",
    "PackedFloat64Array": "Array[float]",
    "PackedInt32Array": "Array[int32]",
    "PackedInt64Array": "Array[int]",
    "PackedByteArray": "Array[uint8]",
    "PackedVector2Array": "Array[Vector2]",
    "PackedVector3Array": "Array[Vector3]",
}
_INCREMENT = np.uint64((1442695040888963407 << 1 | 1) & (2**64 - 1))
PHYSICS, PROCESS = 1, 2
"""Flags of nodes: whether their `_physics_process` and `_process` are called."""
WORLD = RefClass(NATIVE, "World")


@dataclass
class WorldLayout:
    """Where everything is in a row, and the row of a world that has just begun."""

    table: ClassTable
    offsets: list[int]
    """By node of the snapshot; -1 for nodes that only draw or sound."""
    row: np.ndarray
    """uint8: the first row."""
    statics: Statics
    generators: list[int]
    """Where records of RandomNumberGenerator are."""
    classes: list[str]
    """The class of each node."""
    engine: str
    """The physics engine."""
    is_flat: bool = False
    """Whether its bodies are 2D."""
    has_rigid: bool = False
    """Whether some of them are rigid."""
    pools_at: int = 0
    """Where the records of pools begin."""

    def node(self, row: np.ndarray, index: int) -> Ref:
        """A node of the snapshot in a row, for plain Python."""
        return RefClass(self.table, self.classes[index]).at(row, self.offsets[index])

    def global_position(self, row: np.ndarray, index: int) -> np.ndarray:
        """Where a node is: float32 [3]; NaN if it is nowhere."""
        if "Node2D" in self.table.lineage(self.classes[index]):
            return self._global_position_2d(row, index)
        where = np.zeros(3, np.float64)
        offset = self.offsets[index]
        node = NATIVE["Node3D"].by_name
        if "Node3D" not in self.table.lineage(self.classes[index]):
            return np.full(3, np.nan, np.float32)
        while offset >= 0:
            at = offset + node["basis"].offset
            numbers = row[at : at + 48].view(np.float32).astype(np.float64)
            where = numbers[:9].reshape(3, 3) @ where + numbers[9:]
            at = offset + node["parent_3d"].offset
            offset = -1 if row[offset + node["top_level"].offset] else int(row[at : at + 4].view(np.int32)[0])
        return where.astype(np.float32)

    def _global_position_2d(self, row: np.ndarray, index: int) -> np.ndarray:
        where, offset, node = np.zeros(2), self.offsets[index], NATIVE["Node2D"].by_name
        while offset >= 0:
            at = offset + node["transform"].offset
            x, y, origin = row[at : at + 24].view(np.float32).astype(np.float64).reshape(3, 2)
            where = x * where[0] + y * where[1] + origin
            at = offset + node["parent_2d"].offset
            offset = -1 if row[offset + node["top_level"].offset] else int(row[at : at + 4].view(np.int32)[0])
        return np.array([*where, 0.0], np.float32)

    def clear_addresses(self, rows: np.ndarray) -> None:
        """Rows without what differs from process to process."""
        for name in ADDRESSES:
            field = self.table["World"].by_name[name]
            rows[:, field.offset : field.offset + 8] = 0

    def set_addresses(self, rows: np.ndarray) -> None:
        """Writes where this process has the shared arrays, and the physics' functions, into every row."""
        has_bodies = body_nodes_count(self.row) > 0
        entry = ENTRY_2D if self.is_flat else ENTRIES.get(self.engine, ENTRIES[JOLT])
        calls = entry.address if has_bodies else NO_ENTRY
        is_rigid = self.has_rigid and not self.is_flat
        rigid_calls = RIGID_ENTRIES.get(self.engine, RIGID_ENTRIES[JOLT]).address if is_rigid else NO_ENTRY
        for name in ADDRESSES:
            field = self.table["World"].by_name[name]
            others = {"calls_at": calls, "rigid_calls_at": rigid_calls, "pristine_at": self.row}
            array: np.ndarray = others[name] if name in others else getattr(self.statics, name.removesuffix("_at"))
            rows[:, field.offset : field.offset + 8] = np.frombuffer(np.int64(array.ctypes.data).tobytes(), np.uint8)


def make_layout(snapshot: Snapshot, program: Program) -> WorldLayout:
    """The layout of a game's worlds."""
    refuse_unknown(snapshot)
    kept = _kept(snapshot, program)
    table = _table(snapshot, program)
    classes = [table[program.class_of[node.index] or node.native_class].name for node in snapshot.nodes]
    # Behind the world's fields is a record for null (`ref_types.DEAD_AT`).
    at, offsets = table["World"].size + table.largest, [-1] * len(snapshot.nodes)
    for node in snapshot.nodes:
        if kept[node.index]:
            offsets[node.index] = at
            at += table[classes[node.index]].size
    generators: dict[int, int] = {}
    for index, resource in enumerate(snapshot.resources):
        if resource.class_name == "RandomNumberGenerator":
            generators[index] = at
            at += table["RandomNumberGenerator"].size
    pools_at = at
    at += table["NodePool"].size * len(snapshot.pools or ())
    statics, space = physics_of(snapshot)
    at = -(-at // 64) * 64
    space_at, at = at, at + space.dtype.itemsize
    nodes = body_nodes(snapshot)
    nodes_at, at = at, at + 4 * len(nodes)
    row = np.zeros(-(-at // 64) * 64, np.uint8)
    is_flat, engine = has_flat_bodies(snapshot), snapshot.physics_engine
    layout = WorldLayout(table, offsets, row, statics, list(generators.values()), classes, engine, is_flat)
    writer = _Writer(snapshot, program, layout, generators)
    writer.write_nodes()
    layout.has_rigid = any(_is_rigid(snapshot.nodes[node]) for node in nodes)
    layout.pools_at = pools_at
    link_nodes(layout, snapshot, pools_at)
    _take_out_disabled(layout, snapshot, space)
    if not is_flat:
        _link_wheels(layout, snapshot, space)
    row[space_at : space_at + space.dtype.itemsize] = space.view(np.uint8)
    row[nodes_at : nodes_at + 4 * len(nodes)].view(np.int32)[:] = [offsets[node] for node in nodes]
    _write_world(layout, snapshot, space_at, space.dtype, nodes_at)
    return layout


def _take_out_disabled(layout: WorldLayout, snapshot: Snapshot, space: np.ndarray) -> None:
    """Notes what each body is while its node is active and while it is disabled, and begins accordingly."""
    exits = {one.source for one in snapshot.connections if one.signal.endswith("_exited")}
    for index, node in enumerate(body_nodes(snapshot)):
        if layout.offsets[node] < 0:
            continue
        record, info = space[0]["bodies"][index], snapshot.nodes[node]
        mode = int(info.properties.get("disable_mode", ["int", 0])[1])
        body = RefClass(NATIVE, "CollisionObject2D" if layout.is_flat else "CollisionObject3D").at(
            layout.row, layout.offsets[node]
        )
        body.active_kind, body.has_exits = record["kind"], node in exits
        body.disabled_kind = (REMOVED, STATIC if record["kind"] != AREA else AREA, record["kind"])[mode]
        if pool_of(snapshot, node) is not None:
            record["kind"] = REMOVED
            first, count = (int(record["first_shape"]), int(record["shape_count"])) if layout.is_flat else (index, 1)
            low, high = np.split(space[0]["bounds"][:, first : first + count], 2)
            low[...], high[...] = np.inf, -np.inf  # nothing meets it
        elif not can_process(snapshot, info):
            record["kind"] = body.disabled_kind


def _is_rigid(node: NodeInfo) -> bool:
    return not {"RigidBody3D", "RigidBody2D"}.isdisjoint(ancestors(node.native_class))


def _link_wheels(layout: WorldLayout, snapshot: Snapshot, space: np.ndarray) -> None:
    """Lets vehicles know their wheels, wheels their places in the physics, and these the nodes."""
    wheels, place = space[0]["wheels"], 0
    for node in body_nodes(snapshot):
        first = place
        for child in wheel_nodes(snapshot, snapshot.nodes[node]):
            wheels[place]["node"] = layout.offsets[child.index]
            if layout.offsets[child.index] >= 0:
                RefClass(NATIVE, "VehicleWheel3D").at(layout.row, layout.offsets[child.index]).wheel = place
            place += 1
        if place > first and layout.offsets[node] >= 0:
            vehicle = RefClass(NATIVE, "VehicleBody3D").at(layout.row, layout.offsets[node])
            vehicle.first_wheel, vehicle.end_wheel = first, place


def body_nodes_count(row: np.ndarray) -> int:
    """How many bodies a world has."""
    return int(WORLD.at(row, 0).body_count)


def _write_world(layout: WorldLayout, snapshot: Snapshot, space_at: int, dtype: np.dtype, nodes_at: int) -> None:
    world = WORLD.at(layout.row, 0)
    world.increment = _INCREMENT
    world.body_nodes_at = nodes_at
    world.body_count = len(body_nodes(snapshot))
    world.ticks_per_second = snapshot.ticks_per_second
    world.delta = 1.0 / snapshot.ticks_per_second
    field = NATIVE["World"].by_name["gravity"].offset
    layout.row[field : field + 12].view(np.float32)[:] = gravity_of_2d(snapshot) if layout.is_flat else snapshot.gravity
    for name, array in layout.statics._asdict().items():
        setattr(world, f"{name}_count", len(array))
    for name, (kind, offset, *_) in (dtype.fields or {}).items():
        setattr(world, f"{name}_at", space_at + offset)
        setattr(world, f"{name}_count", (kind.subdtype or (kind, (1,)))[1][-1])


def _kept(snapshot: Snapshot, program: Program) -> list[bool]:
    """Nodes without a script that only draw, and have nothing but such below them, are left out."""
    kept = [False] * len(snapshot.nodes)
    for node in reversed(snapshot.nodes):
        cls = program.class_of[node.index]
        if node.script is not None or cls in program.kept or (cls and not is_ignored(node.native_class)):
            kept[node.index] = True
        if kept[node.index] and node.parent >= 0:
            kept[node.parent] = True
    for pool in snapshot.pools or ():
        for root in range(pool.first, pool.first + pool.size * (pool.slots + 1), pool.size):
            kept[root] = True
        kept[snapshot.nodes[pool.first].parent] = True
    return kept


def _table(snapshot: Snapshot, program: Program) -> ClassTable:
    longest: dict[tuple[str, str], int] = {}
    for node in snapshot.nodes:
        cls = program.class_of[node.index]
        while cls in program.classes:
            layout = program.classes[cls]
            for name in layout.members:
                value = _live(node, program, layout.sources.get(name, name), name)
                count = len(value[1]) if value is not None and len(value) > 1 and isinstance(value[1], list) else 0
                longest[cls, name] = max(longest.get((cls, name), 0), count)
            cls = layout.base
    classes = {
        name: (
            layout.base,
            {
                member: _stored(text, longest.get((name, member), 0), snapshot.array_room)
                for member, text in layout.members.items()
            },
        )
        for name, layout in program.classes.items()
    }
    return ClassTable(classes)


def _stored(text: str, longest: int, room: int) -> str:
    """The type of a member as records keep it."""
    text = _PACKED.get(text, text)
    if text.startswith("Array["):
        return f"{text}:{capacity_for(longest, room)}"
    return "Ref[RandomNumberGenerator]" if text == "RandomNumberGenerator" else text


def _live(node: NodeInfo, program: Program, source: str, name: str) -> Value | None:
    return program.initial.get(node.index, {}).get(name, node.members.get(source))


class _Writer:
    """Writes the snapshot's values into the first row."""

    def __init__(
        self, snapshot: Snapshot, program: Program, layout: WorldLayout, generators: Mapping[int, int]
    ) -> None:
        self._snapshot, self._program, self._layout, self._generators = snapshot, program, layout, generators
        self._texts = {text: index for index, text in enumerate(program.strings)}

    def write_nodes(self) -> None:
        layout, nodes, row = self._layout, self._snapshot.nodes, self._layout.row
        bodies = body_nodes(self._snapshot)
        ends = _subtree_ends(nodes)
        first = np.searchsorted(bodies, range(len(nodes) + 1))
        for node in nodes:
            offset = layout.offsets[node.index]
            if offset < 0:
                continue
            ref = layout.node(row, node.index)
            ref.class_id = self._program.class_ids.get(self._program.class_of[node.index] or "", -1)
            _set(
                row,
                offset,
                NATIVE["Node"].by_name["parent"].offset,
                layout.offsets[node.parent] if node.parent >= 0 else -1,
            )
            native = RefClass(NATIVE, "Node").at(row, offset)
            native.node_index = node.index
            native.subtree_end = ends[node.index]
            native.first_body, native.end_body = first[node.index], first[ends[node.index]]
            native.flags = PHYSICS * node.physics_process | PROCESS * node.process
            native.process_mode_field = node.process_mode
            self._write_properties(node, offset, bodies)
            self._write_members(node, offset)
        for index, at in self._generators.items():
            state = self._snapshot.resources[index].properties.get("state", ["int", 0])[1]
            generator = RefClass(NATIVE, "RandomNumberGenerator").at(row, at)
            generator.state, generator.increment = np.uint64(state & (2**64 - 1)), _INCREMENT

    def _write_properties(self, node: NodeInfo, offset: int, bodies: list[int]) -> None:
        layout, row = self._layout, self._layout.row
        cls = node.native_class if node.native_class in NATIVE.classes else NATIVE[node.native_class].name
        fields = NATIVE[cls].by_name
        lineage = NATIVE.lineage(cls)
        for name, value in node.properties.items():
            if name in fields and name not in ("basis", "position", "scale") and fields[name].type[:5] != "bytes":
                self._write(f"{node.path}.{name}", row, offset + fields[name].offset, fields[name].type, value)
        if "Node3D" in lineage:
            node_3d = RefClass(NATIVE, "Node3D").at(row, offset)
            node_3d.version = 1
            node_3d.dirty = 1  # rotation and scale are read from the basis when they are asked for
            parent = node.parent
            is_child = (
                parent >= 0 and "transform" in self._snapshot.nodes[parent].properties and layout.offsets[parent] >= 0
            )
            _set(row, offset, fields["parent_3d"].offset, layout.offsets[parent] if is_child else -1)
        if "Node2D" in lineage:
            self._write_node_2d(node, offset)
        if node.index in bodies:
            _set(row, offset, NATIVE[cls].by_name["body"].offset, bodies.index(node.index))
        if "CharacterBody3D" in lineage:
            fill_character(node, row, offset + fields["character"].offset)
        if "CharacterBody2D" in lineage:
            fill_character_2d(node, row, offset + fields["character"].offset)
        if "hit_node" in fields:  # a RayCast3D or RayCast2D
            _set(row, offset, fields["hit_node"].offset, -1)
            parent_body = bodies.index(node.parent) if node.parent in bodies else -1
            _set(row, offset, fields["parent_body"].offset, parent_body)
        if "shape_body" in fields:
            kinds = SHAPES_2D if "Node2D" in lineage else ("CollisionShape3D",)
            before = self._snapshot.nodes[node.parent : node.index]
            place = sum(one.parent == node.parent and one.native_class in kinds for one in before)
            shape_body = bodies.index(node.parent) if node.parent in bodies else -1
            _set(row, offset, fields["shape_body"].offset, shape_body)
            _set(row, offset, fields["shape_index"].offset, place)
        if "Timer" in lineage:
            timer = RefClass(NATIVE, "Timer").at(row, offset)
            timer.is_running = bool(timer.time_left > 0.0)
        if cls in PARTICLES and "emitting" in node.properties:
            self._write(node.path, row, offset + fields["emitting_field"].offset, "bool", node.properties["emitting"])
        if "DojoAgent" in lineage:
            self._write_agent(node, offset)
        if "RigidBody3D" in lineage or "RigidBody2D" in lineage:
            for name in ("linear_velocity", "angular_velocity", "mass", "sleeping", "freeze"):
                if name in node.properties:
                    field = fields[f"{name}_field"]
                    self._write(f"{node.path}.{name}", row, offset + field.offset, field.type, node.properties[name])
        if "VehicleBody3D" in lineage:
            for name in ("engine_force", "brake", "steering"):
                if name in node.properties:
                    field = fields[f"{name}_field"]
                    self._write(f"{node.path}.{name}", row, offset + field.offset, field.type, node.properties[name])

    def _write_node_2d(self, node: NodeInfo, offset: int) -> None:
        layout, fields = self._layout, NATIVE["Node2D"].by_name
        ref = RefClass(NATIVE, "Node2D").at(layout.row, offset)
        names = [name for name in ("rotation", "scale", "skew") if name in node.properties]
        for name in names:
            field = fields[f"{name}_field"]
            self._write(f"{node.path}.{name}", layout.row, offset + field.offset, field.type, node.properties[name])
        ref.dirty = int(len(names) < 3)  # else they are read from the transform when they are asked for
        parent = node.parent
        kind = NATIVE[self._snapshot.nodes[parent].native_class].name if parent >= 0 else "Node"
        is_child = "Node2D" in NATIVE.lineage(kind) and layout.offsets[parent] >= 0
        _set(layout.row, offset, fields["parent_2d"].offset, layout.offsets[parent] if is_child else -1)

    def _write_agent(self, node: NodeInfo, offset: int) -> None:
        fields, row, given = NATIVE["DojoAgent"].by_name, self._layout.row, node.members
        for name in ("ends_world", "max_ticks", "score", "chance"):
            self._write(f"{node.path}.{name}", row, offset + fields[name].offset, fields[name].type, given[name])
        terms: list[str] = given["reward_terms"][1]
        known = list(self._snapshot.ready["reward_terms"])
        numbers = {
            "reward": [["float", 0.0]] * len(terms),
            "total": [["float", 0.0]] * len(terms),
            "terms": [["int", self._texts.get(term, -2)] for term in terms],
            "columns": [["int", known.index(term)] for term in terms],
        }
        for name, items in numbers.items():
            self._write(f"{node.path}.{name}", row, offset + fields[name].offset, fields[name].type, ["Array", items])

    def _write_members(self, node: NodeInfo, offset: int) -> None:
        cls = self._program.class_of[node.index]
        while cls in self._program.classes:
            layout = self._program.classes[cls]
            fields = self._layout.table[cls].by_name
            for name in layout.members:
                source = layout.sources.get(name, name)
                value = _live(node, self._program, source, name)
                if value is not None:
                    where = f"{node.path}.{source}"
                    self._write(where, self._layout.row, offset + fields[name].offset, fields[name].type, value)
            cls = layout.base

    def _write(self, where: str, row: np.ndarray, at: int, text: str, value: Value) -> None:
        try:
            self._write_value(row, at, text, value)
        except (TypeError, ValueError, IndexError) as error:
            raise GodojoError(f"{where}: a twin cannot begin with {value[0]} in a {text} ({error})") from None

    def _write_value(self, row: np.ndarray, at: int, text: str, value: Value) -> None:
        kind = value[0]
        size = size_of(text)[0]
        if text.startswith("Array["):
            self._write_array(row, at, text, value)
        elif text.startswith("Ref["):
            row[at : at + 4].view(np.int32)[0] = self._offset_of(value)
        elif text == "String":
            row[at : at + 8].view(np.int64)[0] = self._texts.get(value[1], -1) if kind == "String" else -1
        elif kind in ("bool", "int", "float"):
            kinds = {"bool": np.uint8, "int": np.int64, "float": np.float64, "float32": np.float32, "int32": np.int32}
            kinds |= {"uint32": np.uint32, "uint8": np.uint8, "uint64": np.uint64}
            row[at : at + size].view(kinds[text])[0] = value[1]
        elif kind != "null":
            numbers = value[1]
            if kind in ("Basis", "Transform3D"):  # columns to rows
                numbers = [numbers[i] for i in (0, 3, 6, 1, 4, 7, 2, 5, 8, *range(9, len(numbers)))]
            row[at : at + size].view(np.int32 if text.endswith("i") else np.float32)[:] = numbers

    def _write_array(self, row: np.ndarray, at: int, text: str, value: Value) -> None:
        element, _, _ = text[6:].rpartition("]:")
        stride = size_of(element)[0]
        items: list[Any] = value[1] if len(value) > 1 else []
        if value[0].startswith("Packed"):
            width = {"Vector2": 2, "Vector3": 3}.get(element, 1)
            items = [items[i] if width == 1 else items[i : i + width] for i in range(0, len(items), width)]
            kind = element if width > 1 else ("float" if element.startswith("float") else "int")
            items = [[kind, item] for item in items]
        row[at : at + 4].view(np.int32)[0] = len(items)
        for index, item in enumerate(items):
            self._write_value(row, at + 8 + index * stride, element, item)

    def _offset_of(self, value: Value) -> int:
        if value[0] == "node":
            return self._layout.offsets[value[1]]
        return self._generators.get(value[1], -1) if value[0] == "resource" else -1


def _set(row: np.ndarray, offset: int, field: int, value: int) -> None:
    row[offset + field : offset + field + 4].view(np.int32)[0] = value


def _subtree_ends(nodes: list[NodeInfo]) -> list[int]:
    """For each node the index behind its last descendant."""
    ends = [node.index + 1 for node in nodes]
    for node in reversed(nodes):
        if node.parent >= 0:
            ends[node.parent] = max(ends[node.parent], ends[node.index])
    return ends
