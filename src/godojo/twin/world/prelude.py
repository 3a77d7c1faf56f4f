"""The namespace of generated code: Godot's values and functions, its nodes, and how kernels are compiled."""

# ruff: noqa: F401, F403
# Everything here is for generated code.

from numba import prange

from godojo.kernels.compile import njit_parallel
from godojo.twin.gdscript.runtime import *
from godojo.twin.world.bodies_2d import *
from godojo.twin.world.bodies_3d import *
from godojo.twin.world.collisions import *
from godojo.twin.world.dojo import *
from godojo.twin.world.kernels import generated as kernel
from godojo.twin.world.kernels import world_at, world_of
from godojo.twin.world.modes import set_process_mode
from godojo.twin.world.nodes import *
from godojo.twin.world.nodes_2d import *
from godojo.twin.world.particles import *
from godojo.twin.world.pools import *
from godojo.twin.world.refs import RefClass, is_null, offset_of, record_at, stop, world_random
from godojo.twin.world.rigid_3d import *
from godojo.twin.world.tables import ClassTable
from godojo.twin.world.vehicles_3d import *
