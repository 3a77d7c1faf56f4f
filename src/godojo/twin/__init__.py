"""Twins of users' own games: their scripts, compiled for the embedded engine."""
