"""docs/twin.md: its example is the game's script, and what the compiler makes of it."""

from godojo.twin.gdscript.program import compile_program
from godojo.twin.scene.snapshot import read_snapshot
from tests.conftest import ROOT
from tests.doc_pages import blocks

GAME = ROOT / "tests/godot_rl_games/climber"


def words(text: str) -> list[str]:
    """The lines of a program, whatever their width and indentation."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def test_the_example_is_the_game_and_its_twin() -> None:
    shown = {block.language: words(block.text) for block in blocks(ROOT / "docs/twin.md") if block.language != "sh"}
    scripts = {path: path.read_text(encoding="utf-8") for path in GAME.rglob("*.gd")}
    script = next(text for path, text in scripts.items() if path.name == "coin.gd")
    assert "\n".join(shown["gdscript"]) in "\n".join(words(script))
    program = compile_program(
        read_snapshot(ROOT / "tests/twin_snapshots/climber.json"),
        lambda path: (GAME / path.removeprefix("res://")).read_text(encoding="utf-8"),
    )
    assert not program.refusals
    assert "\n".join(shown["python"]) in "\n".join(words(program.source))
