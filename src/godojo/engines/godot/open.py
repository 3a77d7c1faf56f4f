"""Opens games in the real Godot: launches them, or waits for one that the user starts."""

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from godojo.bridge.listener import DEFAULT_PORT, Listener, Wire
from godojo.bridge.messages import MAX_WORLDS
from godojo.engines.godot.display import display
from godojo.engines.godot.game_slots import GameSlot, LaunchedGame, PendingGame
from godojo.engines.godot.launch import Recipe, checked_wire, faster, from_binary, from_project
from godojo.engines.godot.worlds import MAX_RESTARTS, STEP_TIMEOUT_S, GodotWorlds
from godojo.errors import GodojoError

GODOT_RL_PORT = 11008
_PATIENCE_S = 600.0
"""How long the user has to start a game."""


def open_game(
    project: str | os.PathLike[str] | None = None,
    *,
    binary: str | os.PathLike[str] | None = None,
    scene: str | None = None,
    wire: Wire | None = None,
    num_worlds: int | None = None,
    num_processes: int = 1,
    seed: int = 0,
    ticks_per_decision: int | None = None,
    options: Mapping[str, Any] | None = None,
    arguments: Sequence[str] = (),
    window: bool = False,
    speedup: float = 1.0,
    strict: bool = False,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    slot: GameSlot | None = None,
    start_timeout_s: float | None = None,
    step_timeout_s: float = STEP_TIMEOUT_S,
    reconnect_s: float = 60.0,
    max_restarts: int = MAX_RESTARTS,
    say: Callable[[str], None] | None = None,
) -> GodotWorlds:
    """Open any Godot game, ready for its first step.

    With neither `project` nor `binary`, a game that you start yourself is waited for. A game that dies or stops
    answering is restarted (`godojo.engines.godot.worlds.GodotWorlds`).

    Args:
        project: A folder with a project.godot, which is imported and launched.
        binary: An exported game.
        scene: A scene of the project in place of its main scene.
        wire: The protocol, `"dojo/1"` or `"godot_rl"`; detected by default.
        num_worlds: Worlds, spread over the processes; by default each process plays the worlds that it has.
        num_processes: Games to launch.
        seed: Seeds the game's random numbers.
        ticks_per_decision: Physics ticks between two decisions; the game's own by default.
        options: The game's own options.
        arguments: Command-line arguments for the game.
        window: Let the game draw, on the screen or on a virtual one, as camera sensors need.
        speedup: Ticks that a godot_rl game with a window plays between two frames; without one it never waits.
        strict: An error in the game's scripts is an error; by default it is counted, and `say` gets the first.
        host: The address to listen on.
        port: The port; 8765 by default, 11008 with `wire="godot_rl"`.
        token: The token that a game must send.
        slot: Provides the game, in place of listening for it.
        start_timeout_s: Seconds that a game has to start.
        step_timeout_s: Seconds after which a silent game counts as frozen.
        reconnect_s: Seconds that a game which you started yourself has to come back.
        max_restarts: Restarts before the game counts as lost.
        say: Called with a line about what is waited for; prints to stderr by default.
    """
    if project is not None and binary is not None:
        raise GodojoError("a game is a project or a binary: give one of the two")
    checked = checked_wire(wire)
    shared: dict[str, Any] = {"ticks_per_decision": ticks_per_decision, "options": options, "seed": seed}
    shared |= {"start_timeout_s": start_timeout_s, "step_timeout_s": step_timeout_s, "max_restarts": max_restarts}
    if project is None and binary is None:
        return await_game(
            host=host,
            port=port,
            token=token,
            slot=slot,
            wire=checked or "any",
            worlds_each=None if num_worlds is None else [num_worlds],
            reconnect_s=reconnect_s,
            say=say,
            **shared,
        )
    how: dict[str, Any] = {"wire": checked, "arguments": arguments, "ticks_per_decision": ticks_per_decision}
    with contextlib.ExitStack() as stack:
        how |= {"window": window, "env": stack.enter_context(display()) if window else {}}
        if project is not None:
            recipe = from_project(project, scene=scene, say=say or _print, **how)
        else:
            assert binary is not None
            if scene is not None:
                raise GodojoError("a scene can be chosen in a project only, not in an exported game")
            recipe = from_binary(binary, **how)
        if speedup != 1.0:
            recipe = faster(recipe, speedup)
        resources = stack.pop_all()
    shared |= {"strict": strict, "say": say or _print}
    return launch_games(recipe, num_worlds=num_worlds, num_processes=num_processes, resources=resources, **shared)


def launch_games(
    recipe: Recipe,
    *,
    num_worlds: int | None,
    num_processes: int = 1,
    seed: int = 0,
    start_timeout_s: float | None = None,
    strict: bool = False,
    say: Callable[[str], None] | None = None,
    **how: Any,
) -> GodotWorlds:
    """Launches games and starts their first rounds; `how` are further arguments of `GodotWorlds`."""
    said: dict[str, Any] = {"seed": seed % 2**31, "strict": strict, "say": None if say is None else _once(say)}
    worlds = GodotWorlds(
        [LaunchedGame(recipe, number, **said) for number in range(_count("num_processes", num_processes))],
        worlds_each=None if num_worlds is None else spread(num_worlds, num_processes),
        start_timeout_s=60.0 if start_timeout_s is None else start_timeout_s,
        say=say,
        **how,
    )
    return _started(worlds, seed)


def await_game(
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    slot: GameSlot | None = None,
    wire: Wire = "dojo/1",
    seed: int = 0,
    start_timeout_s: float | None = None,
    say: Callable[[str], None] | None = None,
    **how: Any,
) -> GodotWorlds:
    """Waits for a game that the user starts; `how` are further arguments of `GodotWorlds`."""
    patience_s = _PATIENCE_S if start_timeout_s is None else start_timeout_s
    if slot is not None:
        return _started(GodotWorlds([slot], start_timeout_s=patience_s, say=say, **how), seed)
    if port is None:
        port = GODOT_RL_PORT if wire == "godot_rl" else DEFAULT_PORT
    if token and wire == "any":
        wire = "dojo/1"  # godot_rl has no tokens
    say = say or _print
    listener = Listener(host, port, token, wire, log=say)
    say(f"waiting for a game on {host}:{listener.port}")
    return _started(GodotWorlds([PendingGame(listener)], start_timeout_s=patience_s, say=say, **how), seed)


def spread(num_worlds: int, num_processes: int) -> list[int]:
    """The worlds of each process, as even as possible."""
    worlds, processes = _count("num_worlds", num_worlds), _count("num_processes", num_processes)
    if processes > worlds:
        raise GodojoError(f"{worlds} worlds cannot be spread over {processes} processes; use num_processes={worlds}")
    least, more = divmod(worlds, processes)
    if least + bool(more) > MAX_WORLDS:
        raise GodojoError(f"one process plays at most {MAX_WORLDS} worlds; use more processes (num_processes)")
    return [least + (number < more) for number in range(processes)]


def _once(say: Callable[[str], None]) -> Callable[[str], None]:
    """The first call only: games that run the same scripts have the same errors."""
    calls = itertools.count()
    return lambda sentence: say(sentence) if next(calls) == 0 else None


def _print(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def _count(name: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise GodojoError(f"{name} must be a whole number of 1 or more, not {value!r}")
    return int(value)


def _started(worlds: GodotWorlds, seed: int) -> GodotWorlds:
    try:
        worlds.reset(seed)
    except BaseException:
        worlds.close()
        raise
    return worlds
