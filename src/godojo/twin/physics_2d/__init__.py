"""GodotPhysics2D as kernels: characters, areas, rays and free rigid bodies of 2D scenes."""
