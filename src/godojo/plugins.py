"""Loads users' classes and functions, given as `file.py:Class`; errors are one line."""

import importlib.util
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from godojo.errors import GodojoError, known


def split_class(text: str) -> tuple[Path, str]:
    """The file and the class of `file.py:Class`."""
    path, colon, name = text.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise GodojoError(f"{text!r} is no class; write it as file.py:Class")
    return Path(path).expanduser(), name


def load_class(path: Path, name: str) -> type:
    module = _loaded(path)
    found = getattr(module, name, None)
    if not isinstance(found, type):
        classes = [
            key
            for key, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        raise GodojoError(f"{path} has no class {name!r}; {known(name, classes)}")
    return found


def load_function(path: Path, name: str) -> Callable[..., Any]:
    module = _loaded(path)
    found: Any = getattr(module, name, None)
    if not callable(found):
        functions = [
            key
            for key, value in vars(module).items()
            if callable(value) and getattr(value, "__module__", "") == module.__name__
        ]
        raise GodojoError(f"{path} has no function {name!r}; {known(name, functions)}")
    return found  # type: ignore[no-any-return]


def _loaded(path: Path) -> ModuleType:
    if not path.is_file():
        raise GodojoError(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(f"godojo_user_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise GodojoError(f"{path} could not be loaded: {told(error, path)}") from error
    return module


def told(error: BaseException, path: Path) -> str:
    """An error as one line, with the line number in the user's file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == path]
    line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
    where = f" (line {line})" if line else ""
    return f"{type(error).__name__}: {error}{where}".replace("\n", " ")
