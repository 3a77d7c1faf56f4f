"""A compiled script: its Python, and that Python ready to run, plain or through Numba."""

from __future__ import annotations

import ast
import builtins as python
import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from godojo.files import atomic_write
from godojo.twin.gdscript import runtime
from godojo.twin.gdscript.emit import emit
from godojo.twin.gdscript.errors import ScriptRefused
from godojo.twin.gdscript.infer import Inference
from godojo.twin.gdscript.nodes import Do, Script
from godojo.twin.gdscript.parse import parse, read_script


@dataclass
class Compiled:
    """The Python of one script."""

    path: str
    source: str
    left_out: list[tuple[int, str]]
    """Lines with calls that cannot change the game, which are left out."""


def compile_script(path: Path) -> Compiled:
    """Compiles a script to Python; raises `ScriptRefused` with file, line and reason."""
    return _compile(read_script(path))


def compile_text(text: str, path: str = "script.gd") -> Compiled:
    """The same for a script's text."""
    return _compile(parse(text, path))


def analyse(script: Script) -> tuple[list[tuple[int, str]], bool]:
    """What cannot be compiled, in the order of lines, and whether the global random numbers are used."""
    inference = Inference(script)
    inference.run()
    refusals = [*script.refusals, *(one for function in script.functions.values() for one in function.refusals)]
    return sorted(set(refusals)), inference.uses_random


def _compile(script: Script) -> Compiled:
    refusals, uses_random = analyse(script)
    if refusals:
        raise ScriptRefused(script.path, refusals)
    source = emit(script, uses_random)
    return Compiled(script.path, source, left_out(script))


def left_out(script: Script) -> list[tuple[int, str]]:
    """The calls that are left out, by line."""
    from godojo.twin.gdscript.infer import every_statement

    return [
        (one.line, one.dropped)
        for function in script.functions.values()
        for one in every_statement(function.body)
        if isinstance(one, Do) and one.dropped
    ]


class PlainObject:
    """An instance of a script in plain Python: its members are attributes."""


def load_plain(compiled: Compiled, world: dict[str, Any] | None = None) -> dict[str, Any]:
    """The functions, run by Python itself: slow, and the same bits. `new()` makes an instance.

    Numbers are NumPy's, which wrap and divide as the engine's do. `world` is what a whole program calls besides.
    """
    tree = ast.fix_missing_locations(_NumPyNumbers().visit(ast.parse(compiled.source)))
    names: dict[str, Any] = {name: value for name, value in vars(runtime).items() if not name.startswith("_")}
    names |= {"kernel": lambda function: function, "range": _range, "float": np.float64, "int": np.int64}
    names |= world or {}
    tree.body = [one for one in tree.body if not isinstance(one, ast.ImportFrom)]
    exec(compile(tree, f"<{compiled.path}>", "exec"), names)  # noqa: S102 - our own generated code

    def new() -> PlainObject:
        made = PlainObject()
        names["_init"](made)
        return made

    names["new"] = new
    return {name: _quietly(value) if callable(value) else value for name, value in names.items()}


def _quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return call


def _range(*numbers: Any) -> Iterator[Any]:
    return map(np.int64, python.range(*map(int, numbers)))


class _NumPyNumbers(ast.NodeTransformer):
    """Turns literals into NumPy's numbers."""

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            value = node.operand.value
            if isinstance(value, int | float) and not isinstance(value, bool):
                return self.visit_Constant(ast.Constant(-value))
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            return node
        name = "i64" if isinstance(node.value, int) else "f64"
        return ast.Call(ast.Name(name, ast.Load()), [node], [])


def load_numba(compiled: Compiled, folder: Path) -> dict[str, Any]:
    """The functions, compiled by Numba on their first call. The Python is kept in `folder`, to be read."""
    from godojo.twin.gdscript.members import members_type

    digest = hashlib.sha256(compiled.source.encode()).hexdigest()[:12]
    name = f"{Path(compiled.path).stem}_{digest}"
    path = folder / f"{name}.py"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        atomic_write(path, compiled.source.encode())
    module = _import(f"godojo_twin_{name}", path)
    return {**vars(module), "new": members_type(module)}


def _import(name: str, path: Path) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
