"""A client with deadlines for games with the HTTP API (docs/http.md), and its checked answers."""

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar

import httpx
import msgspec

from godojo.bridge.messages import ConnectionLost, PeerTimeout, Ready, WireError, check_ready, shown
from godojo.errors import GodojoError

TOKEN_VARIABLE = "GODOJO_HTTP_TOKEN"  # noqa: S105 - where a token is, not one
_MAX_ANSWER = 4 * 1024 * 1024
_LOOK_AGAIN_S = 0.1
_Answer = TypeVar("_Answer")


class HttpRefused(GodojoError):
    """The game refused a request; `status` and `code` say why, for programs."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"the game refused ({status} {code}): {message}")
        self.status = status
        self.code = code


class HandshakeRejected(msgspec.Struct, frozen=True):
    """The body of a refusal."""

    code: str
    message: str


class Health(msgspec.Struct, frozen=True):
    """`/health`."""

    status: str


class Status(msgspec.Struct, frozen=True):
    """`/status`."""

    game: str
    godot: str
    scene: str | None
    scenes: tuple[str, ...]
    """Scenes that can be loaded."""
    driven: bool
    """Whether a client controls the game."""
    uptime_s: float
    requests: int
    reloads: int


class Metrics(msgspec.Struct, frozen=True):
    """`/performance/metrics`; fields of newer games are ignored."""

    fps: float
    process_s: float
    physics_s: float
    memory_bytes: float
    memory_most_bytes: float
    objects: float
    nodes: float
    draw_calls: float
    drawn_objects: float
    primitives: float
    physics_frames: int
    requests: int
    longest_serving_us: int


class Observation(msgspec.Struct, frozen=True):
    """The agent's observation."""

    observation: tuple[float, ...]
    round: int


class Scene(msgspec.Struct, frozen=True):
    """The loaded scene."""

    scene: str | None
    reloads: int


class Final(msgspec.Struct, frozen=True):
    """How a round ended."""

    observation: tuple[float, ...]
    """The last one of the round; the step's own is already the next round's."""
    terms: dict[str, float]
    """Of the whole round."""
    score: float
    winner: str
    ticks: int
    arena: str | None


class Step(msgspec.Struct, frozen=True):
    """The result of an action."""

    observation: tuple[float, ...]
    reward: float
    terms: dict[str, float]
    """Their sum is the reward."""
    terminated: bool
    truncated: bool
    ticks: int
    final: Final | None


class State(msgspec.Struct, frozen=True):
    """The game's description, and the state of the round."""

    round: int
    decisions: int
    terms: dict[str, float]
    game: dict[str, Any]

    def ready(self) -> Ready:
        """The game's description as in dojo/1."""
        try:
            ready = msgspec.convert({**self.game, "type": "ready"}, Ready, strict=False)
        except msgspec.ValidationError as error:
            raise WireError(
                f"the game describes itself in a way that cannot be read: {shown(str(error), 200)}"
            ) from None
        check_ready(ready)
        return ready


class GameClient:
    """One game at `url`. Every call returns or raises GodojoError within `timeout_s`.

    `token` is the one that the game printed at its start; defaults to `$GODOJO_HTTP_TOKEN`.
    """

    def __init__(self, url: str, token: str | None = None, *, timeout_s: float = 10.0) -> None:
        token = token or os.environ.get(TOKEN_VARIABLE, "")
        try:
            place = httpx.URL(url)
        except (httpx.InvalidURL, TypeError) as error:
            raise GodojoError(f"{shown(str(url), 200)!r} is no address ({error})") from None
        if place.scheme not in ("http", "https") or not place.host or not 0 < (place.port or 80) < 65536:
            raise GodojoError(f"{shown(str(url), 200)!r} is no address; one is like http://127.0.0.1:8080")
        if not token.isascii() or not token.isprintable():
            raise GodojoError("a token must be printable ASCII")
        self.url = str(place).rstrip("/")
        self._timeout_s = timeout_s
        self._client = httpx.Client(
            base_url=place,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=timeout_s,
            trust_env=place.host not in ("127.0.0.1", "localhost", "::1"),  # no proxy on the way to ourselves
        )

    def health(self) -> Health:
        return self._ask("GET", "/health", Health)

    def status(self) -> Status:
        return self._ask("GET", "/status", Status)

    def metrics(self) -> Metrics:
        return self._ask("GET", "/performance/metrics", Metrics)

    def observation(self) -> Observation:
        return self._ask("GET", "/rl/observation", Observation)

    def state(self) -> State:
        return self._ask("GET", "/rl/state", State)

    def load_scene(self, name: str) -> Scene:
        """Loads a scene of the game's list."""
        return self._ask("POST", "/scene", Scene, {"scene": name})

    def reload_scene(self) -> Scene:
        return self._ask("POST", "/scene/reload", Scene)

    def reset(
        self, seed: int = 0, *, options: Mapping[str, Any] | None = None, ticks_per_decision: int | None = None
    ) -> Observation:
        """Starts a round; `options` and `ticks_per_decision` configure the game first."""
        fields: dict[str, Any] = {"seed": seed}
        if options is not None:
            fields["options"] = dict(options)
        if ticks_per_decision is not None:
            fields["ticks_per_decision"] = ticks_per_decision
        return self._ask("POST", "/rl/reset", Observation, fields)

    def act(self, action: Sequence[float], ticks: int | None = None) -> Step:
        """Plays one decision, or decisions for `ticks`, with this action; stops when the round ends."""
        fields: dict[str, Any] = {"action": action}
        if ticks is not None:
            fields["ticks"] = ticks
        return self._ask("POST", "/rl/action", Step, fields)

    def wait_until_healthy(self, timeout_s: float) -> None:
        """Returns when the game answers; raises PeerTimeout if it does not in time."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                self.health()
            except (ConnectionLost, PeerTimeout):
                if time.monotonic() > deadline:
                    raise PeerTimeout(
                        f"no game answers at {self.url} within {timeout_s:g} s; start it there first"
                    ) from None
                time.sleep(_LOOK_AGAIN_S)
            else:
                return

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, method: str, path: str, kind: type[_Answer], fields: Mapping[str, Any] | None = None) -> _Answer:
        content = None if fields is None else msgspec.json.encode(fields)
        headers = None if content is None else {"Content-Type": "application/json"}
        try:
            answer = self._client.request(method, path, content=content, headers=headers)
        except httpx.TimeoutException:
            raise PeerTimeout(f"the game at {self.url} did not answer within {self._timeout_s:g} s") from None
        except httpx.HTTPError as error:
            raise ConnectionLost(f"the game at {self.url} cannot be reached ({error})") from None
        if len(answer.content) > _MAX_ANSWER:
            raise WireError(f"the game at {self.url} answered with {len(answer.content)} bytes, which is too much")
        try:
            if answer.status_code != httpx.codes.OK:
                refusal = msgspec.json.decode(answer.content, type=HandshakeRejected)
                raise HttpRefused(answer.status_code, shown(refusal.code), shown(refusal.message, 300))
            return msgspec.json.decode(answer.content, type=kind, strict=False)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise WireError(f"{path} of {self.url} answered what cannot be read: {shown(str(error), 200)}") from None
