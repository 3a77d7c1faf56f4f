"""Records what Godot's physics does in random scenes, in the real engine."""

import shutil
from pathlib import Path

from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import run_project
from godojo.resources import godot_sources
from godojo.twin.physics.engines import JOLT

FOLDER = "tests/physics"
PROJECT = """config_version=5

[physics]

common/physics_ticks_per_second=60
3d/physics_engine="{engine}"
"""


def make_project(folder: Path, physics: str) -> Path:
    """A project of the recording scripts alone, on one of Godot's two physics engines."""
    shutil.copytree(godot_sources() / FOLDER, folder / FOLDER)
    (folder / "project.godot").write_text(PROJECT.format(engine=physics), encoding="utf-8")
    return folder


def record(engine: Engine, kind: str, seed: int, scenes: int, ticks: int, path: Path, physics: str = JOLT) -> Path:
    """Writes the scenes and every tick of them into the file (see `physics_arena.gd` for the kinds of scenes)."""
    options = [f"--kind={kind}", f"--seed={seed}", f"--scenes={scenes}", f"--ticks={ticks}", f"--out={path}"]
    words = ["--headless", "--no-header", "--fixed-fps", "60", "--script", f"res://{FOLDER}/record_physics.gd", "--"]
    project = None if physics == JOLT else make_project(path.with_suffix(".project"), physics)
    done = run_project(engine, [*words, *options], timeout_s=300, folder=project)
    assert path.exists(), done.output
    return path
