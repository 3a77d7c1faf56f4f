"""Answers of games with the HTTP API (docs/http.md), checked."""

from typing import Any

import msgspec

from godojo.bridge.messages import Ready, WireError, check_ready, shown


class Refusal(msgspec.Struct, frozen=True):
    """The body of an answer with an error status."""

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


class EngineMetrics(msgspec.Struct, frozen=True):
    """Times are of one frame."""

    fps: float
    process_time_s: float
    physics_time_s: float
    physics_frames: int


class MemoryMetrics(msgspec.Struct, frozen=True):
    """In bytes."""

    static_memory_usage: float
    static_memory_peak: float
    video_memory_usage: float


class ObjectMetrics(msgspec.Struct, frozen=True):
    object_count: int
    node_count: int
    resource_count: int


class RenderingMetrics(msgspec.Struct, frozen=True):
    """Of one frame."""

    draw_calls: int
    objects_drawn: int
    primitives_drawn: int


class HttpMetrics(msgspec.Struct, frozen=True):
    """Of the API itself."""

    requests: int
    refused: int
    longest_serving_us: int
    """The longest time that it took of one frame."""


class MonitoredMetric(msgspec.Struct, frozen=True):
    """A metric of `DojoPerformanceMonitor`, over the ticks of its window."""

    value: float
    """The last one."""
    average: float
    maximum: float
    p50: float
    p95: float
    p99: float
    budget: float
    """0: none."""
    ratio: float
    """The last value as a share of the budget."""


class Metrics(msgspec.Struct, frozen=True):
    """`/performance/metrics`; fields of newer games are ignored."""

    engine: EngineMetrics
    memory: MemoryMetrics
    objects: ObjectMetrics
    rendering: RenderingMetrics
    http: HttpMetrics
    performance: dict[str, MonitoredMetric] = {}
    """By metric; empty in scenes without a `DojoPerformanceMonitor`."""


class Observation(msgspec.Struct, frozen=True):
    """What the agents observe."""

    observation: tuple[float, ...]
    """Of the first environment."""
    observations: tuple[tuple[float, ...], ...]
    """Of every environment."""
    round: int


class Scene(msgspec.Struct, frozen=True):
    """The loaded scene."""

    scene: str | None
    """Its name in the list; None if it is not there."""
    scene_path: str
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
    """The result of an action in one environment."""

    observation: tuple[float, ...]
    reward: float
    terms: dict[str, float]
    """Their sum is the reward."""
    terminated: bool
    truncated: bool
    ticks: int
    final: Final | None


class Steps(msgspec.Struct, frozen=True):
    """The results of one decision in every environment."""

    steps: tuple[Step, ...]


class State(msgspec.Struct, frozen=True):
    """The loaded scene, its round and the game's description."""

    scene: str | None
    scene_path: str
    num_envs: int
    round: int
    decisions: int
    """Of the first environment's round, as are the terms."""
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
