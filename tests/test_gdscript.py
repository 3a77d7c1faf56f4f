"""Compiled GDScript equals the real engine bit for bit, and what is not understood is refused with line and reason."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from godojo.cli import app
from godojo.twin.gdscript import ScriptRefused, compile_script, compile_text, load_numba, load_plain
from tests.conftest import ROOT
from tests.doc_pages import blocks
from tests.gdscript_cases import hand_written, in_python, in_the_engine
from tests.gdscript_generator import generated
from tests.nightly import NIGHTLY, repeats

GENERATED = repeats(68, nightly=400)
COMPILED = ("arrays: a second name is the same array", "generated 3")


@pytest.fixture(scope="module")
def programs() -> dict[str, str]:
    return hand_written() | generated(GENERATED)


@pytest.mark.engine
@pytest.mark.slow
@pytest.mark.usefixtures("engine")
def test_programs_return_the_same_bits_as_in_the_engine(programs: dict[str, str], tmp_path: Path) -> None:
    assert len(programs) >= 200
    in_godot = in_the_engine(programs, tmp_path)
    assert in_godot.keys() == programs.keys()
    for name, text in programs.items():
        assert in_python(text, load_plain(compile_text(text, name))) == in_godot[name], name


@pytest.mark.slow
@pytest.mark.timeout(3600 if NIGHTLY else 120)
def test_numba_returns_the_same_bits_as_python(programs: dict[str, str], tmp_path: Path) -> None:
    for name in programs if NIGHTLY else COMPILED:
        compiled = compile_text(programs[name], "program.gd")
        plain = in_python(programs[name], load_plain(compiled))
        assert in_python(programs[name], load_numba(compiled, tmp_path)) == plain, name


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("func f(:\n\tpass", 1, "does not understand this"),
        ("func f(x):\n\treturn x", 1, "no call in this script tells the type of x"),
        ("func f(n: int) -> int:\n\treturn g(n)\nfunc g(n: int) -> int:\n\treturn f(n)", 1, "recursion"),
        ("func f():\n\tvar x = 1.5\n\treturn x % 2", 3, "`%` of floats"),
        ("var x = 0\nfunc f():\n\tx += 0.5\n\treturn x / 2", 4, "integer or a float by turns"),
        ("func f():\n\tvar x = 1\n\tx = Vector3.ZERO", 3, "int and Vector3"),
        ("func f():\n\treturn $Body.position", 2, "nodes need the scene"),
        ("func f():\n\tawait get_tree().process_frame", 2, "`await`"),
        ("func f():\n\tmove_and_slide()", 2, "move_and_slide() is not compiled"),
        ('func f():\n\treturn {"obs": [1]}', 2, "dictionaries"),
        ("func f():\n\tvar x = func(a): return a", 2, "functions inside functions"),
        ("var x = 3:\n\tset(value):\n\t\tx = value", 1, "properties"),
        ("static var x = 3", 1, "static variables"),
        ("func f():\n\treturn nothing + 1", 2, "nothing is not known"),
        ("func f(x: int):\n\tif x > 2:\n\t\treturn 1", 1, "may end without returning"),
        ("func f():\n\treturn g(1)\nfunc g(a, b):\n\treturn a + b", 2, "needs a value for b"),
        ("func f():\n\tprint(g())\nfunc g():\n\treturn 1", 2, "may change the game"),
        ("func f():\n\tvar a = []\n\treturn a.size()", 2, "what this array holds"),
        ("var n: Node3D", 1, "type Node3D"),
        ("func f():\n\tvar x = null", 2, "null"),
    ],
)
def test_refusals_name_line_and_reason(text: str, line: int, reason: str) -> None:
    with pytest.raises(ScriptRefused) as refused:
        compile_text(text, "player.gd")
    assert any(number == line and reason in why for number, why in refused.value.refusals), refused.value.refusals
    assert str(refused.value).startswith("player.gd:")
    assert "\n" not in str(refused.value)


def test_what_only_draws_or_sounds_is_left_out_and_listed() -> None:
    text = (
        "extends Node\n@onready var label: Label = $Label\n@onready var sound: AudioStreamPlayer = $Sound\n"
        "var hits = 0\nfunc hit():\n\thits += 1\n\tlabel.text = str(hits)\n\tsound.play()\n"
        "\tprint('hit ', hits)\n\treturn hits\n"
    )
    compiled = compile_text(text)
    assert compiled.left_out == [(8, "play()"), (9, "print()")]
    functions = load_plain(compiled)
    assert functions["hit"](functions["new"]()) == 1


def test_generated_python_reads_like_the_script() -> None:
    text = "const RATE = 2\nvar v = Vector3.ZERO\nfunc push(delta: float) -> void:\n\tv.y -= RATE * delta\n"
    lines = [line.split("  #")[0].rstrip() for line in compile_text(text).source.splitlines()]
    assert "RATE = 2" in lines
    assert "def push(self, delta):" in lines
    assert "    self.v = self.v.with_y(self.v.y - float(RATE) * delta)" in lines


def test_the_example_of_the_page() -> None:
    """As in docs/twin-compiler.md, which leaves out the members and moves line numbers nearer."""
    example = {block.language: block.text for block in blocks(ROOT / "docs/twin-compiler.md")}

    def lines(text: str) -> list[str]:
        return [re.sub(r"\s+#", "  #", line) for line in text.splitlines() if line]

    compiled = lines(compile_text(example["gdscript"]).source)
    assert [line for line in lines(example["python"]) if line not in compiled] == []


def test_report_counts_lines_and_names_the_rest(
    tmp_path: Path, godojo: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    (tmp_path / "good.gd").write_text("extends Node\n# why\nvar x = 1\n\nfunc f():\n\tx += 1\n", encoding="utf-8")
    (tmp_path / "bad.gd").write_text("extends Node\nfunc f():\n\tmove_and_slide()\n", encoding="utf-8")
    (tmp_path / "project.godot").touch()
    done = godojo("twin", "report", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "bad.gd:3: move_and_slide() is not compiled\n6 of 7 lines understood (86%); 1 of 2 scripts compile whole\n"
    )


@pytest.mark.parametrize(
    ("verb", "reason"),
    [
        ("build", "is no Godot project"),
        ("check", "is no Godot project"),
        ("report", "is no Godot project"),
        ("compile", "there is no script"),
    ],
)
def test_nothing_is_installed_for_what_is_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, reason: str
) -> None:
    monkeypatch.setattr("godojo.extras.require", lambda *_: pytest.fail("something would be installed"))
    found = CliRunner().invoke(app, ["twin", verb, str(tmp_path / "nowhere")])
    assert reason in str(found.exception)


def test_a_missing_script_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"no\.gd cannot be read"):
        compile_script(tmp_path / "no.gd")
