"""Numba kernels behind the learner: the fast path of what `networks.py` and `ppo.py` say in torch."""
