"""Presets of a game by name, configurations from files, and single values by `key=value`."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, overload

import msgspec

from godojo.errors import GodojoError, known
from godojo.formats import LEARNER_SETTINGS
from godojo.games.base import GAMES
from godojo.games.curriculum import Stage
from godojo.games.settings import flatten
from godojo.learn.registry import ALGORITHMS, algorithm_named
from godojo.learn.settings import PpoSettings
from godojo.validation import converted

AnySettings = TypeVar("AnySettings", bound=msgspec.Struct)
"""Settings of a learner: a struct with a `check()`."""
BUDGETS = ("minutes", "agent_steps")
SB3_SHARED = (
    *("num_envs", "gamma", "net_arch", "activation_fn", "norm_obs", "norm_reward", "clip_obs"),
    *("device", "checkpoint_steps", "best_rounds"),
)
"""Settings of Stable-Baselines3's PPO that its other algorithms take over from a preset."""


class Preset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A preset: a file in `games/GAME/presets`, or a user's configuration."""

    budget: dict[str, int | float] = {}
    ppo: dict[str, Any] = {}
    """Settings of PPO that differ from the defaults."""
    sac: dict[str, Any] = {}
    """The same for SAC."""
    sb3: dict[str, Any] = {}
    """The same for Stable-Baselines3's PPO (`--trainer sb3`); its other algorithms share what `SB3_SHARED` names."""
    sb3_sac: dict[str, Any] = {}
    """The same for Stable-Baselines3's SAC."""
    sb3_td3: dict[str, Any] = {}
    """The same for Stable-Baselines3's TD3."""
    sb3_dqn: dict[str, Any] = {}
    """The same for Stable-Baselines3's DQN."""
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
    trainer: str = ""
    """The trainer that the file is for, if none is asked for."""
    processes: int = 0
    """Godot processes on the real engine; 0 for the default."""

    def learner(self, algorithm: str) -> dict[str, Any]:
        values: dict[str, Any] = getattr(self, algorithm, {})
        if not algorithm.startswith("sb3_"):
            return values
        return {name: value for name, value in self.sb3.items() if name in SB3_SHARED} | values


_SECTIONS = {field.name for field in msgspec.structs.fields(Preset)}


class ConfigForm(NamedTuple):
    """Another form of a game's configuration files than our own, which is that of presets."""

    sections: tuple[str, ...]
    read: Callable[[dict[str, Any]], dict[str, Any]]
    """From a file's content to that of a preset; raises GodojoError."""
    write: Callable[[Preset], dict[str, Any]]
    """Back again, with every value."""


def preset_names(game: str) -> list[str]:
    folder = resources.files(f"godojo.games.{game}") / "presets"
    if not folder.is_dir():
        return []
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


def read_config(path: Path, game: str) -> Preset:
    """A user's configuration in JSON, in our own form or the game's, if it is one of ours."""
    try:
        tree = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise GodojoError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise GodojoError(f"{path}: {error}") from None
    form = config_form(game)
    if form is not None and isinstance(tree, dict) and not set(tree) & (_SECTIONS - set(form.sections)):
        try:
            tree = form.read(tree)
        except (GodojoError, RecursionError) as error:
            raise GodojoError(f"{path}: {error}") from None
    return preset_from(tree, str(path))


def config_form(game: str) -> ConfigForm | None:
    """The game's own form of configuration files, if it has one."""
    load = GAMES[game].config_form if game in GAMES else None
    return None if load is None else load()


def example_config(game: str, preset: str = "default", *, own_form: bool = False) -> dict[str, Any]:
    """A preset with every value filled in, as `read_config` reads it: in the game's form, if it has one."""
    form, found = config_form(game), read_preset(game, preset)
    if form is not None and not own_form:
        return form.write(found)
    settings = GAMES[game].settings.defaults().override(**found.game)
    tree: dict[str, Any] = msgspec.to_builtins(found)
    tree |= {name: msgspec.to_builtins(learner_settings(name, found.learner(name))) for name in ALGORITHMS}
    return tree | {"budget": found.budget or {"minutes": 5}, "game": flatten(msgspec.to_builtins(settings))}


def preset_from(tree: Any, source: str) -> Preset:
    """Validate a configuration; GodojoError names the source and the reason."""
    if not isinstance(tree, dict):
        raise GodojoError(f"{source}: a configuration is an object with sections, not {type(tree).__name__}")
    for name in tree:
        if name not in _SECTIONS:
            raise GodojoError(f"{source}: there is no section {name!r}; {known(name, sorted(_SECTIONS))}")
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
            learner[key.strip()] = setting_value(value)
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
        values |= {**layer, **_roles(values, layer)}
    settings = converted(values, kind)
    settings.check()  # type: ignore[attr-defined]
    return settings


def _roles(values: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of single roles in both, where the layer has any; its own win."""
    before, own = values.get("roles"), layer.get("roles")
    if not isinstance(before, dict) or not isinstance(own, dict):
        return {}
    both = {role: [branch[role] for branch in (before, own) if role in branch] for role in before | own}
    if not all(isinstance(branch, dict) for branches in both.values() for branch in branches):
        return {}
    return {
        "roles": {role: {k: v for branch in branches for k, v in branch.items()} for role, branches in both.items()}
    }


def _unknown(name: str, names: Sequence[str]) -> str:
    for renamed in LEARNER_SETTINGS.values():
        if renamed.get(name) in names:
            return f"`{name}` is now `{renamed[name]}`"
    return f"the learner has no setting {name!r}; {known(name, names)}"


def setting_value(text: str) -> Any:
    """The number, list or bool that a text is in JSON, or else the text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text.strip()
