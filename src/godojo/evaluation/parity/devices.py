"""The same rounds on the CPU and on a GPU: how far the twin's numbers are apart (`parity GAME --between cpu cuda`)."""

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import torch

from godojo.engines.base import Worlds
from godojo.engines.device import DeviceWorlds
from godojo.engines.make import make_vec
from godojo.errors import GodojoError

COMPARED = ("observation", "reward", "terms", "acted", "terminated", "truncated")


class DeviceReport(msgspec.Struct, kw_only=True):
    """The result of `godojo parity GAME --between cpu cuda`."""

    game: str
    worlds: int
    decisions: int
    seed: int
    rounds: int
    """Rounds that ended."""
    same_worlds: float
    """Share of worlds whose every bit was the same to the end."""
    first_difference: int | None
    """The decision of the first differing bit; 0 is the start."""
    worst: float
    """The largest difference of any number of an observation or a reward, in its own unit."""
    is_met: bool
    """Whether every bit was the same."""


def pairs(cpu: Worlds, cuda: DeviceWorlds) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Arrays of both, one row a world."""
    for name, role in cpu.roles.items():
        for field in COMPARED:
            yield getattr(role, field), getattr(cuda.roles[name], field).cpu().numpy()
    yield cpu.ended, cuda.ended.cpu().numpy()


def difference(cpu: Worlds, cuda: DeviceWorlds) -> float:
    """The largest difference of any number that a learner sees."""
    return max(float(np.abs(one.astype(float) - two.astype(float)).max()) for one, two in pairs(cpu, cuda))


def compare(game: str, *, worlds: int = 4096, decisions: int = 600, seed: int = 1, **options: Any) -> DeviceReport:
    """Plays the same random actions on both."""
    if worlds < 1 or decisions < 1 or seed < 0:
        raise GodojoError("there must be at least one world and one decision, and the seed is 0 or more")
    cuda = make_vec(game, num_worlds=worlds, seed=seed, device="cuda", **options)
    assert isinstance(cuda, DeviceWorlds)
    cpu = make_vec(game, num_worlds=worlds, seed=seed, **options)
    rng, is_same = np.random.default_rng(seed), np.ones(worlds, bool)
    first, worst, rounds = None, 0.0, 0
    for decision in range(decisions + 1):
        if decision:
            for name, role in cpu.roles.items():
                role.action[:] = rng.uniform(-1.0, 1.0, role.action.shape)
                cuda.roles[name].action.copy_(torch.from_numpy(role.action))
            cpu.step()
            cuda.step()
            rounds += int(cpu.ended.sum())
        for one, two in pairs(cpu, cuda):
            is_same &= (one == two).reshape(worlds, -1).all(1)
        worst = max(worst, difference(cpu, cuda))
        if first is None and not is_same.all():
            first = decision
    return DeviceReport(
        game=game,
        worlds=worlds,
        decisions=decisions,
        seed=seed,
        rounds=rounds,
        same_worlds=float(is_same.mean()),
        first_difference=first,
        worst=worst,
        is_met=bool(is_same.all()),
    )
