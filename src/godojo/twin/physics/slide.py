"""`CharacterBody3D.move_and_slide`, grounded and floating, in Godot's order of operations.

Godot's source (`scene/3d/physics/character_body_3d.cpp`) is the reference; names follow it.
"""

import math
from typing import Any

import numpy as np

from godojo.twin.physics.directions import CEILING, FLOOR, WALL, set_collision_direction
from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.motion import move_and_collide
from godojo.twin.physics.space import MAX_SLIDES, Space
from godojo.twin.physics.vectors import (
    EPSILON,
    F0,
    acos32,
    add,
    cross,
    dot,
    is_near_zero,
    is_zero,
    length32,
    mul,
    neg,
    normalized32,
    read3,
    slide,
    sub,
    write3,
)

Vector = tuple[np.float32, np.float32, np.float32]

_FLOOR_ANGLE_THRESHOLD = np.float32(0.01)
_HALF_TURN = 0.5 * math.pi
_SMALL = np.float32(0.01)
_LIMIT_M = np.float32(0.1)


@inline
def _shift(character: Any, by: Vector) -> None:
    for axis in range(3):
        character.transform[9 + axis] += by[axis]


@inline
def _try(space: Space, body: int, character: Any, motion: Vector, most: int, cancel: bool, exclude: int) -> bool:
    """One motion of the node itself; the result is in the next place for slides."""
    result = character.slides[min(character.slide_count, MAX_SLIDES - 1)]
    return move_and_collide(
        space,
        body,
        character.transform,
        motion,
        bool(character.slide_count < 0),  # False, but no literal: each kind of arguments is compiled by itself
        character.margin,
        bool(character.slide_count >= 0),
        np.int64(most),
        bool(cancel),
        character.axis_lock,
        np.int64(exclude),
        result,
    )


@call
def _floor_below(space: Space, body: int, character: Any) -> bool:
    """Tests the motion of a snap; the result is in `space.motion[0]`."""
    length = max(character.floor_snap_length, character.margin)
    down = mul(neg(read3(character.up)), length)
    return move_and_collide(
        space,
        body,
        character.transform,
        down,
        bool(character.slide_count >= 0),
        character.margin,
        bool(character.slide_count >= 0),
        np.int64(4),
        bool(character.slide_count < 0),
        character.axis_lock,
        np.int64(-1),
        space.motion[0],
    )


@call
def apply_floor_snap(space: Space, body: int, character: Any) -> None:
    """`CharacterBody3D.apply_floor_snap`, on the node alone."""
    if character.on_floor:
        return
    if _floor_below(space, body, character):
        result = space.motion[0]
        if set_collision_direction(space, character, result, FLOOR) & FLOOR:
            travel = read3(result.travel)
            if length32(travel) > character.margin:
                up = read3(character.up)
                _shift(character, mul(up, dot(up, travel)))


@inline
def _snap_on_floor(space: Space, body: int, character: Any, was_on_floor: bool, facing_up: bool) -> None:
    if not character.on_floor and was_on_floor and not facing_up:
        apply_floor_snap(space, body, character)


@inline
def _on_floor_if_snapped(space: Space, body: int, character: Any, was_on_floor: bool, facing_up: bool) -> bool:
    if character.on_floor or not was_on_floor or facing_up:
        return False
    if _floor_below(space, body, character):
        return (set_collision_direction(space, character, space.motion[0], 0) & FLOOR) != 0
    return False


@call
def _slide_on_wall(
    space: Space,
    body: int,
    character: Any,
    result: Any,
    motion: Vector,
    was_on_floor: bool,
    facing_up: bool,
    floor_before: Vector,
    wall_before: bool,
) -> Vector:
    """`floor_block_on_wall`: what is left of the motion that ran into a wall."""
    up = read3(character.up)
    velocity = read3(character.velocity)
    wall_normal = read3(character.wall_normal)
    if was_on_floor and not facing_up:
        travel = read3(result.travel)
        distance = length32(travel)
        most = min(_LIMIT_M, character.margin * np.float32(20.0))
        if distance <= character.margin + EPSILON:
            _shift(character, neg(travel))
            write3(result.travel, (F0, F0, F0))
        elif distance < most:
            _shift(character, neg(slide(travel, up)))
            motion = slide(motion, up)
            write3(result.travel, (F0, F0, F0))
        else:
            write3(result.travel, slide(travel, up))
            motion = read3(result.remainder)
        _snap_on_floor(space, body, character, True, False)
    else:
        motion = read3(result.remainder)
    forward = normalized32(slide(wall_normal, up))
    motion = slide(motion, forward)
    if facing_up:
        along = slide(velocity, read3(result.contacts[0].normal))
        velocity = add(mul(up, dot(up, velocity)), slide(along, up))
    else:
        velocity = slide(velocity, forward)
    if was_on_floor and not facing_up and dot(motion, up) > F0:
        side = cross(floor_before, wall_normal)
        if not is_zero(side):
            motion = mul(side, dot(motion, side))
    stop = wall_before and not facing_up
    if not character.on_floor and dot(motion, up) < F0:
        along = slide(motion, wall_normal)
        if dot(along, up) < F0:
            stop = False
            motion = along
    if stop:
        motion = (F0, F0, F0)
        velocity = (F0, F0, F0)
    write3(character.velocity, velocity)
    return motion


@call
def _slide_by_default(
    character: Any, result: Any, state: int, motion_slide_up: Vector, sliding: bool, facing_up: bool, pushed_down: bool
) -> Vector:
    """Regular sliding: the motion along what was hit."""
    up = read3(character.up)
    velocity = read3(character.velocity)
    remainder = read3(result.remainder)
    if (
        (sliding or not character.on_floor)
        and (not character.on_ceiling or character.slide_on_ceiling or not facing_up)
        and not pushed_down
    ):
        normal = read3(result.contacts[0].normal)
        along = slide(remainder, normal)
        if character.on_floor and not character.on_wall and not is_near_zero(motion_slide_up):
            length = length32(along)
            along = mul(normalized32(cross(cross(up, remainder), read3(character.floor_normal))), length)
        motion = along if dot(along, velocity) > F0 else (F0, F0, F0)
        if character.slide_on_ceiling and state & CEILING:
            velocity = slide(velocity, normal) if facing_up else mul(up, dot(up, velocity))
    else:
        motion = remainder
        if state & CEILING and not character.slide_on_ceiling and facing_up:
            velocity = slide(velocity, up)
            motion = slide(motion, up)
    write3(character.velocity, velocity)
    return motion


@call
def _grounded(space: Space, body: int, character: Any, delta: np.float32, was_on_floor: bool) -> None:
    nothing = (F0, F0, F0)
    up = read3(character.up)
    velocity = read3(character.velocity)
    motion = mul(velocity, delta)
    motion_slide_up = slide(motion, up)
    floor_before = read3(character.floor_normal)
    character.platform = -1
    write3(character.platform_velocity, nothing)
    write3(character.platform_angular_velocity, nothing)
    write3(character.platform_ceiling_velocity, nothing)
    write3(character.floor_normal, nothing)
    write3(character.wall_normal, nothing)
    write3(character.ceiling_normal, nothing)
    sliding = character.floor_stop_on_slope == 0
    can_keep_speed = sliding
    pushed_down = False
    first = True
    facing_up = dot(velocity, up) > F0
    total_travel = nothing
    for _ in range(character.max_slides):
        place = min(character.slide_count, MAX_SLIDES - 1)
        collided = _try(space, body, character, motion, 6, not sliding, -1)
        result = character.slides[place]
        write3(character.last_motion, read3(result.travel))
        if collided:
            character.slide_count = place + 1
            wall_before = character.on_wall != 0
            state = set_collision_direction(space, character, result, FLOOR | WALL | CEILING)
            velocity = read3(character.velocity)
            ceiling_velocity = read3(character.platform_ceiling_velocity)
            if character.on_ceiling and not is_zero(ceiling_velocity) and dot(ceiling_velocity, up) < F0:
                flat = length32(add(read3(character.ceiling_normal), up)) < _SMALL
                if not character.slide_on_ceiling or dot(motion, up) < F0 or flat:
                    pushed_down = True
                    down = mul(up, dot(up, ceiling_velocity))
                    vertical = mul(up, dot(up, velocity))
                    if dot(vertical, up) > F0 or dot(down, down) > dot(vertical, vertical):
                        velocity = add(down, slide(velocity, up))
                        write3(character.velocity, velocity)
            if (
                character.on_floor
                and character.floor_stop_on_slope
                and length32(add(normalized32(velocity), up)) < _SMALL
            ):
                travel = read3(result.travel)
                if length32(travel) <= character.margin + EPSILON:
                    _shift(character, neg(travel))
                write3(character.velocity, nothing)
                write3(character.last_motion, nothing)
                break
            if is_near_zero(read3(result.remainder)):
                break
            by_default = True
            if state & WALL and dot(motion_slide_up, read3(character.wall_normal)) <= F0:
                across = normalized32(slide(read3(character.wall_normal), up))
                if character.floor_block_on_wall:
                    horizontal = normalized32(slide(motion, up))
                    if abs(acos32(-dot(across, horizontal))) < _HALF_TURN:
                        by_default = False
                        motion = _slide_on_wall(
                            space, body, character, result, motion, was_on_floor, facing_up, floor_before, wall_before
                        )
                if was_on_floor and character.wall_min_slide_angle > F0:
                    across = normalized32(slide(read3(character.wall_normal), up))
                    if abs(acos32(-dot(across, normalized32(motion_slide_up)))) < character.wall_min_slide_angle:
                        velocity = read3(character.velocity)
                        motion = mul(up, dot(motion, up))
                        write3(character.velocity, mul(up, dot(velocity, up)))
                        by_default = False
            if by_default:
                motion = _slide_by_default(character, result, state, motion_slide_up, sliding, facing_up, pushed_down)
            total_travel = add(total_travel, read3(result.travel))
            if (
                was_on_floor
                and character.floor_constant_speed
                and can_keep_speed
                and character.on_floor
                and not is_near_zero(motion)
            ):
                left = length32(motion_slide_up) - length32(slide(total_travel, up))
                motion = mul(normalized32(motion), max(F0, left))
        elif (
            character.floor_constant_speed
            and first
            and _on_floor_if_snapped(space, body, character, was_on_floor, facing_up)
        ):
            can_keep_speed = False
            sliding = True
            _shift(character, neg(read3(result.travel)))
            along = normalized32(cross(cross(up, motion), floor_before))
            motion = mul(along, length32(motion_slide_up))
            collided = True
        if not collided or is_near_zero(motion):
            break
        can_keep_speed = not can_keep_speed and not sliding
        sliding = True
        first = False
    _snap_on_floor(space, body, character, was_on_floor, facing_up)
    if character.on_floor and not facing_up:
        write3(character.velocity, slide(read3(character.velocity), up))


@call
def _floating(space: Space, body: int, character: Any, delta: np.float32) -> None:
    nothing = (F0, F0, F0)
    velocity = read3(character.velocity)
    motion = mul(velocity, delta)
    character.platform = -1
    write3(character.floor_normal, nothing)
    write3(character.platform_velocity, nothing)
    write3(character.platform_angular_velocity, nothing)
    first = True
    for _ in range(character.max_slides):
        place = min(character.slide_count, MAX_SLIDES - 1)
        collided = _try(space, body, character, motion, 1, False, -1)
        result = character.slides[place]
        travel = read3(result.travel)
        write3(character.last_motion, travel)
        if collided:
            character.slide_count = place + 1
            set_collision_direction(space, character, result, FLOOR | WALL | CEILING)
            remainder = read3(result.remainder)
            wall_normal = read3(character.wall_normal)
            if is_near_zero(remainder):
                break
            angle = character.wall_min_slide_angle
            if angle != F0 and acos32(dot(wall_normal, neg(normalized32(velocity)))) < angle + _FLOOR_ANGLE_THRESHOLD:
                motion = nothing
                if length32(travel) < character.margin + EPSILON:
                    _shift(character, neg(travel))
            elif first:
                motion = mul(normalized32(slide(remainder, wall_normal)), length32(motion) - length32(travel))
            else:
                motion = slide(remainder, wall_normal)
            if dot(motion, velocity) <= F0:
                motion = nothing
        if not collided or is_near_zero(motion):
            break
        first = False


@call
def _platform_velocity(space: Space, character: Any) -> Any:
    """The velocity of what the body stands on or touches, as it is now."""
    if not (character.on_floor or character.on_wall) or character.platform < 0:
        return read3(character.platform_velocity)
    layers = character.platform_floor_layers if character.on_floor else character.platform_wall_layers
    if (layers & character.platform_layer) == 0:
        return (F0, F0, F0)
    platform = space.bodies[character.platform]
    offset = sub(read3(character.transform[9:]), read3(platform.transform[9:]))
    return add(read3(platform.linear_velocity), cross(read3(platform.angular_velocity), offset))


@call
def move_and_slide(space: Space, body: int, character: Any, delta: float) -> bool:
    """Moves `character` (a CHARACTER record) and hands its transform to the server; whether it collided."""
    step = np.float32(delta)
    for axis in range(3):
        if character.axis_lock & (1 << axis):
            character.velocity[axis] = F0
        character.previous_position[axis] = character.transform[9 + axis]
    platform_velocity = _platform_velocity(space, character)
    character.slide_count = 0
    was_on_floor = character.on_floor != 0
    character.on_floor = 0
    character.on_wall = 0
    character.on_ceiling = 0
    write3(character.last_motion, (F0, F0, F0))
    if not is_near_zero(platform_velocity):
        result = character.slides[0]
        if _try(space, body, character, mul(platform_velocity, step), 1, False, character.platform):
            character.slide_count = 1
            set_collision_direction(space, character, result, FLOOR | WALL | CEILING)
    if character.motion_mode == 0:
        _grounded(space, body, character, step, was_on_floor)
    else:
        _floating(space, body, character, step)
    for axis in range(3):
        character.real_velocity[axis] = (character.transform[9 + axis] - character.previous_position[axis]) / step
    if character.platform_on_leave != 2 and not character.on_floor and not character.on_wall:
        up = read3(character.up)
        if character.platform_on_leave == 1 and dot(platform_velocity, up) < F0:
            platform_velocity = slide(platform_velocity, up)
        write3(character.velocity, add(read3(character.velocity), platform_velocity))
    target = space.bodies[body].target
    for part in range(12):
        target[part] = character.transform[part]
    return bool(character.slide_count > 0)
