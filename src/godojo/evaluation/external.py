"""Evaluating policies of an external game: returns, lengths and measures of its agents' episodes, with intervals."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from rich.console import RenderableType

from godojo.engines.base import Worlds
from godojo.engines.godot.game_source import GameSource
from godojo.engines.godot.worlds import GodotWorlds
from godojo.engines.random_play import play_randomly
from godojo.errors import GodojoError, option, unknown
from godojo.evaluation.held_out import judging_seed
from godojo.evaluation.intervals import Mean, Proportion
from godojo.evaluation.matches import Player
from godojo.evaluation.players import PlayerFile, TrainedPlayer, players_of
from godojo.evaluation.tables import Printable, external_table
from godojo.games.base import SCENE_GAMES
from godojo.opponents.base import Opponent, check_role
from godojo.runs.folder import RunFolder, run_around
from godojo.runs.names import split_reference

RANDOM, BEFORE, TRAINED = "random actions", "before training", "trained"
SUCCESS = "success"
"""The measure that `Performance.success` is; where agents report none, winning is a success."""
START = "start"
"""The snapshot of the first policies."""
SECONDS = 30.0
"""The most that one player takes by default: games differ in speed by a factor of a thousand."""
_GAME_SEED = 2**30
"""Added to the seed: games get its last 31 bits on their command line, and training uses the small ones."""


class Performance(msgspec.Struct, frozen=True):
    """How one role's agents did with one kind of player."""

    role: str
    player: str
    """`random actions`, `before training` or `trained`."""
    episodes: int
    reward: Mean | None
    """The return of an episode; None if none ended."""
    length: Mean | None
    """The decision steps of an episode."""
    success: Proportion | None
    """None if the game does not report it."""
    reward_per_step: float
    """Over all decisions, those of unfinished episodes included."""
    measures: dict[str, Proportion] = {}
    """What agents report of an episode besides their reward: of bools, the share of episodes."""
    means: dict[str, Mean] = {}
    """The same of numbers."""


class ExternalEvaluation(Printable, msgspec.Struct, frozen=True):
    """How the policies of an external game do, compared with random actions; prints as a table."""

    policy: str
    game: str
    project: str
    """The project's folder or the exported game."""
    episodes: int
    """Asked for, of each role."""
    seed: int
    deterministic: bool
    agent_steps: dict[str, int]
    """How long each role's policy had trained."""
    performances: list[Performance]
    is_complete: bool
    """Whether all episodes ended in time."""
    lost_episodes: int
    """Cut short by a lost game, and not counted."""
    script_errors: int = 0
    """Errors in the game's scripts."""
    first_script_error: str = ""
    non_finite: dict[str, int] = {}
    """Observations and rewards that were not finite and were replaced, by node and field."""
    targets: dict[str, float] = {}
    """What a good policy reaches, by measure."""

    @property
    def has_measures(self) -> bool:
        """Whether agents report more than their success, which is listed with their returns, or there are targets."""
        return bool(self.targets) or any({*one.measures, *one.means} - {SUCCESS} for one in self.performances)

    def performance(self, role: str, player: str) -> Performance:
        return next(one for one in self.performances if (one.role, one.player) == (role, player))

    def __rich__(self) -> RenderableType:
        return external_table(self)


def source_of(
    policy: str,
    *,
    project: str | Path | None = None,
    binary: str | Path | None = None,
    connect: bool = False,
    files: Mapping[str, PlayerFile] | None = None,
) -> GameSource:
    """The game of a run or of a policy file in its folder, or the one that the user names instead."""
    run = _run_of(policy)
    kept = None if run is None else GameSource.of(run.config.more)
    if project is not None and binary is not None:
        raise GodojoError(f"give either {option('project')} or {option('binary')}, not both")
    given = project or binary
    if given is not None:
        place = Path(given).expanduser().absolute()
        usual = GameSource() if kept is None else msgspec.structs.replace(kept, connect=None)
        return msgspec.structs.replace(usual, project=str(place))
    if kept is None and run is None:
        game = next(iter(players_of(policy, files=files).values())).card.game
        kept = GameSource.of_scene(SCENE_GAMES[game]) if game in SCENE_GAMES else None
    if kept is None:
        raise GodojoError(
            f"{policy} was trained in another project and is not in a run folder: name its game with"
            f" {option('project')} or {option('binary')}"
        )
    if kept.connect is not None and not connect:
        raise GodojoError(
            f"{policy} was trained in a game that you started: give its {option('project')} or {option('binary')}, or"
            f" {option('connect', True)} and start it again"
        )
    if kept.project is not None and not Path(kept.project).exists():
        raise GodojoError(f"the game of {policy} is no longer at {kept.project}: give {option('project')}")
    return kept


def evaluate_external(
    policy: str,
    source: GameSource,
    *,
    role: str | None = None,
    episodes: int = 500,
    seconds: float = SECONDS,
    seed: int = 0,
    deterministic: bool = True,
    files: Mapping[str, PlayerFile] | None = None,
    progress: Callable[[str, float | None], None] | None = None,
    twin: Worlds | None = None,
    **how: Any,
) -> ExternalEvaluation:
    """Plays a policy (see `players_of`), its first version if there is one, and random actions, in the real game.

    Every agent plays the same number of `episodes`, or one more; each kind of player has `seconds`. `how` are further
    arguments of `open_game`. On `twin`, the game's embedded twin, only the policy itself is played.
    """
    trained = players_of(policy, seed=seed, deterministic=deterministic, files=files)
    if role is not None and role not in trained:
        raise unknown("role", role, trained)
    first, game = _first_policies(policy, seed, deterministic), next(iter(trained.values())).card.game
    if source.connect is None:
        how = {"say": lambda _: None, **how}  # the result has the script errors
    with source.open(seed=judging_seed(seed) + _GAME_SEED, **how) if twin is None else twin as worlds:
        found: list[Performance] = []
        is_complete, lost = True, 0
        for title, players, judged in _line_ups(worlds, trained, first, seed):
            roles = [name for name in judged if role in (None, name)]
            if not roles or (twin is not None and title != TRAINED):
                continue
            report = None if progress is None else (lambda share, title=title: progress(title, share))
            tally = _play(worlds, players, roles, episodes, seconds, judging_seed(seed), report)
            found += [tally.performance(name, title) for name in roles]
            is_complete, lost = is_complete and not tally.left, lost + tally.lost
        (errors, first_error), non_finite = (0, ""), {}
        if isinstance(worlds, GodotWorlds):
            (errors, first_error), non_finite = worlds.script_errors, dict(worlds.non_finite)
    return ExternalEvaluation(
        policy=policy,
        game=game,
        project=str(source.place) if source.is_launched else "a game that you started",
        episodes=episodes,
        seed=seed,
        deterministic=deterministic,
        agent_steps={name: player.card.agent_steps for name, player in trained.items()},
        performances=sorted(found, key=lambda one: list(worlds.roles).index(one.role)),
        is_complete=is_complete,
        lost_episodes=lost,
        script_errors=errors,
        first_script_error=first_error,
        non_finite=non_finite,
        targets=dict(SCENE_GAMES[game].targets) if game in SCENE_GAMES else {},
    )


def _line_ups(
    worlds: Worlds, trained: Mapping[str, TrainedPlayer], first: Mapping[str, TrainedPlayer], seed: int
) -> Iterator[tuple[str, dict[str, Player], list[str]]]:
    """A title, who plays, and the roles that are judged; roles without a policy act at random."""
    for name in trained:
        check_role(worlds, name)
    random = random_players(worlds, seed)
    yield RANDOM, random, list(trained)
    if first:
        yield BEFORE, random | dict(first), list(trained)
    yield TRAINED, random | dict(trained), list(trained)
    if len(worlds.roles) > 1:
        for name, player in trained.items():
            yield f"{TRAINED}, others random", random | {name: player}, [name]


def random_players(worlds: Worlds, seed: int) -> dict[str, Player]:
    """One for every role."""
    return {name: RandomPlayer(name, seed + place) for place, name in enumerate(worlds.roles)}


class RandomPlayer(Opponent):
    """Acts at random."""

    keeps = ()

    def begin(self, worlds: Worlds) -> None:
        self._chance = np.random.default_rng([self.seed, list(worlds.roles).index(self.role)])

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        role = worlds.roles[self.role]
        play_randomly(role, self._chance)
        if out is not role.action:
            out[...] = role.action


def _play(
    worlds: Worlds,
    players: Mapping[str, Player],
    roles: list[str],
    episodes: int,
    seconds: float,
    seed: int,
    progress: Callable[[float], None] | None,
) -> "_Tally":
    worlds.reset(seed)
    for player in players.values():
        player.begin(worlds)
    tally, deadline = _Tally(worlds, roles, episodes), time.monotonic() + seconds
    while tally.left and time.monotonic() < deadline:
        for name, player in players.items():
            player.act(worlds, worlds.roles[name].action)
        worlds.step()
        tally.count(worlds)
        if progress is not None:
            progress(1.0 - min(tally.left / tally.wanted, max(deadline - time.monotonic(), 0.0) / seconds))
    return tally


class _RoleTally:
    """Episodes of one role's agents: how many each has to play is settled beforehand, since counting whichever end
    first would favour short ones."""

    def __init__(self, worlds: Worlds, name: str, episodes: int) -> None:
        self._name, rows = name, worlds.roles[name].reward.shape
        agents = math.prod(rows)
        wanted = np.full(agents, episodes // agents)
        wanted[: episodes % agents] += 1
        self._wanted = wanted.reshape(rows)
        self._played = np.zeros(rows, np.int64)
        self._returns, self._steps = np.zeros(rows), np.zeros(rows, np.int64)
        self._rewards, self._decisions = 0.0, 0
        self.rewards: list[float] = []
        self.lengths: list[int] = []
        self.successes: list[float] = []
        self._measures = worlds.roles[name].measures
        self.measures: list[np.ndarray] = []
        """[K, M] for each step in which K episodes ended."""
        self.left, self.lost = episodes, 0

    def count(self, worlds: Worlds) -> None:
        role = worlds.roles[self._name]
        self._returns += np.where(role.acted, role.reward, 0.0)
        self._steps += role.acted
        self._rewards += float(role.reward[role.acted].sum())
        self._decisions += int(role.acted.sum())
        over = role.terminated | role.truncated
        if not over.any():
            return
        counted = over & role.acted & (self._played < self._wanted)
        self.lost += int((over & ~role.acted & (self._steps > 0)).sum())
        self.rewards += self._returns[counted].tolist()
        self.lengths += self._steps[counted].tolist()
        self.successes += self._success(worlds)[counted].tolist()
        if role.final_measures is not None:
            self.measures.append(role.final_measures[counted])
        self._played += counted
        self.left -= int(counted.sum())
        self._returns[over], self._steps[over] = 0.0, 0

    def _success(self, worlds: Worlds) -> np.ndarray:
        """1, 0, or NaN where the game does not say."""
        role = worlds.roles[self._name]
        for place, measure in enumerate(role.measures):
            if role.final_measures is not None and measure.name == SUCCESS:
                return role.final_measures[..., place]
        if self._name not in worlds.winners:
            return np.full(role.reward.shape, np.nan)
        won = np.where(worlds.ended, worlds.winner == worlds.winners.index(self._name), np.nan)
        return np.broadcast_to(won[:, None], role.reward.shape)

    def performance(self, player: str) -> Performance:
        known = [success for success in self.successes if not math.isnan(success)]
        reported = {name: values for name, values in self._reported() if len(values)}
        kinds = {measure.name: measure.kind for measure in self._measures}
        return Performance(
            role=self._name,
            player=player,
            episodes=len(self.rewards),
            reward=Mean.of(np.array(self.rewards)) if self.rewards else None,
            length=Mean.of(np.array(self.lengths)) if self.lengths else None,
            success=Proportion.of(int(sum(known)), len(known)) if known else None,
            reward_per_step=self._rewards / max(self._decisions, 1),
            measures={
                name: Proportion.of(int(values.sum()), len(values))
                for name, values in reported.items()
                if kinds[name] == "bool"
            },
            means={name: Mean.of(values) for name, values in reported.items() if kinds[name] == "number"},
        )

    def _reported(self) -> Iterator[tuple[str, np.ndarray]]:
        """Each measure, and its values in the episodes that report one."""
        if self.measures:
            for measure, values in zip(self._measures, np.concatenate(self.measures).T, strict=True):
                yield measure.name, values[np.isfinite(values)].astype(np.float64)


class _Tally:
    """The tallies of all judged roles."""

    def __init__(self, worlds: Worlds, roles: list[str], episodes: int) -> None:
        self._roles = {name: _RoleTally(worlds, name, episodes) for name in roles}
        self.wanted = episodes * len(roles)

    @property
    def left(self) -> int:
        return sum(tally.left for tally in self._roles.values())

    @property
    def lost(self) -> int:
        return sum(tally.lost for tally in self._roles.values())

    def count(self, worlds: Worlds) -> None:
        for tally in self._roles.values():
            tally.count(worlds)

    def performance(self, role: str, player: str) -> Performance:
        return self._roles[role].performance(player)


def _first_policies(policy: str, seed: int, deterministic: bool) -> dict[str, TrainedPlayer]:
    """The policies that a run started with; none for a policy file, and for those policies themselves."""
    if _first_path(policy).is_file():
        return {}
    name, snapshot = split_reference(policy)
    run = RunFolder.open(name)
    if snapshot == START or START not in [entry.name for entry in run.snapshots().entries()]:
        return {}
    return players_of(f"{run.path.absolute()}@{START}", seed=seed, deterministic=deterministic)


def _run_of(policy: str) -> RunFolder | None:
    """The run that a text names, or in whose folder a policy file lies."""
    path = _first_path(policy)
    if path.is_file():
        return run_around(path)
    return RunFolder.open(split_reference(policy)[0])


def _first_path(policy: str) -> Path:
    """Of a policy file, or of the first of several; no file's path for a run."""
    return Path(policy.split(",")[0]).expanduser()
