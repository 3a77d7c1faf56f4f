"""Other people's trainers, in our runs: their learning, our worlds, folders, tables and policies."""
