"""RLlib's PPO with normalised observations: the module, the learner that updates its statistics, and its policies."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from godojo.export.sb3_statistics import Moments, Normalization
from godojo.export.sb3_zip import to_policy
from godojo.extras import missing
from godojo.games.parts import ActionPart
from godojo.learn.networks import Normaliser, Policy

try:
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
    from ray.rllib.core.columns import Columns
except ImportError as error:
    raise missing("rllib") from error


class PpoModule(DefaultPPOTorchRLModule):  # type: ignore[misc]  # Ray carries no types
    """RLlib's default module, with a `Normaliser` in front of it unless `norm_obs` is false in its model config.

    The statistics are buffers, so they are saved and sent to the workers with the weights.
    """

    def setup(self) -> None:
        super().setup()
        is_on = self.model_config["norm_obs"]
        self.normaliser = Normaliser(self.observation_space.shape[0]) if is_on else None

    def _forward(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, Any]:
        return super()._forward(self._normalised(batch), **kwargs)  # type: ignore[no-any-return]

    def _forward_train(self, batch: Mapping[str, Any], **kwargs: Any) -> dict[str, Any]:
        return super()._forward_train(self._normalised(batch), **kwargs)  # type: ignore[no-any-return]

    def compute_values(self, batch: Mapping[str, Any], embeddings: Any = None) -> Tensor:
        return super().compute_values(self._normalised(batch), embeddings)  # type: ignore[no-any-return]

    def _normalised(self, batch: Mapping[str, Any]) -> dict[str, Any]:
        if self.normaliser is None:
            return dict(batch)
        return {**batch, Columns.OBS: self.normaliser(batch[Columns.OBS])}


class PpoLearner(PPOTorchLearner):  # type: ignore[misc]
    """Updates the statistics of the modules by each rollout, after the gradient steps: as the rollout was played with
    the old ones, so it is learned from."""

    def update(self, *, training_data: Any, **kwargs: Any) -> Any:
        training_data.solve_refs()
        seen: dict[str, list[np.ndarray]] = {}
        for episode in training_data.episodes:
            seen.setdefault(episode.module_id, []).append(episode.observations.data[: len(episode)])
        results = super().update(training_data=training_data, **kwargs)
        for role, rows in seen.items():
            module = self.module[role].unwrapped()
            if module.normaliser is not None:
                module.normaliser.update(torch.from_numpy(np.concatenate(rows)).to(module.normaliser.mean.device))
        return results


def module_policy(state: Mapping[str, Any], parts: tuple[ActionPart, ...], activation: str) -> Policy:
    """Our `Policy` with the weights of a `PpoModule`, from its `get_state`."""
    tensors = {name: torch.as_tensor(np.array(value)) for name, value in state.items()}
    weights = {
        "action_net" + name.removeprefix("pi.net.mlp.0"): tensor
        for name, tensor in tensors.items()
        if name.startswith("pi.net.mlp.0.")
    }
    layers = "encoder.actor_encoder.net.mlp."
    for name, tensor in tensors.items():
        if name.startswith(layers):
            weights[f"mlp_extractor.policy_net.{name.removeprefix(layers)}"] = tensor
    if "pi.log_std" in tensors:
        weights["log_std"] = tensors["pi.log_std"]
    normalization = None
    if "normaliser.mean" in tensors:
        mean, var = (tensors[f"normaliser.{name}"].numpy() for name in ("mean", "variance"))
        seen = Moments(mean, var, float(tensors["normaliser.count"]))
        normalization = Normalization(seen, ret=Moments(np.zeros(()), np.ones(()), 1.0))
    return to_policy(weights, normalization, parts, activation)
