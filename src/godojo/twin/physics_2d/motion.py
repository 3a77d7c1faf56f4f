"""`body_test_motion` as GodotPhysics2D does it: recover, cast, collide. `move_and_collide` on top of it."""

from typing import Any

import numpy as np

from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import AREA, KINEMATIC, REMOVED, RIGID, Space
from godojo.twin.physics.vectors import F0, F1
from godojo.twin.physics_2d.separate import EPSILON, contacts, touches
from godojo.twin.physics_2d.shapes import project, solid_of
from godojo.twin.physics_2d.space import LAST_STEP
from godojo.twin.physics_2d.vectors import (
    ZERO,
    Vector,
    add,
    at_origin,
    dot,
    is_zero,
    length,
    mul,
    neg,
    normalized,
    origin,
    read2,
    read6,
    sub,
    write2,
)

ATTEMPTS = 4
MOST_CONTACTS = 32
_CONTACT = 5  # numbers of a contact in `Space.scratch`: the two points, the other's priority
_EXCLUDED = MOST_CONTACTS * _CONTACT  # and behind them the pairs of shapes that a one-way collision lets through
_MOST_EXCLUDED = 32
_LEAST_MARGIN = np.float32(0.0001)
_DEPTH_SHARE = np.float32(0.05)
_RECOVERY_SHARE = np.float32(0.4)
_SLACK_PX = np.float32(2.0)
"""How far a recovery may move a body before the list of near shapes is made anew."""


@inline
def is_enabled(body: Any, shape: Any) -> bool:
    return bool(shape.index > 63 or (body.disabled >> np.uint64(shape.index)) & np.uint64(1) == np.uint64(0))


@call
def update_bounds(space: Space, index: int) -> None:
    """Finds the boxes around a body's shapes anew."""
    body = space.bodies[index]
    transform = read6(body.transform)
    for number in range(body.first_shape, body.first_shape + body.shape_count):
        solid = solid_of(space.shapes[number], transform)
        for axis in range(2):
            way = (F1, F0) if axis == 0 else (F0, F1)
            low, high = project(solid, space.vertices, way)
            space.bounds[axis, number], space.bounds[2 + axis, number] = low, high


@call
def clear_bounds(space: Space, index: int) -> None:
    """Boxes that nothing meets, for a body that is taken out."""
    body, far = space.bodies[index], np.float32(np.inf)
    for number in range(body.first_shape, body.first_shape + body.shape_count):
        for axis in range(2):
            space.bounds[axis, number], space.bounds[2 + axis, number] = far, -far


@call
def list_within(space: Space, low: Vector, high: Vector) -> int:
    """Lists in `space.near` all shapes whose boxes meet this one; how many."""
    bounds, near = space.bounds, space.near
    low_x, low_y, high_x, high_y = low[0], low[1], high[0], high[1]
    count = bounds.shape[1]
    # First a flag for each, in a loop without branches that compiles to vector instructions.
    for number in range(count):
        near[number] = np.int32(
            ((bounds[0, number] > high_x) | (bounds[2, number] < low_x))
            | ((bounds[1, number] > high_y) | (bounds[3, number] < low_y))
        )
    found = 0
    blocks = count // 8 * 8
    for start in range(0, blocks, 8):
        every = near[start] & near[start + 1] & near[start + 2] & near[start + 3]
        every &= near[start + 4] & near[start + 5] & near[start + 6] & near[start + 7]
        if every == 0:
            for number in range(start, start + 8):
                if near[number] == 0:
                    near[found] = number
                    found += 1
    for number in range(blocks, count):
        if near[number] == 0:
            near[found] = number
            found += 1
    return found


@call
def _find_near(space: Space, me: int, transform: Any, motion: Vector, margin: np.float32, exclude: int) -> int:
    """Lists the shapes that the body may meet on its way; how many."""
    body, bodies = space.bodies[me], space.bodies
    low_x, low_y, high_x, high_y = np.float32(1e20), np.float32(1e20), np.float32(-1e20), np.float32(-1e20)
    for number in range(body.first_shape, body.first_shape + body.shape_count):
        shape = space.shapes[number]
        if is_enabled(body, shape):
            solid = solid_of(shape, transform)
            low, high = project(solid, space.vertices, (F1, F0))
            low_x, high_x = min(low_x, low), max(high_x, high)
            low, high = project(solid, space.vertices, (F0, F1))
            low_y, high_y = min(low_y, low), max(high_y, high)
    more = margin + _SLACK_PX
    low_x, high_x = low_x + min(motion[0], F0) - more, high_x + max(motion[0], F0) + more
    low_y, high_y = low_y + min(motion[1], F0) - more, high_y + max(motion[1], F0) + more
    count = 0
    for place in range(list_within(space, (low_x, low_y), (high_x, high_y))):
        number = space.near[place]
        other = space.shapes[number].body
        them = bodies[other]
        is_other = other != me and other != exclude
        if not is_other or them.kind == AREA or them.kind == REMOVED:
            continue
        if (body.mask & them.layer) != 0 and is_enabled(them, space.shapes[number]):
            space.near[count] = number
            count += 1
    return count


@inline
def _one_way(space: Space, number: int, margin: np.float32) -> Any:
    """The direction in which a one-way shape lets bodies through, and how deep they may be; zero for other shapes."""
    shape = space.shapes[number]
    if shape.is_one_way == 0:
        return ZERO, F0
    body = space.bodies[shape.body]
    frame = solid_of(shape, read6(body.transform))[1]
    way = normalized((frame[2], frame[3]))
    deep = max(shape.one_way_margin, margin)
    if body.kind == KINEMATIC or body.kind == RIGID:
        moved = mul(read2(body.linear_velocity), np.float32(space.scratch[LAST_STEP]))
        deep += length(moved) * max(dot(normalized(moved), neg(way)), F0)
    return way, deep


@inline
def _is_excluded(space: Space, count: int, local: int, number: int) -> bool:
    for index in range(count):
        at = _EXCLUDED + 2 * index
        if space.scratch[at] == local and space.scratch[at + 1] == number:
            return True
    return False


@call
def _gather(space: Space, me: int, transform: Any, margin: np.float32, near: int) -> Any:
    """Puts the contacts of a body into `space.scratch`; how many, and how many pairs one-way shapes exclude."""
    body, room, vertices = space.bodies[me], space.scratch, space.vertices
    count, excluded = 0, 0
    for local in range(body.first_shape, body.first_shape + body.shape_count):
        if not is_enabled(body, space.shapes[local]):
            continue
        mine = solid_of(space.shapes[local], transform)
        for place in range(near):
            number = space.near[place]
            their = space.bodies[space.shapes[number].body]
            other = solid_of(space.shapes[number], read6(their.transform))
            found, a0, b0, a1, b1 = contacts(mine, other, margin, vertices)
            if found == 0:
                continue
            way, deep = _one_way(space, number, margin)
            passed, barred = 0, 0
            for index in range(found):
                a, b = (a0, b0) if index == 0 else (a1, b1)
                if not is_zero(way):
                    apart = sub(a, b)
                    squared = dot(apart, apart)
                    if squared > deep * deep or (squared > EPSILON and dot(way, normalized(apart)) < EPSILON):
                        barred += 1
                        continue
                passed += 1
                if count < MOST_CONTACTS:
                    at = count * _CONTACT
                    room[at], room[at + 1], room[at + 2], room[at + 3] = a[0], a[1], b[0], b[1]
                    room[at + 4] = their.priority
                    count += 1
            if passed == 0 and barred > 0 and excluded < _MOST_EXCLUDED:
                room[_EXCLUDED + 2 * excluded], room[_EXCLUDED + 2 * excluded + 1] = local, number
                excluded += 1
    return count, excluded


@call
def _push_out(space: Space, count: int, least: np.float32) -> Any:
    """The way out of the contacts in `space.scratch`, each with the part that those before it have left."""
    room = space.scratch
    weight = F0
    for index in range(count):
        weight += np.float32(room[index * _CONTACT + 4])
    weight = F1 if abs(weight) < EPSILON else np.float32(count) / weight
    way = ZERO
    for index in range(count):
        at = index * _CONTACT
        a = (np.float32(room[at]), np.float32(room[at + 1]))
        b = (np.float32(room[at + 2]), np.float32(room[at + 3]))
        n = normalized(sub(a, b))
        depth = dot(n, add(a, way)) - dot(n, b)
        if depth > np.float64(least) + EPSILON:
            step = mul(mul(n, depth - least), _RECOVERY_SHARE)
            way = sub(way, mul(mul(step, np.float32(room[at + 4])), weight))
    return way


@call
def _search(mine: Any, other: Any, motion: Vector, vertices: Any) -> Any:
    """The free and the blocked share of the motion of a shape that meets another one."""
    low, high, lean = F0, F1, np.float32(0.5)
    for step in range(8):
        middle = low + (high - low) * lean
        if touches(mine, other, mul(motion, middle), F0, vertices):
            high = middle
            lean = np.float32(0.5) if step == 0 or low > F0 else np.float32(0.25)
        else:
            low = middle
            lean = np.float32(0.5) if step == 0 or high < F1 else np.float32(0.75)
    return low, high


@call
def _meets_from_outside(mine: Any, other: Any, way: Vector, moved: Vector, vertices: Any) -> bool:
    """Whether a shape that has moved touches a one-way shape on its closed side."""
    there = at_origin(mine[1], add(origin(mine[1]), moved))
    found, a0, b0, a1, b1 = contacts((mine[0], there, mine[2], mine[3], mine[4], mine[5]), other, F0, vertices)
    for index in range(found):
        apart = sub(a0, b0) if index == 0 else sub(a1, b1)
        if is_zero(apart) or dot(way, normalized(apart)) >= EPSILON:
            return True
    return False


@call
def _cast(space: Space, me: int, transform: Any, motion: Vector, margin: np.float32, near: int, excluded: int) -> Any:
    """The free share of the motion, the blocked one, and the shape that meets something, or -1."""
    body, vertices = space.bodies[me], space.vertices
    safe, unsafe, best = F1, F1, -1
    for local in range(body.first_shape, body.first_shape + body.shape_count):
        if not is_enabled(body, space.shapes[local]):
            continue
        mine = solid_of(space.shapes[local], transform)
        shape_safe, shape_unsafe = F1, F1
        for place in range(near):
            number = space.near[place]
            if _is_excluded(space, excluded, local, number):
                continue
            other = solid_of(space.shapes[number], read6(space.bodies[space.shapes[number].body].transform))
            if not touches(mine, other, motion, F0, vertices):
                continue
            way, _ = _one_way(space, number, margin)
            if touches(mine, other, ZERO, F0, vertices):
                if not is_zero(way) and dot(motion, way) < F0:
                    continue
                return F0, F0, local
            low, high = _search(mine, other, motion, vertices)
            if not is_zero(way):
                # Godot goes on by the allowed penetration (0.3), as a share of the motion.
                moved = mul(motion, high + np.float32(0.3))
                if not _meets_from_outside(mine, other, way, moved, vertices):
                    continue
            if low < shape_safe:
                shape_safe, shape_unsafe = low, high
        if shape_safe < safe:
            safe, unsafe, best = shape_safe, shape_unsafe, local
    return safe, unsafe, best


@call
def _rest(
    space: Space,
    me: int,
    transform: Any,
    margin: np.float32,
    least: np.float32,
    near: int,
    excluded: int,
    best: int,
    result: Any,
) -> bool:
    """Finds the deepest contact of the body, or of one of its shapes."""
    body, vertices = space.bodies[me], space.vertices
    deepest = F0
    for local in range(body.first_shape, body.first_shape + body.shape_count):
        if not is_enabled(body, space.shapes[local]) or (best >= 0 and local != best):
            continue
        mine = solid_of(space.shapes[local], transform)
        for place in range(near):
            number = space.near[place]
            if _is_excluded(space, excluded, local, number):
                continue
            shape = space.shapes[number]
            other = solid_of(shape, read6(space.bodies[shape.body].transform))
            found, a0, b0, a1, b1 = contacts(mine, other, margin, vertices)
            if found == 0:
                continue
            way, deep = _one_way(space, number, margin)
            for index in range(found):
                a, b = (a0, b0) if index == 0 else (a1, b1)
                apart = sub(b, a)
                depth = length(apart)
                if depth < least or depth <= deepest:
                    continue
                normal = (apart[0] / depth, apart[1] / depth)
                if not is_zero(way) and (depth > deep or dot(way, normal) > -EPSILON):
                    continue
                deepest = depth
                result.body, result.shape = shape.body, shape.index
                result.local_shape = space.shapes[local].index
                write2(result.normal, normal)
                write2(result.position, b)
    result.depth = deepest
    return bool(deepest != F0)


@call
def test_motion(
    space: Space,
    me: int,
    transform: Any,
    motion: Vector,
    margin: np.float32,
    recovery_as_collision: bool,
    exclude: int,
    result: Any,
) -> bool:
    """Whether the body at `transform` collides on its way; `result` is a MOTION record. `exclude`: a body, or -1."""
    margin = max(margin, _LEAST_MARGIN)
    least = margin * _DEPTH_SHARE
    start = read6(transform)
    here = start
    near = _find_near(space, me, here, motion, margin, exclude)
    recovered, excluded = False, 0
    listed = origin(start)
    for _ in range(ATTEMPTS):
        count, excluded = _gather(space, me, here, margin, near)
        if count == 0:
            break
        recovered = True
        way = _push_out(space, count, least)
        if is_zero(way):
            break
        here = at_origin(here, add(origin(here), way))
        if length(sub(origin(here), listed)) > _SLACK_PX:
            near = _find_near(space, me, here, motion, margin, exclude)
            listed = origin(here)
    safe, unsafe, best = _cast(space, me, here, motion, margin, near, excluded)
    collided = False
    if (recovery_as_collision and recovered) or safe < F1:
        there = at_origin(here, add(origin(here), mul(motion, unsafe)))
        least = min(length(motion), least)
        collided = _rest(space, me, there, margin, least, near, excluded, best if safe < F1 else -1, result)
    moved = sub(origin(here), origin(start))
    if collided:
        free = mul(motion, safe)
        other = space.bodies[result.body]
        arm = sub(read2(result.position), add(read2(other.transform[4:]), _center(other)))
        spin = other.angular_velocity
        write2(result.velocity, add((-spin * arm[1], spin * arm[0]), read2(other.linear_velocity)))
        write2(result.travel, add(free, moved))
        write2(result.remainder, sub(motion, free))
        result.safe, result.unsafe = safe, unsafe
    else:
        write2(result.travel, add(motion, moved))
        write2(result.remainder, ZERO)
        result.body, result.depth, result.safe, result.unsafe = -1, F0, F1, F1
    return collided


@inline
def _center(body: Any) -> Any:
    """The centre of mass from the body's origin."""
    t, c = body.transform, body.center
    return (t[0] * c[0] + t[2] * c[1], t[1] * c[0] + t[3] * c[1])


@call
def cancel_sliding(result: Any, motion: Vector, margin: np.float32, colliding: bool) -> None:
    """Takes what a recovery has moved a body across its way back, unless the collision is deep."""
    size = length(motion)
    precision = np.float32(0.001)
    if colliding:
        precision += size * (result.unsafe - result.safe)
        if result.depth > margin + precision:
            return
    direction = (motion[0] / size, motion[1] / size) if size > EPSILON else ZERO
    travel = read2(result.travel)
    along = mul(direction, dot(travel, direction))
    if length(sub(travel, along)) < margin + precision:
        write2(result.travel, along)
        write2(result.remainder, sub(motion, along))
