"""How rounds of tag are recorded and drawn, and which of their moments are worth showing: catches and escapes.

Both are about pressure: how long two opponents were near each other, in sight. docs/replays.md has the rules in words.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from godojo.errors import GodojoError
from godojo.games.settings import TICK_S
from godojo.games.tag.arenas import Arena, check_arena
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.spec import LAYOUT, RAY_DISTANCE, RAY_HIT, ray_directions
from godojo.show.replay import (
    FIRST_TEAM,
    NOTHING,
    WALL,
    Highlight,
    Layout,
    LayoutBox,
    Observations,
    Replay,
    ReplaySpec,
    States,
    Team,
)

SEEKER, HIDER = 0, 1
TEAMS = (Team("seeker", "#ff7810"), Team("hider", "#1b55d8"))
"""The colours of `godot/games/tag/look/tag_style.gd`."""
NEAR_M = 4.0
"""A chase: an opponent is in sight, or no farther than this, edge to edge."""
LET_GO_S = 1.0
"""A chase that pauses for no longer is still the same."""
LATE_M = 2.0
"""How much closer an escape at the start of a round must be than one at its end, to be as good."""


def layout(settings: TagSettings, arena: Any) -> Layout:
    if not isinstance(arena, Arena):
        try:
            arena = msgspec.convert(arena, Arena)
        except msgspec.ValidationError as error:
            raise GodojoError(f"arena: {error}") from None
        check_arena(arena, settings)
    return _layout(settings, arena.size_m, [LayoutBox(box.position_m, box.size_m, box.kind) for box in arena.boxes])


def layout_now(twin: Any, world: int) -> Layout:
    slot, settings = twin.arena_slots[world], twin.settings
    if slot["number"] >= 0:
        return layout(settings, twin.arenas[slot["number"]])
    boxes = []
    for low, high in zip(
        slot["low"].T[: slot["boxes"]].tolist(), slot["high"].T[: slot["boxes"]].tolist(), strict=True
    ):
        (x, y, z), (far_x, top, far_z) = low, high
        kind = "tall" if top - y > settings.body.size_m * 2 else "low"
        middle, size = ((x + far_x) / 2, (y + top) / 2, (z + far_z) / 2), (far_x - x, top - y, far_z - z)
        boxes.append(LayoutBox(middle, size, kind))
    wide, deep = slot["size_m"].tolist()
    return _layout(settings, (wide, deep), boxes)


def _layout(settings: TagSettings, size_m: tuple[float, float], boxes: Sequence[LayoutBox]) -> Layout:
    return Layout(
        size_m=size_m,
        body_m=settings.body.size_m,
        eye_height_m=settings.sight.eye_height_m,
        wall_height_m=settings.arena.wall_height_m,
        boxes=tuple(boxes),
    )


def now(twin: Any) -> States:
    return _states(twin.agents)


def trace(twin: Any) -> tuple[States, np.ndarray]:
    from godojo.games.tag.sim.trace import trace  # loads the compiler

    frames, played = trace(twin)
    return _states(frames), played


def _states(agents: np.ndarray) -> States:
    return States(
        agents["position"].copy(),
        agents["velocity"].copy(),
        agents["heading"].astype(np.float32),
        agents["grounded"] > 0,
        agents["active"] > 0,
        np.where(agents["chases"] > 0, SEEKER, HIDER).astype(np.uint8),
    )


def read_states(
    settings: TagSettings, drawn: Layout, observations: Observations, before: States | None, ticks: np.ndarray
) -> States:
    """A caught agent observes zeros: in the frame of its catch it is shown where its velocity took it."""
    own = _parts(observations)
    motion = settings.motion
    active = np.any([values.any(axis=-1) for name, values in own.items() if name != "rays"], axis=0)
    chases = own["is_seeker"][..., 0] > 0.5
    top_mps = np.where(chases, motion.seeker_speed_mps, motion.hider_speed_mps)
    up_mps = np.full_like(top_mps, max(motion.jump_speed_mps, 1.0))
    scale_m = np.array([drawn.size_m[0] / 2, drawn.wall_height_m, drawn.size_m[1] / 2], np.float32)
    found = States(
        own["position"] * scale_m,
        (own["velocity"] * np.stack([top_mps, up_mps, top_mps], axis=-1)).astype(np.float32),
        np.arctan2(own["forward"][..., 0], own["forward"][..., 1]),
        own["grounded"][..., 0] > 0.5,
        active,
        np.where(chases, SEEKER, HIDER).astype(np.uint8),
    )
    if before is None:
        return found
    seconds = (ticks * TICK_S)[:, None, None].astype(np.float32)
    moved = before.position_m + before.velocity_mps * seconds * np.array([1, 0, 1], np.float32)
    stay = before._replace(position_m=np.where(before.active[..., None], moved, before.position_m))
    kept = (
        np.where(active.reshape(active.shape + (1,) * (new.ndim - 2)), new, old)
        for new, old in zip(found, stay, strict=True)
    )
    return States(*kept)._replace(active=active)


def read_sight(settings: TagSettings, observations: Observations) -> tuple[np.ndarray, np.ndarray]:
    rays = _parts(observations)["rays"]
    distance, hit = rays[..., RAY_DISTANCE], rays[..., RAY_HIT]
    bodies = np.where(hit > 0.0, FIRST_TEAM + HIDER, FIRST_TEAM + SEEKER)
    kinds = np.where(hit == 0.0, np.where(distance < 1.0, WALL, NOTHING), bodies)
    return distance * np.float32(settings.sight.range_m), kinds.astype(np.uint8)


def _parts(observations: Observations) -> dict[str, np.ndarray]:
    """All agents' observations by the name of the part, [N, A, ...]."""
    together = np.concatenate(list(observations.values()), axis=1)
    return {name: LAYOUT.view(together, name) for name in LAYOUT.names}


def scores(replay: Replay) -> np.ndarray:
    """In classic tag: seconds of not being "it"."""
    ticks = np.diff(replay.tick, prepend=0)[:, None] * (replay.team == HIDER)
    seconds: np.ndarray = (np.cumsum(ticks, axis=0) * TICK_S).astype(np.float32)
    return seconds


def mode(settings: TagSettings) -> str:
    rules = settings.rules
    if rules.mode == "classic":
        return "Classic tag"
    return "Hide and seek" if rules.seekers == rules.hiders == 1 else "Teams"


def highlights(replay: Replay) -> Sequence[Highlight]:
    is_classic = replay.header.settings.rules.mode == "classic"
    found = (pass_of(replay), dodge_of(replay)) if is_classic else (catch_of(replay), escape_of(replay))
    return [one for one in found if one is not None]


def catch_of(replay: Replay) -> Highlight | None:
    """The touch that ended the longest chase since the touch before: worth its seconds.

    A touch is where a hider leaves the round or, in classic tag, becomes "it".
    """
    runs = (replay.team == HIDER) & replay.active
    touched = (runs[:-1] & ~runs[1:]).any(axis=1)
    frames = (np.flatnonzero(touched) + 1).tolist()
    if not frames:
        return None
    chases = []
    for before, frame in itertools.pairwise((0, *frames)):
        seconds = float(replay.tick[frame]) * TICK_S
        begins = max(_chase_begins(replay, frame), float(replay.tick[before]) * TICK_S)
        chases.append((seconds - begins, seconds, begins))
    chase_s, seconds, begins = max(chases)
    text = f"touched after a chase of {chase_s:.1f} s"
    return Highlight("catch", "Longest chase, best catch", text, replay, chase_s, seconds, begins, SEEKER)


def escape_of(replay: Replay) -> Highlight | None:
    """A round that the hider survived although it was seen: by the narrowest moment of a chase, late ones preferred."""
    outcome = replay.outcome
    if outcome is None or outcome.winner != "hider":
        return None
    gap_m = np.where(_chased(replay), replay.gap_m(), np.inf)
    if not np.isfinite(gap_m).any():
        return None
    worth = -gap_m - LATE_M * (1.0 - replay.tick / max(outcome.ticks, 1))
    frame = int(worth.argmax())
    text = f"{max(float(gap_m[frame]), 0.0):.1f} m between them, and never caught"
    seconds, begins = float(replay.tick[frame]) * TICK_S, _chase_begins(replay, frame)
    return Highlight("escape", "Narrowest escape", text, replay, float(worth[frame]), seconds, begins, HIDER)


def pass_of(replay: Replay) -> Highlight | None:
    """In classic tag: the touch that ended the longest chase since "it" was last passed on."""
    passes, best = _passes(replay), None
    for before, frame in itertools.pairwise((0, *passes)):
        seconds = float(replay.tick[frame]) * TICK_S
        begins = max(_chase_begins(replay, frame - 1), float(replay.tick[before]) * TICK_S)
        if best is None or seconds - begins > best.worth:
            text = f"touched after a chase of {seconds - begins:.1f} s"
            best = Highlight(
                "catch", "Longest chase, best tag", text, replay, seconds - begins, seconds, begins, SEEKER
            )
    return best


def dodge_of(replay: Replay) -> Highlight | None:
    """In classic tag: the narrowest moment of a chase in which a touch would have counted, and there was none."""
    gap_m = np.where(_chased(replay), replay.gap_m(), np.inf)
    immune = (replay.header.settings.rules.immunity_s + LET_GO_S) / TICK_S
    for frame in _passes(replay):
        ticks = replay.tick - replay.tick[frame]
        gap_m[(ticks > -LET_GO_S / TICK_S) & (ticks < immune)] = np.inf
    frame = int(gap_m.argmin())
    if not np.isfinite(gap_m[frame]):
        return None
    text = f"{max(float(gap_m[frame]), 0.0):.2f} m between them, and not touched"
    seconds, begins = float(replay.tick[frame]) * TICK_S, _chase_begins(replay, frame)
    return Highlight("escape", "Narrowest escape", text, replay, -float(gap_m[frame]), seconds, begins, HIDER)


def _passes(replay: Replay) -> list[int]:
    """The frames at which "it" is somebody else than before."""
    found: list[int] = (1 + np.flatnonzero((replay.team[1:] != replay.team[:-1]).any(axis=1))).tolist()
    return found


def _chased(replay: Replay) -> np.ndarray:
    """bool [F]: whether a seeker sees an opponent, or is near one."""
    sees = (replay.sees() & (replay.team[replay.decision_frame] == SEEKER)).any(axis=1)
    decision = np.searchsorted(replay.decision_frame, np.arange(len(replay.tick)), side="right") - 1
    chased: np.ndarray = np.where(decision >= 0, sees[decision], False) | (replay.gap_m() < NEAR_M)
    return chased


def _chase_begins(replay: Replay, frame: int) -> float:
    """When the chase at a frame began: looking back, the first pause longer than `LET_GO_S`."""
    chased = _chased(replay)
    begins = float(replay.tick[frame])
    for place in range(frame, -1, -1):
        if chased[place]:
            begins = float(replay.tick[place])
        elif begins - float(replay.tick[place]) > LET_GO_S / TICK_S:
            break
    return begins * TICK_S


SPEC = ReplaySpec(
    teams=TEAMS,
    layout=layout,
    read_states=read_states,
    rays=ray_directions,
    read_sight=read_sight,
    round_s=lambda settings: float(settings.round_length_s),
    now=now,
    trace=trace,
    scores=scores,
    layout_now=layout_now,
    highlights=highlights,
    mode=mode,
)
