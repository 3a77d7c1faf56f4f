"""The networks, in plain torch. A policy sees its agent's observation, a critic also the privileged observation."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec
import torch
from torch import Tensor, nn
from torch.nn import functional

from godojo.errors import GodojoError, option
from godojo.games.parts import ActionPart, Heading, action_size
from godojo.learn.cnn import ImageEncoder, ImageInput, encoded_size
from godojo.learn.memory import MEMORIES
from godojo.learn.rotation import exact_sqrt, replace_pairs, rotate, to_world
from godojo.learn.settings import Activation
from godojo.learn.threads import orthogonal

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
VARIANCE_FLOOR = 1e-6
"""Added to a variance before taking its square root."""
NORMALISED_LIMIT = 5.0
"""Normalised observations are clipped to ± this value, so that rarely active sensors do not dominate."""
LOG_STD_LIMITS = (-5.0, 2.0)
"""Range of the log standard deviation of a squashed policy."""
CACHE_LINE = 16
"""float32 values in a CPU cache line."""


class PolicyShape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything needed to build a policy before its weights are loaded."""

    observation_size: int
    action_parts: tuple[ActionPart, ...]
    net_arch: tuple[int, ...]
    memory: Literal["", "leaky", "gru"] = ""
    memory_size: int = 0
    heading: Heading | None = None
    squashed: bool = False
    """Actions are squashed by tanh, with a state-dependent standard deviation (SAC)."""
    activation: Activation = "relu"
    """After every layer; `tanh` is Stable-Baselines3's default."""
    images: tuple[ImageInput, ...] = ()
    """Images in the observation, in order."""

    @property
    def is_plain(self) -> bool:
        """Without images, and with ReLU layers only (`Format.tag_for`)."""
        return self.activation == "relu" and not self.images


class SampledAction(NamedTuple):
    """Actions and their log-probabilities."""

    action: Tensor
    log_prob: Tensor


class Normaliser(nn.Module):
    """Normalises observations by their running mean and variance; images, already from 0 to 1, are left as they are."""

    mean: Tensor
    variance: Tensor
    count: Tensor

    def __init__(self, size: int, images: Sequence[ImageInput] = ()) -> None:
        super().__init__()
        self._images = [slice(image.first, image.first + image.size) for image in images]
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("variance", torch.ones(size))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    def forward(self, rows: Tensor) -> Tensor:
        factor = 1.0 / exact_sqrt(self.variance + VARIANCE_FLOOR)
        shift = -self.mean * factor
        return torch.clamp(rows * factor + shift, -NORMALISED_LIMIT, NORMALISED_LIMIT)

    @torch.no_grad()
    def update(self, rows: Tensor, acted: Tensor | None = None) -> None:
        """Update the running moments, with `acted` only by the rows where it is true."""
        rows = rows.reshape(-1, rows.shape[-1]) if acted is None else rows[acted]
        if len(rows):
            self.merge(len(rows), rows.mean(0), rows.var(0, correction=0))

    @torch.no_grad()
    def merge(self, count: float, mean: Tensor, variance: Tensor) -> None:
        """Merge the moments of `count` rows into the running ones."""
        total = float(self.count) + count
        weight, shift = count / total, mean - self.mean
        self.variance.mul_(1.0 - weight).add_(variance * weight).add_(shift.square() * (weight * (1.0 - weight)))
        self.mean.add_(shift * weight)
        for image in self._images:
            self.mean[image], self.variance[image] = 0.0, 1.0
        self.count.fill_(total)


class ActionHead(nn.Module):
    """Maps features to a distribution: Gaussian for continuous actions, categorical for discrete ones."""

    def __init__(self, features: int, parts: Sequence[ActionPart]) -> None:
        super().__init__()
        self.parts = tuple(parts)
        self.continuous_size = sum(part.size for part in parts if part.kind == "continuous")
        self.discrete_sizes = [part.size for part in parts if part.kind == "discrete"]
        self.linear = nn.Linear(features, self.continuous_size + sum(self.discrete_sizes))
        self.log_std = nn.Parameter(torch.full((self.continuous_size,), -0.5))
        orthogonal(self.linear.weight, 0.01)
        nn.init.zeros_(self.linear.bias)
        with torch.no_grad():
            resting = [part.rest for part in parts if part.kind == "continuous" for _ in range(part.size)]
            self.linear.bias[: self.continuous_size] = torch.tensor(resting)
        self._continuous_columns = list(continuous_columns(parts))
        self._discrete_columns = sorted(set(range(action_size(parts))) - set(self._continuous_columns))

    def sample(
        self, features: Tensor, *, deterministic: bool = False, generator: torch.Generator | None = None
    ) -> SampledAction:
        raw = self.linear(features)
        continuous, log_prob = raw[..., : self.continuous_size].detach(), raw.new_zeros(raw.shape[:-1])
        if self.continuous_size and not deterministic:
            noise = torch.empty_like(continuous).normal_(generator=generator)
            continuous, log_prob = continuous + noise * self.log_std.detach().exp(), self._log_prob(noise).detach()
        if not self.discrete_sizes:
            return SampledAction(continuous, log_prob)
        action = raw.new_empty((*raw.shape[:-1], len(self._continuous_columns) + len(self._discrete_columns)))
        action[..., self._continuous_columns] = continuous
        for column, logits in zip(self._discrete_columns, self._logits(raw), strict=True):
            if deterministic:
                chosen = logits.argmax(-1)
            else:
                rows = logits.reshape(-1, logits.shape[-1]).softmax(-1)
                chosen = torch.multinomial(rows, 1, generator=generator).reshape(logits.shape[:-1])
            action[..., column] = chosen.to(action.dtype)
            log_prob = log_prob + logits.log_softmax(-1).gather(-1, chosen[..., None])[..., 0]
        return SampledAction(action, log_prob)

    def evaluate_actions(self, features: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability of these actions, and entropy of the distribution."""
        raw = self.linear(features)
        log_prob = raw.new_zeros(features.shape[:-1])
        entropy = raw.new_zeros(())
        if self.continuous_size:
            mean = raw[..., : self.continuous_size]
            continuous = action[..., self._continuous_columns] if self.discrete_sizes else action
            log_prob = self._log_prob((continuous - mean) * torch.exp(-self.log_std))
            entropy = entropy + (self.log_std + 0.5 + LOG_SQRT_2PI).sum()
        for column, logits in zip(self._discrete_columns, self._logits(raw), strict=True):
            logs = logits.log_softmax(-1)
            log_prob = log_prob + logs.gather(-1, action[..., column, None].long())[..., 0]
            entropy = entropy - (logs.exp() * logs).sum(-1)
        return log_prob, entropy

    def imitation_loss(self, features: Tensor, target: Tensor) -> Tensor:
        """Distance to other actions: squared for continuous ones, the cross-entropy for discrete ones."""
        raw = self.linear(features)
        loss: Tensor = (raw[..., : self.continuous_size] - target[..., self._continuous_columns]).square().sum(-1)
        for column, logits in zip(self._discrete_columns, self._logits(raw), strict=True):
            loss = loss - logits.log_softmax(-1).gather(-1, target[..., column, None].long())[..., 0]
        return loss

    def _log_prob(self, distance: Tensor) -> Tensor:
        """Log-probability of values at these distances from the mean, in standard deviations."""
        return -0.5 * distance.square().sum(-1) - (self.log_std + LOG_SQRT_2PI).sum()

    def _logits(self, raw: Tensor) -> Sequence[Tensor]:
        return torch.split(raw[..., self.continuous_size :], self.discrete_sizes, -1)


class SquashedHead(nn.Module):
    """Maps features to a tanh-squashed Gaussian with a state-dependent standard deviation."""

    def __init__(self, features: int, parts: Sequence[ActionPart]) -> None:
        super().__init__()
        if discrete := [part.name for part in parts if part.kind == "discrete"]:
            raise GodojoError(f"a squashed policy has continuous actions only; discrete here: {', '.join(discrete)}")
        self.linear = nn.Linear(features, 2 * sum(part.size for part in parts))
        orthogonal(self.linear.weight, 0.01)
        nn.init.zeros_(self.linear.bias)

    def sample(
        self, features: Tensor, *, deterministic: bool = False, generator: torch.Generator | None = None
    ) -> SampledAction:
        """Reparametrised: gradients flow through the sampled action."""
        mean, log_std = self.linear(features).chunk(2, -1)
        if deterministic:
            return SampledAction(mean.tanh(), mean.new_zeros(mean.shape[:-1]))
        log_std = log_std.clamp(*LOG_STD_LIMITS)
        noise = torch.empty_like(mean).normal_(generator=generator)
        unsquashed = torch.addcmul(mean, noise, log_std.exp())
        # The log-derivative of tanh, in a form that does not overflow.
        log_derivative = 2.0 * (math.log(2.0) - unsquashed - functional.softplus(-2.0 * unsquashed))
        log_prob = -(0.5 * noise.square() + log_std + LOG_SQRT_2PI + log_derivative).sum(-1)
        return SampledAction(unsquashed.tanh(), log_prob)

    def evaluate_actions(self, _features: Tensor, _action: Tensor) -> tuple[Tensor, Tensor]:
        raise GodojoError(f"PPO cannot continue a policy of SAC; start a new run, or use {option('algorithm', 'sac')}")


def continuous_columns(parts: Sequence[ActionPart]) -> Iterator[int]:
    """Columns of the continuous actions."""
    at = 0
    for part in parts:
        if part.kind == "continuous":
            yield from range(at, at + part.width)
        at += part.width


ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh, "silu": nn.SiLU}


def mlp(sizes: Sequence[int], activation: str = "relu") -> nn.Sequential:
    """Linear layers of these sizes, input first, each followed by its activation."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        linear = nn.Linear(inputs, outputs)
        orthogonal(linear.weight, math.sqrt(2.0))
        nn.init.zeros_(linear.bias)
        layers += [linear, ACTIVATIONS[activation]()]
    return nn.Sequential(*layers)


class Policy(nn.Module):
    """The policy of one role: encoder, optional memory, trunk and action head.

    Images go through convolutions first. The memory is fed by the encoder; the trunk takes the output of both. All
    layers but the last of `net_arch` are the encoder's.
    """

    def __init__(self, shape: PolicyShape) -> None:
        super().__init__()
        self.shape = shape
        self.memory_size = shape.memory_size if shape.memory else 0
        *encoder_sizes, trunk_size = shape.net_arch
        self.normaliser = Normaliser(shape.observation_size, shape.images)
        self.cnn = ImageEncoder(shape.images, shape.observation_size) if shape.images else None
        encoded = encoded_size(shape.images, shape.observation_size)
        self.encoder = mlp([encoded, *encoder_sizes], shape.activation)
        width = encoder_sizes[-1] if encoder_sizes else encoded
        self.memory = MEMORIES[shape.memory](width, self.memory_size) if shape.memory else None
        self.trunk = mlp([width + self.memory_size, trunk_size], shape.activation)
        self.head = (SquashedHead if shape.squashed else ActionHead)(trunk_size, shape.action_parts)
        heading = shape.heading
        self._forward = list(heading.forward) if heading else []
        self._observation_pairs, self._action_pairs = (heading.observed, heading.acted) if heading else ((), ())
        self.rotated_cells = heading.remembered if heading else ()
        """Pairs of memory cells that are stored along the world's axes and used relative to the heading."""
        self._continuous_columns = list(continuous_columns(shape.action_parts))

    def preprocess(self, observation: Tensor) -> Tensor:
        """Observations as the network takes them: egocentric and normalised."""
        normalised: Tensor = self.normaliser(self.to_egocentric(observation))
        return normalised

    def to_egocentric(self, observation: Tensor) -> Tensor:
        """Observations relative to the heading."""
        if not self._observation_pairs:
            return observation
        return rotate(observation, self._observation_pairs, self.heading_of(observation))

    def from_env_action(self, action: Tensor, observation: Tensor) -> Tensor:
        """Actions of the game, relative to the heading."""
        return rotate(action, self._action_pairs, self.heading_of(observation)) if self._action_pairs else action

    def to_env_action(self, action: Tensor, observation: Tensor) -> Tensor:
        """Actions as the game takes them: along the world's axes, clipped to the range from -1 to 1.

        Directions are scaled down instead, since clipping each axis would change them.
        """
        action = action.detach()
        if self._action_pairs:
            left, front = (action[..., list(columns)] for columns in zip(*self._action_pairs, strict=True))
            x, z = to_world(left, front, self.heading_of(observation)[..., None, :])
            length = exact_sqrt(x * x + z * z).clamp(min=1.0)
            action = replace_pairs(action, self._action_pairs, (x / length, z / length))
        if len(self._continuous_columns) == action.shape[-1]:
            return action.clamp(-1.0, 1.0)
        clipped = action.clone()
        clipped[..., self._continuous_columns] = action[..., self._continuous_columns].clamp(-1.0, 1.0)
        return clipped

    def initial_memory(self, rows: int) -> Tensor:
        """The memory at the start of an episode: zeros."""
        return self.normaliser.mean.new_zeros(rows, self.memory_size)

    def heading_of(self, observation: Tensor) -> Tensor:
        """Headings as x and z, of shape [..., 2]; of shape [..., 0] where the game declares none."""
        return observation[..., self._forward]

    def see(self, normalised: Tensor) -> Tensor:
        """Normalised observations with features in place of images; PPO's critic takes the same."""
        return normalised if self.cnn is None else self.cnn(normalised)

    def features(self, normalised: Tensor, memory: Tensor, heading: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Features and new memory for one step; `heading` is required if memory cells rotate with it."""
        encoded = self.encoder(self.see(normalised))
        if self.memory is not None:
            if not self.rotated_cells:
                cells = memory = self.memory(encoded, memory)
            else:
                assert heading is not None
                cells = self.memory(encoded, rotate(memory, self.rotated_cells, heading))
                memory = rotate(cells, self.rotated_cells, heading, back=True)
            encoded = torch.cat((encoded, cells), -1)
        return self.trunk(encoded), memory

    def features_of_sequence(
        self, seen: Tensor, memory: Tensor, not_done: Tensor, heading: Tensor | None = None
    ) -> Tensor:
        """Features for T steps, from `see`, [T, rows, D]; the memory is reset before a step where `not_done` is 0."""
        encoded = self.encoder(seen)
        if self.memory is not None:
            heading = encoded.new_zeros(*encoded.shape[:2], 0) if heading is None else heading
            cells = self.memory.sequence(encoded, memory, not_done, heading, self.rotated_cells)
            encoded = torch.cat((encoded, cells), -1)
        features: Tensor = self.trunk(encoded)
        return features


class Critic(nn.Module):
    """The value function of the agent's own observation and the privileged one; with `images`, it sees for itself."""

    def __init__(
        self,
        observation_size: int,
        privileged_size: int,
        net_arch: Sequence[int],
        activation: Activation = "relu",
        images: Sequence[ImageInput] = (),
    ) -> None:
        super().__init__()
        self.normaliser = Normaliser(privileged_size)
        self.activation = ACTIVATIONS[activation]()
        self.cnn = ImageEncoder(images, observation_size) if images else None
        self.own = nn.Linear(encoded_size(images, observation_size), net_arch[0])
        self.privileged = nn.Linear(privileged_size, net_arch[0], bias=False)
        orthogonal(self.own.weight, math.sqrt(2.0))
        nn.init.zeros_(self.own.bias)
        orthogonal(self.privileged.weight, math.sqrt(2.0))
        self.trunk = mlp(net_arch, activation)
        self.value = nn.Linear(net_arch[-1], 1)
        orthogonal(self.value.weight, 1.0)
        nn.init.zeros_(self.value.bias)

    def forward(self, normalised: Tensor, privileged: Tensor) -> Tensor:
        own = normalised if self.cnn is None else self.cnn(normalised)
        hidden = self.activation(self.own(own) + self.privileged(privileged))
        value: Tensor = self.value(self.trunk(hidden))[..., 0]
        return value


def flat_offsets(tensors: Iterable[Tensor]) -> tuple[dict[int, int], int]:
    """Offset of each tensor (by `id`) in one flat row of all of them, aligned to cache lines; and the row's length."""
    offsets, at = {}, 0
    for tensor in tensors:
        offsets[id(tensor)] = at
        at += -(-tensor.numel() // CACHE_LINE) * CACHE_LINE
    return offsets, at


def flatten_parameters(parameters: Sequence[nn.Parameter]) -> nn.Parameter:
    """Move weights and gradients into one flat parameter, so that the optimiser steps a single tensor.

    The parameters become views of it, as do their gradients: zero them, never set them to None.
    """
    offsets, size = flat_offsets(parameters)
    flat = nn.Parameter(parameters[0].new_zeros(size))
    flat.grad = torch.zeros_like(flat)
    for parameter in parameters:
        part = slice(offsets[id(parameter)], offsets[id(parameter)] + parameter.numel())
        flat.data[part] = parameter.detach().reshape(-1)
        parameter.data, parameter.grad = flat.data[part].view_as(parameter), flat.grad[part].view_as(parameter)
    return flat
