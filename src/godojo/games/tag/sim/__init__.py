"""The embedded game: `state` is its memory, `step` its rules with `sight`, `rewards` and `rounds`, `twin` the whole."""
