"""The Python API behind the commands. `godojo` exports its public names; the command line parses and prints."""
