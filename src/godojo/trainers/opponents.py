"""Who plays the roles that do not learn."""

from typing import Any

from godojo.envs.versus import RANDOM
from godojo.opponents import scripted_opponents


def opponent_of(game: str, settings: Any) -> str:
    """The opponent of the settings; by default the game's first scripted one, or random actions."""
    return str(settings.opponent or next(iter(scripted_opponents(game)), RANDOM))
