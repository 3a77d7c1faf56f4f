"""`make_vec`: a game on an engine, by name. `open_game`: anybody's game."""

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from godojo.engines.base import ENGINES, Worlds
from godojo.engines.godot.game_slots import GameSlot
from godojo.engines.godot.http_worlds import HttpWorlds
from godojo.engines.godot.launch import from_project, own_scene
from godojo.engines.godot.open import await_game, launch_games, open_game
from godojo.engines.godot.worlds import MAX_RESTARTS, STEP_TIMEOUT_S
from godojo.engines.sim import SimWorlds
from godojo.errors import GodojoError, known
from godojo.games.base import GAMES, Game, game_named
from godojo.kernels import cuda

if TYPE_CHECKING:
    from godojo.engines.device import DeviceWorlds

__all__ = ["ENGINES", "GAMES", "make_vec", "open_game"]

DEVICES = ("cpu", "cuda")


def make_vec(
    game: str, *, engine: str = "sim", num_worlds: int = 1, seed: int = 0, device: str = "cpu", **options: Any
) -> Worlds:
    """Make many copies of a game, ready for their first step.

    Args:
        game: The game's name, such as `"tag"`.
        engine: `"sim"`, the embedded twin, or `"godot"`, the real engine.
        num_worlds: Copies that are played in parallel.
        seed: The same seed plays the same game.
        device: `"cpu"`, or `"cuda"`: the twin on a GPU of NVIDIA, with torch tensors in place of arrays
            (`godojo.engines.device.DeviceWorlds`).
        options: Those of the game's twin. Every game has `settings` and `truncate_after`, tag also `arenas` (a list of
            Arena) and `generated_share`. On `godot` there are besides:

            - `num_processes` (1): games over which the worlds are spread;
            - `truth` (False): the game also sends its full state, for `privileged()`;
            - `connect` (False) or `port` (8765), `host`, `token`: wait for a game that you start yourself; `slot`
              provides it, in place of listening;
            - `http` (an address, or a list of them): games that listen for HTTP, with as many worlds in each; with
              `scene`, `token` and `reload_every` (`godojo.engines.godot.http_worlds.HttpWorlds`);
            - `start_timeout_s`, `step_timeout_s` (10), `reconnect_s` (60), `max_restarts`: how long to wait, and how
              often to restart (`godojo.engines.godot.worlds.GodotWorlds`).
    """
    played = game_named(game)
    if engine not in ENGINES:
        raise GodojoError(f"there is no engine {engine!r}; {known(engine, ENGINES)}")
    options_of_twin = [name for name in inspect.signature(played.twin).parameters if name != "worlds"]
    godots = [name for name in inspect.signature(_in_godot).parameters if name not in ("game", "num_worlds", "seed")]
    own = {name: value for name, value in options.items() if name in options_of_twin}
    others = {name: value for name, value in options.items() if name not in options_of_twin}
    for name in others:
        if name in godots and engine != "godot":
            raise GodojoError(f"{name!r} is an option of engine='godot' only")
        if name not in godots:
            there_is = options_of_twin + (godots if engine == "godot" else [])
            raise GodojoError(f"{game} has no option {name!r}; it has: {', '.join(there_is)}")
    if device not in DEVICES:
        raise GodojoError(f"there is no device {device!r}; {known(device, DEVICES)}")
    if device == "cuda":
        if engine != "sim":
            raise GodojoError("device='cuda' is for engine='sim': Godot plays on the CPU")
        return cast(Worlds, _on_device(played, num_worlds, seed, own))  # the same names, tensors in place of arrays
    if engine == "godot":
        described = played.require("in_godot", "engine godot")(seed=seed, **own)
        if others.pop("truth", False) and played.truth is not None:
            others["truth"] = played.truth(described.options)
        worlds = _in_godot(described, num_worlds, seed, **others)
    else:
        worlds = SimWorlds(played.twin(num_worlds, **own))
        worlds.reset(seed)
    worlds.game = game
    return worlds


def _on_device(game: Game, num_worlds: int, seed: int, options: dict[str, Any]) -> "DeviceWorlds":
    offered = game.require("on_device", "device='cuda'")
    cuda.load()  # before anything is built: whether there is a GPU
    from godojo.engines.device import DeviceWorlds  # torch

    worlds = DeviceWorlds(offered()(game.twin(num_worlds, **options)))
    worlds.reset(seed)
    worlds.game = game.name
    return worlds


def _in_godot(
    game: Any,
    num_worlds: int,
    seed: int,
    *,
    num_processes: int = 1,
    truth: Any = None,
    connect: bool = False,
    port: int | None = None,
    host: str = "127.0.0.1",
    token: Any = None,
    slot: GameSlot | None = None,
    start_timeout_s: float | None = None,
    step_timeout_s: float = STEP_TIMEOUT_S,
    reconnect_s: float = 60.0,
    max_restarts: int = MAX_RESTARTS,
    http: str | Sequence[str] | None = None,
    scene: str | None = None,
    reload_every: int = 0,
) -> Worlds:
    shared: dict[str, Any] = {
        "settings": game.settings,
        "options": game.configure_options,
        "ticks_per_decision": game.ticks_per_decision,
        "seed": seed,
        "step_timeout_s": step_timeout_s,
    }
    if http is not None:
        urls = [http] if isinstance(http, str) else list(http)
        shared["num_worlds"] = len(urls) if num_worlds == 1 else num_worlds
        shared |= {"start_timeout_s": 10.0 if start_timeout_s is None else start_timeout_s, "reconnect_s": reconnect_s}
        return HttpWorlds(urls, token=token, scene=scene, reload_every=reload_every, **shared)
    if scene is not None or reload_every:
        raise GodojoError("scene and reload_every are for games over HTTP: give http as well")
    shared |= {"truth": truth, "start_timeout_s": start_timeout_s, "max_restarts": max_restarts}
    if connect or port is not None:
        if num_processes != 1:
            raise GodojoError("a game that you start yourself is one process: omit num_processes")
        where = {"host": host, "port": port, "token": token, "slot": slot}
        return await_game(**where, worlds_each=[num_worlds], reconnect_s=reconnect_s, **shared)
    project = getattr(game, "project", None)
    recipe = own_scene(game.scene) if project is None else from_project(project, scene=game.scene)
    return launch_games(recipe, num_worlds=num_worlds, num_processes=num_processes, **shared)
