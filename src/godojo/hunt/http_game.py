"""A hunted game that somebody else has started: played over its HTTP API, without a probe in it and without its log."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from godojo.bridge.http import GameClient, HttpRefused
from godojo.bridge.messages import ConnectionLost, PeerTimeout, WireError
from godojo.engines.godot.arrays import checked_seed, game_seed
from godojo.errors import GodojoError
from godojo.hunt.budgets import BudgetDetector
from godojo.hunt.contract import Playable
from godojo.hunt.detectors import DetectorSettings, ProgressDetector
from godojo.hunt.events import FREEZE, HANGS, Event, event
from godojo.hunt.game import Seen, action_parts_of, open_game
from godojo.hunt.invariants import Invariant
from godojo.hunt.pace import Pace
from godojo.hunt.target import Target

_START_S, _RETURN_S = 10.0, 60.0
"""How long a game has to answer at first, and to come back after it was lost."""
_FAILS = (ConnectionLost, PeerTimeout, WireError, HttpRefused)


class HttpHuntedGame:
    """A game at an address. Every reset loads its scene anew; a lost game is waited for at the next one."""

    def __init__(
        self,
        url: str,
        settings: DetectorSettings | None = None,
        invariants: Sequence[Invariant] = (),
        *,
        scene: str | None = None,
        options: dict[str, Any] | None = None,
        timeout_s: float = 10.0,
    ) -> None:
        self._settings, self._invariants = settings or DetectorSettings(), invariants
        self._scene, self._options, self._timeout_s = scene, options or None, timeout_s
        self.url, self.is_lost, self.starts = url, False, 1
        self.is_quick = self.is_hurried = False
        self.log: list[str] = []
        """What the hunt noticed; the game's own log is where it was started."""
        self.ui_points: dict[str, tuple[float, float]] = {}
        self._progress, self._budgets = ProgressDetector(self._settings), BudgetDetector(self._settings)
        self._known: set[str] = set()
        self._client = GameClient(url, timeout_s=timeout_s)
        try:
            self._client.wait_until_healthy(_START_S)
            self._begin(0)
            state = self._client.get_scene_state()
            self._path, self.ready = state.scene_path, state.ready()
        except BaseException:
            self.close()
            raise
        if sum(role.agents for role in self.ready.roles) != 1:
            self.close()
            raise GodojoError(f"the game at {url} has several agents; over HTTP, one is played")
        self.action_parts = self._progress.parts = action_parts_of(self.ready)
        limits = [(-1.0, 1.0) if part.kind == "continuous" else (0.0, part.size - 1.0) for part in self.action_parts]
        widths = [part.width for part in self.action_parts]
        self._low, self._high = (np.repeat(side, widths) for side in np.array(limits).T)

    def reset(self, seed: int) -> Seen:
        """Loads the scene anew, and begins a round."""
        self._known.clear()
        self._progress.begin()
        self._budgets.begin()
        if self.is_lost:
            self.starts += 1
            self._client.wait_until_healthy(_RETURN_S)
            self.is_lost = False
        observed = self._begin(game_seed(checked_seed(seed), 0, 0))
        self._last = self._seen(observed, 0.0, is_end=False)
        return self._last

    def _begin(self, seed: int) -> tuple[float, ...]:
        if self._scene is not None:
            self._client.load_scene(self._scene)
        else:
            self._client.reload_scene()
        return self._client.reset(seed, num_envs=1, options=self._options).observation

    def step(self, action: np.ndarray) -> Seen:
        """Plays one decision."""
        if self.is_lost:
            raise GodojoError("the game is gone: call reset(seed) first")
        limited = np.clip(np.asarray(action, float), self._low, self._high)
        try:
            step = self._client.act(limited.tolist())
            self._last = self._seen(step.observation, step.reward, step.terminated or step.truncated, action)
        except _FAILS as error:
            self._last = self._last._replace(events=self._fresh([self._lost(error)]), reward=0.0, ended=True)
        return self._last

    def _lost(self, error: GodojoError) -> Event:
        self.is_lost = True
        self.log.append(str(error))
        self._client.close()
        self._client = GameClient(self.url, timeout_s=self._timeout_s)
        if isinstance(error, PeerTimeout):
            return event(FREEZE, f"the game {error}", pattern=HANGS)
        if isinstance(error, ConnectionLost):
            return event("crash", f"the game at {self.url} is gone: {error}", pattern="gone")
        return event("engine_error", str(error))

    def _seen(self, observed: Sequence[float], reward: float, is_end: bool, action: np.ndarray | None = None) -> Seen:
        observation = np.array(observed, np.float32)
        seen = Seen(observation, np.zeros(3, np.float32), (), (), reward, is_end, observation)
        events = []
        if self._settings.nan and not (np.isfinite(observation).all() and np.isfinite(reward)):
            events.append(event("nan", "an observation or a reward is not finite"))
        metrics = {**self._metrics(), "ended": float(is_end)}
        for invariant in self._invariants:
            events += invariant.check(self._described(seen, metrics))
        if action is not None:
            events += self._progress.look(action, observation.tobytes(), seen.position, has_player=False)
            events += self._budgets.look(metrics, 0.0)  # the time of a request is not the game's alone
        return seen._replace(events=self._fresh(events))

    def _metrics(self) -> dict[str, float]:
        told = self._client.get_performance_metrics()
        return {
            "orphans": 0.0,
            "memory_mb": told.memory.static_memory_usage / 2**20,
            "objects": float(told.objects.object_count),
            "nodes": float(told.objects.node_count),
        }

    def _described(self, seen: Seen, metrics: dict[str, float]) -> dict[str, Any]:
        """The state as users' invariants get it."""
        return {
            "scene": self._path,
            "position": (0.0, 0.0, 0.0),
            "bodies": {},
            "ui": (),
            "observation": seen.observation,
            "reward": seen.reward,
            **metrics,
            "ended": seen.ended,
        }

    def _fresh(self, events: Sequence[Event]) -> tuple[Event, ...]:
        fresh = {one.signature: one for one in events if one.signature not in self._known}
        self._known.update(fresh)
        return tuple(fresh.values())

    def restart(self, seed: int) -> Seen:
        return self.reset(seed)

    @property
    def settings_left(self) -> frozenset[str]:
        return frozenset()

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_target(
    target: Target,
    *,
    detectors: DetectorSettings | None = None,
    window: bool = False,
    timeout_s: float = 10.0,
    pace: Pace | None = None,
) -> Playable:
    """Opens what is hunted, wherever it runs."""
    if target.http is None:
        return open_game(target, detectors=detectors, window=window, timeout_s=timeout_s, pace=pace)
    if window:
        raise GodojoError("a game over HTTP is already running: start it with a window there (serve-game --window)")
    invariants = [Invariant(text) for text in target.invariants]
    return HttpHuntedGame(
        target.http, detectors, invariants, scene=target.scene, options=dict(target.options), timeout_s=timeout_s
    )
