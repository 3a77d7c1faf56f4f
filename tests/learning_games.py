"""Small learners for tests: few worlds, short rollouts, little networks."""

import hashlib
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.games.tag.settings import TagSettings
from godojo.learn.networks import Policy
from godojo.learn.self_play import PpoSelfPlay
from godojo.learn.settings import PpoSettings
from godojo.runs.role_map import Mode

SMALL = PpoSettings(
    num_worlds=24,
    n_steps=6,
    n_minibatches=2,
    net_arch=(12, 12),
    memory_size=4,
    past_opponent_fraction=0.5,
    pool_size=3,
    snapshot_interval=2,
    opponent_resample_interval=1,
)
WORDS = tuple(
    f"--set={word}" for word in ("num_worlds=32", "n_steps=8", "net_arch=[8]", "memory_size=4", "snapshot_interval=5")
)
"""The same for the command line."""
SLOWLY = """\
import sys, time
import godojo.learn.ppo as ppo
real = ppo.update
def update(*given):
    time.sleep({seconds})
    return real(*given)
ppo.update = update
from godojo.cli import main
main(sys.argv[1:])
"""
"""The command line with updates that take their time, so that a signal meets one; a program for `python -c`."""
STEPS = 32 * 8 * 2
"""Decisions of all agents in one update of that."""


def tag(num_worlds: int = SMALL.num_worlds, seed: int = 1, **more: Any) -> Worlds:
    """Rounds of two seconds, so that some end in every rollout."""
    settings = TagSettings.defaults().override(**{"rules.round_s": 2.0, **more.pop("rules", {})})
    return make_vec("tag", num_worlds=num_worlds, seed=seed, settings=settings, generated_share=1.0, **more)


def learner(
    settings: PpoSettings = SMALL,
    seed: int = 1,
    worlds: Worlds | None = None,
    modes: Mapping[str, Mode] | None = None,
    policies: Mapping[str, Policy] | None = None,
) -> PpoSelfPlay:
    return PpoSelfPlay(tag(settings.num_worlds, seed) if worlds is None else worlds, settings, seed, policies, modes)


def iterated(made: PpoSelfPlay, times: int) -> PpoSelfPlay:
    for _ in range(times):
        made.iterate(0.0)
    return made


def one_rollout(made: PpoSelfPlay) -> None:
    """Plays, and works out advantages; nothing is learnt yet."""
    made.play(lambda _: None)
    for worker in made.workers.values():
        worker.compute_returns_and_advantage(made.settings.gamma, made.settings.gae_lambda)


def fingerprint(module: nn.Module) -> str:
    """Of all bits of its weights."""
    digest = hashlib.sha256()
    for name, weights in module.state_dict().items():
        digest.update(name.encode())
        digest.update(weights.contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def fingerprints(made: PpoSelfPlay) -> dict[str, str]:
    """Of everybody's policy and critic."""
    return {
        f"{name} {kind}": fingerprint(getattr(worker, kind))
        for name, worker in made.workers.items()
        for kind in ("policy", "critic")
    }
