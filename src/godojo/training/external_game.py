"""Opens a game of the user's own for a new run, and takes the settings that its scene declares."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from godojo.engines.base import Worlds
from godojo.engines.godot.game_source import GameSource
from godojo.errors import GodojoError, option
from godojo.games.base import GAMES, SCENE_GAMES
from godojo.learn.declared import Declared, declared, leave_out
from godojo.learn.defaults import SHOWN, ppo_defaults, samples_per_s
from godojo.learn.presets import Preset, learner_settings, preset_names, read_config, read_preset, setting_value
from godojo.learn.registry import LIBRARIES, RLLIB, SB3, algorithm_named
from godojo.learn.settings import PpoSettings
from godojo.runs.config import SCENE_LOOP, RunConfig
from godojo.training.args import TrainArgs
from godojo.training.layers import Layer, defaults_for_few_worlds
from godojo.training.twins import uses_twin
from godojo.training.worlds import loop_values, worlds_of

SECTIONS = ("budget", "ppo", "sac", *SB3.values(), *RLLIB.values(), "options", "processes")
"""Sections of a configuration file that a user's own game takes."""
OPTIONS = "options."
"""Prefix of the settings (`--set options.NAME=VALUE`) that are asked of the scene."""
MAX_GAME_NAME = 40
SB3_ROLLOUT = 2048
"""Stable-Baselines3's default `n_steps`, for one environment."""


def external_config(path: Path | None, game: str | None, preset_name: str | None) -> Preset:
    """The configuration file or the preset for an external game, which has no settings that we know."""
    preset, source = Preset(), str(path)
    if path is not None:
        preset = read_config(path, "")
    elif game in SCENE_GAMES and (preset_name is not None or preset_names(str(game))):
        preset, source = read_preset(str(game), preset_name or "default"), f"preset {preset_name or 'default'}"
    for section in Preset.__struct_fields__:
        if section not in SECTIONS and getattr(preset, section) != getattr(Preset(), section):
            raise GodojoError(f"{source}: an external game has no section {section!r}; there is: {', '.join(SECTIONS)}")
    return preset


def open_external(
    args: TrainArgs,
    config: RunConfig,
    game_texts: list[str],
    num_worlds: int | None,
    say: Callable[[str], None],
) -> tuple[RunConfig, Worlds]:
    """Open an external game, which declares its own roles and model; returns the configuration with its name."""
    more = config.more if num_worlds is None else {**config.more, "worlds": num_worlds}
    if options := {**more.get("options", {}), **_options(game_texts)}:
        more = {**more, "options": options}
    source = GameSource.of(more)
    on_twin = source is not None and uses_twin(args, source, say)
    config = msgspec.structs.replace(config, game="", engine="sim" if on_twin else "godot", more=more)
    worlds = worlds_of(config, args.games, say)
    if args.is_scene_game:
        return msgspec.structs.replace(config, game=str(args.game)), worlds
    place = args.place
    name = worlds.hellos[0].game if place is None else place.stem if place.is_file() else place.name
    letters = "".join(letter if letter.isalnum() else "-" for letter in name[:MAX_GAME_NAME])
    is_taken = letters in GAMES or letters in SCENE_GAMES
    return msgspec.structs.replace(config, game=letters if letters and not is_taken else "game"), worlds


def _options(texts: Sequence[str]) -> dict[str, Any]:
    """What `options.NAME=VALUE` among the settings asks of the scene."""
    found: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not name.startswith(OPTIONS):
            raise GodojoError(
                f"an external game does not take the setting {text!r}; exported variables of its agents are"
                f" {OPTIONS}NAME=VALUE"
            )
        found[name.removeprefix(OPTIONS)] = setting_value(value)
    return found


def from_scene(
    config: RunConfig,
    worlds: Worlds,
    requested: str | None,
    preset: Preset,
    given: dict[str, Any],
    say: Callable[[str], None],
    kept: Collection[str] = (),
) -> tuple[RunConfig, list[Layer]]:
    """The algorithm of an external game, and its settings below those of the user: defaults, then the scene's.

    `requested` is the algorithm that the user chose, if any; `given` are settings on the command line; `kept`
    names those of the run that it starts from.
    """
    scene = declared(worlds.declared_models, requested, worlds.roles)
    algorithm = requested or scene.algorithm or "ppo"
    nodes = ", ".join(dict.fromkeys(scene.nodes.values()))
    if scene.algorithm and algorithm not in (scene.algorithm, SB3.get(scene.algorithm)):
        say(f"{nodes}: only the network is used, since {algorithm} trains and the scene declares {scene.algorithm}")
    by_user = {**preset.learner(algorithm), **given}
    scene = scene.without([*by_user, *kept])
    library = LIBRARIES.get(algorithm_named(algorithm).extra)
    if library is not None:
        scene = scene.only(by_user.get("role") or next(iter(worlds.roles)))
    loop = {} if library is not None else _without_user(by_user, loop_values(worlds))
    defaults = _external_defaults(worlds, config.seed, algorithm, scene, {**loop, **by_user}, say)
    _check_declared(scene, worlds, algorithm, defaults, by_user)
    for role, node in scene.nodes.items():
        values = {**scene.settings, **scene.roles.get(role, {})}
        shown = "".join(f", {name} {_shown(value)}" for name, value in values.items())
        say(f"{role}: {algorithm}{shown} (declared by {node})")
    config = msgspec.structs.replace(config, learner=algorithm)
    if worlds.declared_loop is not None:
        if library is not None:
            say(f"{library.title} has its own schedule: the scene's DojoTrainingLoop only decides when it learns")
        config = msgspec.structs.replace(config, more={**config.more, SCENE_LOOP: True})
    layers = [
        Layer("default for this game", defaults),
        Layer(f"scene ({nodes})", scene.layer),
        Layer("scene (DojoTrainingLoop)", loop),
    ]
    return config, layers


def _without_user(by_user: Mapping[str, Any], loop: Mapping[str, Any]) -> dict[str, Any]:
    """What is left of a scene's loop; `n_epochs` or `gradient_steps` of the user replace its `train_steps`."""
    names = {*by_user, *(("train_steps",) if by_user.keys() & {"n_epochs", "gradient_steps"} else ())}
    return leave_out(names, loop)


def _check_declared(
    scene: Declared, worlds: Worlds, algorithm: str, defaults: Mapping[str, Any], by_user: Mapping[str, Any]
) -> None:
    """Reject what the game cannot be trained with; GodojoError names the node, unless it fits without `by_user`."""
    for role, node in scene.nodes.items() if algorithm == scene.algorithm else ():
        own = {**scene.settings, **scene.roles.get(role, {})}
        error = _misfit(worlds, role, algorithm, {**defaults, **by_user, **own})
        if error is not None and by_user and _misfit(worlds, role, algorithm, {**defaults, **own}) is None:
            raise error
        if error is not None:
            raise GodojoError(f"{node}: {error}")


def _misfit(worlds: Worlds, role: str, algorithm: str, values: Mapping[str, Any]) -> GodojoError | None:
    """Why a role cannot be trained with these settings, if it cannot."""
    try:
        settings = learner_settings(algorithm, values)
        algorithm_named(algorithm).check(worlds, settings)
        if isinstance(settings, PpoSettings):
            settings.check_batches({role: worlds.roles[role].acted.size})
    except GodojoError as error:
        return error
    return None


def _shown(value: Any) -> str:
    return str(list(value)) if isinstance(value, list | tuple) else str(value) or "none"


def _external_defaults(
    worlds: Worlds, seed: int, algorithm: str, scene: Declared, by_user: dict[str, Any], say: Callable[[str], None]
) -> dict[str, Any]:
    """Defaults for a game of the user's own, which fit what its scene declares and the user gave; announces them."""
    if algorithm_named(algorithm).extra:
        return _library_defaults(worlds, algorithm, by_user)
    if algorithm != "ppo":
        return defaults_for_few_worlds(worlds.num_worlds, algorithm)
    chosen = {**scene.settings, **by_user}
    speed = samples_per_s(worlds, seed)
    defaults = ppo_defaults(worlds, chosen, speed)
    batches = [values["batch_size"] for values in (chosen, *scene.roles.values()) if values.get("batch_size")]
    if batches:
        defaults["sequence_length"] = _sequence_length(defaults, min(batches))
    shown = [name for name in SHOWN if name not in chosen and not (name == "n_minibatches" and batches)]
    announced = ", ".join(f"{name} {defaults[name]}" for name in shown)
    say(f"defaults for {speed:,.0f} decisions per second, which {option('settings')} changes: {announced}")
    return leave_out(chosen, defaults)


def _library_defaults(worlds: Worlds, algorithm: str, by_user: dict[str, Any]) -> dict[str, Any]:
    """For other libraries every agent of the role is an environment: PPO's rollouts are of about `SB3_ROLLOUT`
    transitions, and the other algorithms take a gradient step for every four."""
    name = by_user.get("role") or next(iter(worlds.roles))
    agents = worlds.roles[name].action[..., 0].size if name in worlds.roles else 1
    if algorithm in (SB3["ppo"], RLLIB["ppo"]):
        return {"num_envs": worlds.num_worlds, "n_steps": min(max(SB3_ROLLOUT // agents, 32), SB3_ROLLOUT)}
    return {"num_envs": worlds.num_worlds, "gradient_steps": max(agents // 4, 1)}


def _sequence_length(defaults: dict[str, Any], batch_size: Any) -> int:
    """The longest sequence, up to the default, of which a minibatch can hold one."""
    steps, usual = defaults["n_steps"], defaults["sequence_length"] or defaults["n_steps"]
    if not isinstance(batch_size, int) or batch_size >= usual:
        return int(defaults["sequence_length"])
    return max(length for length in range(1, max(batch_size, 1) + 1) if steps % length == 0)
