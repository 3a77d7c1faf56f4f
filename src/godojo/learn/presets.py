"""Presets of a game by name, configurations from files, and single values by `key=value`."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import msgspec

from godojo.errors import GodojoError, known
from godojo.formats import LEARNER_SETTINGS
from godojo.games.curriculum import Stage
from godojo.learn.registry import algorithm_named
from godojo.learn.settings import PpoSettings
from godojo.validation import converted

AnySettings = TypeVar("AnySettings", bound=msgspec.Struct)
"""Settings of a learner: a struct with a `check()`."""
BUDGETS = ("minutes", "agent_steps")


class Preset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A preset: a file in `games/GAME/presets`, or a user's configuration."""

    budget: dict[str, float] = {}
    ppo: dict[str, Any] = {}
    """Settings of PPO that differ from the defaults."""
    sac: dict[str, Any] = {}
    """The same for SAC."""
    sb3: dict[str, Any] = {}
    """The same for Stable-Baselines3 (`--trainer sb3`)."""
    game: dict[str, Any] = {}
    """Values of the game's settings that differ, by path."""
    options: dict[str, Any] = {}
    """The game's options, such as `truncate_after`, that training uses besides its own."""
    curriculum: tuple[Stage, ...] = ()
    tasks: tuple[str, ...] = ()
    """Arenas or courses to train in parallel, by name; each agent observes which one it is in."""
    reward: str = ""
    """A custom reward that replaces the game's, as `file.py:Class`."""
    reward_scale: float = 1.0
    """Scale of the reward for the learner; tables keep the game's scale."""

    def learner(self, algorithm: str) -> dict[str, Any]:
        values: dict[str, Any] = getattr(self, algorithm, {})
        return values


def preset_names(game: str) -> list[str]:
    folder = resources.files(f"godojo.games.{game}") / "presets"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def read_preset(game: str, name: str) -> Preset:
    """A preset; one that names another in `extends` has its values, too, unless it has its own: a whole budget, or
    single values of the other sections."""
    names = preset_names(game)
    if name not in names:
        raise GodojoError(f"{game} has no preset {name!r}; {known(name, names)}")
    text = (resources.files(f"godojo.games.{game}") / "presets" / f"{name}.toml").read_text("utf-8")
    tree = tomllib.loads(text)
    if parent := tree.pop("extends", None):
        for section, values in msgspec.to_builtins(read_preset(game, parent)).items():
            own = tree.get(section)
            is_merged = isinstance(values, dict) and section != "budget"
            tree[section] = {**values, **(own or {})} if is_merged else own or values
    return preset_from(tree, f"preset {name}")


def read_config(path: Path) -> Preset:
    """A user's configuration in JSON, as written by `godojo config example`."""
    try:
        tree = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise GodojoError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise GodojoError(f"{path}: {error}") from None
    return preset_from(tree, str(path))


def preset_from(tree: Any, source: str) -> Preset:
    """Validate a configuration; GodojoError names the source and the reason."""
    if not isinstance(tree, dict):
        raise GodojoError(f"{source}: a configuration is an object with sections, not {type(tree).__name__}")
    sections = [field.name for field in msgspec.structs.fields(Preset)]
    for name in tree:
        if name not in sections:
            raise GodojoError(f"{source}: there is no section {name!r}; {known(name, sections)}")
    try:
        preset = converted(tree, Preset)
    except GodojoError as error:
        raise GodojoError(f"{source}: {error}") from None
    for name in preset.budget:
        if name not in BUDGETS:
            raise GodojoError(f"{source}: there is no budget {name!r}; {known(name, BUDGETS)}")
    return preset


def split_settings(texts: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """Split `--set` into the learner's values (`n_epochs=3`) and the game's texts (`motion.gravity_mps2=20`)."""
    learner: dict[str, Any] = {}
    game = []
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise GodojoError(f"{text!r} is no setting; write it as n_epochs=3 or motion.gravity_mps2=20")
        if "." in key:
            game.append(text)
        else:
            learner[key.strip()] = _value(value)
    return learner, game


@overload
def learner_settings(algorithm: Literal["ppo"], *layers: Mapping[str, Any]) -> PpoSettings: ...
@overload
def learner_settings(algorithm: str, *layers: Mapping[str, Any]) -> Any: ...
def learner_settings(algorithm: str, *layers: Mapping[str, Any]) -> Any:
    """The settings of an algorithm: its defaults, overridden by each layer in turn."""
    return filled(algorithm_named(algorithm).settings_type(), *layers)


def filled(kind: type[AnySettings], *layers: Mapping[str, Any]) -> AnySettings:
    """Settings of this type: defaults, overridden by each layer in turn, and checked."""
    names = [field.name for field in msgspec.structs.fields(kind)]
    values: dict[str, Any] = {}
    for layer in layers:
        for name in layer:
            if name not in names:
                raise GodojoError(_unknown(name, names))
        values |= layer
    settings = converted(values, kind)
    settings.check()  # type: ignore[attr-defined]
    return settings


def _unknown(name: str, names: Sequence[str]) -> str:
    for renamed in LEARNER_SETTINGS.values():
        if renamed.get(name) in names:
            return f"`{name}` is now `{renamed[name]}`"
    return f"the learner has no setting {name!r}; {known(name, names)}"


def declared_values(model: Mapping[str, Any], algorithm: str) -> dict[str, Any]:
    """The settings that a scene declares (`DojoModel`), under the learner's names."""
    names = {"hidden_sizes": "net_arch", "learning_rate": "learning_rate", "discount": "gamma"}
    if algorithm == "sac":
        names |= {"batch_size": "batch_size", "replay_size": "buffer_size"}
    return {own: model[name] for name, own in names.items() if model.get(name)}


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text.strip()
