"""Find the red ball by a camera's picture."""
