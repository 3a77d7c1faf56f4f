"""Hunting bugs: games that are played to find out what breaks."""
