"""A best response: a learner that trains for a fixed time to beat one frozen policy, and nobody else."""

import copy
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import torch

from godojo.engines.make import make_vec
from godojo.evaluation.held_out import PROBE_SEED
from godojo.evaluation.informed_worlds import InformedWorlds
from godojo.games.base import GAMES
from godojo.learn.networks import ActionHead, Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard
from godojo.learn.self_play import PpoSelfPlay
from godojo.learn.settings import PpoSettings
from godojo.runs.role_map import Mode

CURVE_POINTS = 24
"""A learning curve has at most this many."""
WARM_LOG_STD = -0.5
"""A policy that continues to learn explores again as much as a new one."""
WARM_COUNT = 1e6
"""How many observations the normaliser of a policy that continues to learn has seen, at least."""


class CurvePoint(msgspec.Struct, frozen=True):
    """How the exploiter did at a moment of its training."""

    minutes: float
    agent_steps: int
    rounds: int
    """Since the point before."""
    win_rate: float
    """Of these rounds: in training arenas, with stochastic actions."""


class BestResponse(NamedTuple):
    """A trained exploiter."""

    policy: Policy
    agent_steps: int
    curve: list[CurvePoint]


def train_best_response(
    card: PolicyCard,
    game: Any,
    victim: Policy,
    exploiter: str,
    *,
    start: Policy | None = None,
    informed: bool = True,
    minutes: float,
    seed: int = 0,
    deterministic: bool = True,
    settings: PpoSettings,
    progress: Callable[[float], None] = lambda _: None,
) -> BestResponse:
    """Trains a policy of the role `exploiter` against the frozen policy `victim` of the other role, with its `card`.

    It starts from the policy `start`, or anew. `informed` shows it where its opponents are.
    """
    settings = msgspec.structs.replace(settings, past_opponent_fraction=0.0, scripted_opponent_fraction=0.0)
    frozen = copy.deepcopy(victim)
    # After infinitely many observations, new ones no longer change its normaliser.
    frozen.normaliser.count.fill_(math.inf)
    options = {"settings": game, **GAMES[card.game].training_options(game)}
    worlds = make_vec(card.game, num_worlds=settings.num_worlds, seed=PROBE_SEED + seed, **options)
    if informed:
        worlds = InformedWorlds(worlds, exploiter)
    policies = {card.role: frozen}
    if start is not None:
        policies[exploiter] = widened(start, worlds.roles[exploiter].observation.shape[2])
    mode: Mode = "deterministic" if deterministic else "frozen"
    learner = PpoSelfPlay(worlds, settings, seed, policies=policies, modes={card.role: mode})
    columns = learner.workers[exploiter].buffer.num_columns
    seconds, began = 60.0 * minutes, time.monotonic()
    curve: list[CurvePoint] = []
    wins, rounds, last = 0, 0, 0.0
    try:
        while (spent := time.monotonic() - began) < seconds:
            done = learner.iterate(spent / seconds)
            wins, rounds = wins + done.wins[exploiter], rounds + done.rounds
            share = (time.monotonic() - began) / seconds
            # A round of every world, at least: the first to end are those that the quicker side wins.
            if rounds >= worlds.num_worlds and (share - last) * CURVE_POINTS >= 1.0:
                steps = learner.updates * settings.n_steps * columns
                curve.append(CurvePoint(share * minutes, steps, rounds, wins / rounds))
                wins, rounds, last = 0, 0, share
            progress(min(share, 1.0))
        steps = learner.updates * settings.n_steps * columns
        return BestResponse(learner.policies[exploiter].requires_grad_(False).eval(), steps, curve)
    finally:
        learner.close()


def can_continue(shape: PolicyShape) -> bool:
    """Whether PPO can continue a policy of this shape with a wider observation."""
    return not shape.squashed and not shape.images and len(shape.net_arch) > 1


def widened(policy: Policy, observation_size: int) -> Policy:
    """A copy that observes more and, until it learns, ignores what is new."""
    old = policy.shape.observation_size
    wide = Policy(msgspec.structs.replace(policy.shape, observation_size=observation_size))
    weights = {name: tensor.clone() for name, tensor in policy.state_dict().items()}
    for name in ("normaliser.mean", "normaliser.variance", "encoder.0.weight"):
        whole = wide.state_dict()[name].clone()
        if name == "encoder.0.weight":
            whole.zero_()
        whole[..., :old] = weights[name]
        weights[name] = whole
    wide.load_state_dict(weights)
    wide.normaliser.count.clamp_(min=WARM_COUNT)
    if isinstance(wide.head, ActionHead):
        with torch.no_grad():
            wide.head.log_std.fill_(WARM_LOG_STD)
    return wide
