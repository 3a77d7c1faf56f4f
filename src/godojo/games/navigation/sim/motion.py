"""How the walker moves in a tick: wish, turn, three moves with steps up, and the rig that follows."""

import math
from typing import Any

import numpy as np

from godojo.kernels.bodies import X, Y, Z, find_near, free_m, wrapped
from godojo.kernels.compile import device_kernel

TICK_S = 1.0 / 60.0
MAX_STEP_M = 1.0
NEAR_SLACK_M = 1.5
"""How far the walker may move before its list of near boxes is made again."""
STRAFE, FORWARD, ROTATE, TELEPORT = 0, 1, 2, 3
SNAP_FROM, LET_GO_BELOW = 0.7, 0.3
"""The stick turns at once beyond the first, and must come back below the second before it does again."""
TELEPORT_FROM = 0.5
"""The trigger teleports beyond this, once until it is let go."""
TELEPORT_STEP_M, TELEPORT_DROP_M = 0.1, 0.25
"""A teleport looks for ground at every such step, and so far below the height of a step."""


@device_kernel
def cut(value: float) -> float:
    """Clips to [-1, 1]; NaN counts as 0."""
    if not math.isfinite(value):
        return 0.0
    return min(max(value, -1.0), 1.0)


@device_kernel
def cut_action(given: np.ndarray, action: np.ndarray) -> None:
    """Each number from -1 to 1, and where to go no longer than 1. A teleport that is not given is 0."""
    for number in range(len(given)):
        action[number] = cut(float(given[number]))
    length = math.sqrt(action[STRAFE] * action[STRAFE] + action[FORWARD] * action[FORWARD])
    if length > 1.0:
        action[STRAFE] /= length
        action[FORWARD] /= length


@device_kernel
def smooth(smoothed: np.ndarray, action: np.ndarray, share: float) -> None:
    """Follows the action by a fraction of the difference."""
    for number in range(3):
        smoothed[number] += share * (action[number] - smoothed[number])


@device_kernel
def turn(n: Any, walker: Any) -> None:
    """Smoothly, or at once by a fixed angle, which counts as a jump of the view."""
    rotate = walker.smoothed[ROTATE]
    if n.snaps:
        walker.yaw_rate = 0.0
        if abs(rotate) < LET_GO_BELOW:
            walker.may_snap = 1
        elif abs(rotate) > SNAP_FROM and walker.may_snap:
            walker.yaw -= n.snap_rad if rotate > 0.0 else -n.snap_rad
            walker.may_snap = 0
            walker.teleports += 1
    else:
        walker.yaw_rate = -rotate * n.turn_rate
        walker.yaw += walker.yaw_rate * TICK_S
    walker.yaw = wrapped(walker.yaw)


@device_kernel
def teleport(n: Any, course: Any, walker: Any) -> None:
    """Jumps ahead when the trigger is pulled: to the farthest ground before something solid."""
    if walker.action[TELEPORT] <= TELEPORT_FROM:
        walker.may_teleport = 1
        return
    if walker.may_teleport == 0 or walker.grounded == 0:
        return
    walker.may_teleport = 0
    start_x, start_y, start_z = walker.position[X], walker.position[Y], walker.position[Z]
    land_x, land_y, land_z = start_x, start_y, start_z
    up_m = float(np.float32(n.step_up_m))
    if up_m > 0.0 and free_along(n, course, walker, Y, up_m) >= up_m:
        go(walker, Y, n.step_up_m)
    step_x = np.float32(-math.sin(walker.yaw) * TELEPORT_STEP_M)
    step_z = np.float32(-math.cos(walker.yaw) * TELEPORT_STEP_M)
    drop_m = float(np.float32(n.step_up_m + TELEPORT_DROP_M))
    for _ in range(math.floor(n.teleport_m / TELEPORT_STEP_M + 0.5)):
        if not (slides(n, course, walker, X, step_x) and slides(n, course, walker, Z, step_z)):
            break
        free = free_along(n, course, walker, Y, -drop_m)
        if free < drop_m:
            land_x, land_z = walker.position[X], walker.position[Z]
            land_y = np.float32(walker.position[Y] - np.float32(free))
    walker.position[X], walker.position[Y], walker.position[Z] = land_x, land_y, land_z
    walker.near_slack_m = -1.0
    if land_x != start_x or land_y != start_y or land_z != start_z:
        walker.teleports += 1


@device_kernel
def slides(n: Any, course: Any, walker: Any, axis: int, distance: np.float32) -> bool:
    """Goes this far if nothing is in the way; says whether."""
    if distance == np.float32(0.0):
        return True
    if free_along(n, course, walker, axis, float(distance)) < abs(float(distance)):
        return False
    go(walker, axis, float(distance))
    return True


@device_kernel
def move(n: Any, course: Any, walker: Any) -> bool:
    """One axis after the other, as far as nothing is in the way; says whether something was, to the side."""
    sine = math.sin(walker.yaw)
    cosine = math.cos(walker.yaw)
    speed_y = float(walker.velocity[Y])
    next_y = max(speed_y - n.gravity * TICK_S, -n.fall_speed)
    strafe = walker.smoothed[STRAFE]
    forward = walker.smoothed[FORWARD]
    walker.velocity[X] = n.speed * (strafe * cosine - forward * sine)
    walker.velocity[Z] = n.speed * (-strafe * sine - forward * cosine)
    tick_s = np.float32(TICK_S)
    motion_x = np.float32(walker.velocity[X] * tick_s)
    motion_y = float(np.float32(np.float32((speed_y + next_y) * 0.5) * tick_s))
    motion_z = np.float32(walker.velocity[Z] * tick_s)
    was_grounded = walker.grounded != 0
    has_stepped = False
    is_blocked = False
    for turn_of in range(2):
        axis = X if turn_of == 0 else Z
        distance = motion_x if turn_of == 0 else motion_z
        if distance == np.float32(0.0):
            continue
        free = free_along(n, course, walker, axis, float(distance))
        if free >= abs(float(distance)):
            go(walker, axis, free if distance > 0.0 else -free)
            continue
        if was_grounded and not has_stepped and n.step_up_m > 0.0 and step_up(n, course, walker, axis, distance):
            has_stepped = True
            motion_y -= n.step_up_m
            continue
        go(walker, axis, free if distance > 0.0 else -free)
        walker.velocity[axis] = 0.0
        is_blocked = True
    walker.velocity[Y] = next_y
    walker.grounded = 0
    down = float(np.float32(min(max(motion_y, -MAX_STEP_M), MAX_STEP_M)))
    if down != 0.0:
        free = free_along(n, course, walker, Y, down)
        go(walker, Y, free if down > 0.0 else -free)
        if free < abs(down):
            walker.velocity[Y] = 0.0
            walker.grounded = down < 0.0
    return is_blocked


@device_kernel
def step_up(n: Any, course: Any, walker: Any, axis: int, distance: np.float32) -> bool:
    """Onto a step: up, and then the whole way; says whether both were free, and stays where it is if not."""
    before_y = walker.position[Y]
    if free_along(n, course, walker, Y, n.step_up_m) < abs(float(np.float32(n.step_up_m))):
        return False
    go(walker, Y, n.step_up_m)
    if free_along(n, course, walker, axis, float(distance)) < abs(float(distance)):
        walker.position[Y] = before_y
        return False
    go(walker, axis, float(distance))
    return True


@device_kernel
def free_along(n: Any, course: Any, walker: Any, axis: int, distance: float) -> float:
    """How far the body can go along the axis."""
    wanted = float(np.float32(distance))
    if walker.near_slack_m < abs(wanted) + 2.0 * n.skin_m:
        reach = n.half_m + 2.0 * n.skin_m + NEAR_SLACK_M
        walker.near_count = find_near(course, walker.position, reach, walker.near)
        walker.near_slack_m = NEAR_SLACK_M
    return float(free_m(course, walker.near, walker.near_count, walker.position, axis, wanted, n.half_m, n.skin_m))


@device_kernel
def go(walker: Any, axis: int, distance: float) -> None:
    walker.position[axis] += distance
    walker.near_slack_m -= abs(distance)


@device_kernel
def move_rig(n: Any, walker: Any) -> None:
    """Head and hands follow the gait."""
    strafe = walker.smoothed[STRAFE]
    forward = walker.smoothed[FORWARD]
    share = math.sqrt(strafe * strafe + forward * forward)
    walker.phase += n.stride_radpm * n.speed * share * TICK_S
    roll = -n.lean_rad * walker.smoothed[ROTATE] * share
    walker.roll_rate = (roll - walker.roll) / TICK_S
    walker.roll = roll
    sway = n.swing_m * math.sin(walker.phase) * share
    rise = n.lift_m * math.cos(2.0 * walker.phase) * share
    put_hand(walker.left, walker.left_velocity, -n.hand_side_m, n.hand_height_m + rise, -n.hand_ahead_m + sway)
    put_hand(walker.right, walker.right_velocity, n.hand_side_m, n.hand_height_m + rise, -n.hand_ahead_m - sway)


@device_kernel
def put_hand(hand: np.ndarray, velocity: np.ndarray, x: float, y: float, z: float) -> None:
    tick_s = np.float32(TICK_S)
    velocity[X] = (np.float32(x) - hand[X]) / tick_s
    velocity[Y] = (np.float32(y) - hand[Y]) / tick_s
    velocity[Z] = (np.float32(z) - hand[Z]) / tick_s
    hand[X] = x
    hand[Y] = y
    hand[Z] = z
