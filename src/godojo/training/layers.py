"""Settings of the learner from several sources, and a record of where each came from."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from godojo.learn.presets import learner_settings
from godojo.learn.registry import ALGORITHMS
from godojo.runs.config import RunConfig

SOURCES = "settings_from"
"""Key of `RunConfig.more`: by setting, where its value came from; the others are constant defaults."""


class Layer(NamedTuple):
    """Settings of the learner from one source; later layers win."""

    source: str
    values: Mapping[str, Any]


def with_settings(config: RunConfig, *layers: Layer) -> RunConfig:
    """The configuration with the learner's settings, and where each that is no constant default came from."""
    settings = learner_settings(config.learner, *(layer.values for layer in layers))
    sources = {name: layer.source for layer in layers for name in layer.values}
    return msgspec.structs.replace(
        config,
        learner_settings=msgspec.to_builtins(settings),
        more={**config.more, SOURCES: sources},
    )


def defaults_for_few_worlds(worlds: int, algorithm: str) -> dict[str, Any]:
    """Defaults for the few worlds of the real engine, with fewer minibatches so that each stays large enough."""
    if ALGORITHMS[algorithm].extra:
        return {}
    return {"num_worlds": worlds} | ({"n_minibatches": max(worlds // 16, 1)} if algorithm == "ppo" else {})
