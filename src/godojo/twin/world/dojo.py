"""Agents of our own addon: `DojoAgent` as a class of the engine, and the rounds that `DojoSceneWorlds` plays."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

import msgspec
import numpy as np

from godojo.errors import GodojoError
from godojo.twin.gdscript.runtime.jit import jitable
from godojo.twin.scene.snapshot import Snapshot
from godojo.twin.world.kernels import CLASSES, node_kernel
from godojo.twin.world.refs import record_at

AGENT = "DojoAgent"
_SIGNALS = ("acted", "round_began", "round_ended", "policy_changed")
NONE, TERMINATED, TRUNCATED = 0, 1, 2
_AGENT = CLASSES[AGENT]


def with_native_agents(snapshot: Snapshot) -> Snapshot:
    """The snapshot with the addon's `DojoAgent` as a native class: its script is not compiled."""
    scripts = snapshot.scripts
    own = {path for path, info in scripts.items() if info.class_name == AGENT}
    if not own or snapshot.wire != "dojo":
        return snapshot

    def inherits(path: str | None) -> bool:
        while path and path not in own:
            path = scripts[path].base
        return bool(path)

    nodes = [
        msgspec.structs.replace(node, native_class=AGENT, script=None if node.script in own else node.script)
        if inherits(node.script)
        else node
        for node in snapshot.nodes
    ]
    changed = {
        path: msgspec.structs.replace(info, base="" if info.base in own else info.base, native_class=AGENT)
        if inherits(path)
        else info
        for path, info in scripts.items()
        if path not in own
    }
    worlds = f"{snapshot.nodes[snapshot.sync].path}/"
    connections = []
    for link in snapshot.connections:
        target = snapshot.nodes[link.target]
        if not inherits(snapshot.nodes[link.source].script) or link.signal not in _SIGNALS:
            connections.append(link)
        elif target.path.startswith(worlds):
            raise GodojoError(
                f"{target.path}: a twin cannot call {link.method}() by the signal {link.signal} of an agent"
            )
    return msgspec.structs.replace(snapshot, nodes=nodes, scripts=changed, connections=connections)


_ARRAY, _SEED, _WORD = 28, 0x07F07C65, 0xFFFFFFFF


def world_seed(seed: int, world: int) -> int:
    """`hash([seed, world])`, as Godot computes it: the seed of a world's `chance`."""
    mixed = _mix(_ARRAY, _SEED)
    for number in (seed, world):
        bits = 2**64 - 1
        v = number & bits
        v = (~v + (v << 18)) & bits
        v ^= v >> 31
        v = (v * 21) & bits
        v ^= v >> 11
        v = (v + (v << 6)) & bits
        v ^= v >> 22
        mixed = _mix(v & _WORD, mixed)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        mixed = ((mixed ^ (mixed >> shift)) * factor) & _WORD
    return mixed


def _mix(word: int, into: int) -> int:
    word = (word * 0xCC9E2D51) & _WORD
    word = ((word << 15 | word >> 17) & _WORD) * 0x1B873593 & _WORD
    into ^= word
    return ((into << 13 | into >> 19) & _WORD) * 5 + 0xE6546B64 & _WORD


# What scripts of agents call


@node_kernel("DojoAgent")
def add_reward(agent, amount, term):
    """By the number of the term's name, or -1 for the first; a name that is not known changes nothing."""
    if agent.round_end != NONE:
        return
    if term == -1:
        agent.reward[0] = agent.reward[0] + amount
        return
    for place in range(len(agent.terms)):
        if agent.terms[place] == term:
            agent.reward[place] = agent.reward[place] + amount
            return


@node_kernel("DojoAgent")
def end_episode(agent, has_won):
    if agent.round_end == NONE:
        agent.round_end = TERMINATED
        agent.has_won = has_won


@node_kernel("DojoAgent")
def truncate_episode(agent):
    if agent.round_end == NONE:
        agent.round_end = TRUNCATED
        agent.has_won = False


@jitable
def is_over(agent):
    return _AGENT(agent).round_end != NONE


# What the worlds do at a sync point


@node_kernel("World")
def pass_ticks(world, agents, ticks):
    """Counts the ticks of a decision, and cuts rounds short that have lasted too long."""
    world.round_ticks += ticks
    for offset in agents:
        agent = record_at(world, offset, _AGENT)
        agent.round_ticks += ticks
        if agent.max_ticks > 0 and agent.round_ticks >= agent.max_ticks:
            truncate_episode(agent)


@node_kernel("World")
def end_world(world, agents):
    """Whether the world's round is over; then that of all its agents is, too."""
    cause, are_all_over = NONE, True
    for offset in agents:
        agent = record_at(world, offset, _AGENT)
        if agent.round_end == NONE:
            are_all_over = False
        elif agent.ends_world and cause != TERMINATED:
            cause = agent.round_end
    if cause == NONE and not are_all_over:
        return False
    for offset in agents:
        agent = record_at(world, offset, _AGENT)
        if cause == TRUNCATED:
            truncate_episode(agent)
        else:
            end_episode(agent, False)
    return True


@node_kernel("DojoAgent")
def take_reward(agent, terms):
    """Writes the terms of a decision, and adds them to those of the round."""
    for place in range(len(agent.reward)):
        value = agent.reward[place]
        terms[agent.columns[place]] = value
        agent.total[place] = agent.total[place] + value
        agent.reward[place] = 0.0


@node_kernel("DojoAgent")
def take_total(agent, terms):
    for place in range(len(agent.total)):
        terms[agent.columns[place]] = agent.total[place]


@node_kernel("DojoAgent")
def clear_round(agent):
    """A new `DojoRound`."""
    for place in range(len(agent.reward)):
        agent.reward[place] = 0.0
        agent.total[place] = 0.0
    agent.round_ticks = 0
    agent.round_end = NONE
    agent.has_won = False
    agent.score = 0.0


@node_kernel("World")
def winner(world, agents, roles):
    """The number of the first role that has won, counted from 1; 0: nobody."""
    best = np.int64(0)
    for place in range(len(agents)):
        if record_at(world, agents[place], _AGENT).has_won and (best == 0 or roles[place] < best):
            best = roles[place]
    return best
