"""Geometry and chance for embedded games: plain functions over one world, compiled by Numba.

They allocate nothing and call nothing that only a CPU has, so that the same functions can be compiled for a GPU.
"""
