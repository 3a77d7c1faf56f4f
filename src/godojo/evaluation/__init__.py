"""Judging: whether the embedded game is the real one, and how good anybody is at it."""
