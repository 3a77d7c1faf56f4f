"""Particles: nothing of them is seen, but they draw a random number each time that they begin."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

from godojo.twin.gdscript.runtime import randi
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.world.kernels import world_of
from godojo.twin.world.refs import world_random


@jitable
def emitting(node):
    return node.emitting_field


@jitable
def set_emitting(node, value):
    if value and not node.emitting_field and not node.use_fixed_seed:
        randi(world_random(node))
    if value and node.one_shot and not node.is_active and not node.emitting_field:
        node.is_active = True
        node.emitted_s = 0.0
    node.emitting_field = value


@jitable
def restart_particles(node, keep_seed):
    if not keep_seed and not node.use_fixed_seed:
        randi(world_random(node))
    node.emitting_field = True
    node.is_active = True
    node.emitted_s = 0.0


@jitable
def tick_particles(node):
    """Ends what is emitted once: first the emission, then what is left of it."""
    if node.one_shot and (node.emitting_field or node.is_active):
        node.emitted_s += world_of(node).delta
        if node.emitted_s > node.lifetime:
            node.emitting_field = False
        if node.emitted_s > node.lifetime * (2.0 - node.explosiveness):
            node.is_active = False
