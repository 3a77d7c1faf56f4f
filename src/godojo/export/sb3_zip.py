"""Models of Stable-Baselines3 (PPO, SAC, TD3, DQN) and the VecNormalize statistics beside them, read without running
code.

Both formats hold pickles, which run whatever they say when Stable-Baselines3 loads them. Nothing is unpickled here:
weights are read with torch's `weights_only`, the description from its JSON alone, and statistics by an unpickler that
makes arrays and nothing else. So a file from anywhere may be resumed and evaluated.
"""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
import torch
from torch import Tensor

from godojo.engines.make import GAMES, make_vec
from godojo.errors import GodojoError
from godojo.evaluation.players import PolicyPlayer, TrainedPlayer, known_settings
from godojo.export.sb3_statistics import MAX_BYTES, Normalization, read_normalization, statistics_file
from godojo.files import TRAILER, Damaged
from godojo.games.parts import ActionPart
from godojo.learn.networks import LOG_STD_LIMITS, NORMALISED_LIMIT, VARIANCE_FLOOR, Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard, load_policy
from godojo.runs.folder import RunFolder, run_around

SUFFIX = ".zip"
MAX_LAYERS = 16
FAR = 1e4
"""Observations that are not normalised are expected within ± this value."""
_READ = ("data", "policy.pth", "pytorch_variables.pth")
_OPTIMIZERS = ("policy.optimizer", "actor.optimizer", "critic.optimizer", "ent_coef_optimizer")


class _Actor(NamedTuple):
    """Where an algorithm keeps the network that acts."""

    layers: str
    """Prefix of its numbered layers."""
    head: tuple[str, ...]
    """The layers behind them; the last numbered one if empty."""
    others: tuple[str, ...]
    """Prefixes of what else it keeps."""
    activation: str
    """By default."""


_ACTORS = {
    "ppo": _Actor(
        "mlp_extractor.policy_net.", ("action_net",), ("mlp_extractor.value_net.", "value_net.", "log_std"), "Tanh"
    ),
    "sac": _Actor("actor.latent_pi.", ("actor.mu", "actor.log_std"), ("critic.", "critic_target."), "ReLU"),
    "td3": _Actor("actor.mu.", (), ("actor_target.", "critic.", "critic_target."), "ReLU"),
    "dqn": _Actor("q_net.q_net.", (), ("q_net_target.",), "ReLU"),
}
"""By algorithm; A2C is like PPO."""


class Sb3Model(NamedTuple):
    """The checked content of a zip, and of the statistics beside it."""

    path: Path
    algorithm: str
    """`ppo`, `sac`, `td3` or `dqn`."""
    weights: dict[str, Tensor]
    """`policy.pth`."""
    optimizers: dict[str, Any]
    """Their states by name."""
    variables: dict[str, Tensor]
    """`pytorch_variables.pth`: SAC's entropy coefficient."""
    agent_steps: int
    updates: int
    activation: str
    normalization: Normalization | None
    """None where no statistics are beside it: observations and rewards were not normalised."""

    @property
    def net_arch(self) -> tuple[int, ...]:
        return tuple(len(matrix) for matrix in actor_layers(self.weights)[0][::2])

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of an observation, and of an action with one for each choice."""
        hidden, (head, *_) = actor_layers(self.weights)
        return hidden[0].shape[1], len(head)

    def fits(self, observation_size: int, parts: Sequence[ActionPart]) -> bool:
        """Whether it plays with such observations and actions."""
        kinds = {part.kind for part in parts}
        if self.algorithm == "ppo":
            is_right_kind = ("log_std" in self.weights) == ("continuous" in kinds)
        else:
            is_right_kind = kinds == {"discrete"} if self.algorithm == "dqn" else kinds == {"continuous"}
            is_right_kind &= self.algorithm != "dqn" or len(parts) == 1
        return is_right_kind and self.sizes == (observation_size, sum(part.size for part in parts))


def read_sb3_model(path: Path) -> Sb3Model:
    """Reads a zip; GodojoError says why it cannot be used."""
    try:
        with path.open("rb") as file:
            sealed = TRAILER.check(file) is not None
            entries = _entries(file, checksums=not sealed)
        weights, variables = _tensors(entries["policy.pth"]), _tensors(entries.get("pytorch_variables.pth", b""))
        optimizers = {name: _tensors(entries[key]) for name in _OPTIMIZERS if (key := f"{name}.pth") in entries}
        data = msgspec.json.decode(entries["data"])
        algorithm = _algorithm_of(weights)
        activation = _activation(data.get("policy_kwargs"), _ACTORS[algorithm or "ppo"].activation)
        steps, updates = int(data.get("num_timesteps", 0)), int(data.get("_n_updates", 0))
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None
    except GodojoError as error:
        raise GodojoError(f"{path} {error}") from None
    except KeyError as error:
        raise GodojoError(f"{path} is no model of Stable-Baselines3: it has no {error.args[0]!r}") from None
    except Exception as error:  # zip, torch and JSON raise nearly anything on what is damaged
        why = " ".join(str(error).split())[:160]
        raise GodojoError(f"{path} is damaged or no model of Stable-Baselines3 ({why})") from None
    _check_weights(path, algorithm, weights)
    model = Sb3Model(path, algorithm, weights, optimizers, variables, steps, updates, activation, None)
    found = statistics_file(path)
    if found is None:
        return model
    normalization = read_normalization(found)
    if normalization.obs is not None and normalization.obs.mean.shape != model.sizes[:1]:
        size = normalization.obs.mean.size
        raise GodojoError(f"{found} is of {size} observations, and {path.name} has {model.sizes[0]}; move it away")
    return model._replace(normalization=normalization)


def run_of(path: Path) -> RunFolder | None:
    """The run of Stable-Baselines3 in whose folder a zip is, if any."""
    run = run_around(path)
    return run if run is not None and run.config.is_sb3 else None


def actor_layers(weights: Mapping[str, Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Matrices and biases of the network that acts: of its hidden layers, first to last, and of its head."""
    actor = _ACTORS[_algorithm_of(weights)]
    found = {int(name[len(actor.layers) :].partition(".")[0]) for name in weights if name.startswith(actor.layers)}
    names = [f"{actor.layers}{number}" for number in sorted(found)]
    heads = actor.head or tuple(names[-1:])
    hidden = names if actor.head else names[:-1]
    layers, head = (
        [weights[f"{name}.{kind}"] for name in each for kind in ("weight", "bias")] for each in (hidden, heads)
    )
    return layers, head


def to_policy(
    weights: Mapping[str, Tensor],
    normalization: Normalization | None,
    action_parts: tuple[ActionPart, ...],
    activation: str,
) -> Policy:
    """An MlpPolicy and its normalisation as our `Policy`, which gives the same actions if it is deterministic.

    Ours clips normalised observations to `NORMALISED_LIMIT`. Where Stable-Baselines3's limit is k times as large, the
    observations are divided by k and the first matrix is multiplied by it.
    """
    algorithm = _algorithm_of(weights)
    weights = {name: tensor.detach().cpu() for name, tensor in weights.items()}
    layers, head = actor_layers(weights)
    size, net_arch = layers[0].shape[1], tuple(len(matrix) for matrix in layers[::2])
    shape = PolicyShape(
        size,
        action_parts,
        net_arch,
        squashed=algorithm in ("sac", "td3"),
        activation=activation,  # type: ignore[arg-type]
    )
    policy = Policy(shape)
    ours = [name for name in policy.state_dict() if name.startswith(("encoder.", "trunk."))]
    mean, variance, count, factor = torch.zeros(size), torch.ones(size), 0.0, FAR / NORMALISED_LIMIT
    if normalization is None or normalization.obs is None:
        variance = variance * factor**2 - VARIANCE_FLOOR
    else:
        factor, count = normalization.clip_obs / NORMALISED_LIMIT, normalization.obs.count
        mean, variance = torch.from_numpy(normalization.obs.mean), torch.from_numpy(normalization.obs.var)
        variance = (variance * factor**2 + (normalization.epsilon * factor**2 - VARIANCE_FLOOR)).clamp(min=0.0)
    policy.load_state_dict(
        dict(zip(ours, [layers[0] * factor, *layers[1:]], strict=True))
        | _our_head(algorithm, head, weights.get("log_std"), action_parts)
        | {"normaliser.count": torch.tensor(count).double()}
        | {"normaliser.mean": mean, "normaliser.variance": variance}
    )
    return policy


def _our_head(
    algorithm: str, head: list[Tensor], log_std: Tensor | None, parts: Sequence[ActionPart]
) -> dict[str, Tensor]:
    """The weights of our head: a squashed one has standard deviations in its latter half, which TD3 does not have;
    any other has its continuous numbers first, then the choices."""
    matrix, bias, *more = head
    if algorithm in ("sac", "td3"):
        spread = more or [torch.zeros_like(matrix), torch.full_like(bias, LOG_STD_LIMITS[0])]
        return {"head.linear.weight": torch.cat((matrix, spread[0])), "head.linear.bias": torch.cat((bias, spread[1]))}
    is_choice = torch.tensor([part.kind == "discrete" for part in parts for _ in range(part.size)])
    order = torch.argsort(is_choice.int(), stable=True)
    found = {"head.linear.weight": matrix[order], "head.linear.bias": bias[order]}
    return found | {"head.log_std": matrix.new_zeros(0) if log_std is None else log_std[~is_choice]}


def read_zip_player(path: Path, *, seed: int, deterministic: bool, name: str) -> TrainedPlayer:
    """The policy of a zip, with the settings of its run, or with a game's defaults where it came from elsewhere."""
    model = read_sb3_model(path)
    card = card_of(model)
    policy = to_policy(model.weights, model.normalization, card.shape.action_parts, model.activation).eval()
    card = msgspec.structs.replace(card, shape=policy.shape, agent_steps=model.agent_steps)
    return PolicyPlayer(policy, known_settings(card, path), seed=seed, deterministic=deterministic, name=name)


def card_of(model: Sb3Model) -> PolicyCard:
    """The game that a model plays: that of its run, or the first game with one agent that it fits."""
    run = run_of(model.path)
    if run is not None:
        _, card = load_policy(run.policy(run.config.roles[0]))
        return card
    for name in GAMES:
        if GAMES[name].opponents is None and GAMES[name].measures is not None:
            with make_vec(name, num_worlds=1) as worlds:
                (role,) = worlds.roles.values()
                if model.fits(role.observation.shape[2], role.action_parts):
                    shape = PolicyShape(model.sizes[0], role.action_parts, model.net_arch)
                    settings = msgspec.to_builtins(worlds.settings)
                    return PolicyCard(name, role.name, role.observation_parts, shape, model.agent_steps, settings)
    observed, acted = model.sizes
    raise GodojoError(
        f"{model.path} observes {observed} numbers and acts by {acted}; no game played alone does so, and it is in no"
        " run's folder"
    )


def _entries(file: BinaryIO, *, checksums: bool) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_BYTES:
            raise GodojoError(f"unpacks to {size:,} bytes; a model has {MAX_BYTES:,} at most")
        if checksums and (damaged := archive.testzip()) is not None:
            raise Damaged(f"the checksum of {damaged} fails")
        wanted = (*_READ, *(f"{name}.pth" for name in _OPTIMIZERS))
        return {name: archive.read(name) for name in wanted if name in archive.namelist()}


def _tensors(content: bytes) -> dict[str, Any]:
    if not content:
        return {}
    found = dict(torch.load(io.BytesIO(content), map_location="cpu", weights_only=True))
    if not all(isinstance(name, str) for name in found):
        raise Damaged("its names are no texts")
    return found


def _algorithm_of(weights: Mapping[str, Any]) -> str:
    """Empty for others than those that are read."""
    return next((name for name, actor in _ACTORS.items() if f"{actor.layers}0.weight" in weights), "")


def _activation(kwargs: Any, usual: str) -> str:
    """From the JSON, which describes pickled classes as text, too."""
    kwargs = kwargs if isinstance(kwargs, dict) else {}
    if kwargs.get("squash_output"):
        raise GodojoError("squashes its actions, which is not supported")
    text = str(kwargs.get("activation_fn", usual))
    for name in ("ReLU", "Tanh"):
        if text.rstrip("'>").rsplit(".", 1)[-1] == name:
            return name.lower()
    raise GodojoError(f"has the activation {text[:80]}; there is ReLU and Tanh")


def _check_weights(path: Path, algorithm: str, weights: Mapping[str, Any]) -> None:
    try:
        if not algorithm:
            raise ValueError(f"it has {', '.join(sorted(weights)[:2])}")
        actor = _ACTORS[algorithm]
        known = (actor.layers, *(f"{name}." for name in actor.head), *actor.others)
        strange = [
            name for name, tensor in weights.items() if not name.startswith(known) or not isinstance(tensor, Tensor)
        ]
        if strange:
            raise ValueError(f"it has {', '.join(sorted(strange)[:3])}")
        hidden, head = actor_layers(weights)
        layers = [*hidden, *head[:2]]
        if not 4 <= len(layers) <= 2 * MAX_LAYERS + 2:
            raise ValueError(f"it has {len(layers) // 2} layers")
        width = layers[0].shape[1]
        for matrix, bias in zip(layers[::2], layers[1::2], strict=True):
            if matrix.shape != (len(bias), width):
                raise ValueError("its layers do not fit together")
            width = len(bias)
        if any(more.shape != own.shape for more, own in zip(head[2:], head[:2], strict=False)):
            raise ValueError("its layers do not fit together")
        if "log_std" in weights and weights["log_std"].shape != (width,):
            raise ValueError("its actions are not independent and continuous")
        if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values()):
            raise ValueError("it holds weights that are not numbers")
    except (KeyError, IndexError, TypeError, ValueError, RuntimeError) as error:
        raise GodojoError(f"{path} is no PPO, SAC, TD3 or DQN with an MlpPolicy: {error}") from None
