"""Stable-Baselines3's PPO as an algorithm of the training loop, with its own files and ours.

Policies are also saved as `policy_ROLE.pt`, and evaluated, watched and exported like any other.
"""

import io
import pickle
import warnings
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from godojo.engines.base import Worlds
from godojo.envs.sb3 import WorldsVecEnv
from godojo.envs.spaces import only_agent
from godojo.errors import GodojoError
from godojo.evaluation.solo import evaluate_solo
from godojo.export.sb3_zip import Moments, Normalization, Sb3Model, statistics_name, to_policy
from godojo.extras import missing
from godojo.files import TRAILER, atomic_write, make_folder
from godojo.games.base import GAMES
from godojo.learn.algorithm import Algorithm, Iteration
from godojo.learn.networks import ACTIVATIONS, VARIANCE_FLOOR, Policy
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
            WorldsVecEnv(worlds, seed),
            norm_obs=settings.norm_obs,
            norm_reward=settings.norm_reward,
            gamma=settings.gamma,
            clip_obs=settings.clip_obs,
            epsilon=VARIANCE_FLOOR,
        )
        with one_thread():
            self.model = _model(self.env, settings, seed)
        self.best, self._seed = -np.inf, seed
        self._evaluated_at, self._evaluated = 0, dict[str, float]()
        """Agent-steps and results of the last evaluation; the next row of metrics includes the results."""
        self._checkpoints: _Checkpoints | None = None

    @property
    def policies(self) -> dict[str, Policy]:
        """The MlpPolicy and the statistics of VecNormalize, converted to our `Policy`."""
        settings, normalization = self.settings, None
        if settings.norm_obs:
            normalization = Normalization(
                _moments(self.env.obs_rms), _moments(self.env.ret_rms), clip_obs=settings.clip_obs
            )
        weights, parts = self.model.policy.state_dict(), self.role.action_parts
        return {self.role.name: to_policy(weights, normalization, parts, settings.activation_fn)}

    def load_model(self, model: Sb3Model) -> None:
        """Continue from a zip; the settings must be those of `settings_of`."""
        wanted = self.role.observation.shape[2], self.role.action.shape[2]
        if model.sizes != wanted:
            raise GodojoError(
                f"{model.path} observes {model.sizes[0]} numbers and acts by {model.sizes[1]}; the "
                f"{self.role.name} observes {wanted[0]} and acts by {wanted[1]}"
            )
        parameters: dict[str, Any] = {"policy": model.weights}
        parameters |= {"policy.optimizer": model.optimizer} if model.optimizer else {}
        try:
            self.model.set_parameters(parameters, exact_match=bool(model.optimizer), device=self.model.device)
        except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            why = " ".join(str(error).split())[:160]
            raise GodojoError(f"{model.path} does not fit: its value function has other layers ({why})") from None
        for group in self.model.policy.optimizer.param_groups:
            group["lr"] = self.settings.learning_rate
        self.model.num_timesteps = self.agent_steps = self._evaluated_at = model.agent_steps
        self.model._n_updates = model.updates
        if model.normalization is not None:
            self._restore(model.normalization.obs, model.normalization.ret)

    def iterate(self, progress: float, on_step: Callable[[Worlds], None] = lambda _: None) -> Iteration:  # noqa: ARG002
        model, callback = self.model, _Callback(self, on_step)
        with one_thread():  # batches are too small for more threads
            # As in `PPO.learn`; the learning rate is constant, so that the number of steps does not matter.
            _, callbacks = model._setup_learn(2**40, callback, reset_num_timesteps=False)
            model.collect_rollouts(self.env, callbacks, model.rollout_buffer, model.n_steps)
            self.on_phase("training")
            model.train()
        self.updates, self.agent_steps = self.updates + 1, model.num_timesteps
        metrics = {
            name: float(value)
            for name, value in model.logger.name_to_value.items()
            if name.startswith("train/") and isinstance(value, int | float | np.floating)
        } | self._evaluated
        self._evaluated = {}
        return Iteration(callback.rounds, {self.role.name: callback.wins}, {self.role.name: metrics})

    def on_start(self, run: RunFolder) -> None:
        self._checkpoints = _Checkpoints(run, self)

    def on_end(self, run: RunFolder) -> None:  # noqa: ARG002 - `on_start` had it
        """The last weights are a checkpoint, too."""
        assert self._checkpoints is not None
        self._checkpoints.save()

    def after_step(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.save_if_due()

    def on_checkpoint(self, run: RunFolder, seconds: float) -> None:
        """Every `checkpoint_steps`, evaluate the policy and keep the best."""
        is_due = self.agent_steps - self._evaluated_at >= self.settings.checkpoint_steps
        if not is_due or not self.settings.best_rounds or run.config.more.get("tasks"):
            return
        path = run.policy(self.role.name)
        found = evaluate_solo(str(path), rounds=self.settings.best_rounds, seed=self._seed)
        success = next(iter(found.measures.values())).rate  # a reward per step may be highest for standing still
        if success >= self.best:
            self.best = success
            self.save_model(run.path / "best_models", "best_model")
            run.snapshots().save("best", {self.role.name: path.read_bytes()}, self.agent_steps, seconds, {})
        self._evaluated_at = self.agent_steps
        self._evaluated = {"eval/mean_reward": found.reward.mean} | {
            f"eval/{measure.replace(' ', '_')}": share.rate for measure, share in found.measures.items()
        }

    def save_model(self, folder: Path, name: str) -> None:
        """Files for `PPO.load` and `VecNormalize.load`, the zip last: where it is, its statistics are."""
        make_folder(folder)
        buffer = io.BytesIO()
        self.model.save(buffer)
        if self.settings.norm_obs or self.settings.norm_reward:
            atomic_write(folder / f"{statistics_name(name)}.pkl", TRAILER.close(pickle.dumps(self.env)))
        atomic_write(folder / f"{name}.zip", TRAILER.close(buffer.getvalue()))

    def state(self) -> dict[str, Any]:
        return {
            "parameters": self.model.get_parameters(),
            "agent_steps": self.agent_steps,
            "updates": self.updates,
            "n_updates": self.model._n_updates,
            "observed": vars(_moments(self.env.obs_rms)) if self.settings.norm_obs else None,
            "rewarded": vars(_moments(self.env.ret_rms)),
            "best": float(self.best),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.model.set_parameters(state["parameters"], device=self.model.device)
        self.model.num_timesteps = self.agent_steps = self._evaluated_at = int(state["agent_steps"])
        self.updates, self.best = int(state["updates"]), float(state["best"])
        self.model._n_updates = int(state.get("n_updates", self.updates * self.settings.n_epochs))
        observed, rewarded = state["observed"], state["rewarded"]
        self._restore(None if observed is None else Moments(**observed), Moments(**rewarded))

    def close(self) -> None:
        self.env.close()

    def _restore(self, observed: Moments | None, rewarded: Moments) -> None:
        running: Any
        for running, kept in ((getattr(self.env, "obs_rms", None), observed), (self.env.ret_rms, rewarded)):
            if running is not None and kept is not None:
                running.mean, running.var = np.asarray(kept.mean, np.float64), np.asarray(kept.var, np.float64)
                running.count = float(kept.count)


class _Checkpoints:
    """Numbered zips in `checkpoints/`, one whenever another `checkpoint_steps` have been played."""

    def __init__(self, run: RunFolder, learner: Sb3Ppo) -> None:
        game = run.config.game
        self._folder, self._learner = run.path / "checkpoints", learner
        self._prefix = (GAMES[game].checkpoint_prefix if game in GAMES else "") or game
        self._saved_at = learner.model.num_timesteps

    def save_if_due(self) -> None:
        """All environments step together, so the number is rounded up to a multiple of `num_envs`."""
        interval = self._learner.settings.checkpoint_steps
        if self._learner.model.num_timesteps // interval > self._saved_at // interval:
            self.save()

    def save(self) -> None:
        steps = self._learner.model.num_timesteps
        if steps > self._saved_at:
            self._learner.save_model(self._folder, f"{self._prefix}_model_{steps}_steps")
            self._saved_at = steps


class _Callback(BaseCallback):
    """Counts the rounds and wins of one rollout."""

    def __init__(self, learner: Sb3Ppo, on_step: Callable[[Worlds], None]) -> None:
        super().__init__()
        self._learner, self._worlds, self._after_step = learner, learner.worlds, on_step
        self._winner = learner.worlds.winners.index(learner.role.name)
        self.rounds = self.wins = 0

    def _on_step(self) -> bool:
        worlds = self._worlds
        self._after_step(worlds)
        self._learner.after_step()
        self.rounds += int(np.count_nonzero(worlds.played))
        self.wins += int(np.count_nonzero(worlds.winner[worlds.played] == self._winner))
        return True


def settings_of(model: Sb3Model) -> dict[str, Any]:
    """The settings that a training must have to continue from a zip."""
    found = {"net_arch": list(model.net_arch), "activation_fn": model.activation}
    norm = model.normalization
    if norm is None:
        return found | {"norm_obs": False, "norm_reward": False}
    return found | {"norm_obs": norm.norm_obs, "norm_reward": norm.norm_reward, "clip_obs": norm.clip_obs}


def _model(env: VecNormalize, settings: Sb3Settings, seed: int) -> PPO:
    names = set(signature(PPO).parameters) & set(settings.__struct_fields__)
    values = {name: getattr(settings, name) for name in names}
    values["batch_size"] = min(settings.batch_size, settings.num_envs * settings.n_steps)
    network = {"net_arch": list(settings.net_arch), "activation_fn": ACTIVATIONS[settings.activation_fn]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*PPO on the GPU.*")  # as was asked for
        return PPO("MlpPolicy", env, **values, policy_kwargs=network, seed=seed, verbose=0)


def _moments(running: Any) -> Moments:
    return Moments(np.asarray(running.mean), np.asarray(running.var), float(running.count))
