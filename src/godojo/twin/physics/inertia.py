"""Mass properties of rigid bodies, as Jolt computes them from shapes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from godojo.twin.physics.engines import GODOT
from godojo.twin.physics.jit import in_python
from godojo.twin.physics.rotations import quaternion_of
from godojo.twin.physics.space import BOX, CAPSULE, CYLINDER, SPHERE


def _volume_and_inertia(shape: Any) -> tuple[float, np.ndarray]:
    """Mass at density 1, and the inertia about the shape's own centre."""
    size = shape["half"].astype(np.float64)
    if shape["kind"] == SPHERE:
        mass = 4.0 / 3.0 * np.pi * size[0] ** 3
        return mass, np.eye(3) * (0.4 * mass * size[0] ** 2)
    if shape["kind"] == BOX:
        x, y, z = 2.0 * size
        mass = x * y * z
        return mass, np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * (mass / 12.0)
    radius, half = size[0], size[1]
    height = 2.0 * half
    tube = np.pi * radius**2 * height
    if shape["kind"] == CYLINDER:
        across = tube * (radius**2 / 4.0 + height**2 / 12.0)
        return tube, np.diag([across, tube * radius**2 / 2.0, across])
    if shape["kind"] == CAPSULE:
        ends = 4.0 / 3.0 * np.pi * radius**3
        along = tube * radius**2 * 0.5 + ends * 0.4 * radius**2
        across = tube * (radius**2 / 4.0 + height**2 / 12.0) + ends * (0.4 * radius**2 + half**2 + 0.75 * half * radius)
        return tube + ends, np.diag([across, along, across])
    low, high = shape["low"].astype(np.float64), shape["high"].astype(np.float64)
    x, y, z = high - low
    mass = max(x * y * z, 1e-6)
    return mass, np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * (mass / 12.0)


def _godot_volume(shape: Any, body: np.ndarray) -> np.float32:
    """GodotPhysics weighs shapes by their volume, with the scale that rounding leaves of the body's transform."""
    half = shape["half"]
    if shape["kind"] == BOX:
        volume = np.float32(8.0) * half[0] * half[1] * half[2]
    elif shape["kind"] in (SPHERE, CAPSULE, CYLINDER):
        volume = np.float32(_volume_and_inertia(shape)[0])
    else:
        x, y, z = shape["high"] - shape["low"]
        volume = x * y * z
    basis = body[:9].reshape(3, 3) @ shape["transform"][:9].reshape(3, 3)
    for column in basis.T.astype(np.float32):
        volume = volume * np.sqrt(column[0] * column[0] + column[1] * column[1] + column[2] * column[2])
    return np.float32(volume)


def _godot_inertia(shape: Any, mass: np.float32) -> np.ndarray:
    """GodotPhysics takes the box around a shape, except for spheres. The diagonal, rounded as there."""
    if shape["kind"] == SPHERE:
        radius = np.float64(shape["half"][0])
        return np.full(3, 0.4 * np.float64(mass) * radius * radius, np.float32)
    x, y, z = (shape["high"] - shape["low"]) * np.float32(0.5)
    squares = np.array([y * y + z * z, x * x + z * z, x * x + y * y], np.float32)
    return (np.float64(mass) / 3.0 * squares.astype(np.float64)).astype(np.float32)


def _set_godot_mass(row: Any, shapes: np.ndarray, mass: float, inertia: Sequence[float], center: Any) -> None:
    """As `set_mass`, in Godot's 32-bit arithmetic."""
    weight = np.float32(mass)
    body = row["transform"]
    volumes = [_godot_volume(shape, body) for shape in shapes]
    total = np.float32(0.0)
    for volume in volumes:
        total += volume
    middle = np.zeros(3, np.float32)
    parts = [np.float32(volume * weight / total) for volume in volumes]
    for shape, part in zip(shapes, parts, strict=True):
        middle = middle + part * shape["transform"][9:12]
    middle = middle / weight if center is None else np.asarray(center, np.float32)
    tensor = np.zeros((3, 3), np.float32)
    for shape, part in zip(shapes, parts, strict=True):
        basis = shape["transform"][:9].reshape(3, 3)
        own = basis @ np.diag(_godot_inertia(shape, part)) @ basis.T
        offset = (shape["transform"][9:12] - middle).astype(np.float32)
        squared = offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2]
        tensor = tensor + own + (np.eye(3, dtype=np.float32) * squared - np.outer(offset, offset)) * part
    for axis in range(3):
        if inertia[axis] > 0:
            tensor[axis, axis] = inertia[axis]
    values, axes = _principal(tensor.astype(np.float64))
    row["mass"], row["inverse_mass"] = weight, 1.0 / np.float64(weight)
    row["center"], row["axes"] = middle, axes.reshape(9)
    row["inverse_inertia"] = np.where(values > 0, 1.0 / np.maximum(values.astype(np.float32), 1e-30), 0.0)
    row["inertia_axes"] = in_python(quaternion_of)(np.concatenate([axes.reshape(9), np.zeros(3)]).astype(np.float32))


def _principal(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The moments of a tensor, and the axes of which they are."""
    values, axes = np.diag(tensor).copy(), np.eye(3)
    if np.abs(tensor - np.diag(values)).max() > 1e-9 * max(values.max(), 1e-30):
        values, axes = np.linalg.eigh(tensor)
        if np.linalg.det(axes) < 0:
            axes[:, 0] = -axes[:, 0]
    return values, axes


def set_mass(
    row: Any, shapes: np.ndarray, mass: float, inertia: Sequence[float], center: Sequence[float] | None, engine: str
) -> None:
    """Writes inverse mass, centre of mass and inverse inertia into a BODY row."""
    if engine == GODOT and len(shapes):
        _set_godot_mass(row, shapes, mass, inertia, center)
        return
    parts = []
    for shape in shapes:
        weight, own = _volume_and_inertia(shape)
        basis = shape["transform"][:9].astype(np.float64).reshape(3, 3)
        parts.append((weight, basis @ own @ basis.T, shape["transform"][9:12].astype(np.float64)))
    total = sum(part[0] for part in parts)
    middle = sum((part[0] * part[2] for part in parts), np.zeros(3)) / total if parts else np.zeros(3)
    if center is not None:
        middle = np.asarray(center, np.float64)
    tensor = np.zeros((3, 3))
    for weight, own, at in parts:
        offset = at - middle
        tensor += own + weight * ((offset @ offset) * np.eye(3) - np.outer(offset, offset))
    tensor *= mass / total if parts else 0.0
    for axis in range(3):
        if inertia[axis] > 0:
            tensor[axis, :] = 0.0
            tensor[:, axis] = 0.0
            tensor[axis, axis] = inertia[axis]
    values, axes = _principal(tensor)
    row["mass"], row["inverse_mass"] = mass, 1.0 / np.float64(np.float32(mass))
    row["axes"] = axes.reshape(9)
    row["center"] = middle
    row["inverse_inertia"] = np.where(values > 0, 1.0 / np.maximum(values, 1e-30), 0.0)
    row["inertia_axes"] = in_python(quaternion_of)(np.concatenate([axes.reshape(9), np.zeros(3)]).astype(np.float32))
