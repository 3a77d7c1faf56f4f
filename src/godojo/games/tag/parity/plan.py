"""What is played in both engines: arenas, starts, and actions of many kinds, fixed before either begins.

Actions are made by playing the embedded game with simple players who see everything, so that chases end in tags; what
they did is then played back to both engines, blindly.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from godojo.engines.sim import SimWorlds
from godojo.games.tag.arenas import Arena, generate_arena, hand_made_arenas
from godojo.games.tag.settings import TICK_S, TagSettings
from godojo.games.tag.sim.twin import TagTwin

ROUND_S = 10.0
GENERATED_ARENAS = 6
GAMES: dict[str, dict[str, object]] = {
    "1v1": {},
    "2v2": {"rules.seekers": 2, "rules.hiders": 2},
    "3v5": {"rules.seekers": 3, "rules.hiders": 5},
    "classic 2": {"rules.mode": "classic", "rules.players": 2, "rules.immunity_s": 0.5},
    "classic 5": {"rules.mode": "classic", "rules.players": 5},
}
TURNS = ("1v1", "2v2", "1v1", "classic 2", "1v1", "3v5", "1v1", "classic 5")
"""Which game each episode plays, in turn."""

STYLES = ("random", "hold", "jump", "press", "chase", "flee", "idle", "beyond")
"""Ways to play; `press` runs along an axis or a diagonal into whatever stands there, `beyond` asks for too much."""
_LIKELY = np.array([3, 4, 3, 4, 3, 4, 2, 1]) / 24
_SHORTEST, _LONGEST = 6, 45  # decisions until somebody plays in another way


class TagWorlds(SimWorlds):
    """Tag on the embedded engine, whose state can be read and set."""

    twin: TagTwin

    def __init__(self, count: int, settings: TagSettings, arenas: Sequence[Arena]) -> None:
        super().__init__(TagTwin(count, settings=settings, arenas=arenas))


class Group(NamedTuple):
    """Episodes of the same game. E episodes, A agents, D decisions."""

    name: str
    settings: TagSettings
    number: np.ndarray
    """[E]: the episode's number in the whole plan."""
    arena: np.ndarray
    """[E]: the arena's number."""
    starts: np.ndarray
    """float64 [E, A, 4]: x, y and z of the ground, heading."""
    it: np.ndarray
    """[E]: who is it at the start; -1 where roles are fixed."""
    actions: np.ndarray
    """float32 [E, D, A, 3]."""


class Plan(NamedTuple):
    """Everything that is played."""

    arenas: tuple[Arena, ...]
    groups: tuple[Group, ...]

    @property
    def episodes(self) -> int:
        return sum(len(group.number) for group in self.groups)


def default_arenas() -> tuple[Arena, ...]:
    """The hand-made ones and a few generated ones."""
    return (*hand_made_arenas().values(), *(generate_arena(seed) for seed in range(1, GENERATED_ARENAS + 1)))


def make_plan(episodes: int, arenas: Sequence[Arena], seed: int, settings: TagSettings | None = None) -> Plan:
    """The same for the same seed. Numbers of agents and lengths of rounds are the plan's own, the rest `settings`."""
    groups = []
    for name, changes in GAMES.items():
        numbers = [number for number in range(episodes) if TURNS[number % len(TURNS)] == name]
        if numbers:
            played = (settings or TagSettings.defaults()).override(
                **{"rules.round_s": ROUND_S, "rules.classic_round_s": ROUND_S, **changes}
            )
            groups.append(_make_group(name, played, numbers, arenas, seed))
    return Plan(tuple(arenas), tuple(groups))


def _make_group(name: str, settings: TagSettings, numbers: list[int], arenas: Sequence[Arena], seed: int) -> Group:
    # Shifted by one each time all games have had their turn, so that every game visits every arena.
    place = {number: (number + number // len(TURNS)) % len(arenas) for number in numbers}
    ordered = sorted(numbers, key=lambda number: place[number])
    arena = np.array([place[number] for number in ordered])
    worlds = TagWorlds(len(ordered), settings, arenas)
    twin = worlds.twin
    for index in np.unique(arena):
        here = np.flatnonzero(arena == index)
        spawned = TagTwin(len(here), settings=settings, arenas=[arenas[index]])
        spawned.begin(seed * 1000 + int(index))
        twin.agents[here] = spawned.agents
        twin.arena_slots[here] = spawned.arena_slots
    for world in range(len(ordered)):
        twin.worlds[world]["stream"] = world
    ground = np.array([0.0, settings.body.size_m / 2 + settings.motion.skin_m, 0.0])
    starts = np.concatenate([twin.agents["position"] - ground, twin.agents["heading"][..., None]], axis=2)
    is_classic = settings.rules.mode == "classic"
    it = twin.agents["chases"].argmax(axis=1) if is_classic else np.full(len(ordered), -1)
    actions = _play(worlds, round(ROUND_S / TICK_S), np.random.default_rng([seed, numbers[0]]))
    return Group(name, settings, np.array(ordered), arena, starts, it, actions)


def _play(worlds: TagWorlds, ticks: int, rng: np.random.Generator) -> np.ndarray:
    """What everybody does, decision by decision."""
    agents = worlds.twin.agents
    decisions = -(-ticks // worlds.twin.settings.rules.ticks_per_decision)
    actions = np.zeros((len(agents), decisions, agents.shape[1], 3), np.float32)
    players = Players(agents.shape, rng)
    for decision in range(decisions):
        actions[:, decision] = players.act(agents)
        act(worlds, actions[:, decision])
        worlds.step()
    return actions


def act(worlds: TagWorlds, actions: np.ndarray) -> None:
    """Hands out actions [N, A, 3] to the roles."""
    first = 0
    for role in worlds.roles.values():
        role.action[:] = actions[:, first : first + role.action.shape[1]]
        first += role.action.shape[1]


class Players:
    """Everybody in every world; each changes its way of playing now and then."""

    def __init__(self, shape: tuple[int, ...], rng: np.random.Generator) -> None:
        self.rng = rng
        self.style = np.zeros(shape, np.int64)
        self.left = np.zeros(shape, np.int64)
        self.held = np.zeros((*shape, 2))
        self.axes = np.zeros((*shape, 2))
        self.jumps = np.zeros(shape)

    def act(self, agents: np.ndarray) -> np.ndarray:
        """float [N, A, 3]: the next actions, from where everybody is."""
        rng, shape = self.rng, self.style.shape
        change = self.left <= 0
        angle = rng.uniform(-np.pi, np.pi, shape)
        direction = np.stack([np.sin(angle), np.cos(angle)], axis=-1)
        self.style = np.where(change, rng.choice(len(STYLES), shape, p=_LIKELY), self.style)
        self.left = np.where(change, rng.integers(_SHORTEST, _LONGEST, shape), self.left - 1)
        self.held = np.where(change[..., None], direction, self.held)
        self.axes = np.where(change[..., None], rng.integers(-1, 2, (*shape, 2)), self.axes)
        self.jumps = np.where(change, rng.choice([0.0, 0.05, 0.3], shape), self.jumps)
        toward = _toward_nearest(agents)
        random = rng.uniform(-1, 1, (*shape, 2))
        moves = {
            "random": random,
            "hold": self.held,
            "jump": self.held,
            "press": self.axes,
            "chase": toward + 0.1 * random,
            "flee": 0.5 * random - toward,
            "idle": 0.06 * random * (self.jumps > 0)[..., None],
            "beyond": 3.0 * self.held,
        }
        move = np.select([(self.style == number)[..., None] for number in range(len(STYLES))], [*moves.values()])
        wants_jump = (self.style == STYLES.index("jump")) | (rng.random(shape) < self.jumps)
        return np.concatenate([move, np.where(wants_jump, 1.0, -1.0)[..., None]], axis=-1)


def _toward_nearest(agents: np.ndarray) -> np.ndarray:
    """[N, A, 2]: unit vector along the ground toward the nearest opponent in play, or else toward anybody."""
    position = agents["position"].astype(np.float64)
    gap = position[:, None, :, :] - position[:, :, None, :]
    away = np.linalg.norm(gap, axis=-1)
    opposes = (agents["chases"][:, None, :] != agents["chases"][:, :, None]) & (agents["active"][:, None, :] != 0)
    away = away + np.where(opposes, 0.0, 1e3) + 1e6 * np.eye(agents.shape[1])
    nearest = away.argmin(axis=2)
    chosen = np.take_along_axis(gap, nearest[:, :, None, None], axis=2)[:, :, 0, [0, 2]]
    length = np.linalg.norm(chosen, axis=-1, keepdims=True)
    return np.asarray(chosen / np.maximum(length, 1e-6))
