"""Test vectors: observations and torch's actions, to test other implementations with (`docs/dojo-file.md`)."""

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from godojo.files import atomic_write
from godojo.games.parts import Heading, ObservationPart
from godojo.learn.networks import Policy
from godojo.learn.policy_file import PolicyCard

MAGIC = b"DOJV"


class Vectors(NamedTuple):
    """Inputs and expected outputs, float32, of S agents (streams) over T decisions."""

    fresh: np.ndarray
    """[T, S]: 1 where an episode begins."""
    observation: np.ndarray
    """[T, S, D]"""
    action: np.ndarray
    """[T, S, A]"""
    memory: np.ndarray
    """[T, S, M]: after the decision."""

    def to_bytes(self) -> bytes:
        steps, streams, size = self.observation.shape
        head = MAGIC + struct.pack("<4I", steps, streams, size, self.action.shape[-1])
        return head + b"".join(np.ascontiguousarray(block, "<f4").tobytes() for block in self)


def make_vectors(
    policy: Policy, card: PolicyCard, decisions: int = 10_000, *, streams: int = 1, seed: int = 0
) -> Vectors:
    """Random observations within the layout's bounds, now and then far beyond; episodes have about 50 decisions."""
    rng = np.random.default_rng(seed)
    observation = draw_observations(card.observation_parts, card.shape.heading, (decisions, streams), rng)
    fresh = (rng.random((decisions, streams)) < 0.02).astype(np.float32)
    fresh[0] = 1.0
    return answered(policy, observation, fresh)


@torch.no_grad()
def answered(policy: Policy, observation: np.ndarray, fresh: np.ndarray) -> Vectors:
    """Torch's actions for these observations, [T, S, D]."""
    memory = policy.initial_memory(observation.shape[1])
    actions, memories = [], []
    for rows, begins in zip(observation, fresh, strict=True):
        raw = torch.from_numpy(rows)
        memory = memory * torch.from_numpy(1.0 - begins)[:, None]
        features, memory = policy.features(policy.preprocess(raw), memory, policy.heading_of(raw))
        sampled = policy.head.sample(features, deterministic=True)
        actions.append(policy.to_env_action(sampled.action, raw).numpy())
        memories.append(memory.numpy())
    return Vectors(fresh, observation, np.stack(actions), np.stack(memories))


def draw_observations(
    parts: tuple[ObservationPart, ...], heading: Heading | None, rows: tuple[int, ...], rng: np.random.Generator
) -> np.ndarray:
    """float32 [*rows, D]: headings are unit vectors; one row in 50 is far beyond the bounds."""
    low = np.concatenate([np.full(part.size, part.low) for part in parts])
    high = np.concatenate([np.full(part.size, part.high) for part in parts])
    drawn = rng.uniform(low, high, (*rows, len(low)))
    drawn[rng.random(rows) < 0.02] *= 100.0
    if heading is not None:
        angle = rng.uniform(-np.pi, np.pi, rows)
        drawn[..., heading.forward[0]], drawn[..., heading.forward[1]] = np.sin(angle), np.cos(angle)
    return drawn.astype(np.float32)


def write_vectors(path: Path, vectors: Vectors) -> None:
    atomic_write(path, vectors.to_bytes())
