"""Writes the order of a tick as Python: signals, `_physics_process`, the physics step, `_process`, what is freed.

Nodes that were made while the game runs are processed behind their parent's other children, as in Godot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from godojo.errors import GodojoError
from godojo.twin.gdscript.program import Program
from godojo.twin.scene.pools import pool_of
from godojo.twin.scene.snapshot import Connection, NodeInfo, Pool, Snapshot, Value, can_process
from godojo.twin.world.api import ancestors
from godojo.twin.world.bodies import body_nodes
from godojo.twin.world.classes import PARTICLES
from godojo.twin.world.layout import WorldLayout

_RAYS = ("RayCast3D", "RayCast2D")
_ADDED = "@added"
"""A run of parents, whose children that were made are processed."""
_FLAGS = {"physics": 1, "process": 2}
_LATE = {"run_deferred": "Calls that were deferred.", "pass_time": "Functions that wait for something."}


@dataclass
class _Run:
    """Nodes of one class that follow each other in the order of a phase."""

    cls: str
    function: str
    offsets: list[int]


@dataclass
class _Added:
    """The place, in the order of a phase, of what is added to a node."""

    parent: NodeInfo
    priority: int = 0


_Item = NodeInfo | _Added


class PhaseWriter:
    """The text of the phases of a tick."""

    def __init__(self, snapshot: Snapshot, program: Program, layout: WorldLayout) -> None:
        self._snapshot, self._program, self._layout = snapshot, program, layout
        self._changes_modes = "set_process_mode(" in program.source
        self._enables_rays = re.search(r"\benabled = |set_enabled\(", program.source) is not None
        self._lines: list[str] = []
        self._tables: list[str] = []

    def _write_phases(self) -> None:
        items = self._order()
        nodes = sorted((one for one in items if self._can_process(one)), key=lambda one: one.priority)
        sync = self._snapshot.sync
        indices = [one.index if isinstance(one, NodeInfo) else -1 for one in nodes]
        place = indices.index(sync) if sync in indices else len(nodes)
        self._phase("before_sync", "`_physics_process` of the nodes in front of Sync.", self._physics(nodes[:place]))
        self._phase("after_sync", "`_physics_process` of the nodes behind Sync.", self._physics(nodes[place + 1 :]))
        self._phase("process", "`_process`, once per tick.", self._process(items))
        for phase in _LATE:
            self._late_phase(phase, self._late(items, phase))
        self._write_made()
        self._write_signals()
        has_bodies, is_dynamic = bool(self._layout.offsets) and self._has_bodies(), self._is_dynamic
        begin = ["world.ticks += 1"]
        if has_bodies:
            begin += ["sync_bodies(world)", *self._rigid_phases(), "emit_signals(world)"]
        if is_dynamic:
            self._write_tree()
            begin += ["begin_phase(world)"]
        self._function("begin_tick(world)", "A tick up to the place of Sync.", [*begin, "before_sync(world)"])
        free = ["free_nodes(world)"] if is_dynamic else []
        end = ["after_sync(world)", "run_deferred(world)"]
        if has_bodies:
            end += ["flush_transforms(world)", *free, *self._step()]
        else:
            end += free
        end += ["begin_phase(world)"] if is_dynamic else []
        end += ["process(world)", "run_deferred(world)", "pass_time(world)"]
        if has_bodies:
            end += ["flush_transforms(world)"]
        self._function("end_tick(world)", "The rest of a tick.", [*end, *free])
        repeat = self._snapshot.action_repeat
        self._function(
            "advance(world)",
            f"From one decision to the next, {repeat} ticks later.",
            [
                "end_tick(world)",
                f"for _ in range({repeat - 1}):",
                "    begin_tick(world)",
                "    end_tick(world)",
                "begin_tick(world)",
            ],
        )

    def _step(self) -> list[str]:
        if self._layout.is_flat:
            return ["step_physics(world)"]
        rigid = ["move_rigid_bodies(world)"] if self._layout.has_rigid else []
        return ["begin_step(world)", *rigid, "end_step(world)"]

    def _rigid_phases(self) -> list[str]:
        """What rigid bodies call when the physics tells them their new state."""
        if self._layout.is_flat or not self._layout.has_rigid:
            return []
        runs: list[_Run] = []
        for node in self._order():
            if isinstance(node, NodeInfo):
                self._add_method(runs, node, "_integrate_forces")
        found: list[str] = []
        if runs:
            body: list[str] = []
            for number, run in enumerate(runs):
                table = f"INTEGRATE_FORCES_{number}"
                self._tables.append(f"{table} = np.array({run.offsets}, np.int64)")
                body += [f"for offset in {table}:", f"    node = record_at(world, offset, {run.cls})"]
                body += ["    if is_simulated(node):", f"        {run.function}(node, PhysicsDirectBodyState3D(node))"]
            self._function("integrate_forces(world)", "`_integrate_forces`, before `_physics_process`.", body)
            found += ["integrate_forces(world)", "flush_transforms(world)", "sync_bodies(world)"]
        found += ["emit_contacts(world)"]
        if any("VehicleBody3D" in ancestors(node.native_class) for node in self._snapshot.nodes):
            found += ["move_vehicles(world)"]
        return found

    @property
    def _is_dynamic(self) -> bool:
        """Whether the tree may change while the game runs."""
        return self._snapshot.pools is not None

    def _order(self) -> list[_Item]:
        """The nodes of the tree in its order, and behind each that gets children the place of those."""
        found: list[_Item] = []
        waiting: list[NodeInfo] = []
        for node in self._snapshot.nodes:
            if pool_of(self._snapshot, node.index) is not None:
                break
            while waiting and waiting[-1].index != node.parent:
                self._leave(found, waiting.pop())
            found.append(node)
            waiting.append(node)
        while waiting:
            self._leave(found, waiting.pop())
        return found

    def _leave(self, found: list[_Item], node: NodeInfo) -> None:
        if self._program.class_of[node.index] in self._program.parents and self._snapshot.pools:
            found.append(_Added(node))

    def _late(self, items: Sequence[_Item], phase: str) -> list[_Run]:
        runs: list[_Run] = []
        for node in items:
            if isinstance(node, _Added):
                self._add(runs, node.parent, "Node", _ADDED)
            else:
                self._add_method(runs, node, f"@{phase}")
        return runs

    def _late_phase(self, name: str, runs: list[_Run]) -> None:
        """What the end of a tick does, whether nodes are processed or not."""
        body: list[str] = []
        for number, run in enumerate(runs):
            table = f"{name.upper()}_{number}"
            if run.function == _ADDED:
                body += self._added_lines(table, run, name)
                continue
            self._tables.append(f"{table} = np.array({run.offsets}, np.int64)")
            given = "node, world.delta" if name == "pass_time" else "node"
            call = f"{run.function}(record_at(world, offset, {run.cls}){given[4:]})"
            inside = [f"    if is_inside(record_at(world, offset, {run.cls})):", f"        {call}"]
            body += [f"for offset in {table}:", *(inside if self._is_dynamic else [f"    {call}"])]
        self._function(f"{name}(world)", _LATE[name], body or ["pass"])

    def _has_bodies(self) -> bool:
        return bool(body_nodes(self._snapshot))

    def _physics(self, nodes: Iterable[_Item]) -> list[_Run]:
        runs: list[_Run] = []
        for node in nodes:
            if isinstance(node, _Added):
                self._add(runs, node.parent, "Node", _ADDED)
                continue
            if node.index == self._snapshot.sync:
                continue
            lineage = ancestors(node.native_class)
            for ray in _RAYS:
                if ray in lineage and (self._enables_rays or node.properties.get("enabled") != ["bool", False]):
                    self._add(runs, node, ray, "update_ray")
            if "Timer" in lineage and not self._is_idle(node):
                self._add(runs, node, "Timer", self._timeout(node))
            self._add_method(runs, node, "_physics_process")
        return runs

    def _process(self, nodes: Sequence[_Item]) -> list[_Run]:
        runs: list[_Run] = []
        for node in nodes:
            if isinstance(node, _Added):
                self._add(runs, node.parent, "Node", _ADDED)
            elif self._can_process(node) and node.index != self._snapshot.sync:
                if "Timer" in ancestors(node.native_class) and self._is_idle(node):
                    self._add(runs, node, "Timer", self._timeout(node))
                if node.native_class in PARTICLES:
                    self._add(runs, node, node.native_class, "tick_particles")
                self._add_method(runs, node, "_process")
        return runs

    def _is_idle(self, timer: NodeInfo) -> bool:
        """Whether a timer counts in `_process`, which is its default."""
        return bool(timer.properties.get("process_callback", ["int", 1])[1] == 1)

    def _timeout(self, timer: NodeInfo) -> str:
        """Writes what a timer calls, and returns its name."""
        body: list[str] = []
        for link in self._snapshot.connections:
            if link.source == timer.index and link.signal == "timeout":
                body += self._handler(link, "")
        name = f"time_out_{timer.index}"
        lines = ["if tick_timer(node):", *(f"    {line}" for line in body or ["pass"])]
        self._function(f"{name}(node)", f"Counts {timer.path}.", lines)
        return name

    def _handler(self, link: Connection, args: str, source: str = "offset_of(node)") -> list[str]:
        """The call of what is connected to a signal; nothing if it is not compiled. `source` is where its node is."""
        target, cls = self._layout.offsets[link.target], self._program.class_of[link.target]
        function = self._program.methods.get((cls or "", link.method))
        if target < 0 or not function:
            return []
        for value in link.binds:
            args += f", {self._bound(value)}"
        place = str(target)
        pool = pool_of(self._snapshot, link.source)
        if pool is not None and pool is pool_of(self._snapshot, link.target):
            place = f"{source} + {target - self._layout.offsets[link.source]}"
        return [f"{function}(record_at(node, {place}, {cls}){args})"]

    def _bound(self, value: Value) -> str:
        """A bound argument of a connection."""
        kind = value[0]
        if kind == "node":
            return f"record_at(node, {self._layout.offsets[value[1]]}, {self._program.class_of[value[1]]})"
        if kind in ("bool", "int", "float"):
            return repr(value[1])
        if kind in ("Vector2", "Vector3"):
            return f"{kind}({', '.join(map(repr, value[1]))})"
        if kind == "String" and value[1] in self._program.strings:
            return str(self._program.strings.index(value[1]))
        raise GodojoError(f"a twin cannot bind a {kind} to a signal")

    def _add_method(self, runs: list[_Run], node: NodeInfo, method: str) -> None:
        cls = self._program.class_of[node.index]
        function = self._program.methods.get((cls or "", method))
        if cls and function:
            self._add(runs, node, cls, function)

    def _add(self, runs: list[_Run], node: NodeInfo, cls: str, function: str) -> None:
        offset = self._layout.offsets[node.index]
        if offset < 0:
            return
        if not runs or runs[-1].function != function or runs[-1].cls != cls:
            runs.append(_Run(cls, function, []))
        runs[-1].offsets.append(offset)

    def _can_process(self, item: _Item) -> bool:
        node = item.parent if isinstance(item, _Added) else item
        return self._changes_modes or can_process(self._snapshot, node)

    def _phase(self, name: str, doc: str, runs: list[_Run]) -> None:
        body: list[str] = []
        kind = "process" if name == "process" else "physics"
        for number, run in enumerate(runs):
            table = f"{name.upper()}_{number}"
            if run.function == _ADDED:
                body += self._added_lines(table, run, kind)
                continue
            self._tables.append(f"{table} = np.array({run.offsets}, np.int64)")
            body += [f"for offset in {table}:", f"    node = record_at(world, offset, {run.cls})"]
            body += [f"    {line}" for line in self._call_lines(run, kind, "node", "world.delta")]
        self._function(f"{name}(world)", doc, body or ["pass"])

    def _call_lines(self, run: _Run, kind: str, node: str, delta: str) -> list[str]:
        """The call of a node's function in a phase, behind its conditions."""
        is_method = run.cls not in (*_RAYS, "Timer", *PARTICLES) or run.function.endswith("process")
        conditions = [f"Node({node}).flags & {_FLAGS[kind]}"] if is_method else []
        conditions += [f"is_inside({node})"] if self._is_dynamic else []
        conditions += [f"can_process({node})"] if self._changes_modes else []
        call = f"{run.function}({node}, {delta})" if is_method else f"{run.function}({node})"
        return [f"if {' and '.join(conditions)}:", f"    {call}"] if conditions else [call]

    def _write_signals(self) -> None:
        """Entered and exited areas: the handlers of each area, in the order of its connections."""
        body: list[str] = []
        if not self._has_bodies():
            return
        kinds = {("body_entered", 1): 0, ("body_exited", 0): 0, ("area_entered", 1): 1, ("area_exited", 0): 1}
        kinds |= {(one.replace("_", "_shape_"), entered): is_area for (one, entered), is_area in kinds.items()}
        for (signal, entered), is_area in kinds.items():
            for link in self._snapshot.connections:
                dimension = "2D" if self._layout.is_flat else "3D"
                source, native = self._layout.offsets[link.source], f"{'Area' if is_area else 'Node'}{dimension}"
                pool = pool_of(self._snapshot, link.source)
                if link.signal != signal or source < 0 or (pool and link.source >= pool.first + pool.size):
                    continue
                given = f", record_at(node, other, {native})"
                given = f", 0{given}, 0, 0" if "_shape_" in signal else given  # each has one shape
                call = self._handler(link, given, "source")
                if call:
                    body += [
                        f"if {self._is_source(source, pool)} and entered == {entered} and is_area == {is_area}:",
                        f"    {call[0]}",
                    ]
        if self._is_dynamic and body:
            inside = [f"is_inside(record_at(node, {one}, Node))" for one in ("source", "other")]
            body = [f"if not ({' and '.join(inside)}):", "    return", *body]
        if not body:
            body = ["pass"]
        self._function(
            "handle_overlap(node, source, other, entered, is_area)",
            "Calls what is connected to the signals of an area.",
            body,
        )
        if self._layout.has_rigid and not self._layout.is_flat:
            self._function(
                "emit_contacts(world)",
                "The signals of rigid bodies that the last physics step brought.",
                [
                    "for index in range(contact_count(world)):",
                    "    source, other, entered = contact_event(world, index)",
                    "    handle_overlap(world, source, other, entered, 0)",
                    "clear_contacts(world)",
                ],
            )
        self._function(
            "emit_signals(world)",
            "The signals of areas that the last physics step brought.",
            [
                *(["space = World2D(world)"] if self._layout.is_flat else ["space = world"]),
                "for index in range(event_count(space)):",
                "    source, other, entered, is_area = event(space, index)",
                "    handle_overlap(world, source, other, entered, is_area)",
                "clear_events(space)",
            ],
        )

    def _is_source(self, source: int, pool: Pool | None) -> str:
        """A test of where the node is that emits a signal: a node, or its like in any instance of a pool."""
        if pool is None:
            return f"source == {source}"
        stride = self._stride(pool)
        return f"{source} < source <= {source + pool.slots * stride} and (source - {source}) % {stride} == 0"

    # Nodes that are made while the game runs

    def _stride(self, pool: Pool) -> int:
        """The bytes from an instance of a pool to the next."""
        return self._layout.offsets[pool.first + pool.size] - self._layout.offsets[pool.first]

    def _added_lines(self, table: str, run: _Run, kind: str) -> list[str]:
        self._tables.append(f"{table} = np.array({run.offsets}, np.int64)")
        call = [f"        {kind}_made(child)"]
        if kind in _FLAGS:  # what is added in a phase waits for the next
            call = ["        if child.tree_stamp != world.phase:", f"            {kind}_made(child)"]
        return [
            f"for offset in {table}:",
            "    child = record_at(world, offset, Node).first_added",
            "    while not is_null(child):",
            "        following = child.next_sibling",
            *call,
            "        child = following",
        ]

    def _template(self, pool: Pool) -> list[NodeInfo]:
        return self._snapshot.nodes[pool.first : pool.first + pool.size]

    def _write_made(self) -> None:
        """What each phase does with an instance of a pool."""
        if not self._snapshot.pools:
            return
        for kind in (*_FLAGS, *_LATE):
            body: list[str] = ["number, at = pool_number(root), offset_of(root)"]
            for number, pool in enumerate(self._snapshot.pools):
                lines: list[str] = []
                for run in self._runs(kind, self._template(pool)):
                    for offset in run.offsets:
                        name = f"node_{number}_{offset - self._layout.offsets[pool.first]}"
                        lines.append(f"{name} = {self._instance_at(pool, offset, run.cls)}")
                        if kind in _FLAGS:
                            lines += self._call_lines(run, kind, name, "get_process_delta_time(root)")
                        else:
                            given = f"{name}, get_process_delta_time(root)" if kind == "pass_time" else name
                            lines += [f"if is_inside({name}):", f"    {run.function}({given})"]
                if lines:
                    body += [f"if number == {number}:  # {pool.name}", *(f"    {line}" for line in lines)]
            self._function(f"{kind}_made(root)", f"The phase {kind} of a node that was made while the game runs.", body)

    def _runs(self, kind: str, nodes: Sequence[_Item]) -> list[_Run]:
        if kind in _LATE:
            return self._late(nodes, kind)
        return self._physics(nodes) if kind == "physics" else self._process(nodes)

    def _instance_at(self, pool: Pool, offset: int, cls: str) -> str:
        """A node of an instance, by the place of its like in the template."""
        return f"record_at(root, at + {offset - self._layout.offsets[pool.first]}, {cls})"

    def _write_tree(self) -> None:
        """What adds nodes to the tree, takes them out, and frees what is queued."""
        body: list[str] = ["number, at = pool_number(root), offset_of(root)"]
        for number, pool in enumerate(self._snapshot.pools or ()):
            lines: list[str] = []
            for node in _children_first(self._template(pool)):
                offset, cls = self._layout.offsets[node.index], self._program.class_of[node.index] or ""
                if offset < 0:
                    continue
                if "Timer" in ancestors(node.native_class):
                    lines.append(f"timer_autostart({self._instance_at(pool, offset, 'Timer')})")
                function = self._program.methods.get((cls, "@enter"))
                if function:
                    lines.append(f"{function}({self._instance_at(pool, offset, cls)})")
            if lines:
                body += [f"if number == {number}:  # {pool.name}", *(f"    {line}" for line in lines)]
        making: list[str] = ["root = new_instance(Node(template))", "number, at = pool_number(root), offset_of(root)"]
        for number, pool in enumerate(self._snapshot.pools or ()):
            lines = []
            for node in self._template(pool):
                cls = self._program.class_of[node.index] or ""
                if node.native_class in PARTICLES:  # even one that a twin has no memory of
                    lines.append("randi(world_random(root))")
                function = self._program.methods.get((cls, "@make"))
                if function and self._layout.offsets[node.index] >= 0:
                    lines.append(f"{function}({self._instance_at(pool, self._layout.offsets[node.index], cls)})")
            if lines:
                making += [f"if number == {number}:  # {pool.name}", *(f"    {line}" for line in lines)]
        self._function("instantiate(template)", "A new node, outside the tree.", [*making, "return root"])
        self._function("enter_tree(root)", "A node that was made is ready, children first.", body)
        has_bodies = self._has_bodies()
        self._function(
            "add_child(parent, child)",
            "Makes a node the last child of another one.",
            [
                "attach(parent, child)",
                *(["put_in(child)"] if has_bodies else []),
                "if is_inside(child) and begin_ready(child):",
                "    enter_tree(child)",
            ],
        )
        world = "World2D(world)" if self._layout.is_flat else "world"
        leave = ["detach(node)"]
        if has_bodies:
            leave = [
                f"first = event_count({world})",
                "take_out(node)",
                f"for index in range(first, event_count({world})):",
                f"    source, other, entered, is_area = event({world}, index)",
                "    handle_overlap(world, source, other, entered, is_area)",
                f"trim_events({world}, first)",
                "detach(node)",
            ]
        self._function("leave_tree(world, node)", "Takes a node out of the tree; what it was in notices.", leave)
        self._function(
            "remove_child(parent, child)",
            "Takes a child out of the tree; it is not freed.",
            ["if is_child(parent, child):", "    leave_tree(world_of(child), child)"],
        )
        self._function("drop_references(world, node)", "Variables that hold a freed node hold null.", self._dropping())
        self._function(
            "free_nodes(world)",
            "Frees what is queued, as the engine does at the end of a frame.",
            [
                "node = next_queued(world)",
                "while not is_null(node):",
                "    if is_inside(node):",
                "        leave_tree(world, node)",
                "    drop_references(world, node)",
                "    forget(node)",
                "    node = next_queued(world)",
            ],
        )

    def _dropping(self) -> list[str]:
        body: list[str] = []
        table = self._layout.table
        held = {name for cls in self._program.gone for name in table.lineage(table[cls].name)}
        for cls, layout in self._program.classes.items():
            names = [one for one, kind in layout.members.items() if kind.startswith("Ref[") and kind[4:-1] in held]
            names = [one for one in names if not one.startswith("_")]
            offsets = [
                offset
                for node, offset in zip(self._snapshot.nodes, self._layout.offsets, strict=True)
                if offset >= 0 and cls in table.lineage(table[self._program.class_of[node.index] or "Node"].name)
            ]
            if names and offsets:
                self._tables.append(f"HOLDERS_{cls} = np.array({offsets}, np.int64)")
                body += [f"for offset in HOLDERS_{cls}:", f"    holder_{cls} = record_at(world, offset, {cls})"]
                for name in names:
                    null = layout.members[name][4:-1]
                    body += [f"    if holder_{cls}.{name} == node:", f"        holder_{cls}.{name} = {null}()"]
        return body or ["pass"]

    def _function(self, head: str, doc: str, body: Sequence[str], decorator: str = "kernel") -> None:
        self._lines += ["", "", f"@{decorator}", f"def {head}:", f'    """{doc}"""', *(f"    {line}" for line in body)]


def _children_first(nodes: list[NodeInfo]) -> list[NodeInfo]:
    """The order in which nodes are ready."""
    found: list[NodeInfo] = []

    def visit(node: NodeInfo) -> None:
        for child in nodes:
            if child.parent == node.index:
                visit(child)
        found.append(node)

    visit(nodes[0])
    return found
