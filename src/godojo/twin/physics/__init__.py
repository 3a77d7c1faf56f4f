"""Godot's 3D physics on Jolt as Numba kernels over arrays: motion of characters, rays, areas and simple rigid bodies.

`space.py` has the records, `build.py` fills them, `motion.py`, `slide.py`, `rays.py`, `areas.py` and `rigid.py` are
what a world's tick calls.
"""
