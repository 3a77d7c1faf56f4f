"""The records that physics works on: shapes are shared by all worlds, bodies are a world's own.

A transform is 12 float32 as Godot keeps them: the basis row by row, then the origin. The transforms of bodies are free
of scale; scale is part of the shapes.
"""

from typing import NamedTuple

import numpy as np

# Kinds of shapes.
SPHERE, CAPSULE, BOX, CYLINDER, CONVEX, MESH = range(6)

# Kinds of bodies.
REMOVED, STATIC, KINEMATIC, AREA, RIGID = range(5)

# Traits of bodies, one bit each.
IS_CHARACTER = 1  # a CharacterBody3D: as a wall, it is no platform
MONITORING = 2  # areas: it looks for others
MONITORABLE = 4  # areas: others find it
LOCK_ROTATION = 8  # rigid bodies
OWN_FORCES = 64  # rigid bodies: `custom_integrator`
STAYS_AWAKE = 128  # rigid bodies: not `can_sleep`
ASLEEP = 256
MOVES = 512  # it was awake in the last step
LOOKS_AHEAD = 1024  # rigid bodies: `continuous_cd`
MOVED = 16  # the node has a new transform (`target`), which the server has not got yet
STIRRED = 32  # areas, and static bodies that they see: its box has changed since the last overlaps
AT_REST = 2048  # areas, at the first overlaps: it has not moved since the scene was built

MAX_CONTACTS = 6  # of one motion: what move_and_slide asks for
MAX_SLIDES = 8
SCRATCH = 720
MAX_OVERLAPS = 4096  # at one time, in a world; areas notice no more

SHAPE = np.dtype(
    [
        ("kind", "i4"),
        ("body", "i4"),
        ("index", "i4"),  # among the shapes of its body
        ("first_vertex", "i4"),  # hulls and meshes: a range of `Statics.vertices`
        ("vertex_count", "i4"),
        ("plane_count", "i4"),  # hulls: planes of the faces follow the corners, two rows each (normal; distance)
        ("edge_count", "i4"),  # hulls of GodotPhysics: edges follow the planes, two rows each (corners; faces)
        ("one_sided", "i4"),  # meshes: rays pass from behind
        ("transform", "f4", 12),  # in its body
        ("half", "f4", 3),  # half extents; capsule, cylinder: radius, half height; sphere: radius
        ("margin", "f4"),  # convex radius: edges are rounded by it
        ("low", "f4", 3),  # box around it in its own frame
        ("high", "f4", 3),
    ],
    align=True,
)

BODY = np.dtype(
    [
        ("kind", "i4"),
        ("traits", "i4"),
        ("layer", "u4"),
        ("mask", "u4"),
        ("first_shape", "i4"),
        ("shape_count", "i4"),
        ("disabled", "u8"),  # a bit for each shape
        ("priority", "f4"),
        ("transform", "f4", 12),  # where queries of others see it
        ("target", "f4", 12),  # the node's own, which queries see later (see `step.py`)
        ("linear_velocity", "f4", 3),
        ("angular_velocity", "f4", 3),
        # The rest is about rigid bodies.
        ("rotation", "f4", 4),  # quaternion x, y, z, w of `transform`
        ("center", "f4", 3),  # of mass, in the body's frame
        ("inverse_mass", "f4"),
        ("inverse_inertia", "f4", 3),  # along the principal axes
        ("inertia_axes", "f4", 4),  # quaternion of the principal axes in the body's frame
        ("force", "f4", 3),  # for the next step only
        ("torque", "f4", 3),
        ("constant_force", "f4", 3),
        ("constant_torque", "f4", 3),
        ("gravity_scale", "f4"),
        ("linear_damp", "f4"),  # with the space's own, as the damp mode says
        ("angular_damp", "f4"),
        ("friction", "f4"),  # negative: rough
        ("bounce", "f4"),  # negative: absorbent
        ("met", "i4", 4),  # Jolt: contacts of the last step: the other's shape + 1, or 0
        ("contacts", "f4", (4, 9)),  # and for each: point on this body and on the other, in their frames, impulses
        # The rest is of GodotPhysics.
        ("mass", "f4"),
        ("axes", "f4", 9),  # principal axes of the inertia in the body's frame, by rows
        ("tensor", "f4", 9),  # inverse inertia in the world
        ("old_velocity", "f4", 3),  # before the forces of this step
        ("old_spin", "f4", 3),
        ("push", "f4", 3),  # velocities of this step only: they push out what overlaps
        ("push_spin", "f4", 3),
        ("still_s", "f4"),
        ("locks", "i4"),  # bits: linear x, y, z, angular x, y, z
        ("woken", "i4"),  # when it has begun to move: a count of such events
        ("reports", "i4"),  # `max_contacts_reported`, if anything reads them
        ("island", "i4"),  # the last one that it was in: islands are counted from step to step
    ],
    align=True,
)

CORE = np.dtype([(name, "f8", 3) for name in ("center", "x", "y", "z", "half")] + [("radius", "f8")])
"""A shape of Jolt in the world, as in `cores.py`."""

CONTACT = np.dtype(
    [
        ("body", "i4"),
        ("shape", "i4"),  # index among the shapes of `body`
        ("local_shape", "i4"),
        ("normal", "f4", 3),
        ("position", "f4", 3),
        ("velocity", "f4", 3),
        ("angular_velocity", "f4", 3),
        ("depth", "f4"),
    ],
    align=True,
)

MOTION = np.dtype(
    [
        ("travel", "f4", 3),
        ("remainder", "f4", 3),
        ("depth", "f4"),
        ("safe", "f4"),
        ("unsafe", "f4"),
        ("count", "i4"),
        ("contacts", CONTACT, (MAX_CONTACTS,)),
    ],
    align=True,
)
"""What `test_motion` finds: `PhysicsServer3D.MotionResult`, `KinematicCollision3D`."""

CHARACTER = np.dtype(
    [
        ("transform", "f4", 12),  # the node's own, global and without scale
        ("velocity", "f4", 3),
        # Settings.
        ("up", "f4", 3),
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
        ("axis_lock", "u1"),  # bits x, y, z
        # Results of `move_and_slide`.
        ("on_floor", "u1"),
        ("on_wall", "u1"),
        ("on_ceiling", "u1"),
        ("floor_normal", "f4", 3),
        ("wall_normal", "f4", 3),
        ("ceiling_normal", "f4", 3),
        ("last_motion", "f4", 3),
        ("previous_position", "f4", 3),
        ("real_velocity", "f4", 3),
        ("platform", "i4"),  # body, or -1
        ("platform_layer", "u4"),
        ("platform_velocity", "f4", 3),
        ("platform_angular_velocity", "f4", 3),
        ("platform_ceiling_velocity", "f4", 3),
        ("slide_count", "i4"),
        ("slides", MOTION, (MAX_SLIDES,)),
    ],
    align=True,
)
"""A CharacterBody3D: what `move_and_slide` reads and writes. `new_character` of `build.py` has the defaults."""

PAIR = np.dtype(
    [
        ("area", "i4"),
        ("other", "i4"),
        ("first", "i4"),  # the pairs of its area: from here
        ("end", "i4"),  # to here
    ],
    align=True,
)
ROSTER = np.dtype(
    [
        ("first_pair", "i4"),  # of an area
        ("rank", "i4"),  # the order of others in the pairs of an area; -1 where no area sees static bodies
        ("mover", "i4"),  # the first rows list the bodies that are neither static nor areas; -1 behind the last one
        ("area", "i4"),  # the same for areas
    ],
    align=True,
)
"""For each body, what never changes."""
EVENT = np.dtype([("area", "i4"), ("other", "i4"), ("entered", "i4")], align=True)

MOST_REPORTS = 32  # contacts that a body reports

KEPT = np.dtype(
    [
        ("mine", "f4", 3),  # the point on the first body, in its frame
        ("theirs", "f4", 3),
        ("normal", "f4", 3),
        ("pressed", "f4"),  # impulses so far: along the normal, of friction, and those that push out
        ("rubbed", "f4", 3),
        ("pushed", "f4"),
        ("pushed_center", "f4"),
        ("used", "i4"),  # found in the last step
        # What the rounds of a step need.
        ("active", "i4"),
        ("arm", "f4", 3),  # from the centre of mass of the first body
        ("lever", "f4", 3),  # and of the second
        ("weight", "f4"),  # effective mass along the normal
        ("bias", "f4"),
        ("bounce", "f4"),
        ("depth", "f4"),
    ],
    align=True,
)
"""A contact point that two bodies of GodotPhysics keep from step to step."""

MANIFOLD = np.dtype(
    [
        ("one", "i4"),  # bodies: the first has the lower number
        ("two", "i4"),
        ("shape_one", "i4"),  # among all shapes
        ("shape_two", "i4"),
        ("pushes_one", "i4"),  # whether contacts move the first
        ("pushes_two", "i4"),
        ("island", "i4"),  # the last one that it was in
        ("collided", "i4"),  # whether its contacts count in this step
        ("count", "i4"),
        ("contacts", KEPT, (4,)),
    ],
    align=True,
)
"""Two shapes of GodotPhysics whose boxes meet, at least one of them of a rigid body."""

MEETING = np.dtype([("body", "i4"), ("other", "i4"), ("shape", "i4"), ("other_shape", "i4")], align=True)
"""A contact that a body with `contact_monitor` knows of."""

WHEEL = np.dtype(
    [
        ("body", "i4"),  # of the vehicle, or -1
        ("node", "i4"),  # where its node is in a world's row, or -1
        # Settings: where it hangs, its direction and its axle in the vehicle's frame, and VehicleWheel3D's properties.
        ("place", "f4", 3),
        ("down", "f4", 3),
        ("axle", "f4", 3),
        ("wheel_radius", "f4"),
        ("wheel_rest_length", "f4"),
        ("wheel_friction_slip", "f4"),
        ("wheel_roll_influence", "f4"),
        ("suspension_travel", "f4"),
        ("suspension_stiffness", "f4"),
        ("suspension_max_force", "f4"),
        ("damping_compression", "f4"),
        ("damping_relaxation", "f4"),
        ("use_as_traction", "i4"),
        ("use_as_steering", "i4"),
        ("engine_force", "f4"),
        ("brake", "f4"),
        ("steering", "f4"),
        # State.
        ("is_in_contact", "i4"),
        ("ground", "i4"),  # the body that it stands on, or -1
        ("contact_point", "f4", 3),
        ("contact_normal", "f4", 3),
        ("length", "f4"),  # of the suspension
        ("speed", "f4"),  # of the suspension
        ("lean", "f4"),  # how much longer the suspension is than the way to the ground
        ("force", "f4"),
        ("turned", "f4"),  # angle
        ("turns", "f4"),  # angle of the last tick
        ("rpm", "f4"),
        ("skid", "f4"),
        # Of one tick.
        ("world_place", "f4", 3),
        ("world_down", "f4", 3),
        ("world_axle", "f4", 3),
        ("side", "f4", 3),
        ("ahead", "f4", 3),
        ("side_impulse", "f4"),
        ("ahead_impulse", "f4"),
        ("transform", "f4", 12),  # in the vehicle
    ],
    align=True,
)
"""A VehicleWheel3D. Those of a vehicle follow each other."""


class Statics(NamedTuple):
    """What all worlds share."""

    shapes: np.ndarray  # SHAPE, those of a body side by side
    vertices: np.ndarray  # float32 (n, 3): corners and planes of hulls, corners of triangles three by three
    pairs: np.ndarray  # PAIR: areas and what could enter them
    roster: np.ndarray  # ROSTER


class Space(NamedTuple):
    """What kernels take: the shared arrays and those of one world (see `space_dtype`)."""

    shapes: np.ndarray
    vertices: np.ndarray
    pairs: np.ndarray
    roster: np.ndarray
    bodies: np.ndarray  # BODY
    bounds: np.ndarray  # float32 (6, bodies): boxes around bodies where queries see them, low x, y, z, high x, y, z
    cores: np.ndarray  # CORE, for each shape where queries see its body; one row on GodotPhysics
    near: np.ndarray  # int32: room for a list of bodies
    motion: np.ndarray  # MOTION, one: the result of the latest `test_motion`, `move_and_collide`
    touching: np.ndarray  # uint8 for each pair (see `areas.py`); 2 and 3 where they overlap
    events: np.ndarray  # EVENT: entered and exited pairs, in the order in which signals are emitted
    moved: np.ndarray  # int32: a list of bodies whose traits have MOVED
    stirred: np.ndarray  # int32: a list of areas and static bodies whose traits have STIRRED
    active: np.ndarray  # int32: a list of the pairs whose `touching` is not 0
    counts: np.ndarray  # int32: how long lists are, by the numbers below
    scratch: np.ndarray  # float64: room for the points of a simplex and for hits
    # The rest is about rigid bodies of GodotPhysics; where there are none, each has one row that nothing uses.
    manifolds: np.ndarray  # MANIFOLD, in the order in which they came about
    fat: np.ndarray  # float32 (6, shapes): boxes with room around them, which change only if a shape leaves its box
    order: np.ndarray  # int32: room for lists of manifolds and of bodies
    meetings: np.ndarray  # MEETING
    announced: np.ndarray  # EVENT: contacts that have begun or ended
    wheels: np.ndarray  # WHEEL, of both engines


EVENTS, MOVED_COUNT, STIRRED_COUNT, ACTIVE_COUNT = range(4)
AREAS_KNOWN, STEPPED = 4, 5
"""Places of `Space.counts`; the last two are 0 if what areas can see has changed, or before the first overlaps."""
MANIFOLD_COUNT, MEETING_COUNT, ANNOUNCED_COUNT, ISLANDS, PAIRED = range(6, 11)
WAKES = 11
TOO_MANY, TOO_FAST = 12, 13
"""Not 0 if there was no room for a manifold or a meeting, or if a body was so fast that Godot would look ahead."""
COUNTS = 14


class RigidRoom(NamedTuple):
    """How much room a world has for contacts of rigid bodies of GodotPhysics."""

    manifolds: int = 1
    shapes: int = 1
    meetings: int = 1
    wheels: int = 1


def rigid_fields(body_count: int, room: RigidRoom) -> list[tuple[object, ...]]:
    """The last fields of `space_dtype`, in 2D as well."""
    return [
        ("manifolds", MANIFOLD, (room.manifolds,)),
        ("fat", "f4", (6, room.shapes)),
        ("order", "i4", (room.manifolds + 4 * body_count if room.shapes > 1 else 1,)),
        ("meetings", MEETING, (room.meetings,)),
        ("announced", EVENT, (room.meetings,)),
        ("wheels", WHEEL, (room.wheels,)),
    ]


def space_dtype(
    body_count: int,
    pair_count: int,
    core_count: int = 1,
    room: RigidRoom = RigidRoom(),  # noqa: B008  # frozen
) -> np.dtype:
    """A world's own part of a space: a nested record for the world's row, or a row by itself."""
    return np.dtype(
        [
            ("bodies", BODY, (max(body_count, 1),)),
            ("bounds", "f4", (6, max(body_count, 1))),
            ("cores", CORE, (core_count,)),
            ("near", "i4", (max(body_count, 1),)),
            ("motion", MOTION, (1,)),
            ("touching", "u1", (max(pair_count, 1),)),
            ("events", EVENT, (min(max(pair_count, 1), MAX_OVERLAPS),)),
            ("moved", "i4", (max(body_count, 1),)),
            ("stirred", "i4", (max(body_count, 1),)),
            ("active", "i4", (min(max(pair_count, 1), MAX_OVERLAPS),)),
            ("counts", "i4", (COUNTS,)),
            ("scratch", "f8", (SCRATCH,)),
            *rigid_fields(max(body_count, 1), room),
        ],
        align=True,
    )
