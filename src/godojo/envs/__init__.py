"""Standard environments over a game's worlds: Gymnasium, PettingZoo and Stable-Baselines3.

Importing this package makes `godojo/Tag-v0` and `godojo/Navigation-v0` known to Gymnasium;
`gym.make("godojo.envs:godojo/Tag-v0")` does both.
"""

import gymnasium

TAG_ID = "godojo/Tag-v0"

if TAG_ID not in gymnasium.registry:
    gymnasium.register(
        id=TAG_ID,
        entry_point="godojo.envs.gymnasium:TagEnv",
        vector_entry_point="godojo.envs.gymnasium:TagVectorEnv",
    )

NAVIGATION_ID = "godojo/Navigation-v0"

if NAVIGATION_ID not in gymnasium.registry:
    gymnasium.register(id=NAVIGATION_ID, entry_point="godojo.envs.solo:SoloEnv", kwargs={"game": "navigation"})
