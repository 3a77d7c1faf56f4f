"""Convex hulls as Jolt keeps them: the planes of their faces, and corners moved inwards by the convex radius."""

from itertools import combinations

import numpy as np

MAX_ERROR_M = 0.05
"""Jolt's `mMaxErrorConvexRadius`: so far may a rounded corner stay behind the sharp one."""
_FLAT_M = 1e-4


def find_planes(points: np.ndarray) -> np.ndarray:
    """The planes (normal, distance from the origin) of the faces of the hull of some points."""
    planes: list[np.ndarray] = []
    size = float(np.abs(points).max()) or 1.0
    triples = np.array(list(combinations(range(len(points)), 3)), np.int32)
    for part in np.array_split(triples, max(1, len(triples) // 20000)):
        a, b, c = points[part[:, 0]], points[part[:, 1]], points[part[:, 2]]
        normals = np.cross(b - a, c - a)
        lengths = np.linalg.norm(normals, axis=1)
        good = lengths > 1e-9 * size * size
        normals, a = normals[good] / lengths[good, None], a[good]
        heights = normals @ points.T - (normals * a).sum(axis=1)[:, None]
        for sign in (1.0, -1.0):
            outer = (sign * heights).max(axis=1) < _FLAT_M * size
            for normal, at in zip(sign * normals[outer], a[outer], strict=True):
                if not any(normal @ plane[:3] > 0.9999 for plane in planes):
                    planes.append(np.append(normal, normal @ at))
    return np.array(planes)


def _three(planes: np.ndarray) -> np.ndarray:
    """Three planes of a corner that differ most."""
    if len(planes) <= 3:
        return planes
    first = 0
    second = int(np.argmin(planes[:, :3] @ planes[first, :3]))
    across = np.cross(planes[first, :3], planes[second, :3])
    third = int(np.argmax(np.abs(planes[:, :3] @ across)))
    return planes[[first, second, third]]


def shrink(points: np.ndarray, planes: np.ndarray, radius: float) -> tuple[np.ndarray, float]:
    """The corners of a hull, moved inwards by a radius that is at most the given one, and that radius."""
    size = float(np.abs(points).max()) or 1.0
    corners, ways = [], []
    for point in points:
        touching = planes[np.abs(planes[:, :3] @ point - planes[:, 3]) < 2.0 * _FLAT_M * size]
        if len(touching) == 0:
            continue  # inside
        normals = _three(touching)[:, :3]
        way = np.linalg.lstsq(normals, np.ones(len(normals)), rcond=None)[0]
        corners.append(point)
        ways.append(way)
        stretch = float(np.linalg.norm(way)) - 1.0
        if stretch > 1e-9:
            radius = min(radius, MAX_ERROR_M / stretch)
    return np.array(corners) - radius * np.array(ways), radius
