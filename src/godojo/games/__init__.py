"""The games, one folder each: what they are, and how they run embedded."""
