"""Runs: a folder for each training that explains itself. Everything after training reads runs and nothing else."""
