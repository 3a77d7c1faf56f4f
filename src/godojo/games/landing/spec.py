"""Role, observation, action and reward terms of landing: the same in every engine.

The pilot acts with five numbers in [-1, 1]: `thrust_x`, `thrust_y` (-1 is no thrust, 1 is full thrust), `thrust_z`,
`pitch` and `roll`, all in the craft's own frame. It observes 14 numbers, or 15 with the fuel:
`godot/games/landing/observation.json` declares them and docs/games/landing.md explains each part.
"""

from godojo.games.landing.settings import LAYOUT as LAYOUT
from godojo.games.landing.settings import LandingSettings
from godojo.games.parts import ActionPart, ObservationPart, Role

PILOT = "pilot"
ACTIONS = ("thrust_x", "thrust_y", "thrust_z", "pitch", "roll")
REST = (0.0, -1.0, 0.0, 0.0, 0.0)
"""The action that does nothing."""
REWARD_TERMS = ("distance", "slow", "touchdown", "pad", "timeout", "shaping", "fuel")
WINNERS = ("nobody", PILOT, "off_pad", "rough", "crash", "clock")
"""How rounds end: a soft touchdown on the pad (the pilot wins) or off it, a rough one, a crash, no touchdown."""


def observation_parts(settings: LandingSettings) -> tuple[ObservationPart, ...]:
    return tuple(part for part in LAYOUT.parts(settings) if part.size)


def roles(settings: LandingSettings) -> tuple[Role, ...]:
    actions = tuple(ActionPart(name, "continuous", 1, rest) for name, rest in zip(ACTIONS, REST, strict=True))
    return (Role(PILOT, 0, 1, observation_parts(settings), actions),)
