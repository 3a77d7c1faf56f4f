"""The `.dojo` policy file: a trained policy as plain numbers, for games without Python.

`docs/dojo-file.md` describes the format byte by byte. Reading executes and unpacks nothing, and compares every size
with the limits below before it allocates anything.
"""

import hashlib
import itertools
import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, cast

import msgspec
import numpy as np
import torch
from torch import nn

from godojo import __version__
from godojo.errors import GodojoError
from godojo.files import atomic_write
from godojo.formats import DOJO, Format
from godojo.games.parts import ActionPart, Heading, ObservationPart, action_size, observation_size
from godojo.learn.cnn import ImageInput, encoded_size, images_complaint
from godojo.learn.memory import GruMemory
from godojo.learn.networks import (
    ACTIVATIONS,
    LOG_STD_LIMITS,
    NORMALISED_LIMIT,
    VARIANCE_FLOOR,
    ActionHead,
    Policy,
    PolicyShape,
)
from godojo.learn.policy_file import PolicyCard, heading_complaint
from godojo.learn.settings import Activation

SUFFIX = ".dojo"
MAGIC = b"DOJO"
MAX_BYTES = 64 * 2**20
MAX_HEADER_BYTES = 2**20
MAX_WIDTH = 4096
MAX_OBSERVATION = 65_536
MAX_LAYERS = 16
MAX_PARTS = 256
MAX_CONVOLUTIONS = 8
"""Of one image."""

_PROLOGUE = struct.Struct("<4sHHII32s")
"""Magic, version, zero, bytes of the header, bytes of the weights, SHA-256 of both together."""
_FLOAT = np.dtype("<f4")

Width = Annotated[int, msgspec.Meta(ge=1, le=MAX_WIDTH)]


class Layer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A layer of the network."""

    name: Literal["encoder", "memory", "trunk", "head"]
    kind: Literal["relu", "tanh", "silu", "leaky", "gru", "linear"]
    """`relu`, `tanh` and `silu` are linear layers with that activation."""
    inputs: Annotated[int, msgspec.Meta(ge=1, le=MAX_OBSERVATION)]
    outputs: Width

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of its weights, in the order of the file: a matrix, then its bias."""
        if self.kind == "leaky":
            return (2 * self.outputs, self.inputs), (2 * self.outputs,)
        if self.kind == "gru":
            three = 3 * self.outputs
            return (three, self.inputs), (three,), (three, self.outputs), (three,)
        return (self.outputs, self.inputs), (self.outputs,)


class DojoHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The JSON header of a `.dojo` file."""

    game: Annotated[str, msgspec.Meta(max_length=64)]
    role: Annotated[str, msgspec.Meta(max_length=64)]
    observation_parts: Annotated[tuple[ObservationPart, ...], msgspec.Meta(min_length=1, max_length=MAX_PARTS)]
    action_parts: Annotated[tuple[ActionPart, ...], msgspec.Meta(min_length=1, max_length=MAX_PARTS)]
    heading: Heading | None
    layers: Annotated[tuple[Layer, ...], msgspec.Meta(min_length=2, max_length=MAX_LAYERS)]
    memory: Literal["", "leaky", "gru"]
    memory_size: Annotated[int, msgspec.Meta(ge=0, le=MAX_WIDTH)]
    squashed: bool
    log_std: bool
    """Whether log standard deviations come last among the weights."""
    log_std_limits: tuple[float, float]
    """Limits of a squashed policy's log standard deviations."""
    normalised_limit: Annotated[float, msgspec.Meta(gt=0.0, le=1e6)]
    """Normalised observations are clipped to this and its negative."""
    agent_steps: Annotated[int, msgspec.Meta(ge=0)]
    godojo: Annotated[str, msgspec.Meta(max_length=64)]
    """The version that wrote it."""
    settings: dict[str, Any]
    """The game's settings it was trained with."""
    images: Annotated[tuple[ImageInput, ...], msgspec.Meta(max_length=MAX_PARTS)] = ()

    @property
    def observation_size(self) -> int:
        return observation_size(self.observation_parts)

    @property
    def numbers(self) -> int:
        """Continuous numbers of an action."""
        return sum(part.size for part in self.action_parts if part.kind == "continuous")

    @property
    def blocks(self) -> list[tuple[int, ...]]:
        """The shapes of all weights, in the order of the file."""
        ends: list[tuple[int, ...]] = [(self.numbers,)] if self.log_std else []
        normaliser: list[tuple[int, ...]] = [(self.observation_size,)] * 2
        matrices = itertools.chain.from_iterable(image.blocks for image in self.images)
        normaliser += itertools.chain.from_iterable((matrix, matrix[:1]) for matrix in matrices)
        return [*normaliser, *itertools.chain.from_iterable(layer.blocks for layer in self.layers), *ends]

    @property
    def shape(self) -> PolicyShape:
        activations = [layer.kind for layer in self.layers if layer.kind in ACTIVATIONS]
        return PolicyShape(
            observation_size=self.observation_size,
            action_parts=self.action_parts,
            net_arch=tuple(layer.outputs for layer in self.layers if layer.name in ("encoder", "trunk")),
            memory=self.memory,
            memory_size=self.memory_size,
            heading=self.heading,
            squashed=self.squashed,
            activation=cast("Activation", activations[0] if activations else "relu"),
            images=self.images,
        )

    @property
    def card(self) -> PolicyCard:
        return PolicyCard(
            game=self.game,
            role=self.role,
            observation_parts=self.observation_parts,
            shape=self.shape,
            agent_steps=self.agent_steps,
            settings=self.settings,
        )


class DojoFile(NamedTuple):
    """The checked content of a file."""

    header: DojoHeader
    weights: list[np.ndarray]
    """float32, in the order and of the shapes of `header.blocks`."""


def layers_of(shape: PolicyShape) -> tuple[Layer, ...]:
    """The layers of a policy's network, first to last."""
    *first, last = shape.net_arch
    widths = [encoded_size(shape.images, shape.observation_size), *first]
    layers = [Layer("encoder", shape.activation, *pair) for pair in itertools.pairwise(widths)]
    cells = shape.memory_size if shape.memory else 0
    if shape.memory:
        layers.append(Layer("memory", shape.memory, widths[-1], cells))
    layers.append(Layer("trunk", shape.activation, widths[-1] + cells, last))
    outputs = sum(part.size for part in shape.action_parts)
    layers.append(Layer("head", "linear", last, 2 * outputs if shape.squashed else outputs))
    return tuple(layers)


def header_text(header: DojoHeader) -> bytes:
    """The header as JSON; without rotated memory cells or images it omits their keys: older readers accept it."""
    fields = msgspec.to_builtins(header)
    if not header.images:
        del fields["images"]
    if header.heading is not None and not header.heading.remembered:
        del fields["heading"]["remembered"]
    return msgspec.json.encode(fields)


def dojo_bytes(policy: Policy, card: PolicyCard) -> bytes:
    header = DojoHeader(
        game=card.game,
        role=card.role,
        observation_parts=card.observation_parts,
        action_parts=card.shape.action_parts,
        heading=card.shape.heading,
        layers=layers_of(card.shape),
        memory=card.shape.memory,
        memory_size=card.shape.memory_size if card.shape.memory else 0,
        squashed=card.shape.squashed,
        log_std=not card.shape.squashed and any(part.kind == "continuous" for part in card.shape.action_parts),
        log_std_limits=LOG_STD_LIMITS,
        normalised_limit=NORMALISED_LIMIT,
        agent_steps=card.agent_steps,
        godojo=__version__,
        settings=card.settings,
        images=card.shape.images,
    )
    text = header_text(header)
    text += b" " * (-len(text) % 4)
    weights = b"".join(np.ascontiguousarray(block, _FLOAT).tobytes() for block in _weights(policy))
    digest = hashlib.sha256(text + weights).digest()
    version = DOJO.version_for(is_plain=card.shape.is_plain)
    content = _PROLOGUE.pack(MAGIC, version, 0, len(text), len(weights), digest) + text + weights
    try:
        check_dojo(content)
    except GodojoError as error:
        raise GodojoError(f"the policy of the {card.role} cannot become a {SUFFIX} file: {error}") from None
    return content


def write_dojo(path: Path, policy: Policy, card: PolicyCard) -> None:
    atomic_write(path, dojo_bytes(policy, card))


def read_limited(path: Path) -> bytes:
    """The content of a policy file; refuses one of more than `MAX_BYTES`."""
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise GodojoError(f"{path} has {size:,} bytes; a policy has {MAX_BYTES:,} at most")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)  # a device or a pipe has no size
    except FileNotFoundError:
        raise GodojoError(f"{path}: there is no such policy file") from None
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None


def read_dojo(path: Path) -> DojoFile:
    """Read and check a file; GodojoError says what is wrong with it."""
    content = read_limited(path)
    try:
        return check_dojo(content)
    except GodojoError as error:
        raise GodojoError(f"{path}: {error}") from None


def load_dojo(path: Path) -> tuple[Policy, PolicyCard]:
    """The policy in a file, for Python."""
    header, weights = read_dojo(path)
    policy = Policy(header.shape)
    scale, offset, *others = weights
    with torch.no_grad():
        policy.normaliser.variance.copy_(torch.from_numpy(1.0 / scale.astype(np.float64) ** 2 - VARIANCE_FLOOR))
        policy.normaliser.mean.copy_(torch.from_numpy(-offset / scale))
        for tensor, block in zip(_tensors(policy), others, strict=True):
            tensor.copy_(torch.from_numpy(block.copy()).view(tensor.shape))
    policy.eval()
    return policy, header.card


def check_dojo(content: bytes) -> DojoFile:
    """Parse and check the bytes of a file."""
    if len(content) > MAX_BYTES:
        raise GodojoError(f"it has more than {MAX_BYTES:,} bytes")
    if content[: len(MAGIC)] != MAGIC:
        raise GodojoError(f"it is no {SUFFIX} file: it does not begin with {MAGIC.decode()}")
    if len(content) < _PROLOGUE.size:
        raise GodojoError("it is cut off in its first bytes")
    _, version, zero, header_bytes, weight_bytes, digest = _PROLOGUE.unpack_from(content)
    if not 1 <= version <= DOJO.version or zero != 0:
        known = f"this Godojo knows up to version {DOJO.version}"
        raise GodojoError(f"it has version {version}, and {known}: update Godojo, or export it again")
    if header_bytes > MAX_HEADER_BYTES or header_bytes % 4:
        raise GodojoError(f"its header claims {header_bytes:,} bytes; a multiple of 4 up to {MAX_HEADER_BYTES:,} fits")
    claimed = _PROLOGUE.size + header_bytes + weight_bytes
    if claimed != len(content):
        what = "cut off" if len(content) < claimed else "longer than it says"
        raise GodojoError(f"it is {what}: {len(content):,} bytes, and {claimed:,} were written")
    if hashlib.sha256(content[_PROLOGUE.size :]).digest() != digest:
        raise GodojoError("it is damaged: its checksum does not fit its content; copy it again, or export it again")
    header = parse_header(content[_PROLOGUE.size : _PROLOGUE.size + header_bytes], DOJO, version)
    blocks = header.blocks
    wanted = _FLOAT.itemsize * sum(math.prod(block) for block in blocks)
    if wanted != weight_bytes:
        raise GodojoError(f"it has {weight_bytes:,} bytes of weights, and its layers need {wanted:,}")
    numbers = np.frombuffer(content, _FLOAT, offset=_PROLOGUE.size + header_bytes)
    if not np.isfinite(numbers).all():
        raise GodojoError("it holds weights that are not numbers")
    if not (numbers[: header.observation_size] > 0.0).all():
        raise GodojoError("it holds a scale of observations that is not above 0")
    ends = itertools.accumulate(math.prod(block) for block in blocks)
    cut = np.split(numbers, list(ends)[:-1])
    return DojoFile(header, [piece.reshape(block) for piece, block in zip(cut, blocks, strict=True)])


def parse_header(text: bytes, form: Format, version: int) -> DojoHeader:
    """Parse and check a header; GodojoError says what is wrong with it."""
    try:
        header = msgspec.convert(form.migrate(msgspec.json.decode(text, type=dict[str, Any]), version), DojoHeader)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, LookupError, TypeError) as error:
        raise GodojoError(f"its header is not one of a policy ({error}): update Godojo, or export it again") from None
    for part in header.observation_parts:
        if not part.shape or any(not 1 <= size <= MAX_OBSERVATION for size in part.shape):
            raise GodojoError(f"its observation {part.name!r} has the shape {part.shape}")
    if header.observation_size > MAX_OBSERVATION:
        raise GodojoError(f"it observes {header.observation_size:,} numbers; {MAX_OBSERVATION:,} are the most")
    for action in header.action_parts:
        if not 1 <= action.size <= MAX_WIDTH:
            raise GodojoError(f"its action {action.name!r} has the size {action.size}")
    if header.squashed and header.numbers != action_size(header.action_parts):
        raise GodojoError("it is squashed, and yet has choices to make")
    ends = itertools.accumulate(part.size for part in header.observation_parts)
    parts = {(end - part.size, part.shape) for part, end in zip(header.observation_parts, ends, strict=True)}
    if any((image.first, image.shape) not in parts for image in header.images):
        raise GodojoError("its images are of observations that are not there")
    if any(len(image.convolutions) > MAX_CONVOLUTIONS for image in header.images):
        raise GodojoError(f"it has more than {MAX_CONVOLUTIONS} convolutions for an image")
    if any(layer.channels > MAX_WIDTH for image in header.images for layer in image.convolutions):
        raise GodojoError(f"its convolutions have more than {MAX_WIDTH:,} channels")
    shape = header.shape
    if complaint := images_complaint(shape.images, shape.observation_size) or heading_complaint(shape):
        raise GodojoError(complaint)
    if header.log_std != (not header.squashed and header.numbers > 0):
        raise GodojoError("it says the wrong thing about its log_std")
    if not shape.net_arch or bool(header.memory) != bool(header.memory_size) or header.layers != layers_of(shape):
        raise GodojoError("its layers do not fit together")
    return header


def _weights(policy: Policy) -> Iterator[np.ndarray]:
    normaliser = policy.normaliser
    scale = 1.0 / torch.sqrt(normaliser.variance + VARIANCE_FLOOR)
    yield scale.numpy()
    yield (-normaliser.mean * scale).numpy()
    for tensor in _tensors(policy):
        yield tensor.detach().numpy()


def _tensors(policy: Policy) -> Iterator[torch.Tensor]:
    """All weights behind the normaliser, in the order of the file; of convolutions, channels come last."""
    for weight, bias in policy.cnn.weights() if policy.cnn is not None else ():
        yield from (weight.permute(0, 2, 3, 1), bias)
    for layer in policy.encoder:
        if isinstance(layer, nn.Linear):
            yield from (layer.weight, layer.bias)
    if isinstance(policy.memory, GruMemory):
        cell = policy.memory.cell
        yield from (cell.weight_ih, cell.bias_ih, cell.weight_hh, cell.bias_hh)
    elif policy.memory is not None:
        yield from (policy.memory.linear.weight, policy.memory.linear.bias)
    trunk = policy.trunk[0]
    assert isinstance(trunk, nn.Linear)
    yield from (trunk.weight, trunk.bias, policy.head.linear.weight, policy.head.linear.bias)
    if isinstance(policy.head, ActionHead) and policy.head.continuous_size:
        yield policy.head.log_std
