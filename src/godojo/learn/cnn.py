"""A small convolutional network for the images of an observation (Mnih et al. 2015, scaled down).

Images are rows, columns, channels, from 0 to 1, and so are features: the order of `docs/dojo-file.md`.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import torch
from torch import Tensor, nn

from godojo.errors import GodojoError
from godojo.games.parts import ObservationPart
from godojo.learn.threads import orthogonal

MAX_BUFFER_BYTES = 2**31
"""Observations that a learner of images keeps in memory at once, at most."""


class Convolution(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A convolution without padding, followed by ReLU."""

    channels: int
    """Its outputs at each place."""
    kernel: int
    stride: int


class ImageInput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An image in the observation, and the convolutions that it goes through."""

    first: int
    """Index of its first number."""
    shape: tuple[int, int, int]
    """Rows, columns, channels."""
    convolutions: tuple[Convolution, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def shapes(self) -> list[tuple[int, int, int]]:
        """Of the image, then of the output of each convolution."""
        found = [self.shape]
        for layer in self.convolutions:
            rows, columns = ((extent - layer.kernel) // layer.stride + 1 for extent in found[-1][:2])
            found.append((rows, columns, layer.channels))
        return found

    @property
    def features(self) -> int:
        return math.prod(self.shapes[-1])

    @property
    def blocks(self) -> Iterator[tuple[int, int]]:
        """Outputs and inputs of each convolution's matrix: a row for each channel, a column for each input."""
        for layer, (_, _, channels) in zip(self.convolutions, self.shapes, strict=False):
            yield layer.channels, layer.kernel**2 * channels


def image_inputs(parts: Iterable[ObservationPart], channels: Sequence[int]) -> tuple[ImageInput, ...]:
    """The images among the parts of an observation, with a convolution for each number of channels.

    Without channels there are none: images are numbers like any others.
    """
    found, first = [], 0
    for part in parts:
        if part.kind == "image" and len(part.shape) == 3 and channels:
            rows, columns, depth = part.shape
            found.append(ImageInput(first, (rows, columns, depth), _convolutions(min(rows, columns), channels)))
        first += part.size
    return tuple(found)


def _convolutions(side: int, channels: Sequence[int]) -> tuple[Convolution, ...]:
    """Every layer halves the image, and quarters a large one; a side of a few pixels is left."""
    found = []
    for outputs in channels:
        kernel, stride = (8, 4) if side >= 64 else (3, 2) if side >= 5 else (min(side, 3), 1)
        found.append(Convolution(outputs, kernel, stride))
        side = (side - kernel) // stride + 1
    return tuple(found)


def images_complaint(images: Sequence[ImageInput], observation_size: int) -> str:
    """The mistake in the images of a policy; empty if there is none."""
    end = 0
    for image in images:
        if image.first < end or min(image.shape) < 1 or not image.convolutions:
            return "its images are invalid"
        end = image.first + image.size
        if end > observation_size:
            return "its images are of observations that are not there"
        if any(min(layer.channels, layer.stride, layer.kernel) < 1 for layer in image.convolutions):
            return "its convolutions are invalid"
        if any(min(shape) < 1 for shape in image.shapes):
            return "its convolutions do not fit their image"
    return ""


def encoded_size(images: Sequence[ImageInput], observation_size: int) -> int:
    """Numbers that remain of an observation when its images are replaced by their features."""
    return observation_size + sum(image.features - image.size for image in images)


def check_memory(what: str, images: Sequence[ImageInput], rows: int, size: int, advice: str) -> None:
    """Refuse to keep more observations with images than fit into memory; others are small."""
    if images and (needed := rows * size * 4) > MAX_BUFFER_BYTES:
        raise GodojoError(
            f"{what} would take {needed / 2**30:.1f} GiB, since observations have images, and "
            f"{MAX_BUFFER_BYTES / 2**30:g} GiB are the most; {advice}, or let cameras draw smaller pictures"
        )


class ImageEncoder(nn.Module):
    """Replaces the images of observations by their features: all other numbers, then the features of each image."""

    def __init__(self, images: Sequence[ImageInput], observation_size: int) -> None:
        super().__init__()
        self.images = tuple(images)
        self.stacks = nn.ModuleList(_stack(image) for image in images)
        self._others = other_columns(images, observation_size)

    def forward(self, rows: Tensor) -> Tensor:
        flat = rows.reshape(-1, rows.shape[-1])
        found = [flat[:, self._others]]
        for image, stack in zip(self.images, self.stacks, strict=True):
            pixels = flat[:, image.first : image.first + image.size].reshape(-1, *image.shape)
            found.append(stack(pixels.permute(0, 3, 1, 2)).permute(0, 2, 3, 1).flatten(1))
        seen = torch.cat(found, -1)
        return seen.reshape(*rows.shape[:-1], seen.shape[-1])

    def weights(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Of each convolution, in order: its weights [outputs, inputs, rows, columns], and its bias."""
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d):
                assert layer.bias is not None
                yield layer.weight, layer.bias


def other_columns(images: Sequence[ImageInput], observation_size: int) -> list[int]:
    """The columns of an observation outside its images."""
    inside = {column for image in images for column in range(image.first, image.first + image.size)}
    return [column for column in range(observation_size) if column not in inside]


def _stack(image: ImageInput) -> nn.Sequential:
    layers: list[nn.Module] = []
    for layer, (_, _, inputs) in zip(image.convolutions, image.shapes, strict=False):
        convolution = nn.Conv2d(inputs, layer.channels, layer.kernel, layer.stride)
        orthogonal(convolution.weight, math.sqrt(2.0))
        assert convolution.bias is not None
        nn.init.zeros_(convolution.bias)
        layers += [convolution, nn.ReLU()]
    return nn.Sequential(*layers)
