"""Games over HTTP: one or several worlds in each."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from godojo.bridge.codec import ACTED, TERMINATED, TRUNCATED, RoleStep, StepFrame
from godojo.bridge.http import GameClient
from godojo.bridge.http_messages import Final, Step
from godojo.bridge.messages import ConnectionLost, PeerTimeout, Ready, WireError
from godojo.engines.base import Worlds
from godojo.engines.godot.arrays import checked_seed, game_seed, make_arrays
from godojo.engines.godot.worlds import STEP_TIMEOUT_S
from godojo.errors import GodojoError
from godojo.games.parts import ActionPart

_LOST = (ConnectionLost, PeerTimeout, WireError)


class HttpWorlds(Worlds):
    """`num_worlds` in the games at `urls`, as many in each. A lost game is waited for and starts new rounds; no
    transition spans that.

    `token` is one for all games, or one for each. `scene` is loaded first, if given, by name or path; `options` are the
    game's own. With `reload_every`, each game reloads its scene after that many decisions, to test its stability, which
    cuts its rounds short.
    """

    def __init__(
        self,
        urls: str | Sequence[str],
        *,
        num_worlds: int | None = None,
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
        self.num_worlds = num_worlds or len(places)
        self._each, rest = divmod(self.num_worlds, len(places))
        if rest:
            raise GodojoError(
                f"{self.num_worlds} worlds cannot be spread evenly over {len(places)} addresses; give a multiple"
            )
        self.restarts = 0
        """Games that were lost and came back."""
        self.reloads = 0
        """Reloaded scenes."""
        self._options = dict(options or {})
        self._must_restart = False
        self._scene = scene
        self._ticks = ticks_per_decision
        self._reconnect_s = reconnect_s
        self._reload_every = reload_every
        self._since_reload = 0
        self._cuts = 0
        self._started = False
        self._lost: set[int] = set()
        tokens = [token] * len(places) if token is None or isinstance(token, str) else list(token)
        if len(tokens) != len(places):
            raise GodojoError(
                f"there are {len(places)} addresses and {len(tokens)} tokens; give one for all, or one each"
            )
        self._clients = [GameClient(*each, timeout_s=step_timeout_s) for each in zip(places, tokens, strict=True)]
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
            self._arrays.begin(self._worlds_of(number), self._first_frame(observed.observations))

    def _start(self) -> None:
        self._collect()
        role = next(iter(self.roles.values()))
        self._since_reload += 1
        actions = np.minimum(np.maximum(role.action[:, 0], self._limits[0]), self._limits[1]).tolist()
        for number, client in enumerate(self._clients):
            try:
                client.start_step(actions[self._worlds_of(number)])
            except _LOST:
                self._lost.add(number)
        self._started = True

    def finish(self) -> None:
        if not self._started:
            raise GodojoError("nothing was started: call start() first")
        for number, steps in enumerate(self._collect()):
            if steps is not None:
                self._arrays.take(self._worlds_of(number), self._frame(steps))
                continue
            self.restarts += 1
            self._clients[number].wait_until_healthy(self._reconnect_s)
            if self._scene is not None:
                self._clients[number].load_scene(self._scene)
            self._arrays.ended[self._worlds_of(number)] = False
            self._begin_anew(number)
        if self._reload_every and self._since_reload >= self._reload_every:
            self._since_reload = 0
            for number, client in enumerate(self._clients):
                client.reload_scene()
                self.reloads += 1
                self._begin_anew(number)
        elif self._must_restart:
            for number in range(len(self._clients)):
                self._begin_anew(number)
        self._must_restart = False

    def change_settings(self, settings: Any) -> None:
        """Plays by these from the end of the next decision on, which cuts the current rounds short."""
        if "settings" not in self._options:
            raise GodojoError("an external game has no settings to change")
        if settings != self.settings:
            self.settings, self._must_restart = settings, True
            self._options["settings"] = msgspec.to_builtins(settings)

    def close(self) -> None:
        for client in self._clients:
            client.close()

    @property
    def clients(self) -> Sequence[GameClient]:
        """For requests beyond the contract."""
        return self._clients

    def _worlds_of(self, number: int) -> slice:
        return slice(number * self._each, (number + 1) * self._each)

    def _collect(self) -> list[tuple[Step, ...] | None]:
        """The games' answers, if a decision was started; None for a lost game."""
        answers: list[tuple[Step, ...] | None] = []
        for number, client in enumerate(self._clients if self._started else ()):
            try:
                answers.append(None if number in self._lost else client.finish_step())
            except _LOST:
                answers.append(None)
        self._started = False
        self._lost.clear()
        return answers

    def _begin_all(self, timeout_s: float) -> Ready:
        first: Ready | None = None
        observations = []
        for number, client in enumerate(self._clients):
            client.wait_until_healthy(timeout_s)
            if self._scene is not None:
                client.load_scene(self._scene)
            observations.append(self._begin(number))
            ready = client.get_scene_state().ready()
            if first is not None and ready != first:
                raise GodojoError(f"the game at {client.url} differs from the others")
            first = ready
        assert first is not None
        self._arrays = make_arrays(self, first)
        self._limits = _limits(next(iter(self.roles.values())).action_parts)
        for number, observed in enumerate(observations):
            self._arrays.begin(self._worlds_of(number), self._first_frame(observed))
        return first

    def _begin(self, number: int) -> Sequence[Sequence[float]]:
        observed = self._clients[number].reset(
            game_seed(self._seed, number, self._cuts),
            num_envs=self._each,
            options=self._options,
            ticks_per_decision=self._ticks,
        )
        if len(observed.observations) != self._each:
            raise WireError(f"the game must send {self._each} observations, not {len(observed.observations)}")
        return observed.observations

    def _begin_anew(self, number: int) -> None:
        """Starts new rounds in this game; those that had not ended are cut short at their last observation."""
        self._cuts += 1
        role = next(iter(self.roles.values()))
        for world, observed in enumerate(self._begin(number), self._worlds_of(number).start):
            if self._arrays.ended[world]:
                role.observation[world, 0] = observed
            else:
                self._arrays.cut_short(slice(world, world + 1), self._first_frame([observed]))

    def _first_frame(self, observations: Sequence[Sequence[float]]) -> StepFrame:
        terms = np.zeros((len(observations), len(self.reward_terms)), np.float32)
        return self._step_frame(observations, terms, np.zeros(len(observations), np.uint8), {})

    def _frame(self, steps: Sequence[Step]) -> StepFrame:
        if len(steps) != self._each:
            raise WireError(f"the game must send {self._each} steps, not {len(steps)}")
        flags = [ACTED | TERMINATED * step.terminated | TRUNCATED * step.truncated for step in steps]
        finals = {row: step.final for row, step in enumerate(steps) if step.final is not None}
        return self._step_frame(
            [step.observation for step in steps],
            self._terms([step.terms for step in steps]),
            np.array(flags, np.uint8),
            finals,
        )

    def _step_frame(
        self,
        observations: Sequence[Sequence[float]],
        terms: np.ndarray,
        flags: np.ndarray,
        finals: Mapping[int, Final],
    ) -> StepFrame:
        width = next(iter(self.roles.values())).observation.shape[2]
        ended = [
            (row, _place(final.winner, self.winners), final.ticks, _place(final.arena, self.arena_names))
            for row, final in finals.items()
        ]
        role = RoleStep(
            observation=_numbers(observations, width)[:, None],
            terms=terms[:, None],
            flags=flags[:, None],
            final_rows=np.array(list(finals), np.int32),
            final_observation=_numbers([final.observation for final in finals.values()], width),
            final_terms=self._terms([final.terms for final in finals.values()]),
            final_score=np.array([final.score for final in finals.values()], np.float32),
            final_measures=np.empty((len(finals), 0), np.float32),
        )
        return StepFrame(0, 0, np.array(ended, np.int32).reshape(-1, 4), (role,))

    def _terms(self, terms: Sequence[Mapping[str, float]]) -> np.ndarray:
        if not terms:
            return np.zeros((0, len(self.reward_terms)), np.float32)
        return np.array([[each.get(term, 0.0) for term in self.reward_terms] for each in terms], np.float32)


def _numbers(rows: Sequence[Sequence[float]], width: int) -> np.ndarray:
    if not rows:
        return np.zeros((0, width), np.float32)
    if any(len(row) != width for row in rows):
        raise WireError(f"an observation must have {width} numbers")
    numbers = np.array(rows, np.float32)
    if not np.isfinite(numbers).all():
        raise WireError("an observation must have finite numbers")
    return numbers


def _limits(parts: Sequence[ActionPart]) -> np.ndarray:
    """Least and greatest values of an action; the API refuses others."""
    limits: list[tuple[float, float]] = []
    for part in parts:
        limits += [(-1.0, 1.0)] * part.size if part.kind == "continuous" else [(0.0, part.size - 1.0)]
    return np.array(limits, np.float32).T


def _place(name: str | None, names: Sequence[str]) -> int:
    return names.index(name) if name in names else -1 if name is None else 0
