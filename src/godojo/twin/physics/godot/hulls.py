"""Convex hulls as GodotPhysics3D keeps them: corners, faces with their corners in order, edges with their faces."""

import numpy as np

from godojo.twin.physics.hulls import find_planes

_FLAT = 2e-4


def _around(points: np.ndarray, corners: list[int], normal: np.ndarray) -> list[int]:
    """The corners of a face, clockwise as seen from outside."""
    center = points[corners].mean(axis=0)
    x = points[corners[0]] - center
    x -= normal * (x @ normal)
    y = np.cross(normal, x)
    angles = [-np.arctan2((points[one] - center) @ y, (points[one] - center) @ x) for one in corners]
    return [corners[index] for index in np.argsort(angles, kind="stable")]


def hull_rows(points: np.ndarray) -> tuple[np.ndarray, int, int, int]:
    """The rows of `Statics.vertices` for a hull, and how many corners, faces and edges it has.

    After the corners: two rows for each face (normal; distance, first row of its corners, their number), two for each
    edge (its corners; its faces), and one for each corner of each face.
    """
    points = np.unique(np.asarray(points, np.float64), axis=0)
    planes = find_planes(points)
    size = float(np.abs(points).max()) or 1.0
    on_plane = np.abs(points @ planes[:, :3].T - planes[:, 3]) < _FLAT * size
    points, on_plane = points[on_plane.any(axis=1)], on_plane[on_plane.any(axis=1)]
    faces = [
        _around(points, list(np.flatnonzero(on_plane[:, index])), planes[index, :3]) for index in range(len(planes))
    ]
    edges: dict[tuple[int, int], list[int]] = {}
    for number, face in enumerate(faces):
        for one, two in zip(face, [*face[1:], face[0]], strict=True):
            edges.setdefault((min(one, two), max(one, two)), []).append(number)
    first = len(points) + 2 * len(faces) + 2 * len(edges)
    rows: list[tuple[float, ...]] = [tuple(point) for point in points]
    for plane, face in zip(planes, faces, strict=True):
        rows += [tuple(plane[:3]), (plane[3], float(first), float(len(face)))]
        first += len(face)
    for (one, two), sides in edges.items():
        rows += [(float(one), float(two), 0.0), (float(sides[0]), float(sides[-1]), 0.0)]
    rows += [(float(one), 0.0, 0.0) for face in faces for one in face]
    return np.array(rows, np.float32), len(points), len(faces), len(edges)
