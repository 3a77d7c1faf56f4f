"""A twin's worlds: their memory, Godot's nodes as kernels over it, and the order of a tick."""
