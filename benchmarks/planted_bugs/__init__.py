"""Bugs to plant into copies of our games, one TOML file each, and the runner that counts how many a hunt finds."""
