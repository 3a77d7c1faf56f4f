"""Twins of users' own projects: whether a training can use one, and its worlds."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from godojo import extras
from godojo.engines.base import Worlds
from godojo.engines.godot.game_source import GameSource
from godojo.errors import GodojoError, option
from godojo.training.args import TrainArgs

if TYPE_CHECKING:
    from godojo.twin.build import BuiltTwin

AGENTS = 512
"""Agents that are played at once by default."""
Say = Callable[[str], None]


def uses_twin(args: TrainArgs, source: GameSource, say: Say) -> bool:
    """Whether a new run plays on the game's twin. Builds and compares it; says why it is not used.

    `--engine` forces one or the other; a twin that is forced need not pass the gate, but must build.
    """
    if args.engine == "godot" or not _can_have_twin(args, source):
        if args.engine == "sim" and args.place is not None:
            raise GodojoError(f"this game has no twin to be played on; remove {option('engine', 'sim')}")
        return False
    try:
        extras.require("twin", say)
        say("building the game's twin, for speed")
        built = _built(source, say)
        from godojo.twin.build import check_twin

        parity = built.parity or check_twin(built, say=say)
    except GodojoError as error:
        if args.engine == "sim":
            raise
        say(f"training in the real engine, since {error}")
        return False
    if parity.passes and parity.is_slower and args.engine != "sim":
        faster = f"{parity.engine_speed:,.0f} decisions per second and core against {parity.twin_speed:,.0f}"
        say(f"training in the real engine, which is faster than the twin: {faster}; {option('engine', 'sim')} insists")
        return False
    if parity.passes:
        say("training on the twin, which agrees with the real engine; the policy is evaluated in both")
        return True
    if args.engine == "sim":
        say(f"the twin differs from the real engine: {parity.missed()}; {option('engine', 'sim')} uses it all the same")
        return True
    say(f"training in the real engine, since the twin differs from it: {parity.missed()}")
    return False


def twin_worlds(source: GameSource, *, seed: int, num_worlds: int | None = None, say: Say | None = None) -> Worlds:
    """The twin of a project, ready for its first step and compiled."""
    built = _built(source, say)
    each = built.worlds_each
    if num_worlds is None:
        num_worlds = each * max(1, -(-AGENTS // len(built.snapshot.agents)))
    if num_worlds % each:
        raise GodojoError(f"the game has {each} worlds in each scene: ask for a multiple of that, not for {num_worlds}")
    worlds = built.worlds(num_worlds // each, seed)
    worlds.step()  # compile before training time counts
    worlds.reset(seed)
    return worlds


def _built(source: GameSource, say: Say | None) -> "BuiltTwin":
    from godojo.twin.build import build_twin

    return build_twin(source.place, source.scene, action_repeat=source.action_repeat, say=say)


def _can_have_twin(args: TrainArgs, source: GameSource) -> bool:
    """Whether the game is a project that is read, and nothing is asked for that only the real engine can do."""
    if args.project is None or not source.place.is_dir() or args.is_scene_game:
        return False
    if args.ray is not None or args.workers is not None or source.options:
        return False
    asks_for_godot = source.window or source.strict or source.speedup is not None or args.processes is not None
    return not asks_for_godot or args.engine == "sim"
