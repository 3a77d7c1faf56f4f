"""A user's project with the twin's probe in it: started as for a training, without writing into the project."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from godojo.bridge.listener import Wire
from godojo.engines.godot.find import find
from godojo.engines.godot.launch import Recipe, engine_words, from_project
from godojo.engines.godot.project import project_folder
from godojo.engines.godot.shadow import shadow_project

_FOLDER = "godojo_twin"
"""Where the shadow has the probe's scripts."""
_AUTOLOAD = f'DojoTwinProbe="*res://{_FOLDER}/dojo_twin_probe.gd"'


@dataclass(frozen=True)
class Probed:
    """A project that can be started with the probe, any number of times."""

    folder: Path
    """For files that the probe writes."""
    recipe: Recipe

    @property
    def wire(self) -> Wire:
        return self.recipe.wire

    @property
    def snapshot(self) -> Path:
        return self.folder / "snapshot.json"

    @property
    def trace(self) -> Path:
        return self.folder / "trace.bin"

    def started(self, *, seed: int, is_traced: bool = False) -> Recipe:
        """How to start it once more: the probe writes `snapshot`, and `trace` if that is wanted."""
        env: Mapping[str, str] = {"GODOJO_TWIN_SNAPSHOT": str(self.snapshot), "GODOJO_TWIN_SEED": str(seed)}
        if is_traced:
            env = {**env, "GODOJO_TWIN_TRACE": str(self.trace)}
        for path in (self.snapshot, self.trace):
            path.unlink(missing_ok=True)
        recipe = self.recipe
        return Recipe(
            recipe.program,
            recipe.wire,
            recipe.arguments,
            recipe.ticks_per_decision,
            {**recipe.env, **env},
            recipe.speedup,
        )


@contextmanager
def probed(project: Path, scene: str | None = None, *, action_repeat: int | None = None) -> Iterator[Probed]:
    """A shadow of the project, for as long as the context lasts."""
    original = from_project(project, scene=scene, ticks_per_decision=action_repeat)
    source = Path(project).expanduser().absolute()
    engine = find()
    with tempfile.TemporaryDirectory(prefix="godojo-twin-") as home:
        place = Path(home) / "project"
        shadow_project(source, place, _AUTOLOAD, {_FOLDER: project_folder() / "addons/godojo/twin"})
        words = engine_words(engine, place, scene, window=False, wire=original.wire)
        yield Probed(Path(home), Recipe(words, original.wire, ticks_per_decision=action_repeat))
