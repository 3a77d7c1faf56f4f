"""How fast learning is, from the first decision to the last gradient, beside another library on the same twin.

Two things are measured. Speed: agent-steps per second, playing and learning together; a turn measures every contender
once, one right after the other. Skill: how long each trains until its policy of the first role beats a scripted
opponent often enough on held-out arenas; again they take turns, and evaluation does not count as training.

Contenders of other libraries are given to `measure` (`godojo.bench.sb3`).
"""

import math
import statistics
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial

import msgspec

from godojo.bench.learners import Contender, Maker, OwnLearner, WholeTraining
from godojo.bench.measure import Conditions, Surroundings
from godojo.engines.base import Worlds
from godojo.engines.godot.report import Report, Silent
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation.held_out import judging_seed, judging_worlds
from godojo.evaluation.intervals import Proportion
from godojo.evaluation.matches import play_matches
from godojo.games.base import game_named
from godojo.learn.presets import learner_settings, read_preset
from godojo.learn.settings import PpoSettings
from godojo.opponents import make_opponent

OWN, WHOLE = "godojo", "godojo_train"
OPPONENT = "random"
"""The scripted opponent of evaluations, and of the training of learners without self-play."""
GOAL = 0.6
"""Share of rounds to win: the lower end of the 95 % interval must reach it."""
ROUNDS = 1000
JUDGED_EVERY_S = 3.0
PACKAGES = ("torch", "numpy", "numba", "stable_baselines3")


class Speed(msgspec.Struct):
    """How fast one contender is; medians over the turns."""

    name: str
    title: str
    agent_steps_per_s: float
    """Decisions of all agents."""
    learnt_steps_per_s: float
    """Those of them that a policy was trained with."""
    times: float
    """How many times as many agent-steps `godojo train` makes, in the same turn."""
    times_learnt: float
    """The same for those that were learnt from."""
    agent_step_samples: list[float]
    learnt_step_samples: list[float]


class Judgement(msgspec.Struct):
    """How good a policy was at one moment."""

    seconds: float
    """Of training."""
    agent_steps: int
    wins: Proportion


class Skill(msgspec.Struct):
    """How long one contender took to become good enough."""

    name: str
    title: str
    seconds: float | None
    """Of training, the median over the seeds; none if that was longer than there was time."""
    times: float | None
    """How many times as long as our learner took."""
    best: float
    """The highest share of rounds won in any judgement."""
    reached: list[float | None]
    """For every seed."""
    curves: list[list[Judgement]]
    """For every seed; the last judgement is the one that reached the goal, if any did."""


class TrainReport(Conditions, kw_only=True):
    """The result of `godojo bench train`."""

    game: str
    role: str
    """Whose policy the skill is measured of: the game's first role."""
    speeds: list[Speed]
    skills: list[Skill]
    """Empty if no time was given for it."""
    opponent: str
    goal: float
    rounds: int
    """In each judgement."""
    seconds: float
    repeats: int
    skill_minutes: float
    skill_seeds: int
    settings: PpoSettings
    """Our learner's."""


def measure(
    rivals: Mapping[str, Maker],
    *,
    game: str = "tag",
    seconds: float = 10.0,
    repeats: int = 3,
    skill_minutes: float = 3.0,
    skill_seeds: int = 1,
    opponent: str = OPPONENT,
    goal: float = GOAL,
    rounds: int = ROUNDS,
    settings: PpoSettings | None = None,
    report: Report | None = None,
) -> TrainReport:
    """Measures everything: our learner as in the default preset, or with these settings, beside `rivals`.

    Speed takes about `repeats` times `seconds` for each contender, and longer where a single update is longer; skill
    takes `skill_minutes` for each contender and seed at most, and not at all if they are 0.
    """
    if not 0.05 <= seconds <= 600 or repeats < 1 or skill_seeds < 1 or rounds < 1:
        raise GodojoError("bench needs at least one repeat, seed and round, and from 0.05 to 600 seconds")
    if not 0.0 <= skill_minutes <= 24 * 60 or not 0.0 < goal < 1.0:
        raise GodojoError("bench needs a goal between 0 and 1, and from 0 minutes to a day to reach it")
    game_named(game).require("opponents", "bench train")
    role, rival_role = _roles(game)
    make_opponent(opponent, rival_role, game=game)  # fails now rather than after minutes
    report = report or Silent()
    surroundings, preset = Surroundings(report), read_preset(game, "default")
    settings = settings or learner_settings("ppo", preset.ppo)
    budget_s = 60.0 * preset.budget["minutes"]
    own: Maker = partial(OwnLearner, game=game, settings=settings, budget_s=budget_s)
    whole: Maker = partial(WholeTraining, game=game, settings=settings, budget_s=budget_s)
    speeds = measure_speed({WHOLE: whole, OWN: own, **rivals}, seconds, repeats, report)
    skills: list[Skill] = []
    if skill_minutes:
        skills = measure_skill(
            {OWN: own, **rivals}, game, 60.0 * skill_minutes, skill_seeds, opponent, goal, rounds, report
        )
    return TrainReport(
        **surroundings.conditions(PACKAGES),
        game=game,
        role=role,
        speeds=speeds,
        skills=skills,
        opponent=opponent,
        goal=goal,
        rounds=rounds,
        seconds=seconds,
        repeats=repeats,
        skill_minutes=skill_minutes,
        skill_seeds=skill_seeds,
        settings=settings,
    )


def _roles(game: str) -> tuple[str, str]:
    """The role that learns and that of the scripted opponent."""
    with make_vec(game) as worlds:
        names = list(worlds.roles)
    if len(names) != 2:
        raise GodojoError(f"bench train needs two roles that play against each other; {game} has {', '.join(names)}")
    return names[0], names[1]


def measure_speed(makers: Mapping[str, Maker], seconds: float, repeats: int, report: Report) -> list[Speed]:
    """Everybody's speed; the first is the one that others are compared with."""
    agent: dict[str, list[float]] = {name: [] for name in makers}
    learnt: dict[str, list[float]] = {name: [] for name in makers}
    with ExitStack() as stack:
        contenders = {name: _made(make, 0, stack) for name, make in makers.items()}
        for contender in contenders.values():
            report.step(f"{contender.title}: warming up")
            contender.train(0.0)  # kernels are compiled, and memory is taken
        for repeat in range(repeats):
            for place, (name, contender) in enumerate(contenders.items()):
                done = (repeat * len(contenders) + place) / (repeats * len(contenders))
                report.progress(f"turn {repeat + 1} of {repeats}: {contender.title}", done)
                before = contender.agent_steps, contender.learnt_steps, contender.seconds
                contender.train(seconds)
                passed = contender.seconds - before[2]
                agent[name].append((contender.agent_steps - before[0]) / passed)
                learnt[name].append((contender.learnt_steps - before[1]) / passed)
        first = next(iter(contenders))
        return [
            Speed(
                name=name,
                title=contender.title,
                agent_steps_per_s=statistics.median(agent[name]),
                learnt_steps_per_s=statistics.median(learnt[name]),
                times=_median_ratio(agent[first], agent[name]),
                times_learnt=_median_ratio(learnt[first], learnt[name]),
                agent_step_samples=agent[name],
                learnt_step_samples=learnt[name],
            )
            for name, contender in contenders.items()
        ]


def measure_skill(
    makers: Mapping[str, Maker],
    game: str,
    limit_s: float,
    seeds: int,
    opponent: str,
    goal: float,
    rounds: int,
    report: Report,
) -> list[Skill]:
    """How long everybody takes to reach the goal; the first is the one that others are compared with."""
    curves: dict[str, list[list[Judgement]]] = {name: [] for name in makers}
    titles: dict[str, str] = {}
    with judging_worlds(game, game_named(game).settings.defaults(), rounds=rounds) as worlds:
        for seed in range(seeds):
            with ExitStack() as stack:
                contenders = {name: _made(make, seed, stack) for name, make in makers.items()}
                titles = {name: contender.title for name, contender in contenders.items()}
                for name in contenders:
                    curves[name].append([])
                going = dict(contenders)
                while going:
                    for name, contender in list(going.items()):
                        report.progress(
                            f"seed {seed + 1} of {seeds}: time to a win rate of {goal:.0%} against {opponent}",
                            min(contender.seconds / limit_s, 1.0),
                        )
                        contender.train(min(JUDGED_EVERY_S, limit_s - contender.seconds))
                        curve = curves[name][-1]
                        # Other rounds every time: nobody is lucky twice with the same ones.
                        wins = _judge(worlds, contender, opponent, rounds, judging_seed(len(curve)))
                        curve.append(Judgement(contender.seconds, contender.agent_steps, wins))
                        if wins.low >= goal or contender.seconds >= limit_s:
                            del going[name]
    return _skills(titles, curves, goal)


def _made(make: Maker, seed: int, stack: ExitStack) -> Contender:
    contender = make(seed)
    stack.callback(contender.close)
    return contender


def _judge(worlds: Worlds, contender: Contender, opponent: str, rounds: int, seed: int) -> Proportion:
    role, rival = worlds.roles
    players = {role: contender.player(), rival: make_opponent(opponent, rival, seed, game=worlds.game)}
    return play_matches(worlds, players, rounds, seed=seed).wins(role)


def _skills(titles: Mapping[str, str], curves: Mapping[str, list[list[Judgement]]], goal: float) -> list[Skill]:
    skills: list[Skill] = []
    for name, title in titles.items():
        reached = [curve[-1].seconds if curve[-1].wins.low >= goal else None for curve in curves[name]]
        # Who did not get there in time would have taken longer, nobody knows how much.
        median = statistics.median(math.inf if seconds is None else seconds for seconds in reached)
        ours = skills[0].seconds if skills else median
        skills.append(
            Skill(
                name=name,
                title=title,
                seconds=median if math.isfinite(median) else None,
                times=median / ours if ours is not None and math.isfinite(median) else None,
                best=max(judgement.wins.rate for curve in curves[name] for judgement in curve),
                reached=reached,
                curves=curves[name],
            )
        )
    return skills


def _median_ratio(ours: list[float], theirs: list[float]) -> float:
    """Of figures taken in the same turn."""
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))
