"""Scenes of the real engine, as data: the live tree of a training that is about to begin."""
