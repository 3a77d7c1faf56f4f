"""Pursuit: a pursuer and an evader on a square; the smallest game that does everything."""
