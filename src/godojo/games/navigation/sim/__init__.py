"""The embedded game: `state` is its memory, `step` its rules with `motion`, `rewards`, `sight` and `rounds`, `twin` the
whole."""
