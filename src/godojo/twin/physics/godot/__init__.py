"""What differs in GodotPhysics3D, the engine of projects that choose none: its tests of shapes, motion and steps.

All of it is in 32 bits and in the engine's order of operations: its searches end early, and where they end depends on
rounding. `engines.py`, one folder up, chooses between this and Jolt.
"""
