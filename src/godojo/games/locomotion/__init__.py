"""Waypoints in a VR room with obstacles, in Godot only."""
