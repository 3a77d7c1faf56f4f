"""The embedded game: `state` is its memory, `step` its rules, `rounds` how a round begins, `twin` the whole."""
