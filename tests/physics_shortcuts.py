"""Random pairs of shapes, near each other: do the shortcuts of GodotPhysics3D's tests find what all its steps find?

    NUMBA_DISABLE_JIT=1 python -m tests.physics_shortcuts 1000

Prints how many pairs were tested, how many of them touch, and in how many the two differ.
"""

import json
import sys
from typing import Any

import numpy as np

from godojo.twin.physics.godot import axes, axis_test, gjk
from godojo.twin.physics.godot.solids import Solid, column, extent
from godojo.twin.physics.space import BOX, CAPSULE, CYLINDER
from godojo.twin.physics.vectors import F0, dot, normalized32

F32 = np.float32
NO_VERTICES = np.zeros((1, 3), F32)


def main(count: int) -> None:
    chance = np.random.default_rng(1)
    quick, touching = [], 0
    pairs = [random_pair(chance) for _ in range(count)]
    motions = [vector(chance.normal(size=3) * chance.choice([0.0, 0.01, 0.3])) for _ in pairs]
    for pair, motion in zip(pairs, motions, strict=True):
        quick.append((best(pair), gjk.is_separated(pair.b, motion, pair.a, NO_VERTICES)))
        touching += quick[-1][0] is not None
    take_every_step()
    full = [
        (best(pair), gjk.search(pair.b, motion, pair.a, NO_VERTICES))
        for pair, motion in zip(pairs, motions, strict=True)
    ]
    differences = sum(one != other for one, other in zip(quick, full, strict=True))
    sys.stdout.write(json.dumps({"pairs": count, "touching": touching, "differences": differences}))


def best(pair: Any) -> Any:
    found = axes.best_axis(pair, with_margin=True)
    return None if found.depth < F0 else (float(found.depth), *map(float, found.axis))


def take_every_step() -> None:
    """Lets no shortcut decide."""

    def all_faces(pair: Any, box: Solid, best: Any) -> Any:
        for axis in range(3):
            best = axis_test.measure(pair, best, normalized32(column(box, axis)))
        return best

    axis_test._glance = lambda *_: axis_test._IS_OPEN
    axes._is_on_face = lambda *_: False
    axes._box_faces = all_faces


def random_pair(chance: np.random.Generator) -> Any:
    """A box and another shape that touch, or nearly; half of them as in games: upright, on a face."""
    kind, upright = int(chance.choice([BOX, CAPSULE, CAPSULE, CYLINDER])), chance.random() < 0.5
    far = chance.choice([1.0, 50.0, 1600.0])
    box = solid(chance, BOX, upright, vector(chance.uniform(-far, far, 3) * (1.0, 0.1, 1.0)), chance.choice([1.0, 5.0]))
    other = solid(chance, kind, upright, box.origin, 0.4)
    axis = normalized32(column(box, 1) if upright else vector(chance.normal(size=3)))
    reach = sum(float(extent(one, NO_VERTICES, axis)[1] - dot(axis, one.origin)) for one in (box, other))
    aside = chance.normal(size=3) * float(max(box.half)) * 0.4
    aside -= np.multiply(axis, np.dot(axis, aside))
    gap = chance.uniform(-0.01, 0.01) if chance.random() < 0.8 else chance.uniform(-0.3, 0.3)
    place = vector(np.asarray(box.origin) + aside + np.multiply(axis, reach + gap))
    other = other._replace(origin=place)
    return axis_test.pair_of(box, other, F0, F32(chance.choice([0.001, 0.04])), NO_VERTICES)


def solid(chance: np.random.Generator, kind: int, upright: bool, origin: Any, size: float) -> Solid:
    basis = np.eye(3)
    if upright:
        angle = chance.uniform(0, 6.3) if kind == BOX else 0.0
        basis[0, 0], basis[0, 2], basis[2, 0], basis[2, 2] = np.cos(angle), np.sin(angle), -np.sin(angle), np.cos(angle)
    else:
        basis = np.linalg.qr(chance.normal(size=(3, 3)))[0]
    half = vector(size * chance.uniform(0.2, 1.2, 3))
    half = half if kind == BOX else (half[0], half[1], F0)
    return Solid(kind, *map(vector, basis), origin, half, 0, 0, 0, 0)  # type: ignore[call-arg]


def vector(numbers: Any) -> Any:
    return tuple(F32(one) for one in numbers)


if __name__ == "__main__":
    main(int(sys.argv[1]))
