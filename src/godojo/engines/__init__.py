"""What runs a game. Each engine is a package of its own."""
