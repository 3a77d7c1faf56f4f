"""Roll a ball to the gem without falling off the island."""
