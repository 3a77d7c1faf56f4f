"""The demonstrations of a run: found, checked, kept in its configuration, and given to its learner."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from godojo.demos.file import DemoEpisode, Demos, read_demos
from godojo.demos.godot_rl import is_godot_rl, read_godot_rl
from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.files import file_hash
from godojo.runs.config import RunConfig

if TYPE_CHECKING:
    from godojo.learn.algorithm import Algorithm

DEMOS = "demos"
"""Key of `RunConfig.more`: `path` and `sha256` of each file."""


def kept_demos(paths: Sequence[Path]) -> dict[str, Any]:
    """The files for `RunConfig.more`."""
    if not paths:
        return {}
    places = [path.expanduser().absolute() for path in paths]
    for place in places:
        if not place.is_file():
            raise GodojoError(f"there is no file of demonstrations {place}")
    return {DEMOS: [{"path": str(place), "sha256": file_hash(place)} for place in places]}


def load_demos(path: Path, worlds: Worlds) -> Demos:
    """Read a file of Godojo or of godot_rl."""
    return read_godot_rl(path, worlds) if is_godot_rl(path) else read_demos(path)


def imitation_of(
    config: RunConfig, worlds: Worlds, say: Callable[[str], None], *, resume: bool
) -> "Callable[[Algorithm], None]":
    """Prepares a run's learner: attaches its demonstrations and, unless it is resumed, clones them."""
    episodes: dict[str, list[DemoEpisode]] = {}
    for kept in config.more.get(DEMOS, ()):
        for role, found in _of_file(kept, worlds, say).items():
            episodes.setdefault(role, []).extend(found)

    def start(learner: "Algorithm") -> None:
        if episodes:
            cloned = learner.imitate(episodes, clone=not resume)  # type: ignore[attr-defined]  # PPO has it
            for role, result in cloned.items():
                say(f"cloned the {role} from {result}")

    return start


def _of_file(kept: Mapping[str, str], worlds: Worlds, say: Callable[[str], None]) -> dict[str, list[DemoEpisode]]:
    path = Path(kept["path"])
    if not path.is_file():
        raise GodojoError(f"the demonstrations of this run are no longer at {path}: put them back")
    if file_hash(path) != kept["sha256"]:
        raise GodojoError(f"{path} has changed since the run began (its sha256 was {kept['sha256']}): restore it")
    demos = load_demos(path, worlds)
    if demos.is_cut:
        say(f"{path} ends in the middle of an episode, which is left out")
    return demos.for_game(worlds)
