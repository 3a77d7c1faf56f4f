"""Plays a game on the CPU and in Numba's CUDA simulator and prints as JSON how far they are apart.

Started with NUMBA_ENABLE_CUDASIM=1. The simulator runs kernels in Python, whose numbers mix 32 and 64 bits otherwise
than compiled code does: in tag that changes the last bit of generated arenas and nothing else.
"""

import json
import sys
import warnings
from typing import Any

import msgspec
import numpy as np
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, FakeWithinKernelCUDAArray

import godojo
from godojo.evaluation.parity.devices import difference
from godojo.games.tag.settings import TagSettings


def set_item(array: Any, index: Any, value: Any) -> None:
    """Assigns whole records as well, which the simulator cannot."""
    value = value._item if isinstance(value, FakeWithinKernelCUDAArray) else value
    array._ary[index] = value._ary if isinstance(value, FakeCUDAArray) else value


def short_rounds(rules: dict[str, object]) -> TagSettings:
    """Rounds of half a second and seven rays."""
    settings = TagSettings.defaults().override(**{"rules.round_s": 0.5}, **rules)
    row = type(settings.sight.rows[0])
    rows = (row(elevation_deg=0.0, columns=5), row(elevation_deg=-15.0, columns=2))
    return msgspec.structs.replace(settings, sight=msgspec.structs.replace(settings.sight, rows=rows))


def main(game: str, decisions: int, share: float, rules: dict[str, object]) -> None:
    options: dict[str, Any] = {"settings": short_rounds(rules), "generated_share": share} if game == "tag" else {}
    FakeCUDAArray.__setitem__ = set_item  # type: ignore[method-assign]
    cpu = godojo.make_vec(game, num_worlds=2, seed=7, **options)
    cuda: Any = godojo.make_vec(game, num_worlds=2, seed=7, device="cuda", **options)
    ended, found = 0, difference(cpu, cuda)
    for decision in range(decisions):
        rng = np.random.default_rng(decision)
        for name, role in cpu.roles.items():
            role.action[:] = rng.uniform(-1, 1, role.action.shape)
            cuda.roles[name].action.numpy()[:] = role.action
        cpu.step()
        cuda.step()
        ended += int(cpu.ended.sum())
        found = max(found, difference(cpu, cuda))
    sys.stdout.write(json.dumps({"difference": found, "ended": ended}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # numbers that wrap round, as they are meant to
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), json.loads(sys.argv[4]))
