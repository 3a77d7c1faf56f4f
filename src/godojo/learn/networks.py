"""The networks: a policy that sees its own observation, and a critic that also sees privileged observations."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from godojo.errors import GodojoError
from godojo.games.parts import ActionPart, Heading
from godojo.learn.kernels import frames
from godojo.learn.memory import MEMORIES
from godojo.learn.threads import orthogonal

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
VARIANCE_FLOOR = 1e-6
"""Added to a variance before dividing by its root."""
NORMALISED_LIMIT = 5.0
"""Normalised observations are clipped here, so that rarely active sensors do not dominate."""
LOG_STD_LIMITS = (-5.0, 2.0)
"""Range of a squashed policy's log standard deviation."""


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


class Choice(NamedTuple):
    """Actions and their log-probabilities."""

    action: Tensor
    log_probability: Tensor


class Normaliser(nn.Module):
    """Normalises observations by their running mean and variance."""

    mean: Tensor
    variance: Tensor
    count: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("variance", torch.ones(size))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    def forward(self, raw: Tensor, out: Tensor | None = None) -> Tensor:
        """Normalise rows of observations; no gradient flows through it."""
        out = torch.empty_like(raw) if out is None else out
        rows = raw.numpy()
        floor, limit = rows.dtype.type(VARIANCE_FLOOR), rows.dtype.type(NORMALISED_LIMIT)
        frames.scale(rows, self.mean.numpy(), self.variance.numpy(), floor, limit, out.numpy())
        return out

    @torch.no_grad()
    def learn(self, raw: Tensor, acted: Tensor | None = None) -> None:
        """Update the running moments; with `acted`, only by the rows of agents that acted."""
        rows = raw.reshape(-1, raw.shape[-1])
        is_used = torch.ones(len(rows), dtype=torch.bool) if acted is None else acted.reshape(-1)
        mean, variance = torch.empty_like(self.mean), torch.empty_like(self.mean)
        count = float(frames.moments(rows.numpy(), is_used.numpy(), mean.numpy(), variance.numpy()))
        if count == 0.0:
            return
        total = float(self.count) + count
        share, shift = count / total, mean - self.mean
        self.variance.mul_(1.0 - share).add_(variance * share).add_(shift.square() * (share * (1.0 - share)))
        self.mean.add_(shift * share)
        self.count.fill_(total)


class ActionHead(nn.Module):
    """Maps features to a distribution: Gaussian for continuous actions, categorical for discrete ones."""

    def __init__(self, features: int, parts: Sequence[ActionPart]) -> None:
        super().__init__()
        self.parts = tuple(parts)
        self.numbers = sum(part.size for part in parts if part.kind == "continuous")
        self.choices = [part.size for part in parts if part.kind == "discrete"]
        self.linear = nn.Linear(features, self.numbers + sum(self.choices))
        self.log_std = nn.Parameter(torch.full((self.numbers,), -0.5))
        orthogonal(self.linear.weight, 0.01)
        nn.init.zeros_(self.linear.bias)
        with torch.no_grad():
            rest = [part.rest for part in parts if part.kind == "continuous" for _ in range(part.size)]
            self.linear.bias[: self.numbers] = torch.tensor(rest)
        columns, at = [], 0
        for part in parts:
            columns.append(slice(at, at + part.width))
            at += part.width
        self._numbers_at = [
            index
            for part, column in zip(parts, columns, strict=True)
            if part.kind == "continuous"
            for index in range(column.start, column.stop)
        ]
        self._choices_at = [
            column.start for part, column in zip(parts, columns, strict=True) if part.kind == "discrete"
        ]
        self._all_numbers = not self.choices

    def sample(
        self, features: Tensor, *, deterministic: bool = False, generator: torch.Generator | None = None
    ) -> Choice:
        raw = self.linear(features)
        log_probability, numbers = torch.zeros(raw.shape[:-1]), raw[..., : self.numbers].detach()
        if self.numbers and not deterministic:
            noise = torch.empty(numbers.shape).normal_(generator=generator)
            means, noises = (each.reshape(-1, self.numbers).numpy() for each in (numbers, noise))
            log_std, numbers = self.log_std.detach().numpy(), torch.empty(numbers.shape)
            out, probabilities = numbers.view(-1, self.numbers).numpy(), log_probability.view(-1).numpy()
            frames.draw(means, noises, log_std, log_std.dtype.type(LOG_SQRT_2PI), out, probabilities)
        if self._all_numbers:
            return Choice(numbers, log_probability)
        action = torch.empty((*raw.shape[:-1], len(self._numbers_at) + len(self._choices_at)))
        action[..., self._numbers_at] = numbers
        for column, logits in zip(self._choices_at, self._logits(raw), strict=True):
            if deterministic:
                chosen = logits.argmax(-1)
            else:
                rows = logits.reshape(-1, logits.shape[-1]).softmax(-1)
                chosen = torch.multinomial(rows, 1, generator=generator).reshape(logits.shape[:-1])
            action[..., column] = chosen.to(action.dtype)
            log_probability = log_probability + logits.log_softmax(-1).gather(-1, chosen[..., None])[..., 0]
        return Choice(action, log_probability)

    def judge(self, features: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability of these actions, and entropy of the distribution."""
        raw = self.linear(features)
        log_probability = raw.new_zeros(features.shape[:-1])
        entropy = raw.new_zeros(())
        if self.numbers:
            mean = raw[..., : self.numbers]
            numbers = action if self._all_numbers else action[..., self._numbers_at]
            log_probability = self._log_probability((numbers - mean) * torch.exp(-self.log_std))
            entropy = entropy + (self.log_std + 0.5 + LOG_SQRT_2PI).sum()
        for column, logits in zip(self._choices_at, self._logits(raw), strict=True):
            logs = logits.log_softmax(-1)
            log_probability = log_probability + logs.gather(-1, action[..., column, None].long())[..., 0]
            entropy = entropy - (logs.exp() * logs).sum(-1)
        return log_probability, entropy

    def _log_probability(self, distance: Tensor) -> Tensor:
        """Of values at these distances from the mean, in standard deviations."""
        return -0.5 * distance.square().sum(-1) - (self.log_std + LOG_SQRT_2PI).sum()

    def _logits(self, raw: Tensor) -> Sequence[Tensor]:
        return torch.split(raw[..., self.numbers :], self.choices, -1)


class SquashedHead(nn.Module):
    """Maps features to a tanh-squashed Gaussian with a state-dependent standard deviation."""

    def __init__(self, features: int, parts: Sequence[ActionPart]) -> None:
        super().__init__()
        if choices := [part.name for part in parts if part.kind == "discrete"]:
            raise GodojoError(f"a squashed policy has continuous actions only; discrete here: {', '.join(choices)}")
        self.linear = nn.Linear(features, 2 * sum(part.size for part in parts))
        orthogonal(self.linear.weight, 0.01)
        nn.init.zeros_(self.linear.bias)

    def sample(
        self, features: Tensor, *, deterministic: bool = False, generator: torch.Generator | None = None
    ) -> Choice:
        """Reparametrised: gradients flow through the sampled action."""
        mean, spread = self.linear(features).chunk(2, -1)
        if deterministic:
            return Choice(mean.tanh(), torch.zeros(features.shape[:-1]))
        log_std = spread.clamp(*LOG_STD_LIMITS)
        noise = torch.empty_like(mean).normal_(generator=generator)
        number = torch.addcmul(mean, noise, log_std.exp())
        # The log-derivative of tanh, in a form that does not overflow.
        log_slope = 2.0 * (math.log(2.0) - number - functional.softplus(-2.0 * number))
        log_probability = -(0.5 * noise.square() + log_std + LOG_SQRT_2PI + log_slope).sum(-1)
        return Choice(number.tanh(), log_probability)

    def judge(self, _features: Tensor, _action: Tensor) -> tuple[Tensor, Tensor]:
        raise GodojoError("PPO cannot continue a policy of SAC; start a new run, or train with --algorithm sac")


def number_places(parts: Sequence[ActionPart]) -> Iterator[int]:
    """Columns of the continuous actions."""
    at = 0
    for part in parts:
        if part.kind == "continuous":
            yield from range(at, at + part.width)
        at += part.width


def places(found: Iterable[Any]) -> np.ndarray:
    return np.array(list(found), np.int64)


def mlp(sizes: Sequence[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width, following in itertools.pairwise(sizes):
        linear = nn.Linear(width, following)
        orthogonal(linear.weight, math.sqrt(2.0))
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers)


def turned(memory: Tensor, pairs: np.ndarray, ahead: Tensor | None) -> Tensor:
    """Rotate memory pairs from the world's axes to the heading."""
    if not len(pairs):
        return memory
    assert ahead is not None
    (x_at, z_at), x_ahead, z_ahead = pairs.T.tolist(), ahead[..., :1], ahead[..., 1:]
    x, z, own = memory[..., x_at], memory[..., z_at], memory.clone()
    own[..., x_at], own[..., z_at] = x * z_ahead - z * x_ahead, x * x_ahead + z * z_ahead
    return own


def turned_back(own: Tensor, pairs: np.ndarray, ahead: Tensor | None) -> Tensor:
    """The inverse of `turned`."""
    if not len(pairs):
        return own
    assert ahead is not None
    (x_at, z_at), x_ahead, z_ahead = pairs.T.tolist(), ahead[..., :1], ahead[..., 1:]
    left, front, memory = own[..., x_at], own[..., z_at], own.clone()
    memory[..., x_at], memory[..., z_at] = left * z_ahead + front * x_ahead, front * z_ahead - left * x_ahead
    return memory


class Policy(nn.Module):
    """The policy of one role: encoder, optional memory, trunk and action head.

    The memory takes the encoder's output; the trunk combines both.
    """

    def __init__(self, shape: PolicyShape) -> None:
        super().__init__()
        self.shape, self.heading = shape, shape.heading
        self.memory_size = shape.memory_size if shape.memory else 0
        *first, last = shape.net_arch
        self.normaliser = Normaliser(shape.observation_size)
        self.encoder = mlp([shape.observation_size, *first])
        width = first[-1] if first else shape.observation_size
        self.memory = MEMORIES[shape.memory](width, self.memory_size) if shape.memory else None
        self.trunk = mlp([width + self.memory_size, last])
        self.head = (SquashedHead if shape.squashed else ActionHead)(last, shape.action_parts)
        self.acting = frames.Acting(
            places(shape.heading.forward if shape.heading else ()),
            places(shape.heading.acted if shape.heading else ()).reshape(-1, 2),
            places(number_places(shape.action_parts)),
        )
        self._observed = places(shape.heading.observed if shape.heading else ()).reshape(-1, 2)
        self.turning = places(shape.heading.remembered if shape.heading else ()).reshape(-1, 2)
        """Pairs of memory cells that are stored along the world's axes and used relative to the heading."""

    def look(self, raw: Tensor, out: Tensor | None = None) -> Tensor:
        """Observations as the policy takes them: egocentric and normalised."""
        turned = self.to_egocentric(raw, out)
        seen: Tensor = self.normaliser(turned, out=turned)
        return seen

    def to_egocentric(self, raw: Tensor, out: Tensor | None = None) -> Tensor:
        """Observations relative to the heading."""
        out = torch.empty_like(raw) if out is None else out
        frames.turn(raw.numpy(), self.acting.forward, self._observed, out.numpy())
        return out

    def for_game(self, action: Tensor, raw: Tensor, out: Tensor | None = None) -> Tensor:
        """Actions as the game takes them: along the world's axes, clipped to -1 and 1."""
        out = torch.empty_like(action) if out is None else out
        frames.turn_back(action.detach().numpy(), raw.numpy(), self.acting, out.numpy())
        return out

    def begin(self, rows: int) -> Tensor:
        """The memory at the start of an episode: zeros."""
        return torch.zeros(rows, self.memory_size)

    def ahead(self, raw: Tensor) -> Tensor:
        """The agents' headings, as rows of x and z; empty where the game declares none."""
        return raw[..., list(self.acting.forward)]

    def features(self, normalised: Tensor, memory: Tensor, ahead: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Features and new memory for one step; needs the headings (`ahead`) if memory cells rotate."""
        seen = self.encoder(normalised)
        if self.memory is not None:
            held = self.memory(seen, turned(memory, self.turning, ahead))
            seen, memory = torch.cat((seen, held), -1), turned_back(held, self.turning, ahead)
        return self.trunk(seen), memory

    def features_of_sequence(
        self, normalised: Tensor, memory: Tensor, not_done: Tensor, ahead: Tensor | None = None
    ) -> Tensor:
        """Features for T steps, [T, rows, D]; the memory is reset before a step where `not_done` is 0."""
        seen = self.encoder(normalised)
        if self.memory is not None:
            seen = torch.cat((seen, self.memory.sequence(seen, memory, not_done, ahead, self.turning)), -1)
        features: Tensor = self.trunk(seen)
        return features


class Critic(nn.Module):
    """The value function: sees the agent's own observation and the privileged one."""

    def __init__(self, observation_size: int, privileged_size: int, net_arch: Sequence[int]) -> None:
        super().__init__()
        self.normaliser = Normaliser(privileged_size)
        self.own = nn.Linear(observation_size, net_arch[0])
        self.privileged = nn.Linear(privileged_size, net_arch[0], bias=False)
        orthogonal(self.own.weight, math.sqrt(2.0))
        nn.init.zeros_(self.own.bias)
        orthogonal(self.privileged.weight, math.sqrt(2.0))
        self.trunk = mlp(net_arch)
        self.value = nn.Linear(net_arch[-1], 1)
        orthogonal(self.value.weight, 1.0)
        nn.init.zeros_(self.value.bias)

    def forward(self, normalised: Tensor, privileged: Tensor) -> Tensor:
        first = torch.relu(self.own(normalised) + self.privileged(privileged))
        value: Tensor = self.value(self.trunk(first))[..., 0]
        return value
