"""Reading ONNX files from strangers: accepts only what `godojo export` could have written.

A model from outside could name files to read (external data), loop, or fill all memory with a few operators. So before
a runtime sees it: a limit on its bytes, no external data, no subgraphs, no functions, a short list of plain operators,
and no value larger than an observation.
"""

import math
from collections.abc import Iterable
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import AttributeProto, TensorProto, shape_inference

from godojo.errors import GodojoError
from godojo.export.dojo_file import MAX_BYTES, MAX_OBSERVATION, DojoHeader, parse_header, read_limited
from godojo.export.onnx_graph import HEADER, SEAL, VERSION
from godojo.files import Damaged
from godojo.formats import ONNX
from godojo.games.parts import action_size

SUFFIX = ".onnx"
MAX_NODES = 512
MAX_TOTAL_WIDTH = 2**19
"""Of all values that are computed for one agent, together: 2 MiB."""
PLAIN = frozenset(
    (
        *("Add", "Sub", "Mul", "Div", "Sqrt", "Max", "Min", "Clip", "MatMul"),
        *("Relu", "Sigmoid", "Tanh", "ArgMax", "Cast", "Concat", "Gather"),
        *("Conv", "Reshape", "Transpose"),
        *("DynamicQuantizeLinear", "MatMulInteger"),
    )
)
"""Operators whose results `_check_shapes` can bound; the last ones are those of an int8 model."""
MAX_DIMENSIONS = 4
"""Of weights and images of a convolution."""
MAX_CONVOLUTION_WORK = 2**28
"""Multiplications of all convolutions for one agent, together."""
DOMAINS = ("", "ai.onnx")


def read_onnx(path: Path) -> tuple[bytes, DojoHeader]:
    """A model that a runtime may load, and its header; GodojoError says why not."""
    content = read_limited(path)
    try:
        SEAL.check(content)
        return content, check_onnx(content)
    except (Damaged, GodojoError) as error:
        raise GodojoError(f"{path}: {error}; export it again") from None


def check_onnx(content: bytes) -> DojoHeader:
    """The header of a model that is like ours."""
    if len(content) > MAX_BYTES:
        raise GodojoError(f"it has more than {MAX_BYTES:,} bytes")
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError:
        raise GodojoError("it is no ONNX model") from None
    if not model.HasField("graph"):
        raise GodojoError("it is no ONNX model")
    _check_operators(model)
    _check_constants(model)
    header, is_hashed = _header(model)
    try:
        onnx.checker.check_model(content)
        inferred = shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except (onnx.checker.ValidationError, shape_inference.InferenceError, ValueError, RuntimeError) as error:
        raise GodojoError(f"it does not fit together ({' '.join(str(error).split())[:200]})") from None
    _check_shapes(inferred.graph, header)
    try:
        if SEAL.check(content) is None and is_hashed:
            raise GodojoError("it is damaged: its hash is missing")
    except Damaged as error:
        raise GodojoError(f"it is damaged: {error}") from None
    return header


def _check_operators(model: onnx.ModelProto) -> None:
    if len(model.graph.node) > MAX_NODES:
        raise GodojoError(f"it has {len(model.graph.node):,} operators; {MAX_NODES} are the most")
    if model.functions or model.training_info or model.graph.sparse_initializer or model.graph.quantization_annotation:
        raise GodojoError("it holds functions, training or sparse numbers; only plain policies are taken")
    for node in model.graph.node:
        if node.domain not in DOMAINS or node.op_type not in PLAIN:
            name = f"{node.domain}.{node.op_type}".removeprefix(".")
            raise GodojoError(f"it holds the operator {name[:80]}, which no policy of ours does")
        for attribute in node.attribute:
            if attribute.type not in (AttributeProto.INT, AttributeProto.INTS, AttributeProto.FLOAT):
                raise GodojoError(f"its operator {node.op_type} holds more than numbers")


def _check_constants(model: onnx.ModelProto) -> None:
    for tensor in model.graph.initializer:
        if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
            raise GodojoError("it wants numbers from other files (external data); only what is inside it is taken")
        if len(tensor.dims) > MAX_DIMENSIONS or any(not 0 <= size <= MAX_OBSERVATION for size in tensor.dims):
            raise GodojoError(f"its constant {tensor.name[:80]!r} has the shape {tuple(tensor.dims)[:8]}")


def _header(model: onnx.ModelProto) -> tuple[DojoHeader, bool]:
    """The header, and whether the model must carry a hash."""
    found = [entry.value for entry in model.metadata_props if entry.key == HEADER]
    if len(found) != 1:
        raise GodojoError("it was not written by `godojo export`: it does not say which game it plays")
    text = found[0]  # bytes where it is no text
    version = ONNX.version_of(next((entry.value for entry in model.metadata_props if entry.key == VERSION), None), "it")
    return parse_header(text if isinstance(text, bytes) else text.encode(), ONNX, version), ONNX.is_hashed(version)


def _check_shapes(graph: onnx.GraphProto, header: DojoHeader) -> None:
    """Inputs and outputs are those of the header, and nothing in between is larger than rows of an observation."""
    names = {tensor.name for tensor in graph.initializer}
    inputs = {"observation": header.observation_size}
    outputs = {"action": action_size(header.action_parts)}
    if header.memory:
        inputs["memory"] = outputs["next_memory"] = header.memory_size
    _check_widths("inputs", inputs, (value for value in graph.input if value.name not in names), exact=True)
    _check_widths("outputs", outputs, graph.output, exact=False)
    total = work = 0
    kernels = {tensor.name: math.prod(tensor.dims[1:]) for tensor in graph.initializer}
    known = {value.name: value for value in (*graph.input, *graph.output, *graph.value_info)}
    for kind, weights, name in (
        (node.op_type, node.input[1:2], output) for node in graph.node for output in node.output
    ):
        if not name:
            continue
        value = known.get(name)
        if value is None or not value.type.tensor_type.HasField("shape"):
            raise GodojoError(f"it does not say how large {name[:80]!r} gets")
        dims = value.type.tensor_type.shape.dim
        width = math.prod(size.dim_value for size in dims[min(len(dims) - 1, 1) :])
        if len(dims) > MAX_DIMENSIONS or any(size.dim_value > MAX_OBSERVATION for size in dims):
            raise GodojoError(f"its {name[:80]!r} gets too large")
        if len(dims) > 1 and (dims[0].dim_value > 1 or not all(size.HasField("dim_value") for size in dims[1:])):
            raise GodojoError(f"its {name[:80]!r} does not have one row for each agent")
        total += width
        if kind == "Conv":
            work += width * kernels.get("".join(weights), MAX_CONVOLUTION_WORK)
    if work > MAX_CONVOLUTION_WORK:
        raise GodojoError(f"its convolutions take {work:,} multiplications; {MAX_CONVOLUTION_WORK:,} are the most")
    if total > MAX_TOTAL_WIDTH:
        raise GodojoError(f"it computes {total:,} numbers for each agent; {MAX_TOTAL_WIDTH:,} are the most")


def _check_widths(what: str, wanted: dict[str, int], there: Iterable[onnx.ValueInfoProto], *, exact: bool) -> None:
    found = {}
    for value in there:
        dims = value.type.tensor_type.shape.dim
        is_float = value.type.tensor_type.elem_type == TensorProto.FLOAT
        found[value.name] = dims[1].dim_value if is_float and len(dims) == 2 and dims[0].dim_param else 0
    if any(found.get(name) != width for name, width in wanted.items()) or (exact and len(found) != len(wanted)):
        raise GodojoError(f"its {what} are not those of the policy that it says it is")
