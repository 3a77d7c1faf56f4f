"""The models that a scene declares (`DojoModel`), as settings of the learner."""

from collections.abc import Collection, Container, Mapping
from typing import Any, NamedTuple

from godojo.errors import GodojoError, known
from godojo.learn.presets import learner_settings
from godojo.learn.registry import SB3, algorithm_named
from godojo.learn.settings import SacSettings

Model = Mapping[str, Any]
"""The properties of a `DojoModel` that its scene has set, its `algorithm`, and the path of its `node`."""
SB3_NETWORK = ("net_arch", "activation_fn")
NETWORK = (*SB3_NETWORK, "cnn_channels")
COMMON = (*NETWORK, "learning_rate", "final_learning_rate", "gamma", "ent_coef", "max_grad_norm", "batch_size")
OF_ALGORITHM = {
    "ppo": ("memory", "memory_size", "n_steps", "n_epochs", "gae_lambda", "clip_range", "vf_coef"),
    "sac": ("buffer_size", "learning_starts", "tau", "train_freq", "gradient_steps"),
}
"""Properties of a `DojoModel` that one algorithm has, by algorithm."""
PROPERTIES = {*COMMON, *(name for names in OF_ALGORITHM.values() for name in names), "algorithm"}
LEARNER_NAMES = {"train_freq": "n_steps"}
"""Properties that our learner calls otherwise."""
SHARED = ("n_steps", "train_freq")
"""Settings that are the same for all roles."""
MAX_NODE = 200


class Declared(NamedTuple):
    """What a scene declares, checked."""

    algorithm: str = ""
    """Empty where it declares none."""
    settings: Mapping[str, Any] = {}
    """For all roles."""
    roles: Mapping[str, Mapping[str, Any]] = {}
    """Settings of single roles."""
    nodes: Mapping[str, str] = {}
    """By role: the path of the node that declares its model."""

    def without(self, given: Collection[str]) -> "Declared":
        """Without settings that the user gave; these count for all roles."""
        names = set(given)
        if "learning_rate" in names:  # the final one of the scene goes with its first one
            names.add("final_learning_rate")
        if "n_minibatches" in names:  # which a batch_size would replace
            names.add("batch_size")
        roles = {role: leave_out(names, own) for role, own in self.roles.items()}
        return self._replace(
            settings=leave_out(names, self.settings), roles={role: own for role, own in roles.items() if own}
        )

    def only(self, role: str) -> "Declared":
        """What it declares for one role, for a trainer that trains no other."""
        nodes = {name: node for name, node in self.nodes.items() if name == role}
        return self._replace(settings={**self.settings, **self.roles.get(role, {})}, roles={}, nodes=nodes)

    @property
    def layer(self) -> dict[str, Any]:
        """All of it, as `learner_settings` takes it."""
        return {
            **self.settings,
            **({"roles": {role: dict(own) for role, own in self.roles.items()}} if self.roles else {}),
        }


def declared(
    models: Mapping[str, Model], algorithm: str | None = None, roles: Collection[str] | None = None
) -> Declared:
    """What the models of some of the `roles`, by default of all, amount to; GodojoError names the node at fault.

    If the user chose another `algorithm`, only the networks are kept: hyperparameters of one are nothing to another.
    """
    if not models:
        return Declared()
    nodes = {role: _node_of(role, model) for role, model in models.items()}
    found = {role: _checked(nodes[role], model) for role, model in models.items()}
    scene_algorithm = str(next(iter(models.values()))["algorithm"])
    for name in ("algorithm", *SHARED):
        _check_agreement(models, nodes, name)
    if algorithm is not None and algorithm == SB3[scene_algorithm]:
        found = {role: _for_sb3(nodes[role], algorithm, own) for role, own in found.items()}
    elif algorithm not in (None, scene_algorithm):
        kept = SB3_NETWORK if algorithm and algorithm_named(algorithm).extra else NETWORK
        found = {role: {name: own[name] for name in kept if name in own} for role, own in found.items()}
    shared = {name: own[name] for own in found.values() for name in SHARED if name in own}
    is_of_all = roles is None or set(roles) <= set(models)
    one = next(iter(found.values()))
    if is_of_all and len(set(nodes.values())) == 1 and all(own == one for own in found.values()):
        return Declared(scene_algorithm, one, {}, nodes)
    own_settings = {role: leave_out(SHARED, own) for role, own in found.items()}
    return Declared(scene_algorithm, shared, {role: own for role, own in own_settings.items() if own}, nodes)


def _checked(node: str, model: Model) -> dict[str, Any]:
    """The settings that one model declares, under the learner's names."""
    algorithm = model.get("algorithm")
    if algorithm not in OF_ALGORITHM:
        raise GodojoError(f"{node}: there is no algorithm {algorithm!r}; {known(str(algorithm), OF_ALGORITHM)}")
    values = {name: value for name, value in model.items() if name not in ("algorithm", "node")}
    for name in values:
        if name not in PROPERTIES:
            raise GodojoError(f"{node}: a DojoModel has no property {name!r}; {known(name, sorted(PROPERTIES))}")
        if name not in (*COMMON, *OF_ALGORITHM[algorithm]):
            raise GodojoError(f"{node}: {_foreign(name, algorithm)}")
    if values.get("memory") == "none":
        if "memory_size" in values:
            raise GodojoError(
                f"{node}: memory_size without a memory; set memory to leaky or gru, or remove memory_size"
            )
        values["memory"] = ""
    if "learning_rate" in values:
        values.setdefault("final_learning_rate", values["learning_rate"])
    settings = {LEARNER_NAMES.get(name, name): value for name, value in values.items()}
    if isinstance(kept := settings.get("buffer_size"), int):
        settings.setdefault("learning_starts", min(kept, SacSettings().learning_starts))
    try:
        # A minibatch has to hold a sequence; how long these are is decided when the game is known.
        learner_settings(algorithm, settings | ({"sequence_length": 1} if algorithm == "ppo" else {}))
    except GodojoError as error:
        raise GodojoError(f"{node}: {error}") from None
    return settings


def _for_sb3(node: str, algorithm: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for Stable-Baselines3, whose policies have no memory and whose learning rate is constant."""
    if settings.get("memory"):
        raise GodojoError(f"{node}: policies of Stable-Baselines3 have no memory; set memory to none")
    if "cnn_channels" in settings:
        raise GodojoError(f"{node}: policies of Stable-Baselines3 have no convolutions; remove cnn_channels")
    if settings.get("final_learning_rate") != settings.get("learning_rate"):
        raise GodojoError(f"{node}: Stable-Baselines3's learning rate is constant; remove final_learning_rate")
    found = leave_out(("memory", "memory_size", "final_learning_rate"), settings)
    if algorithm != "sb3" and "n_steps" in found:
        found["train_freq"] = found.pop("n_steps")
    try:
        learner_settings(algorithm, found)
    except GodojoError as error:
        raise GodojoError(f"{node}: {error}") from None
    return found


def _foreign(name: str, algorithm: str) -> str:
    """The complaint about a property of another algorithm."""
    own, other = algorithm.upper(), next(kind for kind, names in OF_ALGORITHM.items() if name in names).upper()
    if name in ("memory", "memory_size"):
        return f"policies of {own} have no memory; remove {name}, or set algorithm to {other}"
    return f"{name} is a setting of {other}, and the algorithm is {own}; remove one of the two"


def _check_agreement(models: Mapping[str, Model], nodes: Mapping[str, str], name: str) -> None:
    """Reject different values of a setting that all roles share."""
    first: tuple[str, Any] | None = None
    for role, own in models.items():
        if name not in own:
            continue
        if first is not None and own[name] != first[1]:
            raise GodojoError(
                f"{nodes[first[0]]} declares {name} {first[1]} and {nodes[role]} declares {own[name]}:"
                " it must be the same for all agents"
            )
        first = first or (role, own[name])


def _node_of(role: str, model: Model) -> str:
    """The path of the node that declares a model; it comes from outside, so it is made fit for a line."""
    node = str(model.get("node") or f"the model of {role}")[:MAX_NODE]
    return "".join(letter if letter.isprintable() else "?" for letter in node)


def leave_out(names: Container[str], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all other names."""
    return {name: value for name, value in values.items() if name not in names}
