"""Models of Stable-Baselines3 (`PPO.save`) and the VecNormalize statistics beside them, read without running code.

Both formats hold pickles, which run whatever they say when Stable-Baselines3 loads them. Nothing is unpickled here:
weights are read with torch's `weights_only`, the description from its JSON alone, and statistics by an unpickler that
makes arrays and nothing else. So a file from anywhere may be resumed and evaluated.
"""

import io
import math
import pickle
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np
import torch
from torch import Tensor

from godojo.engines.make import GAMES, make_vec
from godojo.errors import GodojoError
from godojo.evaluation.players import PolicyPlayer, TrainedPlayer, known_settings
from godojo.files import TRAILER, Damaged
from godojo.games.parts import ActionPart
from godojo.learn.networks import NORMALISED_LIMIT, VARIANCE_FLOOR, Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard, load_policy
from godojo.runs.folder import CONFIG, RunFolder

SUFFIX = ".zip"
MAX_BYTES = 256 * 2**20
MAX_LAYERS = 16
FAR = 1e4
"""Observations that are not normalised are expected within ± this value."""
_LAYER = re.compile(r"mlp_extractor\.policy_net\.(\d+)\.weight")
_NUMBERED = re.compile(r"(.+)_(\d+)_steps")
_OTHERS = {"log_std", "action_net.weight", "action_net.bias", "value_net.weight", "value_net.bias"}


@dataclass(frozen=True)
class Moments:
    """Of a running mean."""

    mean: np.ndarray
    var: np.ndarray
    count: float


class Normalization(NamedTuple):
    """What VecNormalize does, under its own names."""

    obs: Moments | None
    """None without `norm_obs`."""
    ret: Moments
    norm_obs: bool = True
    norm_reward: bool = True
    clip_obs: float = NORMALISED_LIMIT
    epsilon: float = VARIANCE_FLOOR


class Sb3Model(NamedTuple):
    """The checked content of a zip, and of the statistics beside it."""

    path: Path
    weights: dict[str, Tensor]
    """`policy.pth`."""
    optimizer: dict[str, Any]
    """`policy.optimizer.pth`; empty without one."""
    agent_steps: int
    updates: int
    activation: str
    normalization: Normalization | None
    """None where no statistics are beside it: observations and rewards were not normalised."""

    @property
    def net_arch(self) -> tuple[int, ...]:
        return tuple(len(matrix) for matrix in policy_layers(self.weights)[::2])

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of an observation and of an action."""
        return policy_layers(self.weights)[0].shape[1], len(self.weights["log_std"])


def read_sb3_model(path: Path) -> Sb3Model:
    """Reads a zip; GodojoError says why it cannot be used."""
    try:
        with path.open("rb") as file:
            sealed = TRAILER.check(file) is not None
            entries = _entries(file, checksums=not sealed)
        weights, optimizer = _tensors(entries["policy.pth"]), _tensors(entries.get("policy.optimizer.pth", b""))
        data = msgspec.json.decode(entries["data"])
        activation = _activation(data.get("policy_kwargs"))
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
    _check_weights(path, weights)
    model = Sb3Model(path, weights, optimizer, steps, updates, activation, None)
    found = statistics_file(path)
    if found is None:
        return model
    normalization = read_normalization(found)
    if normalization.obs is not None and normalization.obs.mean.shape != model.sizes[:1]:
        size = normalization.obs.mean.size
        raise GodojoError(f"{found} is of {size} observations, and {path.name} has {model.sizes[0]}; move it away")
    return model._replace(normalization=normalization)


def statistics_name(name: str) -> str:
    """The statistics of a zip, by their names without suffix, as Stable-Baselines3's CheckpointCallback has them."""
    numbered = _NUMBERED.fullmatch(name)
    return f"{numbered[1]}_vecnormalize_{numbered[2]}_steps" if numbered else f"{name}_vecnormalize"


def statistics_file(path: Path) -> Path | None:
    """The statistics beside a zip, if there are any."""
    names = (statistics_name(path.stem), f"{path.stem}_normalize", "vecnormalize", "vec_normalize")
    return next((found for name in names if (found := path.parent / f"{name}.pkl").is_file()), None)


def run_of(path: Path) -> RunFolder | None:
    """The run whose training wrote a zip, if its folder is still there."""
    for folder in (path.absolute().parent.parent, path.absolute().parent):
        if (folder / CONFIG).is_file() and (run := RunFolder.open(folder)).config.learner == "sb3":
            return run
    return None


def read_normalization(path: Path) -> Normalization:
    """Reads a `VecNormalize.save`, without making a VecNormalize of it."""
    try:
        with path.open("rb") as file:
            if file.seek(0, io.SEEK_END) > MAX_BYTES:
                raise GodojoError(f"{path} is larger than statistics are")
            TRAILER.check(file)
            file.seek(0)
            state = vars(_ArraysOnly(file).load())
        norm_obs, norm_reward = bool(state["norm_obs"]), bool(state["norm_reward"])
        found = Normalization(
            obs=_moments(vars(state["obs_rms"])) if norm_obs else None,
            ret=_moments(vars(state["ret_rms"])),
            norm_obs=norm_obs,
            norm_reward=norm_reward,
            clip_obs=float(state["clip_obs"]),
            epsilon=float(state["epsilon"]),
        )
        if found.ret.mean.shape != () or not 0.0 < found.clip_obs < math.inf or not 0.0 <= found.epsilon < math.inf:
            raise ValueError("its numbers are out of range")
        return found
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None
    except GodojoError:
        raise
    except Exception as error:  # pickle raises nearly anything on what is damaged
        why = " ".join(str(error).split())[:160]
        raise GodojoError(
            f"{path} holds no statistics of VecNormalize ({why}); restore it, or move it away to go on without"
        ) from None


def _moments(kept: Mapping[str, Any]) -> Moments:
    mean, var = np.asarray(kept["mean"], np.float64), np.asarray(kept["var"], np.float64)
    count = float(kept["count"])
    is_finite = np.isfinite(mean).all() and np.isfinite(var).all() and math.isfinite(count)
    if mean.shape != var.shape or not is_finite or not (var >= 0.0).all() or count <= 0.0:
        raise ValueError("there is no mean and variance")
    return Moments(mean, var, count)


def policy_layers(weights: Mapping[str, Tensor]) -> list[Tensor]:
    """The matrices and biases of the policy's hidden layers, first to last."""
    numbers = sorted(int(found[1]) for name in weights if (found := _LAYER.fullmatch(name)))
    return [weights[f"mlp_extractor.policy_net.{number}.{kind}"] for number in numbers for kind in ("weight", "bias")]


def to_policy(
    weights: Mapping[str, Tensor],
    normalization: Normalization | None,
    action_parts: tuple[ActionPart, ...],
    activation: str,
) -> Policy:
    """An MlpPolicy and its normalisation as our `Policy`, which gives the same actions.

    Ours clips normalised observations to `NORMALISED_LIMIT`. Where Stable-Baselines3's limit is k times as large, the
    observations are divided by k and the first matrix is multiplied by it.
    """
    weights = {name: tensor.detach().cpu() for name, tensor in weights.items()}
    layers = policy_layers(weights)
    size, net_arch = layers[0].shape[1], tuple(len(matrix) for matrix in layers[::2])
    policy = Policy(PolicyShape(size, action_parts, net_arch, activation=activation))  # type: ignore[arg-type]
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
        | {"head.linear.weight": weights["action_net.weight"], "head.linear.bias": weights["action_net.bias"]}
        | {"head.log_std": weights["log_std"], "normaliser.count": torch.tensor(count).double()}
        | {"normaliser.mean": mean, "normaliser.variance": variance}
    )
    return policy


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
                if (role.observation.shape[2], role.action.shape[2]) == model.sizes:
                    shape = PolicyShape(model.sizes[0], role.action_parts, model.net_arch)
                    settings = msgspec.to_builtins(worlds.settings)
                    return PolicyCard(name, role.name, role.observation_parts, shape, model.agent_steps, settings)
    observed, acted = model.sizes
    raise GodojoError(f"{model.path} observes {observed} numbers and acts by {acted}; no game played alone does so")


def _entries(file: BinaryIO, *, checksums: bool) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_BYTES:
            raise GodojoError(f"unpacks to {size:,} bytes; a model has {MAX_BYTES:,} at most")
        if checksums and (damaged := archive.testzip()) is not None:
            raise Damaged(f"the checksum of {damaged} fails")
        wanted = ("data", "policy.pth", "policy.optimizer.pth")
        return {name: archive.read(name) for name in wanted if name in archive.namelist()}


def _tensors(content: bytes) -> dict[str, Any]:
    if not content:
        return {}
    found = dict(torch.load(io.BytesIO(content), map_location="cpu", weights_only=True))
    if not all(isinstance(name, str) for name in found):
        raise Damaged("its names are no texts")
    return found


def _activation(kwargs: Any) -> str:
    """From the JSON, which describes pickled classes as text, too."""
    kwargs = kwargs if isinstance(kwargs, dict) else {}
    if kwargs.get("squash_output"):
        raise GodojoError("squashes its actions, which is not supported")
    text = str(kwargs.get("activation_fn", "Tanh"))
    for name in ("ReLU", "Tanh"):
        if text.rstrip("'>").rsplit(".", 1)[-1] == name:
            return name.lower()
    raise GodojoError(f"has the activation {text[:80]}; there is ReLU and Tanh")


def _check_weights(path: Path, weights: Mapping[str, Any]) -> None:
    values = {name for name in weights if name.startswith("mlp_extractor.value_net.")}
    known = _OTHERS | values | {name for name in weights if name.startswith("mlp_extractor.policy_net.")}
    try:
        if set(weights) != known or not all(isinstance(tensor, Tensor) for tensor in weights.values()):
            raise ValueError(f"it has {', '.join(sorted(set(weights) ^ known)[:3]) or 'other values than tensors'}")
        layers = [*policy_layers(weights), weights["action_net.weight"], weights["action_net.bias"]]
        if not 4 <= len(layers) <= 2 * MAX_LAYERS + 2:
            raise ValueError(f"it has {len(layers) // 2} layers")
        width = layers[0].shape[1]
        for matrix, bias in zip(layers[::2], layers[1::2], strict=True):
            if matrix.shape != (len(bias), width):
                raise ValueError("its layers do not fit together")
            width = len(bias)
        if weights["log_std"].shape != (width,):
            raise ValueError("its actions are not independent and continuous")
        if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values()):
            raise ValueError("it holds weights that are not numbers")
    except (KeyError, IndexError, TypeError, ValueError, RuntimeError) as error:
        raise GodojoError(f"{path} is no PPO with an MlpPolicy and continuous actions: {error}") from None


class _Inert:
    """Stands for an object of any class: keeps what it is given, and does nothing."""

    def __new__(cls, *_: Any, **__: Any) -> "_Inert":
        return super().__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            vars(self).update(state)

    def append(self, _: Any) -> None: ...

    def extend(self, _: Any) -> None: ...

    def __setitem__(self, *_: Any) -> None: ...


class _ArraysOnly(pickle.Unpickler):
    """Makes NumPy arrays and numbers; everything else becomes `_Inert`, whatever the file asks for."""

    _MODULES = ("numpy", "numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric")
    _NAMES = ("ndarray", "dtype", "_reconstruct", "scalar", "_frombuffer")

    def find_class(self, module: str, name: str) -> Any:
        if module in self._MODULES and name in self._NAMES:
            return super().find_class(module, name)
        return _Inert
