"""Games over HTTP: one world in each."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from godojo.bridge.codec import ACTED, TERMINATED, TRUNCATED, RoleStep, StepFrame
from godojo.bridge.http import GameClient, Step
from godojo.bridge.messages import ConnectionLost, PeerTimeout, Ready, WireError
from godojo.engines.base import Worlds
from godojo.engines.godot.arrays import checked_seed, game_seed, make_arrays
from godojo.engines.godot.worlds import STEP_TIMEOUT_S
from godojo.errors import GodojoError


class HttpWorlds(Worlds):
    """One world for each address. A lost game is waited for and starts a new round; no transition spans that.

    `token` is one for all games, or one for each. `scene` is loaded first, if given; `options` are the game's own. With
    `reload_every`, each game reloads its scene after that many decisions, to test its stability, which cuts its round
    short.
    """

    def __init__(
        self,
        urls: str | Sequence[str],
        *,
        token: str | Sequence[str] | None = None,
        scene: str | None = None,
        options: Mapping[str, Any] | None = None,
        ticks_per_decision: int | None = None,
        settings: Any = None,
        seed: int = 0,
        start_timeout_s: float = 10.0,
        step_timeout_s: float = STEP_TIMEOUT_S,
        reconnect_s: float = 60.0,
        reload_every: int = 0,
    ) -> None:
        places = [urls] if isinstance(urls, str) else list(urls)
        if not places:
            raise GodojoError("a game over HTTP needs at least one address")
        if reload_every < 0:
            raise GodojoError(f"reload_every must be 0 (never) or more, not {reload_every}")
        self.settings = settings
        self.num_worlds = len(places)
        self.restarts = 0
        """Games that were lost and came back."""
        self.reloads = 0
        """Reloaded scenes."""
        self._options = options
        self._scene = scene
        self._ticks = ticks_per_decision
        self._reconnect_s = reconnect_s
        self._reload_every = reload_every
        self._since_reload = 0
        self._cuts = 0
        self._pending: list[Future[Step | Exception]] | None = None
        tokens = [token] * len(places) if token is None or isinstance(token, str) else list(token)
        if len(tokens) != len(places):
            raise GodojoError(
                f"there are {len(places)} addresses and {len(tokens)} tokens; give one for all, or one each"
            )
        self._clients = [GameClient(*each, timeout_s=step_timeout_s) for each in zip(places, tokens, strict=True)]
        self._workers = ThreadPoolExecutor(max_workers=len(places), thread_name_prefix="godojo-http")
        try:
            self._seed = checked_seed(seed)
            self._ready = self._begin_all(start_timeout_s)
        except BaseException:
            self.close()
            raise

    def reset(self, seed: int) -> None:
        self._collect()
        self._seed, self._cuts = checked_seed(seed), 0
        for number, client in enumerate(self._clients):
            observed = client.reset(game_seed(self._seed, number, self._cuts))
            self._arrays.begin(slice(number, number + 1), self._first_frame(observed.observation))

    def _start(self) -> None:
        self._collect()
        role = next(iter(self.roles.values()))
        self._since_reload += 1
        actions = [role.action[number, 0].tolist() for number in range(self.num_worlds)]
        if self.num_worlds == 1:  # a thread would only cost time
            done: Future[Step | Exception] = Future()
            done.set_result(self._act(0, actions[0]))
            self._pending = [done]
        else:
            self._pending = [self._workers.submit(self._act, *each) for each in enumerate(actions)]

    def finish(self) -> None:
        if self._pending is None:
            raise GodojoError("nothing was started: call start() first")
        for number, step in enumerate(self._collect()):
            if isinstance(step, Exception):
                self.restarts += 1
                self._cut_short(number, step)
            else:
                self._arrays.take(slice(number, number + 1), self._frame(step))
        if self._reload_every and self._since_reload >= self._reload_every:
            self._since_reload = 0
            for number, client in enumerate(self._clients):
                client.reload_scene()
                self.reloads += 1
                if not self._arrays.ended[number]:
                    self._cut_short(number, None)
                else:
                    observed = self._begin(number)
                    for role in self.roles.values():
                        role.observation[number, 0] = observed

    def close(self) -> None:
        self._workers.shutdown(wait=True, cancel_futures=True)
        for client in self._clients:
            client.close()

    @property
    def clients(self) -> Sequence[GameClient]:
        """For requests beyond the contract."""
        return self._clients

    def _act(self, number: int, action: list[float]) -> Step | Exception:
        try:
            return self._clients[number].act(action)
        except (ConnectionLost, PeerTimeout, WireError) as error:
            return error

    def _collect(self) -> list[Step | Exception]:
        """The games' answers; waits for the current decision."""
        pending, self._pending = self._pending or [], None
        return [each.result() for each in pending]

    def _begin_all(self, timeout_s: float) -> Ready:
        first: Ready | None = None
        observations = []
        for number, client in enumerate(self._clients):
            client.wait_until_healthy(timeout_s)
            if self._scene is not None:
                client.load_scene(self._scene)
            observations.append(self._begin(number))
            ready = client.state().ready()
            if first is not None and ready != first:
                raise GodojoError(f"the game at {client.url} differs from the others")
            first = ready
        assert first is not None
        self._arrays = make_arrays(self, first)
        for number, observed in enumerate(observations):
            self._arrays.begin(slice(number, number + 1), self._first_frame(observed))
        return first

    def _begin(self, number: int) -> Sequence[float]:
        observed = self._clients[number].reset(
            game_seed(self._seed, number, self._cuts), options=self._options or {}, ticks_per_decision=self._ticks
        )
        return observed.observation

    def _cut_short(self, number: int, error: Exception | None) -> None:
        """Ends this world's round at its last observation, and starts another."""
        self._cuts += 1
        client = self._clients[number]
        if error is not None:
            client.wait_until_healthy(self._reconnect_s)
            if self._scene is not None:
                client.load_scene(self._scene)
        self._arrays.cut_short(slice(number, number + 1), self._first_frame(self._begin(number)))

    def _first_frame(self, observation: Sequence[float]) -> StepFrame:
        role = next(iter(self.roles.values()))
        observed = _numbers(observation, role.observation.shape[2])
        return StepFrame(0, 0, np.zeros((0, 4), np.int32), (self._role_step(observed, {}, 0),))

    def _frame(self, step: Step) -> StepFrame:
        width = next(iter(self.roles.values())).observation.shape[2]
        flags = ACTED | (TERMINATED if step.terminated else 0) | (TRUNCATED if step.truncated else 0)
        said = self._role_step(_numbers(step.observation, width), step.terms, flags, step)
        ended = np.zeros((0, 4), np.int32)
        if step.final is not None:
            final = step.final
            ended = np.array(
                [[0, _place(final.winner, self.winners), final.ticks, _place(final.arena, self.arena_names)]]
            )
        return StepFrame(0, 0, ended, (said,))

    def _role_step(
        self, observed: np.ndarray, terms: Mapping[str, float], flags: int, step: Step | None = None
    ) -> RoleStep:
        final = step.final if step is not None else None
        rows = 0 if final is None else 1
        last = np.zeros((rows, observed.size), np.float32)
        last_terms = np.zeros((rows, len(self.reward_terms)), np.float32)
        if final is not None:
            last[0] = _numbers(final.observation, observed.size)
            last_terms[0] = [final.terms.get(term, 0.0) for term in self.reward_terms]
        return RoleStep(
            observation=observed.reshape(1, 1, -1),
            terms=np.array([[[terms.get(term, 0.0) for term in self.reward_terms]]], np.float32),
            flags=np.array([[flags]], np.uint8),
            final_rows=np.zeros(rows, np.int32),
            final_observation=last,
            final_terms=last_terms,
            final_score=np.array([] if final is None else [final.score], np.float32),
        )


def _numbers(values: Sequence[float], width: int) -> np.ndarray:
    numbers = np.asarray(values, np.float32)
    if numbers.shape != (width,) or not np.isfinite(numbers).all():
        raise WireError(f"an observation must have {width} finite numbers")
    return numbers


def _place(name: str | None, names: Sequence[str]) -> int:
    return names.index(name) if name in names else -1 if name is None else 0
