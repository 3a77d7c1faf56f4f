"""Takes the snapshot of a project: starts its scene as for a training, and reads what the probe in it writes."""

import struct
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from godojo.bridge.messages import (
    Configure,
    ConnectionLost,
    GameRefused,
    PeerTimeout,
    Ready,
    RoleDescription,
    WireError,
)
from godojo.engines.godot.game_slots import LaunchedGame
from godojo.errors import GodojoError
from godojo.twin.scene.probed import Probed, probed
from godojo.twin.scene.snapshot import NUMBERS, PACKED, Snapshot, snapshot_of

START_S = 60.0
_WRITE_S = 30.0
_LOOK_S = 0.02
_MOST_BYTES = 256 * 2**20
_WHOLE = ("Vector2i", "Vector3i", "Vector4i", "Rect2i", "PackedByteArray", "PackedInt32Array", "PackedInt64Array")


def take_snapshot(
    project: Path, scene: str | None = None, *, seed: int = 0, action_repeat: int | None = None
) -> Snapshot:
    """The live tree of a project's scene, just before its first decision."""
    with probed(project, scene, action_repeat=action_repeat) as game:
        return snapshot_from(game, seed=seed)


def snapshot_from(game: Probed, *, seed: int = 0) -> Snapshot:
    """Starts the game until it has written its snapshot."""
    slot = LaunchedGame(game.started(seed=seed), 0)
    slot.call()
    try:
        connection = slot.receive(START_S)
        ready = connection.configure(Configure(1, game.recipe.ticks_per_decision), START_S)
        is_godot_rl = connection.wire == "godot_rl"
        if not is_godot_rl:
            connection.reset(0, START_S)
        text = _written(game.snapshot, slot)
        connection.close("the snapshot is taken")
    except GameRefused as error:
        raise GodojoError(f"the game refused to play: {error}") from None
    except (ConnectionLost, PeerTimeout, WireError) as error:
        slot.check_can_play()
        raise GodojoError(f"the scene could not be read: {error}; {slot.last_words()}") from None
    finally:
        slot.end(0.0)
    return read_probe(text, ready, "godot_rl" if is_godot_rl else "dojo", str(game.snapshot))


def read_probe(text: bytes, ready: Ready, wire: str, source: str) -> Snapshot:
    """A snapshot from what the probe has written and what the game has said of itself."""
    try:
        tree = msgspec.json.decode(text, type=dict[str, Any])
        tree["gravity"] = _unpacked(tree["gravity"])
        for node in tree["nodes"]:
            _restore(node["properties"], node["members"])
        for resource in tree["resources"]:
            _restore(resource["properties"], resource["members"])
        tree["templates"] = list(map(_template, tree["templates"]))
        _restore(tree["settings"])
        for connection in tree["connections"]:
            connection["binds"] = list(map(_value, connection["binds"]))
        tree["wire"] = wire
        tree["agents"] = _agents(tree["agents"], ready)
        tree["ready"] = msgspec.json.decode(msgspec.json.encode(ready))
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError, IndexError, struct.error, RecursionError) as error:
        raise GodojoError(f"{source} is not what the probe writes ({error})") from None
    return snapshot_of(tree, source)


def _written(path: Path, slot: LaunchedGame) -> bytes:
    """The file, once it is whole."""
    deadline = time.monotonic() + _WRITE_S
    while time.monotonic() < deadline:
        text = path.read_bytes() if path.is_file() and path.stat().st_size <= _MOST_BYTES else b""
        if text.endswith(b"}"):
            try:
                msgspec.json.decode(text)
            except msgspec.MsgspecError:
                pass
            else:
                return text
        time.sleep(_LOOK_S)
    raise GodojoError(f"the game wrote no snapshot within {_WRITE_S:g} s; {slot.last_words()}")


def _agents(nodes: Sequence[dict[str, Any]], ready: Ready) -> list[dict[str, Any]]:
    """The agents of the wire, with the spaces of their roles."""
    count = sum(role.agents for role in ready.roles) * ready.worlds
    if not nodes:
        raise GodojoError("the game's agents are no nodes: worlds of its own (DojoWorlds) play them, and have no twin")
    if len(nodes) != count:
        raise GodojoError(f"the game declares {count} agents, and its tree has {len(nodes)}: all must be there at once")
    if len(ready.roles) == 1:
        return [_agent(node["node"], ready.roles[0]) for node in nodes]
    roles = {role.name: role for role in ready.roles}
    found = []
    for node in nodes:
        if node["policy_name"] not in roles:
            raise GodojoError(f"agents of the policy {node['policy_name']!r} differ in their spaces: name them apart")
        found.append(_agent(node["node"], roles[node["policy_name"]]))
    return found


def _agent(node: int, role: RoleDescription) -> dict[str, Any]:
    return {
        "node": node,
        "policy_name": role.name,
        "observation_space": {
            part.name: {"size": list(part.shape), "space": part.kind, "low": part.low, "high": part.high}
            for part in role.observation
        },
        "action_space": {part.name: {"size": part.size, "action_type": part.kind} for part in role.action},
    }


def _template(read: dict[str, Any]) -> dict[str, Any]:
    """A template as the probe writes it, with its nodes counted from 0."""
    first: int = read.pop("first")
    end = first + len(read["nodes"])

    def local(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if len(value) == 2 and value[0] == "node" and first <= value[1] < end:
            return ["local", value[1] - first]
        return list(map(local, value))

    for node in read["nodes"]:
        _restore(node["properties"], node["members"])
        for table in (node["properties"], node["members"]):
            table.update({name: local(value) for name, value in table.items()})
        node["index"] -= first
        node["parent"] = max(node["parent"] - first, -1)
    for link in read["connections"]:
        link["source"], link["target"] = link["source"] - first, link["target"] - first
        link["binds"] = [local(_value(one)) for one in link["binds"]]
    # A connection to a node outside, such as an autoload, is made by a script that runs again.
    read["connections"] = [one for one in read["connections"] if 0 <= one["target"] < len(read["nodes"])]
    return read


def _restore(*tables: dict[str, Any]) -> None:
    for table in tables:
        for name in table:
            table[name] = _value(table[name])


def _value(value: list[Any]) -> list[Any]:
    """A value as the probe writes it, with numbers in place of their bytes."""
    kind = value[0]
    if kind == "float":
        return [kind, _unpacked(value[1])[0]]
    if kind in NUMBERS or kind in PACKED:
        numbers: list[Any] = _unpacked(value[1])
        return [kind, list(map(int, numbers)) if kind in _WHOLE else numbers]
    if kind == "Array":
        return [kind, list(map(_value, value[1])), *value[2:]]
    if kind == "Dictionary":
        return [kind, [[_value(key), _value(item)] for key, item in value[1]]]
    return value


def _unpacked(text: str) -> list[float]:
    content = bytes.fromhex(text)
    return list(struct.unpack(f"<{len(content) // 8}d", content))
