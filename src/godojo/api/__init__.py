"""What the commands do, as Python functions: `godojo` exports the public ones, the command line parses and prints."""
