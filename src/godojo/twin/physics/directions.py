"""What `move_and_slide` makes of contacts: floor, wall or ceiling, and the platform."""

from typing import Any

import numpy as np

from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import IS_CHARACTER, Space
from godojo.twin.physics.vectors import EPSILON, F0, acos32, add, dot, neg, normalized32, read3, write3

FLOOR, WALL, CEILING = 1, 2, 4

_THRESHOLD = 0.01
"""Radians by which a slope may exceed `floor_max_angle`."""


@inline
def _is_close(a: Any, b: Any) -> bool:
    for part in range(3):
        tolerance = max(EPSILON * abs(a[part]), EPSILON)
        if a[part] != b[part] and abs(a[part] - b[part]) >= tolerance:
            return False
    return True


@inline
def _set_platform(space: Space, character: Any, contact: Any) -> None:
    character.platform = contact.body
    character.platform_layer = space.bodies[contact.body].layer
    write3(character.platform_velocity, read3(contact.velocity))
    write3(character.platform_angular_velocity, read3(contact.angular_velocity))


@call
def set_collision_direction(space: Space, character: Any, result: Any, apply: int) -> int:
    """The kinds of contact in a result (FLOOR, WALL, CEILING); those in `apply` become the character's own."""
    state = 0
    up = read3(character.up)
    down = neg(up)
    limit = np.float64(character.floor_max_angle) + _THRESHOLD
    wall_depth = np.float32(-1.0)
    floor_depth = np.float32(-1.0)
    was_on_wall = character.on_wall
    wall_before = read3(character.wall_normal)
    walls = 0
    sum_of_walls = (F0, F0, F0)
    last_wall = (F0, F0, F0)
    is_grounded = character.motion_mode == 0
    for index in range(result.count - 1, -1, -1):
        contact = result.contacts[index]
        normal = read3(contact.normal)
        if is_grounded:
            if acos32(dot(normal, up)) <= limit:
                state |= FLOOR
                if apply & FLOOR and contact.depth > floor_depth:
                    character.on_floor = 1
                    write3(character.floor_normal, normal)
                    floor_depth = contact.depth
                    _set_platform(space, character, contact)
                continue
            if acos32(dot(normal, down)) <= limit:
                state |= CEILING
                if apply & CEILING:
                    write3(character.platform_ceiling_velocity, read3(contact.velocity))
                    write3(character.ceiling_normal, normal)
                    character.on_ceiling = 1
                continue
        state |= WALL
        if apply & WALL and contact.depth > wall_depth:
            character.on_wall = 1
            wall_depth = contact.depth
            write3(character.wall_normal, normal)
            if space.bodies[contact.body].traits & IS_CHARACTER == 0:
                _set_platform(space, character, contact)
        if not _is_close(normal, last_wall):
            last_wall = normal
            sum_of_walls = add(sum_of_walls, normal)
            walls += 1
    if state & WALL and walls > 1 and not state & FLOOR and is_grounded:
        sum_of_walls = normalized32(sum_of_walls)
        if acos32(dot(sum_of_walls, up)) <= limit:
            state = (state | FLOOR) & ~WALL
            if apply & FLOOR:
                character.on_floor = 1
                write3(character.floor_normal, sum_of_walls)
            if apply & WALL:
                character.on_wall = was_on_wall
                write3(character.wall_normal, wall_before)
    return state
