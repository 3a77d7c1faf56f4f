"""A project with a planted bug, for hunts in the real engine."""

import shutil
from pathlib import Path

from tests.conftest import ROOT

BUG = """	elif ball.position.y < -1.5:
		if ball.position.x > 0.0:
			gem.get_node_or_null("Sparkles").visible = false
"""
"""Whoever falls off the island's right side meets null."""


def planted_island(folder: Path) -> Path:
    """The example game in a project of its own; falling off the right side is a script error."""
    project = folder / "island"
    skipped = shutil.ignore_patterns(".godot")
    for name in ("addons/godojo", "games/first_agent"):
        shutil.copytree(ROOT / "godot" / name, project / name, ignore=skipped)
    settings = (ROOT / "godot/project.godot").read_text(encoding="utf-8")
    (project / "project.godot").write_text(_for_island(settings), encoding="utf-8")
    script = project / "games/first_agent/ball_agent.gd"
    text = script.read_text(encoding="utf-8")
    assert text.count("	elif ball.position.y < -1.5:\n") == 1
    script.write_text(text.replace("	elif ball.position.y < -1.5:\n", BUG), encoding="utf-8")
    return project


def _for_island(settings: str) -> str:
    lines = [
        'run/main_scene="res://games/first_agent/first_agent.tscn"' if line.startswith("run/main_scene=") else line
        for line in settings.splitlines()
        if not line.startswith(("config/icon=", "boot_splash/image="))
    ]
    return "\n".join([*lines, ""])
