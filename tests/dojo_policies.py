"""Small policies of every kind, with weights drawn by lot, for tests of the games that play them."""

import hashlib
import struct
from typing import Literal

import torch

from godojo.games.parts import ActionPart, Heading, ObservationPart, observation_size
from godojo.learn.cnn import image_inputs
from godojo.learn.networks import Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard
from godojo.learn.settings import Activation

MOVES = (
    ActionPart("move_x", "continuous", 1),
    ActionPart("move_z", "continuous", 1),
    ActionPart("jump", "continuous", 1, rest=-1.0),
)
MIXED = (ActionPart("gear", "discrete", 5), ActionPart("push", "continuous", 2), ActionPart("horn", "discrete", 2))
SEEN = (ObservationPart("place", (8,), low=-2.0, high=2.0), ObservationPart("rays", (27, 4), low=0.0))
PIXELS = (
    ObservationPart("eye", (13, 18, 3), "image", 0.0, 1.0),
    ObservationPart("place", (5,)),
    ObservationPart("map", (7, 6, 1), "image", 0.0, 1.0),
)
HEADING = Heading(forward=(6, 7), observed=((0, 2), (3, 5)), acted=((0, 1),))
TURNING = Heading(
    forward=(6, 7), observed=((0, 2), (3, 5)), acted=((0, 1),), remembered=((0, 1), (2, 5), (9, 4), (12, 13))
)


def drawn_policy(
    *,
    net_arch: tuple[int, ...] = (64, 64),
    memory: Literal["", "leaky", "gru"] = "",
    memory_size: int = 0,
    action_parts: tuple[ActionPart, ...] = MOVES,
    observation_parts: tuple[ObservationPart, ...] = SEEN,
    heading: Heading | None = None,
    squashed: bool = False,
    activation: Activation = "relu",
    cnn_channels: tuple[int, ...] = (),
    game: str = "drawn",
    role: str = "agent",
    seed: int = 0,
) -> tuple[Policy, PolicyCard]:
    """A policy as training might leave it: its head speaks up, its normaliser has seen something."""
    shape = PolicyShape(
        observation_size=observation_size(observation_parts),
        action_parts=action_parts,
        net_arch=net_arch,
        memory=memory,
        memory_size=memory_size,
        heading=heading,
        squashed=squashed,
        activation=activation,
        images=image_inputs(observation_parts, cnn_channels),
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        policy = Policy(shape)
        with torch.no_grad():
            policy.head.linear.weight.normal_(0.0, 0.2)
            for parameter in policy.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.02)
            policy.normaliser.update(torch.randn(500, shape.observation_size) * 0.7 + 0.2)
    policy.eval()
    return policy, PolicyCard(game, role, observation_parts, shape, 12_345)


def as_version_1(content: bytes) -> bytes:
    """The same file as the first version of the format wrote it: two layers had other names."""
    _, _, _, size, weight_bytes, _ = struct.unpack_from("<4sHHII32s", content)
    text = content[48 : 48 + size].rstrip().replace(b'"encoder"', b'"eyes"').replace(b'"trunk"', b'"mind"')
    text += b" " * (-len(text) % 4)
    body = text + content[48 + size :]
    digest = hashlib.sha256(body).digest()
    return struct.pack("<4sHHII32s", b"DOJO", 1, 0, len(text), weight_bytes, digest) + body
