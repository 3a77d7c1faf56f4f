"""Voxel stress: a pilot that finds what breaks the budgets of a chunked terrain."""
