"""Training states as bytes that load without running code."""

import io
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
import torch

_ARRAY = "__numpy__"
_SCALAR = "__numpy_scalar__"
_BYTES = "__bytes__"
_TAGS = {_ARRAY, _SCALAR, _BYTES}
_KEYS = (str, int, float, bool)


def write_state(state: Mapping[str, Any], file: BinaryIO) -> None:
    """Writes nested dicts, lists and tuples of tensors, NumPy arrays, numbers, texts and bytes."""
    torch.save(pack(state), file)


def read_state(file: BinaryIO) -> Any:
    """Reads a state, with tensors on the CPU; raises torch's errors if it is damaged."""
    return unpack(torch.load(file, map_location="cpu", weights_only=True))


def pack(value: Any, path: str = "state") -> Any:
    """Converts to types that `weights_only` allows: arrays, records included, become tensors of bytes."""
    if isinstance(value, torch.Tensor):
        tensor = value.detach()
        # A view would be saved with its whole storage.
        return tensor if tensor.untyped_storage().nbytes() == tensor.nbytes else tensor.clone()
    if isinstance(value, np.generic):
        return {_SCALAR: _array_bytes(np.asarray(value), path)}
    if isinstance(value, np.ndarray):
        return {_ARRAY: _array_bytes(value, path)}
    if isinstance(value, bytes):
        return {_BYTES: torch.frombuffer(bytearray(value), dtype=torch.uint8) if value else torch.empty(0).byte()}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Mapping):
        for key in value:
            if type(key) not in _KEYS or key in _TAGS:
                raise TypeError(f"{path} has the key {key!r}, which cannot be saved")
        return {key: pack(item, f"{path}[{key!r}]") for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(pack(item, f"{path}[{index}]") for index, item in enumerate(value))
    raise TypeError(f"{path} is a {type(value).__name__}, which cannot be saved")


def unpack(value: Any) -> Any:
    """The inverse of `pack`."""
    if isinstance(value, dict):
        if len(value) == 1:
            tag, content = next(iter(value.items()))
            if tag == _BYTES:
                return content.numpy().tobytes()
            if tag in (_ARRAY, _SCALAR):
                array = np.load(io.BytesIO(content.numpy().tobytes()), allow_pickle=False)
                return array if tag == _ARRAY else array[()]
        return {key: unpack(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(unpack(item) for item in value)
    return value


def _array_bytes(array: np.ndarray, path: str) -> torch.Tensor:
    if array.dtype.hasobject:
        raise TypeError(f"{path} is an array of Python objects, which cannot be saved")
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return torch.frombuffer(buffer.getbuffer(), dtype=torch.uint8)
