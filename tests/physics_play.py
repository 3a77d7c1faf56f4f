"""Plays a recorded scene in the twin's physics, in one call: compiled, or in plain Python (NUMBA_DISABLE_JIT=1)."""

from typing import Any

import numpy as np

from godojo.kernels.compile import njit_nogil
from godojo.twin.physics.bounds import update_bounds
from godojo.twin.physics.forces import apply_central_force
from godojo.twin.physics.godot.rigid import update_tensor
from godojo.twin.physics.rays import cast_ray
from godojo.twin.physics.rotations import quaternion_of
from godojo.twin.physics.slide import move_and_slide
from godojo.twin.physics.step import set_body_transform, step_space
from godojo.twin.physics.vectors import read3
from godojo.twin.physics.vehicles import move_vehicles
from godojo.twin.physics.wake import wake

STEP_S = 1.0 / 60.0


@njit_nogil
def _put(space: Any, ball: int, state: np.ndarray) -> None:
    """Puts a rigid body where the engine has it; its contacts stay what they are."""
    body = space.bodies[ball]
    for part in range(12):
        body.transform[part] = body.target[part] = state[part]
    for axis in range(3):
        body.linear_velocity[axis] = state[12 + axis]
        body.angular_velocity[axis] = state[15 + axis]
    rotation = quaternion_of(body.transform)
    for part in range(4):
        body.rotation[part] = rotation[part]
    update_tensor(body)
    update_bounds(space, ball)


@njit_nogil
def _drive(space: Any, balls: np.ndarray, states: np.ndarray) -> None:
    """Sets what drives the vehicles among the rigid bodies."""
    for place in range(space.wheels.shape[0]):
        wheel = space.wheels[place]
        for number in range(balls.shape[0]):
            if wheel.body == balls[number]:
                wheel.brake = states[number, 19]
                if wheel.use_as_traction:
                    wheel.engine_force = states[number, 18]
                if wheel.use_as_steering:
                    wheel.steering = states[number, 20]


@njit_nogil
def play(
    space: Any,  # `Space` or `GodotSpace`
    characters: np.ndarray,
    movers: np.ndarray,  # int32: bodies of the characters
    plan: np.ndarray,  # [tick, mover]: position, velocity before; position, velocity, flags, normals after
    moved: np.ndarray,  # int32 [tick]: a body that the scene moves, or -1
    places: np.ndarray,  # [tick, 12]: and where
    balls: np.ndarray,  # int32: rigid bodies
    pushes: np.ndarray,  # [tick, ball, 3]: forces on them
    states: np.ndarray,  # [tick, ball, 21]: their transforms, velocities and spins in the engine; what drives them
    rays: np.ndarray,  # [tick, ray]: from, to, excluded body, with areas, hit from inside
    gravity: float,
    restart: int,
    out: np.ndarray,  # [tick, mover]: position, velocity, flags
    out_balls: np.ndarray,  # [tick, ball, 12]: transforms before the step
    out_rays: np.ndarray,  # [tick, ray]: body, position, normal
    events: np.ndarray,  # int32: tick in which the signal arrives, area, other, entered
) -> int:
    """Plays all ticks; returns the number of events.

    Every `restart` ticks, and where the scene teleports it, a character starts anew from the recorded state; otherwise
    what the recorded script adds to its velocity is added to the twin's own.
    """
    nothing = np.float32(0.0)
    down = (nothing, np.float32(-gravity), nothing)
    exceptions = np.zeros(1, np.int32) - np.int32(1)
    event_count = 0
    for tick in range(plan.shape[0]):
        for number in range(balls.shape[0]):
            body = space.bodies[balls[number]]
            for part in range(12):
                out_balls[tick, number, part] = body.transform[part]
            if tick % restart == 0 and tick > 0:
                _put(space, balls[number], states[tick, number])
        move_vehicles(space, STEP_S)
        _drive(space, balls, states[tick])
        if moved[tick] >= 0:
            set_body_transform(space, moved[tick], places[tick])
        for number in range(movers.shape[0]):
            character = characters[number]
            row = plan[tick, number]
            is_start = tick % restart == 0
            if tick > 0:
                before = plan[tick - 1, number]
                for axis in range(3):
                    is_start |= before[6 + axis] != row[axis]
                if is_start:
                    character.on_floor = before[12] != nothing
                    character.on_wall = before[13] != nothing
                    character.on_ceiling = before[14] != nothing
                    for axis in range(3):
                        character.floor_normal[axis] = before[15 + axis]
                        character.wall_normal[axis] = before[18 + axis]
            for axis in range(3):
                if is_start:
                    character.transform[9 + axis] = row[axis]
                    character.velocity[axis] = row[3 + axis]
                else:
                    character.velocity[axis] += row[3 + axis] - plan[tick - 1, number, 9 + axis]
            move_and_slide(space, movers[number], character, STEP_S)
            for axis in range(3):
                out[tick, number, axis] = character.transform[9 + axis]
                out[tick, number, 3 + axis] = character.velocity[axis]
            out[tick, number, 6] = character.on_floor
            out[tick, number, 7] = character.on_wall
            out[tick, number, 8] = character.on_ceiling
        for number in range(balls.shape[0]):
            body = space.bodies[balls[number]]
            push = read3(pushes[tick, number])
            if push[0] != nothing or push[2] != nothing:
                wake(space, body)
            apply_central_force(space, balls[number], push)
        for number in range(rays.shape[1]):
            ray = rays[tick, number]
            start, end = read3(ray), read3(ray[3:])
            hit, position, normal, index, _ = cast_ray(
                space, start, end, 0xFFFFFFFF, True, ray[7] != 0, ray[8] != 0, True, int(ray[6]), exceptions
            )
            out_rays[tick, number, 0] = index if hit else -1
            for axis in range(3):
                out_rays[tick, number, 1 + axis] = position[axis]
                out_rays[tick, number, 4 + axis] = normal[axis]
        step_space(space, down, STEP_S)
        for index in range(space.counts[0]):
            event = space.events[index]
            events[event_count, 0] = tick + 1
            events[event_count, 1] = event.area
            events[event_count, 2] = event.other
            events[event_count, 3] = event.entered
            event_count += 1
    return event_count
