"""Algorithms of other libraries, run by Godojo's training loop."""
