"""Several walkers in a VR room with one shared policy, in Godot only."""
