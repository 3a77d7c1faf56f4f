"""Runs of external games: a user's own project, or an exported game."""

from godojo.errors import GodojoError, command
from godojo.games.base import GAMES
from godojo.runs.folder import RunFolder

_INSTEAD = {"league": "eval {}@SNAPSHOT"}
"""The command to use in place of another; `record` by default."""


def is_external(game: str) -> bool:
    """Whether a policy's game is a project of the user's own."""
    return game not in GAMES


def refuse_external(verb: str, run: RunFolder) -> None:
    """Refuse a verb that needs one of Godojo's own games."""
    if is_external(run.config.game):
        instead = command(_INSTEAD.get(verb, "record {}").format(run.name))
        raise GodojoError(f"{verb} is for Godojo's own games, and {run.config.game} is an external one; use: {instead}")
