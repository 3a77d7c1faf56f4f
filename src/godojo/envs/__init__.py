"""Standard environments over a game's worlds: Gymnasium, PettingZoo and Stable-Baselines3.

Importing this package makes `godojo/Tag-v0` known to Gymnasium; `gym.make("godojo.envs:godojo/Tag-v0")` does both.
"""

import gymnasium

TAG_ID = "godojo/Tag-v0"

if TAG_ID not in gymnasium.registry:
    gymnasium.register(
        id=TAG_ID,
        entry_point="godojo.envs.gymnasium:TagEnv",
        vector_entry_point="godojo.envs.gymnasium:TagVectorEnv",
    )
