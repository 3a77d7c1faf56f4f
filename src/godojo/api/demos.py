"""`godojo.record_demos`: demonstrations by scripted opponents and trained policies, so that nobody has to play."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from godojo.api.references import reference, resolved
from godojo.api.training import setting_texts
from godojo.demos import DemoRecorder, Demos, DemoWriter, read_demos
from godojo.engines.base import ENGINES, Worlds
from godojo.errors import GodojoError, option, unknown
from godojo.games.base import SCENE_GAMES, game_named

if TYPE_CHECKING:
    from godojo.evaluation.matches import Player

TIMEOUT_S = 600.0
"""A recording that takes longer stops; finished episodes are kept."""


def record_demos(
    file: str | Path,
    game: str | None = None,
    *,
    policy: Any,
    rounds: int = 100,
    role: str | None = None,
    engine: str = "sim",
    seed: int = 1,
    sampled: bool = False,
    settings: Mapping[str, Any] | Sequence[str] = (),
    project: str | Path | None = None,
    scene: str | None = None,
    timeout_s: float = TIMEOUT_S,
    progress: Callable[[str, float | None], None] | None = None,
) -> Demos:
    """Record episodes of a scripted opponent or of a trained policy as demonstrations.

    Args:
        file: The file to write; it must not exist.
        game: The game's name; or `project`.
        policy: Who plays every role: a scripted opponent (`"sighted"`, `file.py:Class`), or a run or policy file as
            `godojo.evaluate` takes it.
        rounds: Episodes of each role.
        role: Record this role only.
        engine: `"sim"` or `"godot"`.
        seed: The same seed plays the same rounds on `sim`.
        sampled: Policies are stochastic, as in training.
        settings: Settings of the game that differ from its defaults, as `godojo.train` takes them.
        project: A Godot project to play in.
        scene: With `project`: the scene, in place of the main one.
        timeout_s: Seconds after which the recording ends with what it has.
        progress: Called with a title and the share that is done.

    Returns:
        The demonstrations, read back from the file.

    Raises:
        GodojoError: An argument is wrong, or nothing was recorded in time.
    """
    if rounds < 1:
        raise GodojoError(f"{option('rounds')} must be 1 or more, not {rounds}")
    path = Path(file).expanduser()
    if path.exists():
        raise GodojoError(f"{path} exists; choose another name, or delete it")
    if (game is None) == (project is None):
        raise GodojoError(f"give either a game or {option('project')}")
    text = _resolved(reference(policy), game)
    with ExitStack() as stack:
        if game in SCENE_GAMES or project is not None:
            worlds = stack.enter_context(_external_worlds(game, project, scene, seed))
            players = _external_players(worlds, text, seed, sampled)
            name = game or Path(str(project)).expanduser().absolute().name
        else:
            assert game is not None
            worlds = stack.enter_context(_game_worlds(game, engine, seed, rounds, setting_texts(settings)))
            players, name = _game_players(worlds, text, seed, sampled), game
        if role is not None and role not in worlds.roles:
            raise unknown("role", role, worlds.roles)
        recorded = list(worlds.roles) if role is None else [role]
        writer = stack.enter_context(DemoWriter(path, DemoRecorder.header(worlds, name, text)))
        _play(worlds, players, DemoRecorder(worlds, writer, recorded, rounds), timeout_s, progress)
    return read_demos(path)


def _resolved(policy: str, game: str | None) -> str:
    """The policy, with the latest run by its name; rejects runs that do not exist."""
    from godojo.opponents import is_scripted  # loads the compiler, but not torch

    is_known = is_scripted(policy.removeprefix("scripted:"), game or "")
    return policy if is_known or ":" in policy or ".py" in policy else resolved(policy)


def _play(
    worlds: Worlds,
    players: "Mapping[str, Player]",
    recorder: DemoRecorder,
    timeout_s: float,
    progress: Callable[[str, float | None], None] | None,
) -> None:
    wanted, deadline = recorder.left, time.monotonic() + timeout_s
    for player in players.values():
        player.begin(worlds)
    while recorder.left and time.monotonic() < deadline:
        for role, player in players.items():
            player.act(worlds, worlds.roles[role].action)
        recorder.before_step()
        worlds.step()
        recorder.after_step()
        if progress is not None:
            progress("recording", 1.0 - recorder.left / wanted)


def _game_worlds(game: str, engine: str, seed: int, rounds: int, settings: Sequence[str]) -> Worlds:
    from godojo.engines.make import make_vec
    from godojo.evaluation.held_out import MOST_WORLDS  # loads torch

    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    played = game_named(game)
    rules = played.settings.defaults().override_texts(list(settings))
    options: dict[str, Any] = {"settings": rules, **played.training_options(rules)}
    if engine == "godot":
        options |= {"truth": True}
    worlds = make_vec(game, engine=engine, num_worlds=min(rounds, MOST_WORLDS[engine]), seed=seed, **options)
    worlds.reset(seed)
    return worlds


def _game_players(worlds: Worlds, policy: str, seed: int, sampled: bool) -> "dict[str, Player]":
    from godojo.evaluation.players import player_from  # loads torch
    from godojo.export.players import SHIPPED

    return {
        role: player_from(policy, role, game=worlds.game, seed=seed, deterministic=not sampled, files=SHIPPED)
        for role in worlds.roles
    }


def _external_worlds(game: str | None, project: str | Path | None, scene: str | None, seed: int) -> Worlds:
    from godojo.engines.godot.game_source import GameSource

    if game is not None:
        return GameSource.of_scene(SCENE_GAMES[game]).open(seed=seed)
    place = Path(str(project)).expanduser().absolute()
    return GameSource(project=str(place), scene=scene).open(seed=seed)


def _external_players(worlds: Worlds, policy: str, seed: int, sampled: bool) -> "dict[str, Player]":
    from godojo.evaluation.external import random_players  # these load torch and the compiler
    from godojo.evaluation.players import players_of
    from godojo.export.players import SHIPPED
    from godojo.opponents import make_opponent

    if ".py" in policy:
        return {role: make_opponent(policy, role, seed, game="") for role in worlds.roles}
    found = players_of(policy, seed=seed, deterministic=not sampled, files=SHIPPED)
    return random_players(worlds, seed) | dict(found)
