"""`CharacterBody2D.move_and_slide`, grounded and floating, in Godot's order of operations.

Godot's source (`scene/2d/physics/character_body_2d.cpp`) is the reference; names follow it.
"""

from typing import Any

import numpy as np

from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import IS_CHARACTER, Space
from godojo.twin.physics.vectors import F0, acos32
from godojo.twin.physics_2d.motion import cancel_sliding, test_motion
from godojo.twin.physics_2d.separate import EPSILON
from godojo.twin.physics_2d.space import MAX_SLIDES
from godojo.twin.physics_2d.vectors import (
    ZERO,
    Vector,
    add,
    at_origin,
    dot,
    is_near_zero,
    is_zero,
    length,
    mul,
    neg,
    normalized,
    origin,
    read2,
    read6,
    slide,
    sub,
    times,
    write2,
    write6,
)

_THRESHOLD = 0.01
"""Radians by which a slope may exceed `floor_max_angle`."""
_SMALL = np.float32(0.01)


@call
def place(character: Any, there: Vector) -> None:
    """Sets the node's global origin: its own transform is what its parent leaves of that, and both are rounded."""
    wanted = at_origin(read6(character.transform), there)
    if character.has_parent:
        local = times(read6(character.parent_inverse), wanted)
        write6(character.local, local)
        wanted = times(read6(character.parent), local)
    else:
        write6(character.local, wanted)
    write6(character.transform, wanted)


@inline
def _here(character: Any) -> Any:
    return origin(character.transform)


@call
def move_and_collide(
    space: Space,
    body: int,
    character: Any,
    motion: Vector,
    test_only: bool,
    margin: np.float32,
    recovery_as_collision: bool,
    cancel: bool,
    exclude: int,
    result: Any,
) -> bool:
    """`PhysicsBody2D.move_and_collide`: moves the node of `character`, unless `test_only`."""
    colliding = test_motion(space, body, character.transform, motion, margin, recovery_as_collision, exclude, result)
    if cancel:
        cancel_sliding(result, motion, margin, colliding)
    if not test_only:
        place(character, add(_here(character), read2(result.travel)))
    return colliding


@inline
def _try(space: Space, body: int, character: Any, motion: Vector, cancel: bool, exclude: int) -> bool:
    """One motion of the node itself; the result is in the next place for slides."""
    result = character.slides[min(character.slide_count, MAX_SLIDES - 1)]
    return move_and_collide(space, body, character, motion, False, character.margin, True, cancel, exclude, result)


@inline
def _is_within(character: Any, normal: Vector, up: Vector) -> bool:
    return bool(acos32(dot(normal, up)) <= np.float64(character.floor_max_angle) + _THRESHOLD)


@inline
def _set_platform(space: Space, character: Any, result: Any) -> None:
    character.platform = result.body
    character.platform_layer = space.bodies[result.body].layer
    write2(character.platform_velocity, read2(result.velocity))


@call
def _set_collision_direction(space: Space, character: Any, result: Any) -> None:
    up, normal = read2(character.up), read2(result.normal)
    is_grounded = character.motion_mode == 0
    if is_grounded and _is_within(character, normal, up):
        character.on_floor = 1
        write2(character.floor_normal, normal)
        _set_platform(space, character, result)
    elif is_grounded and _is_within(character, normal, neg(up)):
        character.on_ceiling = 1
    else:
        character.on_wall = 1
        write2(character.wall_normal, normal)
        if space.bodies[result.body].traits & IS_CHARACTER == 0:
            _set_platform(space, character, result)


@inline
def _floor_below(space: Space, body: int, character: Any) -> bool:
    """Tests the motion of a snap; the result is in `space.motion[0]`."""
    size = max(character.floor_snap_length, character.margin)
    down = mul(neg(read2(character.up)), size)
    return move_and_collide(space, body, character, down, True, character.margin, True, False, -1, space.motion[0])


@call
def apply_floor_snap(space: Space, body: int, character: Any, wall_as_floor: bool) -> None:
    """`CharacterBody2D.apply_floor_snap`."""
    if character.on_floor or not _floor_below(space, body, character):
        return
    result = space.motion[0]
    up, normal = read2(character.up), read2(result.normal)
    is_floor = _is_within(character, normal, up)
    if is_floor or (wall_as_floor and not _is_within(character, normal, neg(up))):
        character.on_floor = 1
        write2(character.floor_normal, normal)
        _set_platform(space, character, result)
        travel = read2(result.travel)
        travel = mul(up, dot(up, travel)) if length(travel) > character.margin else ZERO
        place(character, add(_here(character), travel))


@inline
def _is_on_floor_if_snapped(space: Space, body: int, character: Any, was_on_floor: bool, facing_up: bool) -> bool:
    if character.on_floor or not was_on_floor or facing_up:
        return False
    if _floor_below(space, body, character):
        return _is_within(character, read2(space.motion[0].normal), read2(character.up))
    return False


@call
def _push_down(character: Any, result: Any, motion: Vector) -> bool:
    """What a ceiling that comes down does to the velocity; whether it does."""
    up, theirs = read2(character.up), read2(result.velocity)
    if not character.on_ceiling or is_zero(theirs) or dot(theirs, up) >= F0:
        return False
    flat = length(add(read2(result.normal), up)) < _SMALL
    if character.slide_on_ceiling and dot(motion, up) >= F0 and not flat:
        return False
    velocity = read2(character.velocity)
    down, vertical = mul(up, dot(up, theirs)), mul(up, dot(up, velocity))
    if dot(vertical, up) > F0 or dot(down, down) > dot(vertical, vertical):
        write2(character.velocity, add(down, slide(velocity, up)))
    return True


@call
def _slide_by_default(character: Any, result: Any, sliding: bool, facing_up: bool, pushed_down: bool) -> Any:
    """The motion along what was hit."""
    up, normal = read2(character.up), read2(result.normal)
    velocity, remainder = read2(character.velocity), read2(result.remainder)
    can_slide = not character.on_ceiling or character.slide_on_ceiling or not facing_up
    if (sliding or not character.on_floor) and can_slide and not pushed_down:
        along = slide(remainder, normal)
        motion = along if dot(along, velocity) > F0 else ZERO
        if character.slide_on_ceiling and character.on_ceiling:
            velocity = slide(velocity, normal) if facing_up else mul(up, dot(up, velocity))
    else:
        motion = remainder
        if character.on_ceiling and not character.slide_on_ceiling and facing_up:
            velocity, motion = slide(velocity, up), slide(motion, up)
    write2(character.velocity, velocity)
    return motion


@inline
def _is_on_floor_only(character: Any) -> bool:
    return bool(character.on_floor and not character.on_wall and not character.on_ceiling)


@inline
def _is_on_wall_only(character: Any) -> bool:
    return bool(character.on_wall and not character.on_floor and not character.on_ceiling)


@call
def _grounded(space: Space, body: int, character: Any, delta: np.float32, was_on_floor: bool) -> None:
    up = read2(character.up)
    velocity = read2(character.velocity)
    motion = mul(velocity, delta)
    motion_slide_up = slide(motion, up)
    floor_before = read2(character.floor_normal)
    character.platform = -1
    write2(character.floor_normal, ZERO)
    write2(character.platform_velocity, ZERO)
    sliding = character.floor_stop_on_slope == 0
    can_keep_speed = sliding
    pushed_down = False
    first = True
    facing_up = dot(velocity, up) > F0
    last_travel = ZERO
    for _ in range(character.max_slides):
        before = _here(character)
        place_of_result = min(character.slide_count, MAX_SLIDES - 1)
        collided = _try(space, body, character, motion, not sliding, -1)
        result = character.slides[place_of_result]
        travel = read2(result.travel)
        write2(character.last_motion, travel)
        if collided:
            character.slide_count = place_of_result + 1
            normal, remainder = read2(result.normal), read2(result.remainder)
            _set_collision_direction(space, character, result)
            pushed_down |= _push_down(character, result, motion)
            velocity = read2(character.velocity)
            is_short = length(travel) <= np.float64(character.margin) + EPSILON
            if character.on_floor and character.floor_stop_on_slope and length(add(normalized(velocity), up)) < _SMALL:
                if is_short:
                    place(character, sub(_here(character), travel))
                write2(character.velocity, ZERO)
                write2(character.last_motion, ZERO)
                break
            if is_near_zero(remainder):
                break
            if character.floor_block_on_wall and character.on_wall and dot(motion_slide_up, normal) <= F0:
                if was_on_floor and not character.on_floor and not facing_up:
                    if is_short:
                        place(character, sub(_here(character), travel))
                    apply_floor_snap(space, body, character, True)
                    write2(character.velocity, ZERO)
                    write2(character.last_motion, ZERO)
                    break
                motion = remainder if character.on_floor else slide(mul(up, dot(up, remainder)), normal)
            elif (
                character.floor_constant_speed
                and _is_on_floor_only(character)
                and can_keep_speed
                and was_on_floor
                and dot(motion, normal) < F0
            ):
                can_keep_speed = False
                left = length(motion_slide_up) - length(slide(travel, up)) - length(slide(last_travel, up))
                motion = mul(normalized(slide(remainder, normal)), left)
            else:
                motion = _slide_by_default(character, result, sliding, facing_up, pushed_down)
            last_travel = travel
        elif (
            character.floor_constant_speed
            and first
            and _is_on_floor_if_snapped(space, body, character, was_on_floor, facing_up)
        ):
            can_keep_speed = False
            sliding = True
            place(character, before)
            motion = mul(normalized(slide(motion, floor_before)), length(motion_slide_up))
            collided = True
        can_keep_speed = not can_keep_speed and not sliding
        sliding = True
        first = False
        if not collided or is_near_zero(motion):
            break
    if not character.on_floor and was_on_floor and not facing_up:
        apply_floor_snap(space, body, character, False)
    velocity = read2(character.velocity)
    if _is_on_wall_only(character):
        normal = read2(character.slides[0].normal)
        if dot(motion_slide_up, normal) < F0:
            along = slide(velocity, normal)
            velocity = mul(up, dot(up, velocity))
            if dot(motion_slide_up, along) >= F0:
                velocity = add(velocity, slide(along, up))
    if character.on_floor and not facing_up:
        velocity = slide(velocity, up)
    write2(character.velocity, velocity)


@call
def _floating(space: Space, body: int, character: Any, delta: np.float32) -> None:
    velocity = read2(character.velocity)
    motion = mul(velocity, delta)
    character.platform = -1
    write2(character.floor_normal, ZERO)
    write2(character.platform_velocity, ZERO)
    first = True
    for _ in range(character.max_slides):
        place_of_result = min(character.slide_count, MAX_SLIDES - 1)
        collided = _try(space, body, character, motion, False, -1)
        result = character.slides[place_of_result]
        travel = read2(result.travel)
        write2(character.last_motion, travel)
        if collided:
            character.slide_count = place_of_result + 1
            _set_collision_direction(space, character, result)
            normal, remainder = read2(result.normal), read2(result.remainder)
            if is_near_zero(remainder):
                break
            angle = character.wall_min_slide_angle
            if angle != F0 and acos32(dot(normal, neg(normalized(velocity)))) < np.float64(angle) + _THRESHOLD:
                motion = ZERO
            elif first:
                way = normalized(slide(remainder, normal))
                motion = mul(way, length(motion) - length(travel))
            else:
                motion = slide(remainder, normal)
            if dot(motion, velocity) <= F0:
                motion = ZERO
        if not collided or is_near_zero(motion):
            break
        first = False


@call
def _platform_velocity(space: Space, character: Any) -> Any:
    """The velocity of what the body stands on or touches, as it is now."""
    if not (character.on_floor or character.on_wall) or character.platform < 0:
        return read2(character.platform_velocity)
    layers = character.platform_floor_layers if character.on_floor else character.platform_wall_layers
    if (layers & character.platform_layer) == 0:
        return ZERO
    platform = space.bodies[character.platform]
    arm = sub(_here(character), origin(platform.transform))
    spin = platform.angular_velocity
    return add(read2(platform.linear_velocity), (-spin * arm[1], spin * arm[0]))


@call
def move_and_slide(space: Space, body: int, character: Any, delta: float) -> bool:
    """Moves `character` (a CHARACTER record); whether it collided. The caller hands its transform to the server."""
    step = np.float32(delta)
    write2(character.previous_position, _here(character))
    platform_velocity = _platform_velocity(space, character)
    character.slide_count = 0
    was_on_floor = character.on_floor != 0
    character.on_floor = 0
    character.on_wall = 0
    character.on_ceiling = 0
    write2(character.last_motion, ZERO)
    if not is_near_zero(platform_velocity) and _try(
        space, body, character, mul(platform_velocity, step), False, character.platform
    ):
        character.slide_count = 1
        _set_collision_direction(space, character, character.slides[0])
    if character.motion_mode == 0:
        _grounded(space, body, character, step, was_on_floor)
    else:
        _floating(space, body, character, step)
    moved = sub(_here(character), read2(character.previous_position))
    write2(character.real_velocity, (moved[0] / step, moved[1] / step))
    if character.platform_on_leave != 2 and not character.on_floor and not character.on_wall:
        up = read2(character.up)
        if character.platform_on_leave == 1 and dot(platform_velocity, up) < F0:
            platform_velocity = slide(platform_velocity, up)
        write2(character.velocity, add(read2(character.velocity), platform_velocity))
    return bool(character.slide_count > 0)
