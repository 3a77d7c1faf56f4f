"""The game's settings, its twin in plain NumPy, a scripted opponent, how rounds are drawn, and `GAME`.

Both agents observe their own place (by half the square), the way to the other (by the square) and the time left, and
act with a direction to run in. The pursuer wins by reaching the evader, the evader by the clock.
"""

from pathlib import Path
from typing import Any

import numpy as np

from godojo.errors import GodojoError
from godojo.games.base import Game
from godojo.games.parts import ActionPart, ObservationPart, Role
from godojo.games.settings import TICK_S, GameSettings, Section, ticks_in
from godojo.kernels.results import new_results

GODOT = Path(__file__).parents[2] / "godot"
ROLES = ("pursuer", "evader")
OBSERVATION = (ObservationPart("place", (2,)), ObservationPart("way", (2,)), ObservationPart("time_left", (1,)))
ACTION = (ActionPart("run", "continuous", 2),)
SIGN = np.array([[1.0], [-1.0]], np.float32)
"""What is good for the pursuer is bad for the evader."""


class Rules(Section, frozen=True):
    round_s: float
    ticks_per_decision: int
    reach_m: float
    half_m: float
    pursuer_mps: float
    evader_mps: float


class PursuitSettings(GameSettings, frozen=True):
    folder = GODOT.as_posix()
    rules: Rules


class PursuitTwin:
    """All worlds in arrays; agents have one row each, by role, then world."""

    reward_terms, winners, arena_names = ("distance", "caught"), ("nobody", *ROLES), ("square",)
    roles = tuple(Role(name, index, 1, OBSERVATION, ACTION) for index, name in enumerate(ROLES))

    def __init__(self, worlds: int, *, settings: PursuitSettings | None = None, truncate_after: int = 0) -> None:
        self.num_worlds, self._truncate_after = worlds, truncate_after
        self.change_settings(settings or PursuitSettings.defaults())
        self.actions, self.results = np.zeros((2 * worlds, 2), np.float32), new_results(worlds, 2, 5, 2)
        self.place, self.ticks = np.zeros((2, worlds, 2), np.float32), np.zeros(worlds, np.int32)
        self.stream, self.sums = np.zeros(worlds, np.uint64), np.zeros((2, worlds, 2), np.float32)

    def change_settings(self, settings: PursuitSettings) -> None:
        self.settings, self.ticks_per_decision = settings, settings.rules.ticks_per_decision

    def begin(self, seed: int) -> None:
        self.stream[:] = np.uint64(seed) + np.arange(self.num_worlds, dtype=np.uint64) * np.uint64(0x632BE59BD9B4E019)
        for array in (self.results.ended, self.results.terminated, self.results.truncated):
            array[:] = False
        self._begin_rounds(np.ones(self.num_worlds, np.bool_))
        self._observe()

    def _begin_rounds(self, which: np.ndarray) -> None:
        """Every world has its own random stream (splitmix64), so the number of worlds changes nothing."""
        for role, axis in np.ndindex(2, 2):
            self.stream[which] += np.uint64(0x9E3779B97F4A7C15)
            bits = self.stream[which]
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
            self.place[role, which, axis] = self.settings.rules.half_m * ((bits >> np.uint64(11)) / 2**52 - 1.0)
        self.ticks[which], self.sums[:, which] = 0, 0.0

    def _observe(self) -> None:
        rules, seen = self.settings.rules, self.results.observation.reshape(2, -1, 5)
        seen[..., :2] = self.place / rules.half_m
        seen[..., 2:4] = (self.place[::-1] - self.place) / (2 * rules.half_m)
        seen[..., 4] = 1.0 - self.ticks / ticks_in(rules.round_s)

    def step(self) -> None:
        rules, found = self.settings.rules, self.results
        wish = np.clip(self.actions, -1.0, 1.0).reshape(2, -1, 2)
        wish = wish / np.maximum(np.linalg.norm(wish, axis=-1, keepdims=True), 1.0)
        speed_mps = np.array([rules.pursuer_mps, rules.evader_mps], np.float32)[:, None, None]
        before_m = np.linalg.norm(self.place[0] - self.place[1], axis=-1)
        moved = self.place + wish * speed_mps * (self.ticks_per_decision * TICK_S)
        self.place[:] = np.clip(moved, -rules.half_m, rules.half_m)
        after_m = np.linalg.norm(self.place[0] - self.place[1], axis=-1)
        self.ticks += self.ticks_per_decision
        caught = after_m <= rules.reach_m
        over = caught | (self.ticks >= ticks_in(rules.round_s))
        cut = ~over & (self._truncate_after > 0) & (self.ticks >= self._truncate_after * self.ticks_per_decision)
        terms = found.terms.reshape(2, -1, 2)
        terms[..., 0], terms[..., 1] = SIGN * 0.1 * (before_m - after_m), SIGN * caught
        self.sums += terms
        self._observe()
        found.reward[:], found.acted[:], found.ended[:] = found.terms.sum(axis=1), True, over | cut
        found.terminated[:], found.truncated[:] = np.tile(over, 2), np.tile(cut, 2)
        found.final_observation[:], found.final_terms[:] = found.observation, self.sums.reshape(-1, 2)
        found.winner[:], found.length_ticks[:] = np.where(cut, 0, np.where(caught, 1, 2)), self.ticks
        self._begin_rounds(found.ended)
        self._observe()

    def privileged(self) -> np.ndarray:
        """float32 [2, N, 2]: x and z of the pursuers, then of the evaders."""
        return self.place

    def state(self) -> dict[str, np.ndarray]:
        own = {name: getattr(self, name) for name in ("place", "ticks", "stream", "sums")}
        return {**own, "observation": self.results.observation}


class PursuitInGodot:
    """The same game in a Godot project of its own, which reads the same `settings.json`."""

    scene, project = "res://main.tscn", GODOT

    def __init__(self, *, settings: PursuitSettings | None = None, truncate_after: int = 0, **_: Any) -> None:
        self.settings, self.configure_options = settings or PursuitSettings.defaults(), dict[str, Any]()
        self.ticks_per_decision = self.settings.rules.ticks_per_decision
        if self.settings != PursuitSettings.defaults() or truncate_after:
            raise GodojoError("in Godot, pursuit plays by its settings.json alone, and rounds are never cut short")


def opponents() -> dict[str, Any]:
    from godojo.opponents import Opponent  # loads the compiler

    class Straight(Opponent):
        """Runs straight to the other, or straight away from it."""

        keeps = ()

        def begin(self, worlds: Any) -> None: ...

        def act(self, worlds: Any, out: np.ndarray) -> None:
            way = worlds.roles[self.role].observation[..., 2:4] * (1.0 if self.role == "pursuer" else -1.0)
            out[:] = way / np.maximum(np.linalg.norm(way, axis=-1, keepdims=True), 1e-6)

    return {"straight": Straight}


def replay() -> Any:
    from godojo.show.replay import Layout, ReplaySpec, States, Team

    def states(settings: PursuitSettings, _: Any, observations: Any, *__: Any) -> Any:
        found = States.zeros(len(observations[ROLES[0]]), 2)
        for role, name in enumerate(ROLES):
            found.position_m[:, role, ::2] = observations[name][:, 0, :2] * settings.rules.half_m
            found.heading_rad[:, role] = np.arctan2(*np.moveaxis(observations[name][:, 0, 2:4], -1, 0))
        found.position_m[..., 1], found.active[:], found.grounded[:], found.team[:] = 0.3, True, True, (0, 1)
        return found

    def layout(settings: PursuitSettings, _: Any) -> Any:
        return Layout((2 * settings.rules.half_m,) * 2, body_m=0.6, eye_height_m=0.3, wall_height_m=0.5)

    teams = Team(ROLES[0], "#c2352b"), Team(ROLES[1], "#2457a6")
    return ReplaySpec(teams, layout, states, round_s=lambda settings: settings.rules.round_s)


GAME = Game("pursuit", PursuitSettings, lambda: PursuitTwin, PursuitInGodot, opponents=opponents, replay=replay)
