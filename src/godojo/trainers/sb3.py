"""Stable-Baselines3's PPO as an algorithm of the training loop, with the same logs, checkpoints and policy files.

`VecNormalize` normalises observations exactly as our policies do, so that the result can also be saved as a
`policy_ROLE.pt` and evaluated, watched and exported like any other.
"""

import io
import pickle
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np
import torch
from torch import nn

from godojo.engines.base import Worlds
from godojo.envs.sb3 import WorldsVecEnv
from godojo.envs.spaces import only_agent
from godojo.evaluation.solo import evaluate_solo
from godojo.extras import missing
from godojo.files import atomic_write
from godojo.learn.algorithm import Algorithm, Iteration
from godojo.learn.networks import NORMALISED_LIMIT, VARIANCE_FLOOR, Policy, PolicyShape
from godojo.learn.threads import one_thread
from godojo.runs.folder import RunFolder
from godojo.runs.role_map import Mode
from godojo.trainers.sb3_settings import Sb3Settings

try:
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecNormalize
except ImportError as error:
    raise missing("sb3") from error


class Sb3Ppo(Algorithm):
    """PPO for a game with one agent. One call of `iterate` is one pass of the loop in `PPO.learn`."""

    def __init__(
        self,
        worlds: Worlds,
        settings: Sb3Settings,
        seed: int,
        policies: Mapping[str, Policy] | None = None,
        modes: Mapping[str, Mode] | None = None,
    ) -> None:
        assert not policies, "AlgorithmEntry.can_continue is False"
        self.worlds, self.settings, self.role = worlds, settings, only_agent(worlds)
        self.modes: dict[str, Mode] = {self.role.name: "train", **(modes or {})}
        self.checkpoint_steps, self.updates, self.agent_steps = settings.checkpoint_steps, 0, 0
        self.env = VecNormalize(
            WorldsVecEnv(worlds, seed), gamma=settings.gamma, clip_obs=NORMALISED_LIMIT, epsilon=VARIANCE_FLOOR
        )
        with one_thread():
            self.model = _model(self.env, settings, seed)
        self.best, self._seed = -np.inf, seed
        self._evaluated_at, self._evaluated = 0, dict[str, float]()
        """Agent-steps and results of the last evaluation; the next row of metrics includes the results."""

    @property
    def policies(self) -> dict[str, Policy]:
        """The MlpPolicy and the statistics of VecNormalize, converted to our `Policy`."""
        policy = Policy(PolicyShape(self.role.observation.shape[2], self.role.action_parts, self.settings.net_arch))
        ours = [name for name in policy.state_dict() if name.startswith(("encoder.", "trunk."))]
        theirs = self.model.policy.state_dict()
        layers = [weights for name, weights in theirs.items() if name.startswith("mlp_extractor.policy_net.")]
        moments: Any = self.env.obs_rms
        policy.load_state_dict(
            dict(zip(ours, layers, strict=True))
            | {"head.linear.weight": theirs["action_net.weight"], "head.linear.bias": theirs["action_net.bias"]}
            | {"head.log_std": theirs["log_std"], "normaliser.count": torch.tensor(float(moments.count)).double()}
            | {"normaliser.mean": torch.from_numpy(moments.mean), "normaliser.variance": torch.from_numpy(moments.var)}
        )
        return {self.role.name: policy}

    def iterate(self, progress: float, on_step: Callable[[Worlds], None] = lambda _: None) -> Iteration:  # noqa: ARG002
        model, callback = self.model, _Callback(self.worlds, self.role.name, on_step)
        with one_thread():  # batches are too small for more threads
            # As in `PPO.learn`; the learning rate is constant, so that the number of steps does not matter.
            _, callbacks = model._setup_learn(2**40, callback, reset_num_timesteps=False)
            model.collect_rollouts(self.env, callbacks, model.rollout_buffer, model.n_steps)
            model.train()
        self.updates, self.agent_steps = self.updates + 1, model.num_timesteps
        metrics = {
            name: float(value)
            for name, value in model.logger.name_to_value.items()
            if name.startswith("train/") and isinstance(value, int | float | np.floating)
        } | self._evaluated
        self._evaluated = {}
        return Iteration(callback.rounds, {self.role.name: callback.wins}, {self.role.name: metrics})

    def on_checkpoint(self, run: RunFolder, seconds: float) -> None:
        """Save the model for Stable-Baselines3 itself; every `checkpoint_steps`, evaluate it and keep the best."""
        self._save_model(run, "model")
        is_due = self.agent_steps - self._evaluated_at >= self.settings.checkpoint_steps
        if not is_due or not self.settings.best_rounds or run.config.more.get("tasks"):
            return
        path = run.policy(self.role.name)
        found = evaluate_solo(str(path), rounds=self.settings.best_rounds, seed=self._seed)
        success = next(iter(found.measures.values())).rate  # a reward per step may be highest for standing still
        if success >= self.best:
            self.best = success
            self._save_model(run, "best_model")
            run.snapshots().save("best", {self.role.name: path.read_bytes()}, self.agent_steps, seconds, {})
        self._evaluated_at = self.agent_steps
        self._evaluated = {"eval/mean_reward": found.reward.mean} | {
            f"eval/{measure.replace(' ', '_')}": share.rate for measure, share in found.measures.items()
        }

    def state(self) -> dict[str, Any]:
        return {
            "parameters": self.model.get_parameters(),
            "agent_steps": self.agent_steps,
            "updates": self.updates,
            "observed": _moments(self.env.obs_rms),
            "rewarded": _moments(self.env.ret_rms),
            "best": float(self.best),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.model.set_parameters(state["parameters"])
        self.model.num_timesteps = self.agent_steps = self._evaluated_at = int(state["agent_steps"])
        self.updates, self.best = int(state["updates"]), float(state["best"])
        moments: Any
        for moments, saved in ((self.env.obs_rms, state["observed"]), (self.env.ret_rms, state["rewarded"])):
            moments.mean, moments.var = np.asarray(saved["mean"], np.float64), np.asarray(saved["var"], np.float64)
            moments.count = float(saved["count"])

    def close(self) -> None:
        self.env.close()

    def _save_model(self, run: RunFolder, name: str) -> None:
        """Files for `PPO.load` and `VecNormalize.load`."""
        buffer = io.BytesIO()
        self.model.save(buffer)
        atomic_write(run.path / f"{name}.zip", buffer.getvalue())
        atomic_write(run.path / f"{name}_normalize.pkl", pickle.dumps(self.env))


class _Callback(BaseCallback):
    """Counts the rounds and wins of one rollout."""

    def __init__(self, worlds: Worlds, role: str, on_step: Callable[[Worlds], None]) -> None:
        super().__init__()
        self._worlds, self._winner, self._after_step = worlds, worlds.winners.index(role), on_step
        self.rounds = self.wins = 0

    def _on_step(self) -> bool:
        worlds = self._worlds
        self._after_step(worlds)
        self.rounds += int(np.count_nonzero(worlds.played))
        self.wins += int(np.count_nonzero(worlds.winner[worlds.played] == self._winner))
        return True


def _model(env: VecNormalize, settings: Sb3Settings, seed: int) -> PPO:
    names = set(signature(PPO).parameters) & set(settings.__struct_fields__)
    values = {name: getattr(settings, name) for name in names}
    values["batch_size"] = min(settings.batch_size, settings.num_envs * settings.n_steps)
    network = {"net_arch": list(settings.net_arch), "activation_fn": nn.ReLU}
    return PPO("MlpPolicy", env, **values, policy_kwargs=network, seed=seed, device="cpu", verbose=0)


def _moments(running: Any) -> dict[str, Any]:
    return {"mean": np.asarray(running.mean), "var": np.asarray(running.var), "count": float(running.count)}
