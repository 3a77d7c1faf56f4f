"""Replays as `viewer.js` reads them: small numbers in base64, centimetres and fractions of a turn."""

import base64
from typing import Any

import msgspec
import numpy as np

from godojo.show.replay import Replay, opponents_met

FRAMES_PER_S = 30
HEADING_SCALE = 5000


def viewer_round(replay: Replay, title: str, begin_s: float = 0.0) -> dict[str, Any]:
    """One round for the page, shown from `begin_s` on."""
    header, layout, outcome = replay.header, replay.layout, replay.outcome
    up = np.abs(replay.rays[1])
    level = up <= up.min(initial=1.0) + 1e-3
    result = "cut off"
    if outcome is not None:
        result = f"{outcome.winner} wins" if outcome.winner in {role.name for role in header.roles} else "round over"
    return {
        "title": title,
        "who": f"{header.arena_title} · " + " · ".join(f"{role.name}: {role.player}" for role in header.roles),
        "result": result,
        "begin": round(begin_s, 2),
        "seconds": round(replay.seconds, 3),
        "length": header.round_s,
        "fps": FRAMES_PER_S,
        "rate": header.ticks_per_second / header.ticks_per_decision,
        "agents": [role.name for role in header.roles for _ in range(role.agents)],
        "teams": [team.colour for team in header.teams],
        "layout": msgspec.to_builtins(msgspec.structs.replace(layout, boxes=())),
        "solids": msgspec.to_builtins(layout.solids()),
        "sides": [round(float(side), 4) for side in np.arctan2(replay.rays[0], replay.rays[2])[level]],
        "frames": _packed(_frames(replay)),
        "rays": _packed(_rays(replay, level)),
    }


def _frames(replay: Replay) -> np.ndarray:
    """[F, A, 5]: x, y, z, heading, and whether it is active (1) plus twice its team."""
    moments = [
        replay.at(seconds) for seconds in np.arange(0.0, replay.seconds + 1.0 / FRAMES_PER_S, 1.0 / FRAMES_PER_S)
    ]
    place = np.stack([moment.position_m for moment in moments]) * 100
    heading = np.stack([(moment.heading_rad + np.pi) % (2 * np.pi) - np.pi for moment in moments]) * HEADING_SCALE
    flags = np.stack([moment.active + 2 * moment.team.astype(int) for moment in moments])
    return np.concatenate([place, heading[..., None], flags[..., None]], axis=-1)


def _rays(replay: Replay, level: np.ndarray) -> np.ndarray:
    """[D, A, R]: lengths of the level rays; negative where they meet an opponent."""
    met = opponents_met(replay.sight_kind, replay.team[replay.decision_frame])[..., level]
    reach: np.ndarray = np.maximum(replay.sight_m[..., level] * 100, 1.0) * np.where(met, -1.0, 1.0)
    return reach


def _packed(array: np.ndarray) -> str:
    return base64.b64encode(np.rint(array).clip(-32768, 32767).astype("<i2").tobytes()).decode()
