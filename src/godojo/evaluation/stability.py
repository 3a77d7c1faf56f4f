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
    return sum(client.metrics().memory_bytes for client in worlds.clients) / 1e6


def stability(worlds: HttpWorlds, agent_steps: int, memory_before_mb: float) -> Stability:
    games = []
    for client in worlds.clients:
        metrics, status = client.metrics(), client.status()
        games.append(
            GameStability(
                url=client.url,
                status=client.health().status,
                scene=status.scene,
                fps=metrics.fps,
                memory_mb=metrics.memory_bytes / 1e6,
                most_memory_mb=metrics.memory_most_bytes / 1e6,
                nodes=int(metrics.nodes),
                requests=metrics.requests,
            )
        )
    growth = sum(game.memory_mb for game in games) - memory_before_mb
    return Stability(agent_steps, worlds.reloads, worlds.restarts, growth, games)
