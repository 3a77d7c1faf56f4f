"""A client with deadlines for games with the HTTP API (docs/http.md)."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar

import msgspec

from godojo.bridge.http_connection import HttpConnection
from godojo.bridge.http_messages import Health, Metrics, Observation, Refusal, Scene, State, Status, Step, Steps
from godojo.bridge.messages import ConnectionLost, PeerTimeout, WireError, shown
from godojo.errors import GodojoError, command

TOKEN_VARIABLE = "GODOJO_HTTP_TOKEN"  # noqa: S105 - where a token is, not one
_OK = 200
_LOOK_AGAIN_S = 0.1
_Answer = TypeVar("_Answer")


class HttpRefused(GodojoError):
    """The game refused a request; `status` and `code` say why, for programs."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"the game refused ({status} {code}): {message}")
        self.status = status
        self.code = code


class GameClient:
    """One game at `url`. The game has `timeout_s` to answer; every failure is a GodojoError.

    `token` is the one that the game printed at its start; defaults to `$GODOJO_HTTP_TOKEN`.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = 10.0) -> None:
        token = token or os.environ.get(TOKEN_VARIABLE, "")
        if not token.isascii() or not token.isprintable():
            raise GodojoError("a token must be printable ASCII")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._connection = HttpConnection(url, headers, timeout_s=timeout_s)
        self.url = self._connection.url

    def health_check(self) -> bool:
        """Whether the game answers; needs no token."""
        try:
            return self._ask("GET", "/health", Health).status == "ok"
        except (ConnectionLost, PeerTimeout):
            return False

    def get_status(self) -> Status:
        """The running game, its scene, and the scenes that may be loaded."""
        return self._ask("GET", "/status", Status)

    def get_performance_metrics(self) -> Metrics:
        """Frame rate, memory, objects and rendering of the engine."""
        return self._ask("GET", "/performance/metrics", Metrics)

    def load_scene(self, scene: str) -> Scene:
        """Loads a scene of the game's list, by name or by its `res://` path; returns once it is loaded."""
        field = "scene_path" if scene.startswith("res://") else "scene"
        return self._ask("POST", "/scene", Scene, {field: scene})

    def reload_scene(self) -> Scene:
        return self._ask("POST", "/scene/reload", Scene)

    def get_scene_state(self) -> State:
        """The loaded scene, the state of its round, and the layout of observations and actions."""
        return self._ask("GET", "/rl/state", State)

    def get_observation(self) -> Observation:
        return self._ask("GET", "/rl/observation", Observation)

    def reset(
        self,
        seed: int = 0,
        *,
        num_envs: int | None = None,
        options: Mapping[str, Any] | None = None,
        ticks_per_decision: int | None = None,
    ) -> Observation:
        """Starts a round in every environment; the other arguments configure the game first."""
        wanted = {
            "seed": seed,
            "num_envs": num_envs,
            "options": None if options is None else dict(options),
            "ticks_per_decision": ticks_per_decision,
        }
        fields = {name: value for name, value in wanted.items() if value is not None}
        return self._ask("POST", "/rl/reset", Observation, fields)

    def act(self, action: Sequence[float], ticks: int | None = None) -> Step:
        """Plays one decision, or decisions for `ticks`, with this action; stops when the round ends."""
        fields: dict[str, Any] = {"action": action}
        if ticks is not None:
            fields["ticks"] = ticks
        return self._ask("POST", "/rl/action", Step, fields)

    def step(self, actions: Sequence[Sequence[float]]) -> tuple[Step, ...]:
        """Plays one decision in every environment."""
        self.start_step(actions)
        return self.finish_step()

    def start_step(self, actions: Sequence[Sequence[float]]) -> None:
        """Sends the actions without waiting for the results, so that several games compute at once."""
        self._send("POST", "/rl/step", {"actions": actions})

    def finish_step(self) -> tuple[Step, ...]:
        """The results of `start_step`."""
        return self._answer("/rl/step", Steps).steps

    def wait_until_healthy(self, timeout_s: float) -> None:
        """Returns when the game answers; raises PeerTimeout if it does not in time."""
        deadline = time.monotonic() + timeout_s
        while not self.health_check():
            if time.monotonic() > deadline:
                cure = f"start it there first ({command('serve-game GAME')})"
                raise PeerTimeout(f"no game answers at {self.url} within {timeout_s:g} s; {cure}")
            time.sleep(_LOOK_AGAIN_S)

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, method: str, path: str, kind: type[_Answer], fields: Mapping[str, Any] | None = None) -> _Answer:
        self._send(method, path, fields)
        return self._answer(path, kind)

    def _send(self, method: str, path: str, fields: Mapping[str, Any] | None) -> None:
        self._connection.send(method, path, None if fields is None else msgspec.json.encode(fields))

    def _answer(self, path: str, kind: type[_Answer]) -> _Answer:
        status, answer = self._connection.receive()
        try:
            if status != _OK:
                refusal = msgspec.json.decode(answer, type=Refusal)
                raise HttpRefused(status, shown(refusal.code), shown(refusal.message, 300))
            return msgspec.json.decode(answer, type=kind, strict=False)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise WireError(f"{path} of {self.url} answered what cannot be read: {shown(str(error), 200)}") from None
