"""Plays a recorded 2D scene in the twin's physics, in one call, as `physics_play.py` does it in 3D."""

import numpy as np

from godojo.kernels.compile import njit_nogil
from godojo.twin.physics.space import Space
from godojo.twin.physics_2d.rays import cast_ray
from godojo.twin.physics_2d.slide import move_and_slide
from godojo.twin.physics_2d.step import set_body_transform, step_space
from godojo.twin.physics_2d.vectors import read2

STEP_S = 1.0 / 60.0


@njit_nogil
def play(
    space: Space,
    characters: np.ndarray,
    movers: np.ndarray,
    plan: np.ndarray,
    moved: np.ndarray,
    places: np.ndarray,
    balls: np.ndarray,
    pushes: np.ndarray,
    _states: np.ndarray,
    rays: np.ndarray,
    gravity: float,
    restart: int,
    out: np.ndarray,
    out_balls: np.ndarray,
    out_rays: np.ndarray,
    events: np.ndarray,
) -> int:
    """Plays all ticks; returns the number of events. Arguments are those of `physics_play.play`, with two axes."""
    nothing = np.float32(0.0)
    down = (nothing, np.float32(gravity))
    exceptions = np.zeros(1, np.int32) - np.int32(1)
    event_count = 0
    for tick in range(plan.shape[0]):
        if moved[tick] >= 0:
            set_body_transform(space, moved[tick], places[tick], 0)
        for number in range(movers.shape[0]):
            character = characters[number]
            row = plan[tick, number]
            is_start = tick % restart == 0
            if tick > 0:
                before = plan[tick - 1, number]
                for axis in range(2):
                    is_start |= before[4 + axis] != row[axis]
                if is_start:
                    character.on_floor = before[8] != nothing
                    character.on_wall = before[9] != nothing
                    character.on_ceiling = before[10] != nothing
                    for axis in range(2):
                        character.floor_normal[axis] = before[11 + axis]
                        character.wall_normal[axis] = before[13 + axis]
            for axis in range(2):
                if is_start:
                    character.transform[4 + axis] = row[axis]
                    character.velocity[axis] = row[2 + axis]
                else:
                    character.velocity[axis] += row[2 + axis] - plan[tick - 1, number, 6 + axis]
            move_and_slide(space, movers[number], character, STEP_S)
            set_body_transform(space, movers[number], character.transform, 1 + number)
            for axis in range(2):
                out[tick, number, axis] = character.transform[4 + axis]
                out[tick, number, 2 + axis] = character.velocity[axis]
            out[tick, number, 4] = character.on_floor
            out[tick, number, 5] = character.on_wall
            out[tick, number, 6] = character.on_ceiling
        for number in range(balls.shape[0]):
            body = space.bodies[balls[number]]
            for part in range(6):
                out_balls[tick, number, part] = body.transform[part]
            for axis in range(2):
                body.force[axis] += pushes[tick, number, axis]
        for number in range(rays.shape[1]):
            ray = rays[tick, number]
            hit, position, normal, index, _ = cast_ray(
                space, read2(ray), read2(ray[2:]), 0xFFFFFFFF, True, ray[5] != 0, ray[6] != 0, int(ray[4]), exceptions
            )
            out_rays[tick, number, 0] = index if hit else -1
            for axis in range(2):
                out_rays[tick, number, 1 + axis] = position[axis]
                out_rays[tick, number, 3 + axis] = normal[axis]
        step_space(space, down, STEP_S)
        for index in range(space.counts[0]):
            event = space.events[index]
            events[event_count, 0] = tick + 1
            events[event_count, 1] = event.area
            events[event_count, 2] = event.other
            events[event_count, 3] = event.entered
            event_count += 1
    return event_count
