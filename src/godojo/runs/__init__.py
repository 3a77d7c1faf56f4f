"""Run folders: one for each training. Everything after training reads nothing else."""
