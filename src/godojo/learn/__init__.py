"""Learning: PPO with self-play, SAC, and what both need. Everything here sees arrays, never engines' insides."""
