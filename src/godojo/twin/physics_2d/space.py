"""The records that 2D physics works on. `Space` and `Statics` are those of `godojo.twin.physics.space`.

A transform is 6 float32 as Godot keeps them: the x column, the y column, the origin. It has the body's scale, too.
"""

import numpy as np

from godojo.twin.physics.space import CORE, COUNTS, MAX_OVERLAPS, SCRATCH, RigidRoom, rigid_fields

# Kinds of shapes, in the order of Godot's `PhysicsServer2D.ShapeType`: the solver sorts each pair by it.
BOUNDARY, _RAY, SEGMENT, CIRCLE, RECTANGLE, CAPSULE, CONVEX = range(7)

MAX_SLIDES = 8
LAST_STEP = SCRATCH - 1
"""Where `Space.scratch` has the length of the last step, in seconds."""

SHAPE = np.dtype(
    [
        ("kind", "i4"),
        ("body", "i4"),
        ("index", "i4"),  # among the shapes of its body; the segments of a concave polygon have the same
        ("first_vertex", "i4"),  # segments and polygons: a range of `Statics.vertices`, whose third column is unused
        ("vertex_count", "i4"),
        ("is_one_way", "i4"),
        ("one_way_margin", "f4"),
        ("transform", "f4", 6),  # in its body
        ("extent", "f4", 2),  # circle: radius; rectangle: half extents; capsule: radius, height; boundary: distance
        ("normal", "f4", 2),  # boundary; segment: its length matters, see `supports`
    ],
    align=True,
)

BODY = np.dtype(
    [
        ("kind", "i4"),  # as in 3D
        ("stamp", "i8"),  # when it began to move, later ones are higher; 0 at rest. Areas: when they last moved
        ("traits", "i4"),
        ("layer", "u4"),
        ("mask", "u4"),
        ("first_shape", "i4"),
        ("shape_count", "i4"),
        ("disabled", "u8"),  # a bit for each shape node
        ("priority", "f4"),
        ("transform", "f4", 6),  # where queries of others see it
        ("target", "f4", 6),  # the node's own, which queries see later
        ("linear_velocity", "f4", 2),
        ("angular_velocity", "f4"),
        ("constant_velocity", "f4", 2),  # of static and animatable bodies
        ("constant_spin", "f4"),
        # The rest is about rigid bodies.
        ("center", "f4", 2),  # of mass, in the body's frame
        ("mass", "f4"),
        ("inverse_mass", "f4"),
        ("inverse_inertia", "f4"),
        ("force", "f4", 2),  # for the next step only
        ("torque", "f4"),
        ("constant_force", "f4", 2),
        ("constant_torque", "f4"),
        ("gravity_scale", "f4"),
        ("linear_damp", "f4"),  # with the space's own, as the damp mode says
        ("angular_damp", "f4"),
        ("friction", "f4"),  # negative: rough
        ("bounce", "f4"),  # negative: absorbent
    ],
    align=True,
)

MOTION = np.dtype(
    [
        ("travel", "f4", 2),
        ("remainder", "f4", 2),
        ("depth", "f4"),
        ("safe", "f4"),
        ("unsafe", "f4"),
        ("normal", "f4", 2),
        ("position", "f4", 2),
        ("velocity", "f4", 2),  # of the other body, at the contact
        ("body", "i4"),
        ("shape", "i4"),
        ("local_shape", "i4"),
    ],
    align=True,
)
"""What `test_motion` finds: `PhysicsServer2D.MotionResult`, `KinematicCollision2D`."""

CHARACTER = np.dtype(
    [
        ("transform", "f4", 6),  # the node's own, global
        ("local", "f4", 6),  # in its parent
        ("parent", "f4", 6),  # global, and its inverse: what is set and read again is rounded by both
        ("parent_inverse", "f4", 6),
        ("velocity", "f4", 2),
        # Settings.
        ("up", "f4", 2),
        ("margin", "f4"),
        ("floor_max_angle", "f4"),
        ("floor_snap_length", "f4"),
        ("wall_min_slide_angle", "f4"),
        ("max_slides", "i4"),
        ("motion_mode", "i4"),  # 0 grounded, 1 floating
        ("platform_on_leave", "i4"),
        ("platform_floor_layers", "u4"),
        ("platform_wall_layers", "u4"),
        ("floor_stop_on_slope", "u1"),
        ("floor_constant_speed", "u1"),
        ("floor_block_on_wall", "u1"),
        ("slide_on_ceiling", "u1"),
        ("has_parent", "u1"),
        # Results of `move_and_slide`.
        ("on_floor", "u1"),
        ("on_wall", "u1"),
        ("on_ceiling", "u1"),
        ("floor_normal", "f4", 2),
        ("wall_normal", "f4", 2),
        ("last_motion", "f4", 2),
        ("previous_position", "f4", 2),
        ("real_velocity", "f4", 2),
        ("platform", "i4"),  # body, or -1
        ("platform_layer", "u4"),
        ("platform_velocity", "f4", 2),
        ("slide_count", "i4"),
        ("slides", MOTION, (MAX_SLIDES,)),
    ],
    align=True,
)
"""A CharacterBody2D: what `move_and_slide` reads and writes. `new_character` of `build.py` has the defaults."""


EVENT = np.dtype(
    [
        ("area", "i4"),
        ("other", "i4"),
        ("entered", "i4"),
        ("rank", "i8"),  # when it was noticed; lower is earlier
        ("area_rank", "i8"),  # the lowest rank among those of its area
    ],
    align=True,
)


def space_dtype(body_count: int, shape_count: int, pair_count: int) -> np.dtype:
    """A world's own part of a space: a nested record for the world's row, or a row by itself."""
    return np.dtype(
        [
            ("bodies", BODY, (max(body_count, 1),)),
            ("bounds", "f4", (4, max(shape_count, 1))),  # around shapes: low x, y, high x, y
            ("cores", CORE, (1,)),  # of 3D
            ("near", "i4", (max(shape_count, 1),)),  # room for a list of shapes
            ("motion", MOTION, (1,)),
            ("touching", "u1", (max(pair_count, 1),)),
            ("events", EVENT, (min(2 * max(pair_count, 1), MAX_OVERLAPS),)),
            ("moved", "i4", (max(body_count, 1),)),
            ("stirred", "i4", (1,)),  # a list of 3D
            ("active", "i4", (min(max(pair_count, 1), MAX_OVERLAPS),)),
            ("counts", "i4", (COUNTS,)),
            ("scratch", "f8", (SCRATCH,)),
            *rigid_fields(1, RigidRoom()),
        ],
        align=True,
    )
