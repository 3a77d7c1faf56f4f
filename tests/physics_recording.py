"""Records what Jolt does in random scenes, in the real engine."""

from pathlib import Path

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import run_project

SCRIPT = "res://tests/physics/record_physics.gd"


def record(engine: Engine, kind: str, seed: int, scenes: int, ticks: int, path: Path) -> Path:
    """Writes the scenes and every tick of them into the file (see `physics_arena.gd` for the kinds of scenes)."""
    options = [f"--kind={kind}", f"--seed={seed}", f"--scenes={scenes}", f"--ticks={ticks}", f"--out={path}"]
    words = ["--headless", "--no-header", "--fixed-fps", "60", "--script", SCRIPT, "--", *options]
    done = run_project(engine, words, timeout_s=300)
    assert path.exists(), done.output
    return path
