"""ONNX files: written, compared with torch, and quantised to int8."""

import contextlib
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from godojo.errors import GodojoError
from godojo.export.dojo_file import check_dojo, dojo_bytes
from godojo.export.onnx_graph import HASH, SEAL, build
from godojo.export.vectors import Vectors, make_vectors
from godojo.learn.networks import Policy
from godojo.learn.policy_file import PolicyCard

TOLERANCE = 1e-5
CHECKED_DECISIONS = 64
CHECKED_STREAMS = 32


def onnx_bytes(policy: Policy, card: PolicyCard) -> tuple[bytes, float]:
    """The model, and the largest difference of its actions from torch's; GodojoError if it is too large."""
    content = sealed(build(check_dojo(dojo_bytes(policy, card))))
    vectors = make_vectors(policy, card, CHECKED_DECISIONS, streams=CHECKED_STREAMS)
    difference = float(np.abs(replayed(OnnxSession(content), vectors) - vectors.action).max())
    if not difference <= TOLERANCE:
        raise GodojoError(
            f"the ONNX model of the {card.role} differs from torch by {difference:.1e}; nothing is written"
        )
    return content, difference


def int8_bytes(content: bytes) -> bytes:
    """The same model with weights of one byte each (dynamic quantisation)."""
    from onnxruntime.quantization import QuantType, quantize_dynamic  # slow to import

    with tempfile.TemporaryDirectory() as folder, _quiet():
        small = Path(folder) / "int8.onnx"
        quantize_dynamic(
            onnx.load_from_string(content),
            small,
            per_channel=True,
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul"],
        )
        model = onnx.load(small)
    # The quantiser also declares onnxruntime's own operators, of which it uses none.
    del model.opset_import[:]
    model.opset_import.extend(onnx.load_from_string(content).opset_import)
    return sealed(model)


def sealed(model: onnx.ModelProto) -> bytes:
    """The file of a model, with a hash at its end."""
    kept = [entry for entry in model.metadata_props if entry.key != HASH]
    del model.metadata_props[:]
    model.metadata_props.extend(kept)
    return SEAL.close(model.SerializeToString())


class OnnxSession:
    """A model in onnxruntime, on one thread. Only for models of ours, or that `onnx_guard` has accepted."""

    def __init__(self, content: bytes) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors have no class in common
            raise GodojoError(f"onnxruntime does not take it ({' '.join(str(error).split())[:200]})") from None
        shapes = {one.name: one.shape for one in self._session.get_inputs()}
        self.memory_size = int(shapes["memory"][1]) if "memory" in shapes else 0
        self._outputs = ["action", "next_memory"] if self.memory_size else ["action"]

    def decide(self, observation: np.ndarray, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Deterministic actions as the game takes them, and the new memory; rows are agents."""
        fed: dict[str, Any] = {"observation": observation}
        if self.memory_size:
            fed["memory"] = memory
        try:
            found = self._session.run(self._outputs, fed)
        except Exception as error:  # such as an index out of range, in a stranger's file
            raise GodojoError(f"the ONNX model fails ({' '.join(str(error).split())[:200]})") from None
        return found[0], found[1] if self.memory_size else memory


def replayed(session: OnnxSession, vectors: Vectors) -> np.ndarray:
    """The actions for the observations of `vectors`, [T, S, A]."""
    memory = np.zeros((vectors.observation.shape[1], session.memory_size), np.float32)
    actions = []
    for observation, fresh in zip(vectors.observation, vectors.fresh, strict=True):
        action, memory = session.decide(observation, memory * (1.0 - fresh)[:, None])
        actions.append(action)
    return np.stack(actions)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the quantiser's advice on a preparation that our graphs do not need."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
