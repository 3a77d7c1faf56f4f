"""The twins play the very bits that they played when these hashes were saved: saved runs resume on them.

Whoever changes them on purpose measures parity with Godot again (`python3 dojo.py parity tag`) and prints new ones:
`python3 dojo.py run tests/test_twin_bits.py`.
"""

import hashlib
import sys
from typing import Any

import numba
import numpy as np
import pytest

import godojo
from godojo.engines.random_play import play_randomly
from godojo.games.tag.settings import TagSettings
from godojo.kernels.compile import njit_parallel
from godojo.kernels.trigonometry import arc_tangent, sine_cosine

WORLDS, DECISIONS = 24, 90
CASES: dict[str, tuple[str, dict[str, Any], dict[str, object]]] = {
    "hide_and_seek": ("tag", {"generated_share": 0.5}, {}),
    "generated": ("tag", {"generated_share": 1.0, "truncate_after": 20}, {"sight.range_m": 8.0}),
    "narrow": ("tag", {"generated_share": 0.5}, {"sight.fov_deg": 110.0}),
    "classic": ("tag", {"generated_share": 0.5}, {"rules.mode": "classic", "rules.players": 5}),
    "3v5": ("tag", {"generated_share": 0.5}, {"rules.seekers": 3, "rules.hiders": 5, "rules.round_s": 4.0}),
    "navigation": ("navigation", {}, {}),
}
SAVED = {
    "hide_and_seek": "c21d26efdb817953",
    "generated": "37686918762da4af",
    "narrow": "08926ca6d61041ef",
    "classic": "530b4c6048f89309",
    "3v5": "708779d471d8bba9",
    "navigation": "d36b6286004a538a",
}
STEPS = 1 << 12
"""Of all 32-bit numbers, every so many is checked."""


def bits_of(case: str) -> str:
    game, options, changes = CASES[case]
    if game == "tag":
        options = options | {"settings": TagSettings.defaults().override(**changes)}
    worlds = godojo.make_vec(game, num_worlds=WORLDS, seed=11, **options)
    rng, digest = np.random.default_rng(3), hashlib.sha256()
    for decision in range(DECISIONS):
        for role in worlds.roles.values():
            if decision % 3 == 0:
                play_randomly(role, rng)
        worlds.step()
        for role in worlds.roles.values():
            for array in (role.observation, role.reward, role.terms, role.acted, role.terminated, role.truncated):
                digest.update(np.ascontiguousarray(array).tobytes())
            for array in (role.final_observation, role.final_terms, role.final_score):
                digest.update(np.ascontiguousarray(array[worlds.ended]).tobytes())
        digest.update(worlds.ended.tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.parametrize("case", CASES)
def test_the_same_bits_as_ever(case: str) -> None:
    if case == "navigation" and sys.platform != "linux":
        pytest.skip("navigation takes its sines from the system's library")
    assert bits_of(case) == SAVED[case]


@njit_parallel
def differences(first: int, last: int, found: np.ndarray) -> None:
    for chunk in numba.prange(len(found)):
        for bits in range(first + chunk * STEPS, last, len(found) * STEPS):
            angle = np.uint32(bits).view(np.float32)
            sine, cosine = sine_cosine(angle)
            wide = float(angle)
            # The system's 64-bit sine is right to the last 32-bit digit, but for ties.
            found[chunk] += abs(sine - np.sin(wide)) > 0.5625 * 2.0**-24
            found[chunk] += abs(cosine - np.cos(wide)) > 0.5625 * 2.0**-24


def test_sines_and_cosines_are_right_to_the_last_digit() -> None:
    found = np.zeros(16, np.int64)
    for sign in (0, 1 << 31):
        differences(sign, sign + int(np.float32(6.5).view(np.uint32)), found)
    assert not found.any()


def test_arc_tangents_are_right_to_two_units_of_the_last_digit() -> None:
    rng = np.random.default_rng(2)
    points = rng.uniform(-1, 1, (20_000, 2)).astype(np.float32)
    points[::7, 0] *= np.float32(1e-6)
    points[::11, 1] *= np.float32(1e-6)
    points[:5] = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)]
    for x, y in points:
        wanted = np.arctan2(float(x), float(y))
        assert abs(arc_tangent(x, y) - wanted) <= 2.0 * np.spacing(np.float32(abs(wanted)))


if __name__ == "__main__":
    sys.stdout.write("".join(f'    "{case}": "{bits_of(case)}",\n' for case in CASES))
