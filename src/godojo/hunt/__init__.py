"""Hunting bugs: explorers play the real game; what detectors see is proven, shrunk and reported."""
