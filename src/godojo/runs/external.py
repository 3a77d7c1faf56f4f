"""Runs of external games: a user's own project, or an exported game."""

from godojo.errors import GodojoError, command
from godojo.games.base import GAMES
from godojo.runs.folder import RunFolder

_INSTEAD = {"league": "eval {}@SNAPSHOT"}
"""The command to use in place of another; `record` by default."""


def is_external(game: str) -> bool:
    """Whether a policy's game has no embedded twin: a project of the user's own, or a scene."""
    return game not in GAMES


def can_be_launched(run: RunFolder) -> bool:
    """Whether its game is an external one that Godojo starts, rather than the user."""
    return is_external(run.config.game) and "connect" not in run.config.more


def refuse_external(verb: str, run: RunFolder) -> None:
    """Refuse a verb that needs one of Godojo's own games."""
    if is_external(run.config.game):
        instead = command(_INSTEAD.get(verb, "record {}").format(run.name))
        raise GodojoError(f"{verb} needs an embedded twin, which {run.config.game} does not have; use: {instead}")
