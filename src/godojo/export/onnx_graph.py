"""A policy as an ONNX graph, built from its `.dojo` file in the steps of `docs/dojo-file.md`.

Built with `onnx.helper`, not by `torch.onnx`: its exporter needs `onnxscript`, its graphs change with torch's version,
and they hold operators, such as ScatterND and shape arithmetic, that `onnx_guard` would then have to accept from
strangers. This graph has a few dozen plain operators; `onnx_file` compares each one it writes with torch.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from godojo import __version__
from godojo.export.dojo_file import DojoFile, DojoHeader, header_text
from godojo.files import Seal
from godojo.formats import ONNX
from godojo.games.parts import Heading, action_size
from godojo.learn.cnn import other_columns
from godojo.learn.networks import continuous_columns

OPSET = 17
IR_VERSION = 8
"""The one of the opset's release, so that runtimes of that time read it too."""
HEADER = "godojo.header"
"""Metadata key of the header, which is that of a `.dojo` file."""
VERSION = "godojo.format"
HASH = "godojo.sha256"
"""Metadata key of the hash of all bytes before it: the last entry, at the very end of the file."""
_DIGITS = "0" * 64
SEAL = Seal(
    onnx.ModelProto(metadata_props=[onnx.StringStringEntryProto(key=HASH, value=_DIGITS)])
    .SerializeToString()
    .removesuffix(_DIGITS.encode())
)
BATCH = "batch"


def build(file: DojoFile) -> onnx.ModelProto:
    """The model; `docs/shipping.md` lists its inputs and outputs."""
    graph = _Graph()
    header, weights = file.header, iter(file.weights)
    scale, offset = next(weights), next(weights)
    inputs = [_rows("observation", header.observation_size)]
    outputs = [_rows("action", action_size(header.action_parts))]
    rows = _egocentric(graph, header)
    limit = header.normalised_limit
    rows = graph.add("Add", [graph.add("Mul", [rows, graph.keep("scale", scale)]), graph.keep("offset", offset)])
    rows = graph.add("Clip", [rows, graph.keep("low", np.float32(-limit)), graph.keep("high", np.float32(limit))])
    if header.images:
        rows = _with_features(graph, header, rows, weights)
    for number, layer in enumerate(header.layers):
        name = f"{layer.name}{number}" if layer.name == "encoder" else layer.name
        if layer.kind in ("leaky", "gru"):
            size = layer.outputs
            inputs.append(_rows("memory", size))
            outputs.append(_rows("next_memory", size))
            fed = graph.linear(name, rows, next(weights), next(weights))
            if layer.kind == "leaky":
                cells = _leaky(graph, header, fed, size)
            else:
                cells = _gru(graph, fed, graph.linear("memory_own", "memory", next(weights), next(weights)), size)
            rows = graph.add("Concat", [rows, cells], axis=1)
        else:
            rows = graph.linear(name, rows, next(weights), next(weights))
            rows = _activated(graph, layer.kind, rows)
    _decide(graph, header, rows, next(weights, None), outputs)
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


def _activated(graph: "_Graph", kind: str, rows: str) -> str:
    """The rows after a layer's activation; the head has none."""
    if kind == "silu":
        return graph.add("Mul", [rows, graph.add("Sigmoid", [rows])])
    return graph.add(kind.capitalize(), [rows]) if kind in ("relu", "tanh") else rows


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


def _egocentric(graph: _Graph, header: DojoHeader) -> str:
    if header.heading is None or not header.heading.observed:
        return "observation"
    return _rotated(graph, header.heading, "observation", header.observation_size, header.heading.observed)


def _rotated(
    graph: _Graph, heading: Heading, rows: str, width: int, pairs: Sequence[tuple[int, int]], output: str | None = None
) -> str:
    """Pairs of columns relative to the heading."""
    x_at, z_at = zip(*pairs, strict=True)
    x, z = graph.columns(rows, x_at), graph.columns(rows, z_at)
    x_heading, z_heading = (graph.columns("observation", [place]) for place in heading.forward)
    left = graph.add("Sub", [graph.add("Mul", [x, z_heading]), graph.add("Mul", [z, x_heading])])
    front = graph.add("Add", [graph.add("Mul", [x, x_heading]), graph.add("Mul", [z, z_heading])])
    return _replaced(graph, rows, width, [(left, x_at), (front, z_at)], output)


def _to_world(graph: _Graph, heading: Heading, rows: str, pairs: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """The x and z of pairs of columns that are relative to the heading."""
    left, front = (graph.columns(rows, columns) for columns in zip(*pairs, strict=True))
    x_heading, z_heading = (graph.columns("observation", [place]) for place in heading.forward)
    x = graph.add("Add", [graph.add("Mul", [left, z_heading]), graph.add("Mul", [front, x_heading])])
    return x, graph.add("Sub", [graph.add("Mul", [front, z_heading]), graph.add("Mul", [left, x_heading])])


def _replaced(
    graph: _Graph, rows: str, width: int, columns: Sequence[tuple[str, Sequence[int]]], output: str | None = None
) -> str:
    """The rows with some columns replaced: everything side by side, then the columns in question."""
    places, end = list(range(width)), width
    for _, replaced in columns:
        for place in replaced:
            places[place] = end
            end += 1
    together = graph.add("Concat", [rows, *(name for name, _ in columns)], axis=1)
    return graph.columns(together, places, output)


def _with_features(graph: _Graph, header: DojoHeader, rows: str, weights: Iterator[np.ndarray]) -> str:
    """The rows with features in place of images: all other numbers, then the features of each image."""
    pieces = []
    if others := other_columns(header.images, header.observation_size):
        pieces.append(graph.columns(rows, others))
    for number, image in enumerate(header.images):
        pixels = graph.columns(rows, range(image.first, image.first + image.size))
        pixels = graph.add("Reshape", [pixels, graph.keep(f"image{number}.shape", np.array([0, *image.shape]))])
        pixels = graph.add("Transpose", [pixels], perm=[0, 3, 1, 2])
        for place, (layer, (_, _, inputs)) in enumerate(zip(image.convolutions, image.shapes, strict=False)):
            name, kernel = f"image{number}.convolution{place}", (layer.kernel, layer.kernel)
            matrix = next(weights).reshape(layer.channels, *kernel, inputs).transpose(0, 3, 1, 2)
            kept = graph.keep(f"{name}.weight", np.ascontiguousarray(matrix)), graph.keep(f"{name}.bias", next(weights))
            strides = (layer.stride, layer.stride)
            pixels = graph.add("Conv", [pixels, *kept], f"{name}.sum", kernel_shape=kernel, strides=strides)
            pixels = graph.add("Relu", [pixels])
        pixels = graph.add("Transpose", [pixels], perm=[0, 2, 3, 1])
        pieces.append(graph.add("Reshape", [pixels, graph.keep(f"image{number}.size", np.array([0, image.features]))]))
    return graph.add("Concat", pieces, axis=1)


def _leaky(graph: _Graph, header: DojoHeader, fed: str, size: int) -> str:
    """The cells as the trunk sees them; the new memory is the same, or along the world's axes where pairs rotate."""
    heading, memory, output = header.heading, "memory", "next_memory"
    pairs = heading.remembered if heading else ()
    if heading and pairs:
        memory, output = _rotated(graph, heading, "memory", size, pairs, "own_memory"), "next_own_memory"
    gate = graph.add("Sigmoid", [graph.columns(fed, range(size))])
    candidate = graph.add("Tanh", [graph.columns(fed, range(size, 2 * size))])
    step = graph.add("Mul", [gate, graph.add("Sub", [candidate, memory])])
    cells = graph.add("Add", [memory, step], output)
    if heading and pairs:
        back = zip(_to_world(graph, heading, cells, pairs), zip(*pairs, strict=True), strict=True)
        _replaced(graph, cells, size, list(back), "next_memory")
    return cells


def _gru(graph: _Graph, fed: str, own: str, size: int) -> str:
    fed_parts, own_parts = (
        [graph.columns(whole, range(part * size, (part + 1) * size)) for part in range(3)] for whole in (fed, own)
    )
    reset, update = (
        graph.add("Sigmoid", [graph.add("Add", list(pair))]) for pair in zip(fed_parts[:2], own_parts[:2], strict=True)
    )
    new = graph.add("Tanh", [graph.add("Add", [fed_parts[2], graph.add("Mul", [reset, own_parts[2]])])])
    kept = graph.add("Mul", [update, graph.add("Sub", ["memory", new])])
    return graph.add("Add", [new, kept], "next_memory")


def _decide(
    graph: _Graph, header: DojoHeader, raw: str, log_std: np.ndarray | None, outputs: list[onnx.ValueInfoProto]
) -> None:
    """Steps 7 and 8: the deterministic action as the game takes it, and the parameters of the distribution."""
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
            nothing = graph.add("Sub", [mean, mean])  # zeros, one row per agent
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
    parts, continuous = header.action_parts, list(continuous_columns(header.action_parts))
    discrete = [column for column in range(action_size(parts)) if column not in continuous]
    action = graph.columns(together, np.argsort([*continuous, *discrete]).tolist())
    if header.heading is not None and header.heading.acted:
        pairs = header.heading.acted
        x, z = _to_world(graph, header.heading, action, pairs)
        squares = graph.add("Add", [graph.add("Mul", [x, x]), graph.add("Mul", [z, z])])
        length = graph.add("Max", [graph.add("Sqrt", [squares]), graph.keep("one", np.float32(1.0))])
        x_at, z_at = zip(*pairs, strict=True)
        columns = [(graph.add("Div", [x, length]), x_at), (graph.add("Div", [z, length]), z_at)]
        action = _replaced(graph, action, action_size(parts), columns)
    # Continuous numbers are clipped to -1 and 1, indices of discrete actions stay.
    high = np.array([1.0 if part.kind == "continuous" else part.size for part in parts for _ in range(part.width)])
    low = np.where(np.isin(range(len(high)), continuous), -1.0, 0.0)
    clipped = graph.add("Max", [action, graph.keep("action_low", low.astype(np.float32))])
    graph.add("Min", [clipped, graph.keep("action_high", high.astype(np.float32))], "action")


def _metadata(header: DojoHeader) -> dict[str, str]:
    settings = msgspec.json.encode(header.settings, order="sorted")
    return {
        "game": header.game,
        "role": header.role,
        "agent_steps": str(header.agent_steps),
        "godojo": __version__,
        "settings_sha256": hashlib.sha256(settings).hexdigest(),
        HEADER: header_text(header).decode(),
        VERSION: ONNX.tag_for(is_plain=header.shape.is_plain),
    }
