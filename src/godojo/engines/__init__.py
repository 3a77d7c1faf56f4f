"""Engines, which run games: one package each."""
