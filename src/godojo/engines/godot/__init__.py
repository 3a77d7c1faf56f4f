"""The real Godot: finding it, installing it, and running it on the Godot project."""

from godojo.engines.godot.display import display
from godojo.engines.godot.find import Engine, find
from godojo.engines.godot.project import prepared_project, run_project

__all__ = ["Engine", "display", "find", "prepared_project", "run_project"]
