"""The embedded game: `state` is its memory, `flight` its physics, `step` its rules, `twin` the whole."""
