"""The Godot project's files: in the checkout, or in the installed package."""

from pathlib import Path


def godot_sources() -> Path:
    """The project as shipped, read-only: the engine, which writes into its project, may get a copy."""
    package = Path(__file__).parent
    checkout = package.parent.parent / "godot"
    return checkout if (checkout / "project.godot").is_file() else package / "godot_project"
