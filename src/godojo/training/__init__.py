"""Assembles a training from its arguments: configuration, worlds, run folder and algorithm."""
