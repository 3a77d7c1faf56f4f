"""A policy as an ONNX graph, from what is in its `.dojo` file.

The graph is put together by hand, step by step as `docs/dojo-file.md` tells them, so that it holds a few dozen plain
operators with names of ours, the same in every version of torch; what it computes is compared with torch whenever one
is written (`onnx_file`).
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from godojo import __version__
from godojo.export.dojo_file import DojoFile, DojoHeader, header_text
from godojo.files import Seal
from godojo.formats import ONNX
from godojo.games.parts import ActionPart, Heading, action_size

OPSET = 17
IR_VERSION = 8
"""What came with the opset, so that runtimes of that time read it too."""
HEADER = "godojo.header"
"""The key of the metadata under which the header lies, as in a `.dojo` file."""
VERSION = "godojo.format"
HASH = "godojo.sha256"
"""The key of the hash of all bytes above it: the last entry of the metadata, at the very end of the file."""
_DIGITS = "0" * 64
SEAL = Seal(
    onnx.ModelProto(metadata_props=[onnx.StringStringEntryProto(key=HASH, value=_DIGITS)])
    .SerializeToString()
    .removesuffix(_DIGITS.encode())
)
BATCH = "batch"


def build(file: DojoFile) -> onnx.ModelProto:
    """The whole model: inputs `observation` and, with a memory, `memory`; the outputs are in `docs/shipping.md`."""
    graph = _Graph()
    header, weights = file.header, iter(file.weights)
    scale, offset = next(weights), next(weights)
    inputs = [_rows("observation", header.observation_size)]
    outputs = [_rows("action", action_size(header.action_parts))]
    seen = _turned_observation(graph, header)
    limit = header.normalised_limit
    seen = graph.add("Add", [graph.add("Mul", [seen, graph.keep("scale", scale)]), graph.keep("offset", offset)])
    seen = graph.add("Clip", [seen, graph.keep("low", np.float32(-limit)), graph.keep("high", np.float32(limit))])
    for number, layer in enumerate(header.layers):
        name = f"{layer.name}{number}" if layer.name == "eyes" else layer.name
        if layer.kind in ("leaky", "gru"):
            size = layer.outputs
            inputs.append(_rows("memory", size))
            outputs.append(_rows("next_memory", size))
            told = graph.linear(name, seen, next(weights), next(weights))
            if layer.kind == "leaky":
                held = _leaky(graph, header, told, size)
            else:
                held = _gated(graph, told, graph.linear("memory_own", "memory", next(weights), next(weights)), size)
            seen = graph.add("Concat", [seen, held], axis=1)
        else:
            seen = graph.linear(name, seen, next(weights), next(weights))
            if layer.kind == "relu":
                seen = graph.add("Relu", [seen])
    _decide(graph, header, seen, next(weights, None), outputs)
    model = helper.make_model(
        helper.make_graph(graph.nodes, f"{header.game} {header.role}", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="godojo",
        producer_version=__version__,
    )
    helper.set_model_props(model, _metadata(header))
    onnx.checker.check_model(model, full_check=True)
    return model


class _Graph:
    """Nodes and constants, in the order they are added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def keep(self, name: str, value: np.ndarray | np.generic) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, kind: str, inputs: Sequence[str], output: str | None = None, **attributes: Any) -> str:
        output = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], name=output, **attributes))
        return output

    def linear(self, name: str, rows: str, matrix: np.ndarray, bias: np.ndarray) -> str:
        product = self.add("MatMul", [rows, self.keep(f"{name}.weight", np.ascontiguousarray(matrix.T))])
        return self.add("Add", [product, self.keep(f"{name}.bias", bias)], f"{name}.sum")

    def columns(self, rows: str, places: Sequence[int], output: str | None = None) -> str:
        kept = self.keep(f"places_{len(self.nodes)}", np.array(places, np.int64))
        return self.add("Gather", [rows, kept], output, axis=1)


def _rows(name: str, width: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [BATCH, width])


def _turned_observation(graph: _Graph, header: DojoHeader) -> str:
    heading = header.heading
    if heading is None or not heading.observed:
        return "observation"
    x_at, z_at = zip(*heading.observed, strict=True)
    turned = _in_frame(graph, heading, graph.columns("observation", x_at), graph.columns("observation", z_at))
    columns = list(zip(turned, (x_at, z_at), strict=True))
    return _replaced(graph, "observation", header.observation_size, columns, "egocentric")


def _in_frame(graph: _Graph, heading: Heading, x: str, z: str) -> tuple[str, str]:
    """What is to the agent's left, and ahead of it."""
    x_ahead, z_ahead = (graph.columns("observation", [place]) for place in heading.forward)
    left = graph.add("Sub", [graph.add("Mul", [x, z_ahead]), graph.add("Mul", [z, x_ahead])])
    return left, graph.add("Add", [graph.add("Mul", [x, x_ahead]), graph.add("Mul", [z, z_ahead])])


def _out_of_frame(graph: _Graph, heading: Heading, left: str, ahead: str) -> tuple[str, str]:
    """The way back: x and z."""
    x_ahead, z_ahead = (graph.columns("observation", [place]) for place in heading.forward)
    x = graph.add("Add", [graph.add("Mul", [left, z_ahead]), graph.add("Mul", [ahead, x_ahead])])
    return x, graph.add("Sub", [graph.add("Mul", [ahead, z_ahead]), graph.add("Mul", [left, x_ahead])])


def _replaced(
    graph: _Graph, rows: str, width: int, columns: Sequence[tuple[str, Sequence[int]]], output: str | None = None
) -> str:
    """The rows with some columns taken from elsewhere: all side by side, then those that are wanted."""
    places, end = list(range(width)), width
    for _, taken in columns:
        for place in taken:
            places[place] = end
            end += 1
    together = graph.add("Concat", [rows, *(name for name, _ in columns)], axis=1)
    return graph.columns(together, places, output)


def _leaky(graph: _Graph, header: DojoHeader, told: str, size: int) -> str:
    """What the mind sees of it; what is remembered is the same, or along the world's axes where pairs turn."""
    heading = header.heading
    if heading is None or not heading.remembered:
        return _leaked(graph, told, "memory", size, "next_memory")
    x_at, z_at = zip(*heading.remembered, strict=True)
    turned = _in_frame(graph, heading, graph.columns("memory", x_at), graph.columns("memory", z_at))
    own = _replaced(graph, "memory", size, list(zip(turned, (x_at, z_at), strict=True)), "own_memory")
    held = _leaked(graph, told, own, size, "next_own_memory")
    back = _out_of_frame(graph, heading, graph.columns(held, x_at), graph.columns(held, z_at))
    _replaced(graph, held, size, list(zip(back, (x_at, z_at), strict=True)), "next_memory")
    return held


def _leaked(graph: _Graph, told: str, memory: str, size: int, output: str) -> str:
    gate = graph.add("Sigmoid", [graph.columns(told, range(size))])
    aim = graph.add("Tanh", [graph.columns(told, range(size, 2 * size))])
    step = graph.add("Mul", [gate, graph.add("Sub", [aim, memory])])
    return graph.add("Add", [memory, step], output)


def _gated(graph: _Graph, told: str, own: str, size: int) -> str:
    told_parts, own_parts = (
        [graph.columns(whole, range(part * size, (part + 1) * size)) for part in range(3)] for whole in (told, own)
    )
    reset, update = (
        graph.add("Sigmoid", [graph.add("Add", [ours, theirs])])
        for ours, theirs in zip(told_parts[:2], own_parts[:2], strict=True)
    )
    new = graph.add("Tanh", [graph.add("Add", [told_parts[2], graph.add("Mul", [reset, own_parts[2]])])])
    kept = graph.add("Mul", [update, graph.add("Sub", ["memory", new])])
    return graph.add("Add", [new, kept], "next_memory")


def _decide(
    graph: _Graph, header: DojoHeader, raw: str, log_std: np.ndarray | None, outputs: list[onnx.ValueInfoProto]
) -> None:
    """Steps 7 and 8: the best action as the game wants it, and what lots would be drawn by."""
    numbers, choices = header.numbers, [part.size for part in header.action_parts if part.kind == "discrete"]
    pieces: list[str] = []
    if numbers:
        outputs += [_rows("mean", numbers), _rows("log_std", numbers)]
        mean = graph.columns(raw, range(numbers), "mean")
        if header.squashed:
            limits = zip(("log_std_low", "log_std_high"), header.log_std_limits, strict=True)
            kept = [graph.keep(name, np.float32(limit)) for name, limit in limits]
            graph.add("Clip", [graph.columns(raw, range(numbers, 2 * numbers)), *kept], "log_std")
            pieces.append(graph.add("Tanh", [mean]))
        else:
            assert log_std is not None
            nothing = graph.add("Sub", [mean, mean])  # as many rows as there are
            graph.add("Add", [nothing, graph.keep("head.log_std", log_std)], "log_std")
            pieces.append(mean)
    if choices:
        outputs.append(_rows("logits", sum(choices)))
        logits = graph.columns(raw, range(numbers, numbers + sum(choices)), "logits")
        at = 0
        for size in choices:
            best = graph.add("ArgMax", [graph.columns(logits, range(at, at + size))], axis=1, keepdims=1)
            pieces.append(graph.add("Cast", [best], to=TensorProto.FLOAT))
            at += size
    together = graph.add("Concat", pieces, axis=1)
    action = graph.columns(together, _order(header.action_parts))
    action = _turned_action(graph, header, action)
    low, high = _bounds(header.action_parts)
    cut = graph.add("Max", [action, graph.keep("action_low", low)])
    graph.add("Min", [cut, graph.keep("action_high", high)], "action")


def _order(parts: Sequence[ActionPart]) -> list[int]:
    """Where in "all numbers, then all choices" the columns of an action are."""
    numbers = sum(part.size for part in parts if part.kind == "continuous")
    places: list[int] = []
    number, choice = 0, numbers
    for part in parts:
        if part.kind == "continuous":
            places += range(number, number + part.size)
            number += part.size
        else:
            places.append(choice)
            choice += 1
    return places


def _turned_action(graph: _Graph, header: DojoHeader, action: str) -> str:
    heading = header.heading
    if heading is None or not heading.acted:
        return action
    x_at, z_at = zip(*heading.acted, strict=True)
    x, z = _out_of_frame(graph, heading, graph.columns(action, x_at), graph.columns(action, z_at))
    squares = graph.add("Add", [graph.add("Mul", [x, x]), graph.add("Mul", [z, z])])
    length = graph.add("Max", [graph.add("Sqrt", [squares]), graph.keep("one", np.float32(1.0))])
    turned = [(graph.add("Div", [x, length]), x_at), (graph.add("Div", [z, length]), z_at)]
    return _replaced(graph, action, action_size(header.action_parts), turned)


def _bounds(parts: Sequence[ActionPart]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers are cut to -1 to 1, choices are not."""
    high = [1.0 if part.kind == "continuous" else float(part.size) for part in parts for _ in range(part.width)]
    low = [-1.0 if part.kind == "continuous" else 0.0 for part in parts for _ in range(part.width)]
    return np.array(low, np.float32), np.array(high, np.float32)


def _metadata(header: DojoHeader) -> dict[str, str]:
    settings = msgspec.json.encode(header.settings, order="sorted")
    return {
        "game": header.game,
        "role": header.role,
        "agent_steps": str(header.agent_steps),
        "godojo": __version__,
        "settings_sha256": hashlib.sha256(settings).hexdigest(),
        HEADER: header_text(header).decode(),
        VERSION: ONNX.tag,
    }
