"""How rounds of landing are recorded and drawn, and which of their moments are worth showing."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from godojo.games.landing.settings import LAYOUT, LandingSettings
from godojo.games.landing.spec import PILOT
from godojo.games.landing.terrain import read_terrain
from godojo.show.replay import Highlight, Layout, Mark, Observations, Replay, ReplaySpec, States, Team


def layout(settings: LandingSettings, _: Any) -> Layout:
    """The ground as a level floor; the game's own film scene draws its hills."""
    edge_m = 2 * read_terrain().half_m
    return Layout(
        size_m=(edge_m, edge_m),
        body_m=2 * settings.standing_m,
        eye_height_m=0.0,
        marks=(Mark((0.0, 0.0, 0.0), settings.rules.pad_radius_m, "goal"),),
    )


def _states(position_m: np.ndarray, velocity_mps: np.ndarray) -> States:
    """[..., 1, 3] each. The craft looks along -z; how it is turned is in the tracks."""
    shape = position_m.shape[:-1]
    heading_rad = np.full(shape, math.pi, np.float32)
    return States(
        position_m, velocity_mps, heading_rad, np.zeros(shape, bool), np.ones(shape, bool), np.zeros(shape, np.uint8)
    )


def now(twin: Any) -> States:
    return _states(twin.crafts["position"][:, None].copy(), twin.crafts["velocity"][:, None].copy())


def trace(twin: Any) -> tuple[States, np.ndarray]:
    from godojo.games.landing.sim.trace import trace  # loads the compiler

    frames, played = trace(twin)
    return _states(frames["position"][:, :, None].copy(), frames["velocity"][:, :, None].copy()), played


def read_states(
    settings: LandingSettings, _: Layout, observations: Observations, before: States | None, ticks: np.ndarray
) -> States:
    del before, ticks  # everything that is drawn is observed
    return _states(position_m(settings, observations[PILOT]), 50.0 * LAYOUT.view(observations[PILOT], "velocity"))


def position_m(settings: LandingSettings, observation: np.ndarray) -> np.ndarray:
    """[..., 3]: where the craft is, from the way to the pad."""
    way = LAYOUT.view(observation, "pad_direction") * LAYOUT.view(observation, "pad_distance") * np.float32(1000.0)
    at: np.ndarray = np.array([0.0, settings.standing_m, 0.0], np.float32) - way
    at[..., 1] = LAYOUT.view(observation, "altitude")[..., 0] * np.float32(1000.0)
    return at


def tracks(replay: Replay) -> dict[str, np.ndarray]:
    """Fuel, rotation (a quaternion) and thrust of every frame, from the actions."""
    from godojo.games.landing.sim.trace import attitudes  # loads the compiler

    settings: LandingSettings = replay.settings
    rotation, fuel_s = attitudes(settings, replay.action[:, 0])
    ticks = np.minimum(replay.tick, len(fuel_s) - 1)
    decision = np.searchsorted(replay.decision_frame, np.arange(len(replay.tick)), side="right") - 1
    thrust = np.clip(replay.action[decision.clip(min=0), 0, :3], -1.0, 1.0)
    thrust[:, 1] = 0.5 * (1.0 + thrust[:, 1])
    thrust = thrust * (fuel_s[ticks] > 0.0)[:, None]
    found = {"fuel": fuel_s[ticks] / max(settings.craft.fuel_s, 1e-6)}
    found |= {f"rotation_{name}": rotation[ticks, place] for place, name in enumerate("xyzw")}
    found |= {f"thrust_{name}": thrust[:, place] for place, name in enumerate("xyz")}
    return {name: numbers.astype(np.float32)[:, None] for name, numbers in found.items()}


def highlights(replay: Replay) -> Sequence[Highlight]:
    """A soft touchdown on the pad, as early as possible."""
    outcome = replay.outcome
    if outcome is None or outcome.winner != PILOT:
        return []
    seconds = outcome.seconds
    text = f"on the pad after {seconds:.1f} s with {100 * outcome.scores[0]:.0f} % of the fuel left"
    return [Highlight("landing", "Soft landing", text, replay, -seconds, seconds, max(seconds - 30.0, 0.0), 0)]


SPEC = ReplaySpec(
    teams=(Team(PILOT, "#c98a2b"),),
    layout=layout,
    read_states=read_states,
    round_s=lambda settings: settings.rules.max_ticks / settings.ticks_per_second,
    now=now,
    trace=trace,
    highlights=highlights,
    tracks=tracks,
    warn_below=lambda _: 0.8,
    cameras=("follow", "overview"),
    endings={
        PILOT: "Landed on the pad",
        "off_pad": "Landed off the pad",
        "rough": "A rough landing",
        "crash": "Crashed",
        "clock": "Time is up",
    },
)
