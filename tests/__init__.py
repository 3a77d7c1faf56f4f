"""Every check and every test; `python -m tests` runs them all."""
