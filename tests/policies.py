"""Policies of all kinds with weights that matter, of a game that is not tag."""

from typing import Any

import torch

from godojo.games.parts import ActionPart, Heading, ObservationPart
from godojo.learn.networks import Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard

MIXED = (
    ActionPart("gear", "discrete", 4),
    ActionPart("steer", "continuous", 2),
    ActionPart("horn", "discrete", 2),
    ActionPart("gas", "continuous", 1),
)
NUMBERS = (ActionPart("move", "continuous", 2), ActionPart("jump", "continuous", 1, rest=-1.0))
PARTS = (ObservationPart("forward", (2,)), ObservationPart("rays", (3, 3), low=0.0), ObservationPart("speed", (2,)))
HEADING = Heading(forward=(0, 1), observed=((0, 1), (11, 12)), acted=((0, 1),))
TURNING = Heading(forward=(0, 1), observed=((0, 1), (11, 12)), acted=((0, 1),), remembered=((4, 1), (0, 3)))


def trained(
    parts: tuple[ActionPart, ...] = NUMBERS,
    memory: Any = "leaky",
    *,
    heading: Heading | None = HEADING,
    squashed: bool = False,
    net_arch: tuple[int, ...] = (9, 7, 6),
    activation: Any = "relu",
) -> tuple[Policy, PolicyCard]:
    """A policy, and what it says about itself."""
    shape = PolicyShape(13, parts, net_arch, memory, 5 if memory else 0, heading, squashed, activation)
    torch.manual_seed(1)
    policy = Policy(shape)
    with torch.no_grad():
        policy.head.linear.weight.normal_()
        policy.head.linear.bias.normal_()
    policy.normaliser.update(torch.randn(100, 13) * torch.linspace(0.1, 3.0, 13) + 0.5)
    return policy.requires_grad_(False).eval(), PolicyCard("race", "driver", PARTS, shape, 77, {"laps": 3})


KINDS: dict[str, dict[str, Any]] = {
    "leaky": {},
    "turning": {"heading": TURNING},
    "gru": {"memory": "gru"},
    "forgetful": {"memory": "", "net_arch": (8, 6)},
    "one layer": {"memory": "", "net_arch": (6,)},
    "no heading": {"heading": None},
    "choices": {"parts": MIXED, "heading": None},
    "only choices": {"parts": (ActionPart("turn", "discrete", 3),), "heading": None},
    "squashed": {"squashed": True, "memory": ""},
    "tanh": {"activation": "tanh"},
    "silu": {"activation": "silu", "memory": "gru"},
}
