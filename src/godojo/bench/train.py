"""How fast learning is, from the first decision to the last gradient, beside another library on the same twin.

Two things are measured. Speed: agent-steps a second, playing and learning together; a turn measures every contender
once, one right after the other, so that whatever else the machine does falls on all of them. Skill: how long each has
to train until its seeker tags a scripted hider often enough in arenas that nobody trained in; again they take turns,
and only their own training counts, not the judging.

Contenders of other libraries come from above (`godojo.bench.sb3`): here nobody knows them.
"""

import math
import os
import platform
import statistics
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from importlib import metadata

import msgspec

import godojo
from godojo.bench.learners import Contender, Maker, OwnLearner, WholeTraining
from godojo.bench.sim import QUIET_BUSY, busy_cores, cpu_name, load
from godojo.engines.base import Worlds
from godojo.engines.godot.report import Report, Silent
from godojo.errors import GodojoError
from godojo.evaluation.held_out import judging_seed, judging_worlds
from godojo.evaluation.intervals import Proportion
from godojo.evaluation.matches import play_matches
from godojo.games.tag.settings import TagSettings
from godojo.learn.presets import learner_settings, read_preset
from godojo.learn.settings import PpoSettings
from godojo.opponents import make_opponent

OWN, WHOLE = "godojo", "godojo_train"
OPPONENT = "random"
"""The scripted hider that seekers are judged against, and that those without self-play train against."""
GOAL = 0.6
"""Share of rounds the seeker must win beyond doubt: the lower end of the 95 % interval must be there."""
ROUNDS = 1000
JUDGED_EVERY_S = 3.0
PACKAGES = ("torch", "numpy", "numba", "stable_baselines3")


class Speed(msgspec.Struct):
    """How fast one contender is; medians over the turns."""

    name: str
    title: str
    agent_steps_per_s: float
    """Decisions of all agents, whoever made them."""
    learnt_steps_per_s: float
    """Those of them that a policy was trained with."""
    times: float
    """How many times as many agent-steps `godojo train` makes, in the same turn."""
    times_learnt: float
    """The same for those that were learnt from."""
    agent_step_samples: list[float]
    learnt_step_samples: list[float]


class Judgement(msgspec.Struct):
    """How good a seeker was at one moment."""

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


class TrainReport(msgspec.Struct):
    """What `godojo bench train` found."""

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
    cores: int
    busy_before: float
    """Cores that were busy with something else just before; likewise after."""
    busy_after: float
    load_average: float
    """Processes that wanted a core in the minute before."""
    is_quiet: bool
    machine: str
    versions: dict[str, str]


def measure(
    rivals: Mapping[str, Maker],
    *,
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
    make_opponent(opponent, "hider")  # fails now rather than after minutes
    report = report or Silent()
    load_average, busy_before, cores = load(), busy_cores(), os.cpu_count() or 1
    if busy_before > QUIET_BUSY * cores:
        report.say(f"the machine is not quiet ({busy_before:.1f} of {cores} cores are busy): figures will be low")
    preset = read_preset("tag", "default")
    settings = settings or learner_settings("ppo", preset.ppo)
    budget_s = 60.0 * preset.budget["minutes"]
    own: Maker = partial(OwnLearner, settings=settings, budget_s=budget_s)
    whole: Maker = partial(WholeTraining, settings=settings, budget_s=budget_s)
    speeds = measure_speed({WHOLE: whole, OWN: own, **rivals}, seconds, repeats, report)
    skills: list[Skill] = []
    if skill_minutes:
        skills = measure_skill({OWN: own, **rivals}, 60.0 * skill_minutes, skill_seeds, opponent, goal, rounds, report)
    busy_after = busy_cores()
    return TrainReport(
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
        cores=cores,
        busy_before=busy_before,
        busy_after=busy_after,
        load_average=load_average,
        is_quiet=max(busy_before, busy_after) <= QUIET_BUSY * cores,
        machine=f"{platform.machine()}, {cpu_name()}, {cores} cores",
        versions={"godojo": godojo.__version__, "python": platform.python_version()}
        | {name: metadata.version(name) for name in PACKAGES},
    )


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
    with judging_worlds("tag", TagSettings.defaults(), rounds=rounds) as worlds:
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
    players = {"seeker": contender.seeker(), "hider": make_opponent(opponent, "hider", seed)}
    return play_matches(worlds, players, rounds, seed=seed).wins("seeker")


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
