"""Games of tag for tests: strategies for arenas, settings and actions of many kinds, and a recorder of what happens."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st

import godojo
from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.games.tag.arenas import Arena, Box, SpawnArea, check_arena
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.sim.twin import TagTwin

TICK_S = 1 / 60
# A fixed set of examples by default; GODOJO_EXAMPLES=500 looks at so many fresh ones of each property.
HUNT = int(os.environ.get("GODOJO_EXAMPLES", "0"))
NO_COMPLAINTS = tuple(HealthCheck)


def examples(count: int) -> Callable[[Any], Any]:
    """How many examples a property is tried with."""
    return settings(
        max_examples=HUNT or count,
        derandomize=not HUNT,
        deadline=None,
        database=None,
        suppress_health_check=NO_COMPLAINTS,
    )


class Game(NamedTuple):
    """What is played, and where."""

    settings: TagSettings
    arenas: tuple[Arena, ...]
    generated_share: float
    truncate_after: int
    seed: int
    style: str

    def make(self, num_worlds: int = 4, **changes: Any) -> Worlds:
        options: dict[str, Any] = {
            "settings": self.settings,
            "arenas": self.arenas,
            "generated_share": self.generated_share,
            "truncate_after": self.truncate_after,
        }
        return godojo.make_vec("tag", num_worlds=num_worlds, seed=self.seed, **(options | changes))


def length(least: float, most: float, step: float = 0.01) -> st.SearchStrategy[float]:
    """On a grid, ends included: neat numbers find ties, and shrink well."""
    return st.integers(round(least / step), round(most / step)).map(lambda count: round(count * step, 4))


@st.composite
def all_settings(draw: st.DrawFn, /, fixed: dict[str, object]) -> TagSettings:
    """Both modes, every split, and numbers from all over their limits."""
    size = draw(st.sampled_from([0.9, 0.9, 0.3, 0.6, 1.25, 1.5]))
    seekers = draw(st.integers(1, 7))
    wild = draw(st.booleans())
    values: dict[str, object] = {
        "rules.mode": draw(st.sampled_from(["hide_and_seek", "classic"])),
        "rules.seekers": seekers,
        "rules.hiders": draw(st.integers(1, 8 - seekers)),
        "rules.players": draw(st.integers(2, 8)),
        "rules.round_s": draw(st.sampled_from([0.5, 1.0, 2.0])),
        "rules.classic_round_s": draw(st.sampled_from([0.5, 1.0, 2.0])),
        "rules.immunity_s": draw(st.sampled_from([0.0, 0.1, 0.5])),
        "rules.touch_reach_m": draw(length(0.003, 0.09, 0.001)),
        "rules.ticks_per_decision": draw(st.sampled_from([1, 2, 4, 7])),
        "body.size_m": size,
        "spawns.distance_m": draw(st.sampled_from([0.0, 6.0, 100.0])),
        "spawns.tries": draw(st.sampled_from([1, 80])),
        "sight.fov_deg": draw(st.sampled_from([120.0, 1.0, 90.0, 174.0, 180.0, 270.0, 360.0])),
        "sight.range_m": draw(st.sampled_from([20.0, 1.0, 5.0, 200.0])),
        "sight.eye_height_m": draw(st.sampled_from([0.0, 0.14, -0.14])),
        "sight.rows": draw(
            st.lists(
                st.builds(
                    lambda up, columns: {"elevation_deg": up, "columns": columns},
                    st.sampled_from([0.0, 15.0, -15.0, 45.0, -80.0, 89.0]),
                    st.integers(1, 20),
                ),
                min_size=1,
                max_size=4,
            )
        ),
    }
    if wild:
        values |= {
            "motion.seeker_speed_mps": draw(st.sampled_from([0.1, 6.5, 26.0, 60.0])),
            "motion.hider_speed_mps": draw(st.sampled_from([0.1, 6.0, 24.0, 60.0])),
            "motion.seeker_acceleration_mps2": draw(st.sampled_from([0.1, 40.0, 1000.0, 10000.0])),
            "motion.hider_acceleration_mps2": draw(st.sampled_from([0.1, 30.0, 1000.0, 10000.0])),
            "motion.air_acceleration_mps2": draw(st.sampled_from([0.0, 15.0, 10000.0])),
            "motion.deceleration_mps2": draw(st.sampled_from([0.1, 50.0, 10000.0])),
            "motion.turn_rate_radps": draw(st.sampled_from([0.1, 8.0, 1000.0])),
            "motion.gravity_mps2": draw(st.sampled_from([1.0, 24.0, 96.0, 200.0])),
            "motion.jump_speed_mps": draw(st.sampled_from([0.0, 8.0, 32.0, 60.0])),
            "motion.fall_speed_mps": draw(st.sampled_from([1.0, 40.0, 60.0])),
            "motion.coyote_s": draw(st.sampled_from([0.0, 0.1, 1.0])),
            "motion.dead_zone": draw(st.sampled_from([0.0, 0.05, 0.9])),
            "motion.push_acceleration_mps2": draw(st.sampled_from([0.0, 60.0, 1000.0])),
            "motion.skin_m": draw(st.sampled_from([0.001, 0.002, 0.005])),
            "arena.collider_height_m": draw(st.sampled_from([5.0, 20.0, 200.0])),
            "rewards.seeker.distance_per_m": draw(length(-2, 2, 0.1)),
            "rewards.hider.distance_per_m": draw(length(-2, 2, 0.1)),
            "rewards.hider.tag": draw(length(-2, 2, 0.1)),
            "rewards.seeker.survival": draw(length(-2, 2, 0.1)),
        }
    return TagSettings.defaults().override(**(values | fixed))


@st.composite
def all_arenas(draw: st.DrawFn, /, settings: TagSettings) -> Arena:
    """Rooms of any size with up to 16 boxes: walls, slabs, towers on towers, things that touch, things in corners, gaps
    hardly wider than a body; spawn areas wide, thin and of a single point, on the floor and on boxes."""
    wide, deep = draw(length(4, 40, 0.25)), draw(length(4, 40, 0.25))
    body, top = settings.body.size_m, settings.arena.collider_height_m
    boxes: list[Box] = []
    spawns: list[SpawnArea] = []

    def is_fine() -> bool:
        whole = (SpawnArea((0.0, 0.0, 0.0), (0.0, 0.0), ("seeker", "hider")),)
        try:
            check_arena(Arena(1, "some", "Some", (wide, deep), tuple(boxes), tuple(spawns) or whole), settings)
        except GodojoError as error:
            return "spawns: there is none" in str(error) or (not spawns and "spawns[0]" in str(error))
        return True

    edges = st.one_of(length(0.1, 3, 0.05), length(0.1, 12, 0.1), st.sampled_from([body, body + 0.002, 2 * body]))
    for _ in range(draw(st.integers(0, 16))):
        size = (draw(edges), draw(st.one_of(edges, st.sampled_from([0.3, 1.0, 2.4]))), draw(edges))
        low = [draw(length(-wide / 2, wide / 2, 0.05)), 0.0, draw(length(-deep / 2, deep / 2, 0.05))]
        kind = draw(st.sampled_from(["anywhere", "corner", "beside", "upon", "floating"]))
        other = draw(st.sampled_from(boxes)) if boxes else None
        if kind == "corner":
            low[0], low[2] = -wide / 2, deep / 2 - size[2]
        elif kind == "beside" and other:
            gap = draw(st.sampled_from([0.0, body + 0.001, body + 0.0021, body + 0.02, 2 * body]))
            low[0], low[2] = other.high[0] + gap, other.low[2]
        elif kind == "upon" and other:
            low[0], low[1], low[2] = other.low[0], other.high[1], other.low[2]
        elif kind == "floating":
            low[1] = draw(st.sampled_from([0.2, body + 0.01, 2.0]))
        centre = (low[0] + size[0] / 2, low[1] + size[1] / 2, low[2] + size[2] / 2)
        boxes.append(Box(centre, size, draw(st.sampled_from(["tall", "low", "platform"]))))
        if not is_fine():
            boxes.pop()
    # Nobody starts where a body would not fit under the ceiling: Godot refuses that.
    tops = [box for box in boxes if box.high[1] + body + 0.01 < top]
    for _ in range(draw(st.integers(2, 12))):
        at = (draw(length(-wide / 2, wide / 2, 0.1)), 0.0, draw(length(-deep / 2, deep / 2, 0.1)))
        size_m = (draw(length(0, 6, 0.25)), draw(length(0, 6, 0.25)))
        is_upon: bool = draw(st.booleans())
        if tops and is_upon:
            box = draw(st.sampled_from(tops))
            at = (box.position_m[0], box.high[1], box.position_m[2])
            size_m = (min(size_m[0], box.size_m[0]), min(size_m[1], box.size_m[2]))
        role_names: Any = draw(st.sampled_from([("seeker", "hider"), ("seeker", "hider"), ("seeker",), ("hider",)]))
        spawns.append(SpawnArea(at, size_m, role_names))
        if not is_fine():
            spawns.pop()
    arena = Arena(1, "some", "Some", (wide, deep), tuple(boxes), tuple(spawns))
    assume(is_fine() and len(spawns) > 0)
    try:
        TagTwin(1, settings=settings, arenas=[arena])
    except GodojoError as error:  # nowhere to start, or no room for so many to start apart
        assume("there is none for" not in str(error) and "no room for" not in str(error))
        raise
    return arena


@st.composite
def games(draw: st.DrawFn, /, *, truncate: bool = False, fixed: dict[str, object] | None = None) -> Game:
    """Anything that can be played, with some settings fixed."""
    settings = draw(all_settings(fixed or {}))
    arenas = tuple(draw(st.lists(all_arenas(settings), min_size=1, max_size=2)))
    return Game(
        settings=settings,
        arenas=arenas,
        generated_share=draw(st.sampled_from([0.0, 0.0, 0.5])),
        truncate_after=draw(st.integers(1, 6)) if truncate else 0,
        seed=draw(st.integers(0, 2**32)),
        style=draw(st.sampled_from(["held", "jitter", "jumping", "crowd", "beyond", "lazy", "corner"])),
    )


class Player:
    """Acts for everybody, in one of several ways of being unpleasant."""

    def __init__(self, worlds: Worlds, game: Game) -> None:
        self.worlds, self.style = worlds, game.style
        self.rng = np.random.default_rng(game.seed)
        self.held = {name: self.rng.uniform(-1, 1, role.action.shape) for name, role in worlds.roles.items()}

    def act(self) -> None:
        for name, role in self.worlds.roles.items():
            shape = role.action.shape
            fresh = self.rng.random(shape[:2]) < (1.0 if self.style == "jitter" else 0.1)
            self.held[name][fresh] = self.rng.uniform(-1, 1, (int(fresh.sum()), 3))
            action = self.held[name].copy()
            if self.style == "jumping":
                action[..., 2] = 1.0
            elif self.style == "crowd":  # everybody to the middle of the room
                action[..., :2] = -np.sign(role.observation[..., [0, 2]])
            elif self.style == "beyond":
                action *= 1000.0
            elif self.style == "lazy":  # around the dead zone, often none at all
                action *= self.rng.choice([0.0, 0.02, 0.07], (*shape[:2], 1))
            elif self.style == "corner":
                action[..., :2] = np.sign(action[..., :2])
            role.action[:] = action


class Moment(NamedTuple):
    """A decision of all worlds: what was before it, what after it. Worlds that ended are in a new round after it."""

    before: np.ndarray
    after: np.ndarray
    arena: np.ndarray
    """Where the decision was played."""
    next_arena: np.ndarray
    ticks: np.ndarray
    """Of the round, before the decision."""
    next_ticks: np.ndarray
    action: np.ndarray
    ended: np.ndarray
    winner: np.ndarray
    results: dict[str, np.ndarray]
    """By agent index: observation, reward, terms, acted, terminated, truncated, final_*."""


FIELDS = (
    "observation",
    "action",
    "reward",
    "terms",
    "acted",
    "terminated",
    "truncated",
    "final_observation",
    "final_terms",
    "final_score",
)


def of_everybody(worlds: Worlds, field: str) -> np.ndarray:
    """The roles' arrays side by side, in the order of the agents' indices."""
    return np.concatenate([getattr(role, field) for role in worlds.roles.values()], axis=1)


def play(game: Game, decisions: int = 40, worlds: Worlds | None = None) -> list[Moment]:
    """Plays on and keeps everything."""
    worlds = worlds or game.make()
    twin: Any = worlds.twin  # type: ignore[attr-defined]
    player = Player(worlds, game)
    moments = []
    for _ in range(decisions):
        player.act()
        before, arena, ticks = twin.agents.copy(), twin.arena_slots.copy(), twin.worlds["ticks"].copy()
        worlds.step()
        results = {field: of_everybody(worlds, field) for field in FIELDS}
        moments.append(
            Moment(
                before=before,
                after=twin.agents.copy(),
                arena=arena,
                next_arena=twin.arena_slots.copy(),
                ticks=ticks,
                next_ticks=twin.worlds["ticks"].copy(),
                action=results["action"],
                ended=worlds.ended.copy(),
                winner=worlds.winner.copy(),
                results=results,
            )
        )
    return moments
