"""Standard environments over any game's worlds: Gymnasium, PettingZoo and Stable-Baselines3.

Importing this package registers every game with Gymnasium: `godojo/Tag-v0`, `godojo/Navigation-v0`, …;
`gym.make("godojo.envs:godojo/Tag-v0")` does both.
"""

import gymnasium

from godojo.games.base import GAMES


def env_id(game: str) -> str:
    """The game's name in Gymnasium's registry."""
    return f"godojo/{game.replace('_', ' ').title().replace(' ', '')}-v0"


for _game in GAMES:
    if env_id(_game) not in gymnasium.registry:
        gymnasium.register(
            id=env_id(_game),
            entry_point="godojo.envs.gymnasium:GameEnv",
            vector_entry_point="godojo.envs.gymnasium:GameVectorEnv",
            kwargs={"game": _game},
        )
