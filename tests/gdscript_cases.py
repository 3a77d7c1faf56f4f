"""Small GDScript programs, what the real engine makes of them, and what the compiled ones do."""

import json
import re
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from godojo.engines.godot.find import find
from godojo.processes import finish
from godojo.twin.gdscript.runtime.vector2 import Vector2
from godojo.twin.gdscript.runtime.vector3 import Vector3
from godojo.twin.gdscript.runtime.vector_ints import Vector2i, Vector3i

FOLDER = Path(__file__).parent / "gdscript_programs"
_TEST = re.compile(r"^func (test\w*)\(", re.MULTILINE)


def hand_written() -> dict[str, str]:
    """The programs of the folder, by file and title."""
    programs = {}
    for path in sorted(FOLDER.glob("*.gd")):
        if path.stem == "runner":
            continue
        for part in re.split(r"^# --- ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            title, _, text = part.partition("\n")
            programs[f"{path.stem}: {title}"] = f"extends RefCounted\n{text}"
    return programs


def in_the_engine(programs: dict[str, str], folder: Path) -> dict[str, dict[str, str]]:
    """Runs all programs in one launch of the real engine: the bits that each `test…` function returns."""
    (folder / "project.godot").write_text("config_version=5\n", encoding="utf-8")
    (folder / "runner.gd").write_text((FOLDER / "runner.gd").read_text(encoding="utf-8"), encoding="utf-8")
    asked, answered = folder / "programs.json", folder / "results.json"
    asked.write_text(json.dumps(programs), encoding="utf-8")
    words: list[str | Path] = [
        "--headless",
        "--no-header",
        "--path",
        folder,
        "--script",
        "res://runner.gd",
        "--",
        asked,
        answered,
    ]
    done = finish([find().program, *words], timeout_s=100)
    assert answered.exists(), done.output
    results: dict[str, dict[str, str]] = json.loads(answered.read_text(encoding="utf-8"))
    unloaded = [name for name, found in results.items() if not isinstance(found, dict)]
    assert not unloaded, f"the engine does not load {unloaded}: {done.output[:2000]}"
    assert "SCRIPT ERROR" not in done.output, done.output[:2000]
    return results


def in_python(text: str, functions: dict[str, Any]) -> dict[str, str]:
    """Runs a compiled program's `test…` functions, each on an instance of its own."""
    return {name: bits(functions[name](functions["new"]())) for name in _TEST.findall(text)}


def bits(value: Any) -> str:
    """The exact value, as `runner.gd` writes it."""
    match value:
        case bool() | np.bool_():
            return f"b{int(value)}"
        case int() | np.integer():
            return f"i{int(value)}"
        case float():
            return "fnan" if value != value else "f" + struct.pack("<d", value).hex()
        case Vector2():
            return "v" + struct.pack("<2f", value.x, value.y).hex()
        case Vector3():
            return "v" + struct.pack("<3f", value.x, value.y, value.z).hex()
        case Vector2i():
            return f"w{value.x},{value.y}"
        case Vector3i():
            return f"w{value.x},{value.y},{value.z}"
    assert isinstance(value, Iterable)
    return "[" + " ".join(bits(one) for one in value) + "]"
