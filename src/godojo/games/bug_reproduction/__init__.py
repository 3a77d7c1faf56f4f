"""Bug reproduction: a hunter that makes a named failure happen and saves how."""
