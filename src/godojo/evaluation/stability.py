"""How a game that was trained over HTTP bore it: losses, scenes loaded anew, memory and frame rate."""

import msgspec

from godojo.engines.base import Worlds
from godojo.engines.godot.http_worlds import HttpWorlds


class GameStability(msgspec.Struct, frozen=True):
    """One game, as it is at the end."""

    url: str
    status: str
    """What it says of its health."""
    scene: str | None
    fps: float
    memory_mb: float
    most_memory_mb: float
    nodes: int
    requests: int


class Stability(msgspec.Struct, frozen=True):
    """What a training over HTTP came across."""

    agent_steps: int
    reloads: int
    """Scenes that were loaded anew, as was asked for."""
    restarts: int
    """Games that were lost and came back."""
    memory_growth_mb: float
    """Of all games, since the training began."""
    games: list[GameStability]


def http_worlds(worlds: Worlds) -> HttpWorlds | None:
    """The games behind worlds, whatever is wrapped around them."""
    while not isinstance(worlds, HttpWorlds):
        inner = getattr(worlds, "inner", None)
        if inner is None:
            return None
        worlds = inner
    return worlds


def memory_mb(worlds: HttpWorlds) -> float:
    return sum(client.get_performance_metrics().memory.static_memory_usage for client in worlds.clients) / 1e6


def stability(worlds: HttpWorlds, agent_steps: int, memory_before_mb: float) -> Stability:
    games = []
    for client in worlds.clients:
        metrics, status = client.get_performance_metrics(), client.get_status()
        games.append(
            GameStability(
                url=client.url,
                status="ok" if client.health_check() else "no answer",
                scene=status.scene,
                fps=metrics.engine.fps,
                memory_mb=metrics.memory.static_memory_usage / 1e6,
                most_memory_mb=metrics.memory.static_memory_peak / 1e6,
                nodes=metrics.objects.node_count,
                requests=metrics.http.requests,
            )
        )
    growth = sum(game.memory_mb for game in games) - memory_before_mb
    return Stability(agent_steps, worlds.reloads, worlds.restarts, growth, games)
