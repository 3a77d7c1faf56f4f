"""GDScript, compiled to Python that Numba compiles further: readable, and equal to the engine bit for bit."""

from godojo.twin.gdscript.compiled import Compiled, compile_script, compile_text, load_numba, load_plain
from godojo.twin.gdscript.errors import ScriptRefused
from godojo.twin.gdscript.program import ClassLayout, Program, compile_program

__all__ = [
    "ClassLayout",
    "Compiled",
    "Program",
    "ScriptRefused",
    "compile_program",
    "compile_script",
    "compile_text",
    "load_numba",
    "load_plain",
]
