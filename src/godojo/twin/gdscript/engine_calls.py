"""Calls of other nodes and of the engine: methods, lists of nodes and signals."""

from __future__ import annotations

from collections.abc import Callable

from godojo.twin.gdscript import builtins
from godojo.twin.gdscript.errors import Refusal, TreeRefusal
from godojo.twin.gdscript.known_objects import KnownObjects
from godojo.twin.gdscript.live import LiveClass
from godojo.twin.gdscript.nodes import (
    ArrayLiteral,
    Attribute,
    Call,
    Const,
    Expr,
    Function,
    Index,
    Name,
    Place,
    Plan,
)
from godojo.twin.gdscript.operators import LEVELS
from godojo.twin.gdscript.static_nodes import PATHS
from godojo.twin.gdscript.tree_changes import CHANGES, LISTS, is_scene
from godojo.twin.gdscript.types import (
    BOOL,
    FLOAT,
    INT,
    NULL,
    RECT2,
    STRING,
    TEXT,
    VECTOR2,
    ArrayType,
    Conflict,
    DictType,
    KnownObject,
    MapType,
    ObjectType,
    RefType,
    Type,
    join,
    object_type,
)
from godojo.twin.gdscript.waits import FINISHED
from godojo.twin.world import api

_NAME_TESTS: dict[str, Callable[[str, str], bool]] = {
    "begins_with": str.startswith,
    "ends_with": str.endswith,
    "contains": str.__contains__,
}
_TREE = object_type("SceneTree")
_LEAVES = {"change_scene_to_file", "change_scene_to_packed", "quit", "reload_current_scene"}


class EngineCalls(KnownObjects):
    """What the scene and the engine add to calls."""

    # --- calls ------------------------------------------------------------------------------------------------------

    def _call(self, expr: Call) -> Type | None:
        expr.place = expr.plan = expr.function = None
        expr.targets = []
        receiver = expr.receiver
        nodes = self.static_nodes(expr) if expr.name in PATHS else None
        if nodes is not None:
            return self.node_place(expr, nodes, self._label(expr))
        if expr.name in LISTS and not self._is_own(expr):
            return self.node_list(expr)
        if isinstance(receiver, Name) and receiver.name == "super":
            return self._super(expr, expr.name)
        if receiver is None:
            return self._bare(expr)
        signal = self._signal(expr)
        if signal is not None:
            return signal
        if expr.name == "size" and isinstance(receiver, Name | Attribute):
            enum = self.enum_of(receiver)
            if enum is not None:
                expr.plan = Plan(str(len(enum)), [], INT)
                return INT
        if isinstance(receiver, Name) and not self._is_value(receiver.name):
            return self._of_name(expr, receiver.name)
        kind = self.value(receiver)
        if isinstance(kind, RefType):
            return self._method(expr, kind)
        if kind is STRING and expr.name in _NAME_TESTS and self._tests_name(expr, receiver):
            return BOOL
        if kind in (STRING, TEXT):
            for one in expr.args:
                self.require_pure(one)
            expr.plan = Plan("0", [], TEXT)
            return TEXT
        kinds = [self.value(one) for one in expr.args]
        if isinstance(kind, ObjectType):
            return self._object_call(expr, kind)
        if isinstance(kind, MapType):
            return self.map_call(expr, kind)
        if isinstance(kind, DictType) and expr.name == "has" and len(expr.args) == 1:
            found = self.folding.value(expr)
            if isinstance(found, bool):
                expr.plan = Plan(str(found), [], BOOL)
                return BOOL
        if isinstance(kind, DictType):
            raise Refusal(expr.line, f"{expr.name}() of a dictionary is not compiled")
        result = self.value_call(expr, kind, kinds)
        if isinstance(kind, ArrayType) and expr.name == "duplicate" and isinstance(result, ArrayType):
            expr.plan = Plan(f"copied({self.empty(result, expr.line)}, {{r}})", [], result)
        if isinstance(kind, ArrayType) and expr.name == "slice" and isinstance(result, ArrayType):
            end = "{1}" if len(expr.args) == 2 else "size({r})"
            text = f"sliced({self.empty(result, expr.line)}, {{r}}, {{0}}, {end})"
            expr.plan = Plan(text, [INT] * len(expr.args), result)
        mutates = expr.plan is not None and not expr.plan.pure and "world_random" not in expr.plan.text
        if isinstance(kind, ArrayType) and mutates and (kind.root.frozen or isinstance(kind.element, ArrayType)):
            raise Refusal(expr.line, "changing an array of arrays, or a row of one, is not compiled")
        return result

    def empty(self, array: ArrayType, line: int) -> str:
        """The Python of a new array of this type."""
        return builtins.new_array(array, [], line) if self.last else ""

    def _tests_name(self, expr: Call, receiver: Expr) -> bool:
        """`node.name.begins_with("Coin")`: a table of all nodes."""
        asked = self.folding.value(expr.args[0]) if len(expr.args) == 1 else None
        if receiver.place is None or receiver.place.read != "node_name({r})" or not isinstance(asked, str):
            return False
        found = [int(_NAME_TESTS[expr.name](one.name, asked)) for one in self.tree.nodes]
        text = f"np.array({found}, np.int64)"
        table = self.whole.number(f"NAMES_{expr.name}_{asked}", text) if self.last else ""
        owner = receiver.value if isinstance(receiver, Attribute) else None
        expr.place = Place(BOOL, f"({table}[{{r}}.node_index] == 1)", on_self=receiver.place.on_self, owner=owner)
        return True

    def _is_value(self, name: str) -> bool:
        if self.scope.find(name) is not None or name in self.whole.snapshot.autoloads or name == "self":
            return True
        if name in self.cls.hidden:
            return True
        return name not in self.tree.by_class_name and api.find_property(self.cls.native, name) is not None

    def _bare(self, expr: Call) -> Type | None:
        if expr.name == "super":
            assert self.function is not None
            return self._super(expr, self.function.name)
        if self.foreign is not None and expr.name in self.foreign.functions:
            function = self.foreign.functions[expr.name]
            return self._target(expr, [(self.cls, self.whole.reach_static(self.cls, self.foreign.path, function))])
        if self.foreign is None and self.cls.declaring(expr.name) is not None:
            return self._reach(expr, [self.cls])
        if expr.name == "get_tree":
            expr.plan = Plan("self", [], _TREE)
            return _TREE
        size = self.whole.snapshot.settings.get("godojo/viewport_size")
        if expr.name == "get_viewport_rect" and size is not None:
            corner = ", ".join(map(repr, map(float, size[1])))
            expr.plan = Plan(f"Rect2(Vector2(0.0, 0.0), Vector2({corner}))", [], RECT2)
            return RECT2
        if expr.name == "emit_signal" and expr.args:
            signal = self.folding.value(expr.args[0])
            if isinstance(signal, str) and self.cls.signal(signal):
                return self._emit(expr, [self.cls], signal, expr.args[1:])
        if expr.name == "is_instance_valid" and len(expr.args) == 1:
            self.value(expr.args[0])
            test = "is_gone" if self.whole.is_dynamic else "is_null"
            expr.plan = Plan(f"not {test}({{0}})", [None], BOOL, level=4)
            return BOOL
        if expr.name == FINISHED:
            return self._particles_time(expr)
        if expr.name in ("str", "var_to_str"):
            for one in expr.args:
                self.require_pure(one)
            expr.plan = Plan("0", [], TEXT)
            return TEXT
        if expr.name == "range":
            for one in expr.args:
                self.value(one)
            array = ArrayType(INT, fixed=True)
            shown = ", ".join(f"{{{i}}}" for i in range(len(expr.args)))
            expr.plan = Plan(f"range_array({shown})", [INT] * len(expr.args), array)
            return array
        if expr.name == "Array" and not expr.args:
            made = expr.type if isinstance(expr.type, ArrayType) else ArrayType()
            expr.plan = Plan(builtins.new_array(made, [], expr.line) if self.last else "", [], made)
            return made
        if expr.name == "clamp" and len(expr.args) == 3:
            kinds = [self.value(one) for one in expr.args]
            if kinds[0] is FLOAT and INT in kinds:
                expr.plan = Plan("clamp({0}, {1}, {2})", [FLOAT] * 3, FLOAT)
                self.whole.leave_out(self.declaring, expr.line, "clamp() of a float: an integer limit is a float")
                return FLOAT
        if expr.name == "len" and len(expr.args) == 1:
            kind = self.value(expr.args[0])
            if isinstance(kind, ArrayType):
                expr.plan = Plan("size({0})", [None], INT)
                return INT
        if expr.name in ("preload", "load") and (root := self.template(expr, is_scene(expr))) is not None:
            return root
        if expr.name in ("preload", "load"):
            expr.plan = Plan("0", [], object_type("Resource"))
            return expr.plan.result
        if expr.name in CHANGES:
            return self.change(expr, [self.cls], "self")
        if expr.name == "get_parent" and not expr.args:
            return self.parent_of(expr, [self.cls], "self")
        if expr.name in ("get_child", "get_child_count"):
            return self.children_of(expr, [self.cls])
        method = self.native_method(self.cls.native, expr.name)
        if method is not None:
            return self._native(expr, method, "self")
        kinds = [self.value(one) for one in expr.args]
        known = [one for one in kinds if one is not None]
        if len(known) < len(kinds):
            return None
        expr.plan = builtins.global_call(expr.name, known, expr.line)
        if expr.plan is None:
            raise Refusal(expr.line, f"{expr.name}() is not compiled")
        return self._planned_call(expr)

    def _particles_time(self, expr: Call) -> Type:
        """How long it takes until particles that are emitted once are gone."""
        times = set()
        for index in self.static_nodes(expr.args[0]) or [None]:
            held = self.tree.nodes[index].properties if index is not None else {}
            if "lifetime" not in held or not held["one_shot"][1]:
                raise Refusal(expr.line, "`await` of this signal is not compiled")
            times.add(held["lifetime"][1] * (2.0 - held["explosiveness"][1]))
        if len(times) != 1:
            raise Refusal(expr.line, "`await` of particles that differ is not compiled")
        self.whole.leave_out(self.declaring, expr.line, f"finished of particles: after {max(times):g} s")
        expr.args[0].type = None
        expr.plan = Plan(repr(float(max(times))), [], FLOAT)
        return FLOAT

    def _planned_call(self, expr: Call) -> Type | None:
        """The generator of random numbers is the world's."""
        plan = expr.plan
        assert plan is not None
        if "self.random" in plan.text:
            text = plan.text.replace("self.random", "world_random(self)")
            expr.plan = Plan(text, plan.params, plan.result, plan.pure, plan.level)
        return plan.result

    def _of_name(self, expr: Call, owner: str) -> Type | None:
        """`ClassName.function()`, `Engine.method()`, `Vector2.from_angle()`."""
        if expr.name == "new" and owner in self.tree.pools and not expr.args:
            assert expr.receiver is not None
            kind = self.template(expr.receiver, owner)
            return self.instance(expr, kind if isinstance(kind, RefType) else None, f"{owner}.new()")
        if expr.name == "new" and owner != "RandomNumberGenerator":
            raise TreeRefusal(expr.line, f"{owner}.new() is not compiled: nothing is made while the game runs")
        if owner in self.tree.by_class_name:
            path = self.tree.by_class_name[owner]
            function = self.tree.script(path).functions.get(expr.name)
            if function is None or not function.static:
                raise Refusal(expr.line, f"{owner}.{expr.name}() is not compiled")
            target = self.whole.reach_static(self.cls, path, function)
            return self._target(expr, [(self.cls, target)])
        value = self.folding.value(expr)
        if isinstance(value, bool | int | float):
            self.whole.leave_out(self.declaring, expr.line, f"{owner}.{expr.name}(): always {value}")
            expr.plan = Plan(repr(value), [], BOOL if isinstance(value, bool) else FLOAT)
            return expr.plan.result
        if owner == "ProjectSettings" and expr.name == "get_setting" and expr.args:
            setting = self.whole.snapshot.settings.get(str(self.folding.value(expr.args[0])))
            if setting is not None and setting[0] in ("bool", "int", "float"):
                kind = self.whole.live_type(setting)
                expr.plan = Plan(
                    repr(float(setting[1]) if kind is FLOAT else setting[1]), [None] * len(expr.args), kind
                )
                return kind
        if owner == "Input" and expr.name == "get_vector":
            expr.plan = Plan("Vector2(0.0, 0.0)", [], VECTOR2)
            return VECTOR2
        method = self.native_method(owner, expr.name)
        if method is not None:
            return self._native(expr, method, "" if method.python == "ray_query" else "self")
        kinds = [self.value(one) for one in expr.args]
        expr.plan = builtins.static_call(owner, expr.name, [one for one in kinds if one is not None])
        if expr.plan is None:
            raise Refusal(expr.line, f"{owner}.{expr.name}() is not compiled")
        return self._planned_call(expr)

    def native_method(self, native: str, name: str) -> api.Method | None:
        return api.find_method(native, name)

    def _native(self, expr: Call, method: api.Method, receiver: str) -> Type | None:
        params = [self.whole.type_of(one) for one in method.params]
        missing = len(params) - len(expr.args)
        if missing < 0 or missing > len(method.defaults):
            raise Refusal(expr.line, f"{expr.name}() takes {len(params)} arguments, not {len(expr.args)}")
        shown: list[str] = [receiver] if receiver else []
        for i, (arg, wanted) in enumerate(zip(expr.args, params, strict=False)):
            if method.params[i] == "Array[RID]":
                shown.append(self._excluded(arg))
                continue
            got = self.value(arg)
            shown.append(f"{{{i}}}")
            if got is not None and wanted is not None and not self._fits(got, wanted):
                raise Refusal(expr.line, f"{expr.name}() of {got} is not compiled; it takes {wanted}")
        shown += method.defaults[len(method.defaults) - missing :] if missing else ()
        if method.python.endswith("="):
            text = f"{receiver}{method.python[:-1]} = {{0}}"
        elif method.python.startswith("."):
            text = f"{receiver}{method.python}"
        else:
            text = f"{method.python}({', '.join(shown)})"
        wanted_params = [None if isinstance(one, RefType | ObjectType) else one for one in params[: len(expr.args)]]
        result = NULL if method.result == "null" else self.whole.type_of(method.result)
        expr.plan = Plan(text, list(wanted_params), result, pure=method.pure)
        return result

    def _fits(self, got: Type, wanted: Type) -> bool:
        if isinstance(wanted, RefType) and isinstance(got, RefType):
            return True
        return builtins.converts(got, wanted)

    def _excluded(self, arg: Expr) -> str:
        """The bodies that a ray query leaves out, as a tuple of nodes."""
        if not isinstance(arg, ArrayLiteral):
            raise Refusal(arg.line, "the bodies that a ray leaves out must be listed: `[self]`")
        found = []
        for one in arg.items:
            node = one.receiver if isinstance(one, Call) and one.name == "get_rid" else one
            nodes = self.static_nodes(node)
            if nodes is None or None in nodes:
                raise Refusal(arg.line, "the bodies that a ray leaves out must be known: `[self]`")
            if node is None or (isinstance(node, Name) and node.name == "self"):
                found.append("self")
            else:
                holder = Name(arg.line, "excluded")
                self.node_place(holder, nodes, getattr(node, "name", "excluded"))
                assert holder.place is not None
                found.append(holder.place.read.replace("{r}", "self"))
        return f"({', '.join(found)}{',' if len(found) == 1 else ''})"

    def _object_call(self, expr: Call, kind: ObjectType) -> Type | None:
        if isinstance(kind, KnownObject) and expr.name.startswith("get_") and not expr.args:
            return self.known_property(expr, kind, expr.name.removeprefix("get_"))
        if kind.name in api.RAY_HITS and expr.name == "is_empty":
            expr.plan = Plan("not {r}.hit", [], BOOL, level=4)
            return BOOL
        if (kind is _TREE and expr.name in _LEAVES) or expr.name == "instantiate":
            raise TreeRefusal(expr.line, f"{expr.name}() of {kind} is not compiled")
        if kind is _TREE and expr.name == "get_first_node_in_group":
            return self.first_of_group(expr)
        method = self.native_method(kind.name, expr.name) if kind.name != "Resource" else None
        if method is None or kind is _TREE:
            raise Refusal(expr.line, f"{expr.name}() of {kind} is not compiled")
        return self._native(expr, method, "{r}")

    def object_property(self, expr: Attribute, kind: ObjectType) -> Type | None:
        if kind.name in api.RAY_HITS:
            return self.hit_field(expr, expr.name, kind)
        if isinstance(kind, KnownObject):
            return self.known_property(expr, kind, expr.name)
        found = api.find_property(kind.name, expr.name)
        if found is None:
            raise Refusal(expr.line, f"{expr.name} of {kind} is not compiled")
        result = self.whole.type_of(found.type)
        expr.plan = Plan(f"{{r}}.{expr.name}" if found.field else f"{found.getter}({{r}})", [], result)
        return result

    def hit_field(self, expr: Attribute | Index, key: str, kind: ObjectType) -> Type | None:
        fields = api.RAY_HITS[kind.name]
        if key not in fields:
            raise Refusal(expr.line, f"{key} of a ray's hit is not compiled")
        expr.plan = Plan(f"{{r}}.{key}", [], self.whole.type_of(fields[key]))
        return expr.plan.result

    def singleton_property(self, owner: str, name: str) -> Plan | None:
        found = api.PROPERTIES.get((owner, name))
        if found is None:
            return None
        return Plan(f"{found.getter}(self)", [], self.whole.type_of(found.type))

    # --- methods of nodes -------------------------------------------------------------------------------------------

    def _method(self, expr: Call, kind: RefType) -> Type | None:
        if not kind.classes:
            if self.last:
                raise Refusal(expr.line, f"{expr.name}() of a node that is always null")
            return None
        classes = list(kind.classes)
        self.whole.touched |= {one for one in classes if one is not self.cls}
        if expr.name in ("has_method", "is_in_group") and len(expr.args) == 1:
            found = self._asked(expr, classes)
            if found is not None:
                return found
        scripted = [one for one in classes if one.declaring(expr.name) is not None]
        if scripted:
            return self._reach(expr, scripted)
        if expr.name == "get_tree":
            expr.plan = Plan("self", [], _TREE)
            return _TREE
        if expr.name in ("get_node", "get_node_or_null"):
            known = self.known_node(expr, classes) or self.node_below(expr, classes)
            if known is not None:
                return known
        if expr.name == "get_parent" and not expr.args:
            return self.parent_of(expr, classes, "{r}")
        if expr.name in ("get_child", "get_child_count"):
            return self.children_of(expr, classes)
        if expr.name == "instantiate":
            return self.instance(expr, kind, "instantiate()")
        if expr.name in CHANGES:
            return self.change(expr, classes, "{r}")
        groups: dict[int, tuple[api.Method, list[LiveClass]]] = {}
        for one in classes:
            method = self.native_method(one.native, expr.name)
            if method is not None:
                self._require_kept(one, expr.name, expr.line)
                groups.setdefault(id(method), (method, []))[1].append(one)
        if len(groups) != 1:
            what = "is not compiled" if not groups else "means several things here"
            raise Refusal(expr.line, f"{expr.name}() of {kind} {what}")
        method, having = next(iter(groups.values()))
        return self._native(expr, method, self.whole.receiver(classes, having, None))

    def _asked(self, expr: Call, classes: list[LiveClass]) -> Type | None:
        """`has_method` and `is_in_group`, where the node's class decides."""
        asked = self.folding.value(expr.args[0])
        having = []
        for one in classes:
            if expr.name == "has_method":
                each = {self.has_method(one, str(asked))}
            else:
                each = {asked in self.tree.nodes[node].groups for node in one.nodes}
            if len(each) > 1:
                return None
            having += [one] if True in each else []
        tests = [f"is_{one.name}({{r}})" for one in having]
        expr.plan = Plan(" or ".join(tests) or "False", [None], BOOL, level=LEVELS["or"] if len(tests) > 1 else 15)
        expr.args[0].type = None
        return BOOL

    def has_method(self, cls: LiveClass, name: str) -> bool:
        return cls.declaring(name) is not None or self.native_method(cls.native, name) is not None

    def _reach(self, expr: Call, classes: list[LiveClass]) -> Type | None:
        return self._target(expr, [(one, self.whole.reach(one, expr.name)) for one in classes])

    def _super(self, expr: Call, name: str) -> Type | None:
        script = self.cls.declaring(name, above=self.declaring)
        if script is None:
            if name in ("_ready", "_physics_process", "_process", "_init", "_enter_tree"):
                expr.plan = Plan("None", [], NULL)
                return NULL
            method = self.native_method(self.cls.native, name)
            if method is None:
                raise Refusal(expr.line, f"no base script has {name}()")
            return self._native(expr, method, "self")
        return self._target(expr, [(self.cls, self.whole.reach_in(self.cls, script, name))])

    def _target(self, expr: Call, targets: list[tuple[LiveClass, Function]]) -> Type | None:
        """A call of one of several functions, by the class of the node."""
        expr.targets = targets
        result: Type | None = None
        for cls, function in targets:
            if self.function is not None:
                self.function.calls.add(f"{cls.name}:{function.path}:{function.name}")
            self._own(expr, function)
            expr.function = function
            assert function.result is not None
            try:
                kind = function.result.type
                result = kind if result is None or kind is None or NULL in (kind, result) else join(result, kind)
            except Conflict as conflict:
                raise Refusal(expr.line, f"{expr.name}() returns {conflict}") from None
        return result

    # --- signals ----------------------------------------------------------------------------------------------------

    def _signal(self, expr: Call) -> Type | None:
        if expr.name not in ("emit", "emit_signal", "connect", "disconnect", "is_connected"):
            return None
        receiver, classes = expr.receiver, [self.cls]
        if expr.name == "emit_signal":
            name = self.folding.value(expr.args[0]) if expr.args else None
            classes, args = self.classes_of(receiver), expr.args[1:]
        else:
            args = expr.args
            name = receiver.name if isinstance(receiver, Name | Attribute) else None
            if isinstance(receiver, Attribute) and not (
                isinstance(receiver.value, Name) and receiver.value.name == "self"
            ):
                classes = self.classes_of(receiver.value)
        if not isinstance(name, str) or not classes or not all(one.signal(name) for one in classes):
            if expr.name == "emit" and isinstance(receiver, Attribute | Name):
                raise Refusal(expr.line, f"emitting {name} is not compiled")
            if expr.name in ("connect", "disconnect"):
                raise TreeRefusal(expr.line, "connecting signals while the game runs is not compiled")
            return None
        if expr.name in ("emit", "emit_signal"):
            return self._emit(expr, classes, name, args)
        raise TreeRefusal(expr.line, "connecting signals while the game runs is not compiled")

    def _emit(self, expr: Call, classes: list[LiveClass], signal: str, args: list[Expr]) -> Type | None:
        """Emitting calls every connected method, in the order of the connections."""
        inner = Call(expr.line, expr.receiver, expr.name, args)
        if expr.name == "emit":
            owner = expr.receiver.value if isinstance(expr.receiver, Attribute) else None
            expr.receiver = owner if owner is not None else None
            expr.name = "emit_signal"
            expr.args = [Const(expr.line, signal), *args]
        if expr.receiver is not None:
            self.value(expr.receiver)
        targets = [(one, self.whole.reach_signal(one, signal, len(args), expr.line)) for one in classes]
        for function in (one for _, one in targets):
            self._own(inner, function)
        expr.targets, expr.function = targets, targets[0][1]
        if self.function is not None:
            for cls, function in targets:
                self.function.calls.add(f"{cls.name}:{function.path}:{function.name}")
        return NULL

    def enum_of(self, expr: Expr | None) -> dict[str, int] | None:
        raise NotImplementedError

    def map_call(self, expr: Call, kind: MapType) -> Type | None:
        raise NotImplementedError
