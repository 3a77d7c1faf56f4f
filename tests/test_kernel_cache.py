"""Compiled kernels are kept under a hash that covers everything they are made of."""

import importlib
import pkgutil
import shutil
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import godojo
from godojo.kernels.sources import kernel_sources, sources_hash
from godojo.resources import godot_sources

PACKAGE = Path(godojo.__file__).parent
PROJECT = godot_sources()


@pytest.mark.parametrize(
    "edited",
    [
        "learn/kernels/layers.py",  # called by the kernels of lesson.py and quick.py
        "learn/networks.py",  # LOG_SQRT_2PI is compiled into them
        "games/tag/settings.py",
        "games/tag/opponents/grid.py",
        "kernels/rays.py",
        "kernels/compile.py",
        "../godot/games/tag/observation.json",  # so are the indices of the observation's parts
    ],
)
def test_an_edit_of_what_kernels_are_made_of_compiles_them_anew(tmp_path: Path, edited: str) -> None:
    copy = tmp_path / "godojo"
    shutil.copytree(PACKAGE, copy, ignore=lambda _, names: [name for name in names if name == "__pycache__"])
    project = tmp_path / "godot"
    for layout in godot_sources().glob("games/*/observation.json"):
        place = project / layout.relative_to(godot_sources())
        place.parent.mkdir(parents=True)
        shutil.copy(layout, place)
    before = sources_hash(copy, project)
    path = copy / edited
    path.write_text(path.read_text() + "\nEDITED = 1\n")
    assert sources_hash(copy, project) != before
    path = copy / "cli/train.py"
    now = sources_hash(copy, project)
    path.write_text(path.read_text() + "\nEDITED = 1\n")
    assert sources_hash(copy, project) == now, "what kernels are not made of costs nobody a minute"


def test_an_edit_of_a_game_outside_compiles_its_kernels_anew(tmp_path: Path) -> None:
    game = tmp_path / "games/mine"
    game.mkdir(parents=True)
    rules = game / "rules.py"
    rules.write_text("LENGTH = 1\n")
    assert sources_hash(PACKAGE, PROJECT, [tmp_path / "games"]) == sources_hash(PACKAGE, PROJECT), "it has no kernels"
    (game / "twin.py").write_text("from godojo.kernels.compile import kernel\n")
    before = sources_hash(PACKAGE, PROJECT, [tmp_path / "games"])
    assert before != sources_hash(PACKAGE, PROJECT)
    rules.write_text("LENGTH = 2\n")
    assert sources_hash(PACKAGE, PROJECT, [tmp_path / "games"]) != before


def test_every_kernel_is_covered() -> None:
    for name in ("learn", "games", "opponents", "kernels"):
        room = importlib.import_module(f"godojo.{name}")
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    modules = [module for name, module in sys.modules.items() if name.startswith("godojo.")]
    kernels = [thing for module in modules for thing in vars(module).values() if isinstance(thing, Dispatcher)]
    files = {Path(kernel.py_func.__code__.co_filename) for kernel in kernels}
    assert len(files) > 15
    assert files <= kernel_sources(PACKAGE).keys()
