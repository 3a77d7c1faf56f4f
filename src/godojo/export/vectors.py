"""Test vectors: observations and what a policy does with them in torch, for whoever computes it otherwise.

One file, little-endian: `DOJV`, then as unsigned 32-bit numbers the decisions T, the streams S, the numbers D of an
observation and A of an action; then float32: fresh [T, S] (1 where a round begins, so that everything is forgotten
first), observations [T, S, D], actions [T, S, A] as the game wants them, and memory [T, S, M] after each decision,
where M follows from the file's length. Streams remember apart: one agent each.
"""

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
    """What goes in and what must come out; arrays are float32."""

    fresh: np.ndarray
    """[T, S]"""
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
    """Observations drawn by lot from what the layout allows, and now and then far beyond; rounds of about 50 each."""
    lots = np.random.default_rng(seed)
    observation = draw_observations(card.observation_parts, card.shape.heading, (decisions, streams), lots)
    fresh = (lots.random((decisions, streams)) < 0.02).astype(np.float32)
    fresh[0] = 1.0
    return answered(policy, observation, fresh)


@torch.no_grad()
def answered(policy: Policy, observation: np.ndarray, fresh: np.ndarray) -> Vectors:
    """What torch does with these observations, [T, S, D]; where `fresh` is 1, a round begins."""
    memory = policy.begin(observation.shape[1])
    actions, memories = [], []
    for seen, begins in zip(observation, fresh, strict=True):
        raw = torch.from_numpy(seen)
        memory = memory * torch.from_numpy(1.0 - begins)[:, None]
        features, memory = policy.features(policy.look(raw), memory, policy.ahead(raw))
        choice = policy.head.sample(features, deterministic=True)
        actions.append(policy.for_game(choice.action, raw).numpy())
        memories.append(memory.numpy())
    return Vectors(fresh, observation, np.stack(actions), np.stack(memories))


def draw_observations(
    parts: tuple[ObservationPart, ...], heading: Heading | None, rows: tuple[int, ...], lots: np.random.Generator
) -> np.ndarray:
    """float32 [*rows, D]: where an agent looks is a unit vector; one row in 50 goes far beyond its bounds."""
    low = np.concatenate([np.full(part.size, part.low) for part in parts])
    high = np.concatenate([np.full(part.size, part.high) for part in parts])
    drawn = lots.uniform(low, high, (*rows, len(low)))
    drawn[lots.random(rows) < 0.02] *= 100.0
    if heading is not None:
        angle = lots.uniform(-np.pi, np.pi, rows)
        drawn[..., heading.forward[0]], drawn[..., heading.forward[1]] = np.sin(angle), np.cos(angle)
    return drawn.astype(np.float32)


def write_vectors(path: Path, vectors: Vectors) -> None:
    atomic_write(path, vectors.to_bytes())
