"""ONNX models with the inputs and outputs that the runtime of godot_rl's plugin expects.

It feeds `obs` (the key `obs` of an agent's observation, float [batch, n]) and `state_ins` (float [batch]), and reads
`output` and `state_outs`. `output` holds, for every key of the action space in order, the numbers of a continuous
action or the logits of a discrete one, whose largest is taken. There is no memory, and no other key of an observation.
"""

from collections.abc import Sequence

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from godojo.errors import GodojoError, option
from godojo.export.dojo_file import check_dojo, dojo_bytes
from godojo.export.onnx_file import CHECKED_DECISIONS, CHECKED_STREAMS, TOLERANCE
from godojo.export.onnx_graph import BATCH, HEADER, VERSION, build
from godojo.export.vectors import make_vectors
from godojo.games.parts import ActionPart
from godojo.learn.networks import Policy
from godojo.learn.policy_file import PolicyCard

OBS = "obs"


def godot_rl_bytes(policy: Policy, card: PolicyCard) -> tuple[bytes, float]:
    """The model, and the largest difference of its actions from torch's; GodojoError if it is too large."""
    _check_fits(card)
    content = _renamed(build(check_dojo(dojo_bytes(policy, card))), card).SerializeToString()
    vectors = make_vectors(policy, card, CHECKED_DECISIONS, streams=CHECKED_STREAMS)
    rows = vectors.observation.reshape(-1, vectors.observation.shape[-1])
    found = played(content, rows, card.shape.action_parts).reshape(vectors.action.shape)
    difference = float(np.abs(found - vectors.action).max())
    if not difference <= TOLERANCE:
        raise GodojoError(
            f"the ONNX model of the {card.role} differs from torch by {difference:.1e}; nothing is written"
        )
    return content, difference


def played(content: bytes, rows: np.ndarray, parts: Sequence[ActionPart]) -> np.ndarray:
    """The actions that godot_rl's runtime takes for these observations."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    fed = {OBS: rows, "state_ins": np.ones(len(rows), np.float32)}
    output, _ = session.run(["output", "state_outs"], fed)
    actions, at = [], 0
    for part in parts:
        numbers = output[:, at : at + part.size]
        if part.kind == "continuous":
            actions.append(np.clip(numbers, -1.0, 1.0))
        else:
            # It searches for the largest logit from 0 on: where none is positive, it takes the first.
            actions.append(np.where(numbers.max(axis=1) > 0.0, numbers.argmax(axis=1), 0)[:, None])
        at += part.size
    return np.concatenate(actions, axis=1)


def _check_fits(card: PolicyCard) -> None:
    instead = "export it as a .dojo file and play it with a DojoGodotRlPlayer"
    if card.shape.memory_size:
        without = option("settings", "memory=")
        raise GodojoError(
            f"godot_rl's runtime has no memory, and the {card.role} has one: train with {without}, or {instead}"
        )
    names = [part.name for part in card.observation_parts]
    if names != [OBS] or card.observation_parts[0].kind == "image":
        raise GodojoError(
            f"godot_rl's runtime feeds the key {OBS!r} alone, and the {card.role} observes {', '.join(names)}; "
            f"{instead}"
        )


def _renamed(model: onnx.ModelProto, card: PolicyCard) -> onnx.ModelProto:
    graph, parts = model.graph, card.shape.action_parts
    nodes = [
        helper.make_node("Identity", [OBS], ["observation"], name="observation"),
        helper.make_node("Identity", ["state_ins"], ["state_outs"], name="state_outs"),
        *graph.node,
    ]
    constants, pieces = list(graph.initializer), []

    def columns(source: str, first: int, count: int) -> str:
        name = f"{source}_{first}"
        constants.append(numpy_helper.from_array(np.arange(first, first + count), f"{name}.places"))
        nodes.append(helper.make_node("Gather", [source, f"{name}.places"], [name], name=name, axis=1))
        return name

    if any(part.kind == "discrete" for part in parts):
        constants.append(numpy_helper.from_array(np.array(1.0, np.float32), "above_zero"))
    column = logit = 0
    for part in parts:
        if part.kind == "continuous":
            pieces.append(columns("action", column, part.size))
        else:
            own = columns("logits", logit, part.size)
            nodes.append(helper.make_node("ReduceMin", [own], [f"{own}.least"], axes=[1], keepdims=1))
            nodes.append(helper.make_node("Sub", [own, f"{own}.least"], [f"{own}.above"]))
            nodes.append(helper.make_node("Add", [f"{own}.above", "above_zero"], [f"{own}.shifted"]))
            pieces.append(f"{own}.shifted")
            logit += part.size
        column += part.width
    nodes.append(helper.make_node("Concat", pieces, ["output"], name="output", axis=1))
    width = sum(part.size for part in parts)
    inputs = [_value(OBS, card.shape.observation_size), _value("state_ins")]
    outputs = [_value("output", width), _value("state_outs")]
    made = helper.make_model(
        helper.make_graph(nodes, graph.name, inputs, outputs, constants),
        opset_imports=list(model.opset_import),
        ir_version=model.ir_version,
        producer_name=model.producer_name,
        producer_version=model.producer_version,
    )
    kept = {entry.key: entry.value for entry in model.metadata_props if entry.key not in (HEADER, VERSION)}
    helper.set_model_props(made, kept)
    onnx.checker.check_model(made, full_check=True)
    return made


def _value(name: str, width: int | None = None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [BATCH] if width is None else [BATCH, width])
