"""Where the Godot project's files lie: in the checkout, or inside the installed package."""

from pathlib import Path


def godot_sources() -> Path:
    """The project as it is shipped. Read from it; the engine, which writes beside what it reads, may get a copy."""
    package = Path(__file__).parent
    checkout = package.parent.parent / "godot"
    return checkout if (checkout / "project.godot").is_file() else package / "godot_project"
