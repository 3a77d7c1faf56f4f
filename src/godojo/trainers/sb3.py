"""Stable-Baselines3's PPO, SAC, TD3 and DQN as algorithms of the training loop, with its own files and ours.

One role learns; an opponent plays all others. Policies are also saved as `policy_ROLE.pt`, and evaluated, watched and
exported like any other.
"""

import io
import pickle
import warnings
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import torch

from godojo.engines.base import Worlds
from godojo.envs.sb3 import WorldsVecEnv
from godojo.envs.versus import Match
from godojo.errors import GodojoError, option, unknown
from godojo.evaluation.evaluation import judge
from godojo.evaluation.solo import evaluate_solo, is_solo_policy
from godojo.export.sb3_statistics import Moments, Normalization, statistics_name
from godojo.export.sb3_zip import Sb3Model, to_policy
from godojo.extras import missing
from godojo.files import TRAILER, atomic_write, make_folder
from godojo.games.base import GAMES
from godojo.learn.algorithm import Algorithm, Iteration, OpponentAssignment
from godojo.learn.networks import ACTIVATIONS, VARIANCE_FLOOR, Policy
from godojo.learn.threads import one_thread
from godojo.opponents import shared_role
from godojo.runs.folder import RunFolder
from godojo.runs.role_map import Mode
from godojo.trainers.opponents import opponent_of
from godojo.trainers.sb3_settings import OffPolicySettings

try:
    from stable_baselines3 import DQN, PPO, SAC, TD3
    from stable_baselines3.common.buffers import NStepReplayBuffer
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.noise import NormalActionNoise
    from stable_baselines3.common.vec_env import VecMonitor, VecNormalize
except ImportError as error:
    raise missing("sb3") from error

MODELS: dict[str, Any] = {"ppo": PPO, "sac": SAC, "td3": TD3, "dqn": DQN}
ITERATION_STEPS = 512
"""Transitions of an iteration of the algorithms with a replay buffer, which make many small updates."""
ENDLESS = 2**40
"""The steps that a model is told to learn for while nobody knows them."""


def check_worlds(worlds: Worlds, settings: Any) -> None:
    """Rejects a role or a GPU that is not there, and actions that an algorithm cannot learn."""
    if settings.device == "cuda" and not torch.cuda.is_available():  # Stable-Baselines3 would take the CPU
        raise GodojoError(f"torch finds no GPU; remove {option('device', 'cuda')}")
    if settings.role and settings.role not in worlds.roles:
        raise unknown("role", settings.role, worlds.roles)
    role = worlds.roles[settings.role or next(iter(worlds.roles))]
    kinds, name = {part.kind for part in role.action_parts}, settings.algorithm
    if name in ("sac", "td3") and "discrete" in kinds:
        instead = option("algorithm", "ppo" if len(role.action_parts) > 1 else "dqn")
        raise GodojoError(
            f"{name.upper()} learns continuous actions, and the {role.name} has discrete ones; use {instead}"
        )
    if name == "dqn" and (kinds != {"discrete"} or len(role.action_parts) > 1):
        has = "continuous actions" if "continuous" in kinds else f"{len(role.action_parts)} of them"
        raise GodojoError(
            f"DQN learns one discrete action, and the {role.name} has {has}; use {option('algorithm', 'ppo')}"
        )
    if worlds.game in GAMES and role.action.shape[1] > 1 and shared_role(worlds) is None:
        raise GodojoError(
            f"Stable-Baselines3 trains one agent of a role, and here are {role.action.shape[1]} of the {role.name};"
            f" use {option('trainer', 'built-in')}"
        )


class Sb3(Algorithm):
    """One of Stable-Baselines3's algorithms; one call of `iterate` is one or several passes of the loop in `learn`."""

    def __init__(
        self,
        worlds: Worlds,
        settings: Any,
        seed: int,
        policies: Mapping[str, Policy] | None = None,
        modes: Mapping[str, Mode] | None = None,
    ) -> None:
        assert not policies, "AlgorithmEntry.can_continue is False"
        check_worlds(worlds, settings)
        is_ours = worlds.game in GAMES
        self.worlds, self.settings = worlds, settings
        self.match = Match(
            worlds,
            settings.role or None,
            opponent_of(worlds.game, settings),
            game=worlds.game,
            every_agent=not is_ours,
            flatten=settings.algorithm == "ppo",
        )
        self.role = worlds.roles[self.match.role]
        self.modes: dict[str, Mode] = {self.role.name: "train", **(modes or {})}
        self.checkpoint_steps, self.updates, self.agent_steps = settings.checkpoint_steps, 0, 0
        self.env = VecNormalize(
            VecMonitor(WorldsVecEnv(self.match, seed)),
            norm_obs=settings.norm_obs,
            norm_reward=settings.norm_reward,
            gamma=settings.gamma,
            clip_obs=settings.clip_obs,
            epsilon=VARIANCE_FLOOR,
        )
        with one_thread():
            self.model: Any = _model(self.env, settings, seed)
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

    @property
    def assignments(self) -> list[OpponentAssignment]:
        return [
            OpponentAssignment(name, slice(0, self.worlds.num_worlds), self.match.opponent)
            for name in self.match.others
        ]

    def load_model(self, model: Sb3Model) -> None:
        """Continue from a zip; the settings must be those of `settings_of`."""
        size, parts = self.role.observation.shape[2], self.role.action_parts
        if not model.fits(size, parts):
            raise GodojoError(
                f"{model.path} observes {model.sizes[0]} numbers and acts by {model.sizes[1]} with"
                f" {model.algorithm.upper()}; the {self.role.name} observes {size} and acts by"
                f" {', '.join(f'{part.size} {part.kind}' for part in parts)}"
            )
        parameters: dict[str, Any] = {"policy": model.weights, **model.optimizers}
        try:
            self.model.set_parameters(parameters, exact_match=bool(model.optimizers), device=self.model.device)
        except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            why = " ".join(str(error).split())[:160]
            raise GodojoError(f"{model.path} does not fit: its value function has other layers ({why})") from None
        self._load_variables(model.variables)
        self.model.num_timesteps = self.agent_steps = self._evaluated_at = model.agent_steps
        self.model._n_updates = model.updates
        if model.normalization is not None:
            self._restore(model.normalization.obs, model.normalization.ret)

    def iterate(self, progress: float, on_step: Callable[[Worlds], None] = lambda _: None) -> Iteration:
        model, callback, mode = self.model, _Callback(self, on_step), self.modes[self.role.name]
        self.env.training = mode == "train"  # else the statistics are frozen, too
        with one_thread():  # batches are too small for more threads
            # As in `learn`; learning rates are constant, so that the number of steps matters to DQN's exploration only.
            _, callbacks = model._setup_learn(ENDLESS, callback, reset_num_timesteps=False)
            if progress > 0.0:
                model._total_timesteps = max(round(model.num_timesteps / progress), 1)
            if mode != "train":
                self._play(callbacks, deterministic=mode == "deterministic")
            elif self.settings.algorithm == "ppo":
                model.collect_rollouts(self.env, callbacks, model.rollout_buffer, model.n_steps)
                self.on_phase("training")
                model.train()
            else:
                self._replay(callbacks)
        self.updates, self.agent_steps = self.updates + 1, model.num_timesteps
        logged = model.logger.name_to_value.items() if mode == "train" else ()
        metrics = {
            name: float(value)
            for name, value in logged
            if name.startswith(("train/", "rollout/exploration")) and isinstance(value, int | float | np.floating)
        } | self._evaluated
        self._evaluated = {}
        return Iteration(callback.rounds, callback.wins, {self.role.name: metrics})

    def _play(self, callbacks: BaseCallback, *, deterministic: bool) -> None:
        """As many steps as an iteration that learns has; nothing is kept to learn from."""
        model, env = self.model, self.env
        steps = self.settings.n_steps * env.num_envs if self.settings.algorithm == "ppo" else ITERATION_STEPS
        end = model.num_timesteps + steps
        while model.num_timesteps < end:
            action, _ = model.predict(model._last_obs, deterministic=deterministic)
            model._last_obs, _, dones, infos = env.step(action)
            model._last_episode_starts, model._last_original_obs = dones, env.get_original_obs()
            model._update_info_buffer(infos, dones)
            model.num_timesteps += env.num_envs
            callbacks.on_step()

    def _replay(self, callbacks: BaseCallback) -> None:
        """`OffPolicyAlgorithm.learn` for `ITERATION_STEPS`; a buffer that a resumed run has lost is filled first."""
        model, settings = self.model, self.settings
        end = model.num_timesteps + ITERATION_STEPS
        while model.num_timesteps < end:
            rollout = model.collect_rollouts(
                self.env,
                train_freq=model.train_freq,
                action_noise=model.action_noise,
                callback=callbacks,
                learning_starts=settings.learning_starts,
                replay_buffer=model.replay_buffer,
                log_interval=None,
            )
            if model.replay_buffer.size() * self.env.num_envs >= settings.learning_starts:
                count = rollout.episode_timesteps if settings.gradient_steps == -1 else settings.gradient_steps
                model.train(batch_size=settings.batch_size, gradient_steps=count)

    def on_start(self, run: RunFolder) -> None:
        self._checkpoints = _Checkpoints(run, self)

    def on_end(self, run: RunFolder) -> None:  # noqa: ARG002 - `on_start` had it
        """The last weights are a checkpoint, too."""
        assert self._checkpoints is not None
        self._checkpoints.save_last()

    def after_step(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.save_if_due()

    def on_checkpoint(self, run: RunFolder, seconds: float) -> None:
        """Every `checkpoint_steps`, evaluate the policy and keep the best."""
        is_due = self.agent_steps - self._evaluated_at >= self.settings.checkpoint_steps
        if not is_due or not self.settings.best_rounds or run.config.more.get("tasks"):
            return
        path = run.policy(self.role.name)
        success, self._evaluated = self._evaluate(path)
        if success >= self.best:
            self.best = success
            self.save_model(run.path / "best_models", "best_model")
            run.snapshots().save("best", {self.role.name: path.read_bytes()}, self.agent_steps, seconds, {})
        self._evaluated_at = self.agent_steps

    def _evaluate(self, path: Path) -> tuple[float, dict[str, float]]:
        """How good the policy is, and metrics: its success alone, its wins against the opponent, or, in an external
        game, the mean reward of the last 100 episodes of training, since there is no other copy to play in."""
        game, rounds = self.worlds.game, self.settings.best_rounds
        if game not in GAMES:
            rewards = [episode["r"] for episode in self.model.ep_info_buffer or ()]
            mean = float(np.mean(rewards)) if rewards else -np.inf
            return mean, {"eval/mean_reward": mean} if rewards else {}
        if is_solo_policy(game):
            found = evaluate_solo(str(path), rounds=rounds, seed=self._seed)
            figures = {f"eval/{name.replace(' ', '_')}": share.rate for name, share in found.measures.items()}
            # A reward per step may be highest for standing still.
            return next(iter(found.measures.values())).rate, {"eval/mean_reward": found.reward.mean} | figures
        (verdict,) = judge(str(path), [self.match.opponent], rounds=rounds, seed=self._seed).verdicts
        if verdict.wins is None:
            return verdict.reward.mean, {"eval/mean_reward": verdict.reward.mean}
        return verdict.wins.rate, {"eval/mean_reward": verdict.reward.mean, "eval/win_rate": verdict.wins.rate}

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
            "variables": {name: getattr(self.model, name).detach() for name in self._variables()},
            "agent_steps": self.agent_steps,
            "updates": self.updates,
            "n_updates": self.model._n_updates,
            "observed": vars(_moments(self.env.obs_rms)) if self.settings.norm_obs else None,
            "rewarded": vars(_moments(self.env.ret_rms)),
            "best": float(self.best),
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.model.set_parameters(state["parameters"], device=self.model.device)
        self._load_variables(state.get("variables", {}))
        self.model.num_timesteps = self.agent_steps = self._evaluated_at = int(state["agent_steps"])
        self.updates, self.best = int(state["updates"]), float(state["best"])
        self.model._n_updates = int(state.get("n_updates", self.updates * getattr(self.settings, "n_epochs", 1)))
        observed, rewarded = state["observed"], state["rewarded"]
        self._restore(None if observed is None else Moments(**observed), Moments(**rewarded))

    def close(self) -> None:
        self.env.close()

    def _variables(self) -> list[str]:
        """Tensors that are no parameters of a network: the entropy coefficient, where SAC tunes it."""
        return [name for name in self.model._get_torch_save_params()[1] if getattr(self.model, name, None) is not None]

    def _load_variables(self, values: Mapping[str, Any]) -> None:
        for name in self._variables():
            if name in values:
                getattr(self.model, name).data.copy_(values[name].reshape(getattr(self.model, name).shape))

    def _restore(self, observed: Moments | None, rewarded: Moments) -> None:
        running: Any
        for running, kept in ((getattr(self.env, "obs_rms", None), observed), (self.env.ret_rms, rewarded)):
            if running is not None and kept is not None:
                running.mean, running.var = np.asarray(kept.mean, np.float64), np.asarray(kept.var, np.float64)
                running.count = float(kept.count)


class _Checkpoints:
    """Numbered zips in `checkpoints/`, one whenever another `checkpoint_steps` have been played."""

    def __init__(self, run: RunFolder, learner: Sb3) -> None:
        game = run.config.game
        self._folder, self._learner = run.path / "checkpoints", learner
        self._prefix = (GAMES[game].checkpoint_prefix if game in GAMES else "") or game
        self._started_at = self._saved_at = learner.model.num_timesteps

    def save_if_due(self) -> None:
        """All environments step together, so the number is rounded up to a multiple of `num_envs`."""
        interval = self._learner.settings.checkpoint_steps
        if self._learner.model.num_timesteps // interval > self._saved_at // interval:
            self._save()

    def save_last(self) -> None:
        """Also where the last step was saved, since an update may have come after it."""
        if self._learner.model.num_timesteps > self._started_at:
            self._save()

    def _save(self) -> None:
        steps = self._learner.model.num_timesteps
        self._learner.save_model(self._folder, f"{self._prefix}_model_{steps}_steps")
        self._saved_at = steps


class _Callback(BaseCallback):
    """Counts the rounds of one iteration, and who won them."""

    def __init__(self, learner: Sb3, on_step: Callable[[Worlds], None]) -> None:
        super().__init__()
        self._learner, self._worlds, self._after_step = learner, learner.worlds, on_step
        self._shared = shared_role(learner.worlds)
        self.rounds = 0
        self.wins: dict[str, int] = dict.fromkeys(learner.worlds.roles, 0)

    def _on_step(self) -> bool:
        worlds = self._worlds
        self._after_step(worlds)
        self._learner.after_step()
        played = worlds.played
        if played.any():
            self.rounds += int(np.count_nonzero(played))
            for name in self.wins:
                if self._shared is not None:
                    self.wins[name] += int(np.count_nonzero(self._shared.ahead(worlds)[played] > 0.0))
                elif name in worlds.winners:
                    won = worlds.winner[played] == worlds.winners.index(name)
                    self.wins[name] += int(np.count_nonzero(won))
        return True


def settings_of(model: Sb3Model) -> dict[str, Any]:
    """The settings that a training must have to continue from a zip."""
    found = {"net_arch": list(model.net_arch), "activation_fn": model.activation}
    norm = model.normalization
    if norm is None:
        return found | {"norm_obs": False, "norm_reward": False}
    return found | {"norm_obs": norm.norm_obs, "norm_reward": norm.norm_reward, "clip_obs": norm.clip_obs}


def _model(env: VecNormalize, settings: Any, seed: int) -> Any:
    kind = MODELS[settings.algorithm]
    names = set(signature(kind).parameters) & set(settings.__struct_fields__)
    values = {name: getattr(settings, name) for name in names}
    if settings.algorithm == "ppo":
        values["batch_size"] = min(settings.batch_size, env.num_envs * settings.n_steps)
    if isinstance(settings, OffPolicySettings) and settings.n_steps > 1:
        # Left to `n_steps`, SB3 chooses this buffer as well, but warns whenever the zip is loaded.
        values["replay_buffer_class"] = NStepReplayBuffer
        values["replay_buffer_kwargs"] = {"n_steps": values.pop("n_steps"), "gamma": settings.gamma}
    if "action_noise" in values:
        size = env.action_space.shape or (1,)
        values["action_noise"] = NormalActionNoise(np.zeros(size), np.full(size, settings.action_noise))
    network = {"net_arch": list(settings.net_arch), "activation_fn": ACTIVATIONS[settings.activation_fn]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*PPO on the GPU.*")  # as was asked for
        return kind("MlpPolicy", env, **values, policy_kwargs=network, seed=seed, verbose=0)


def _moments(running: Any) -> Moments:
    return Moments(np.asarray(running.mean), np.asarray(running.var), float(running.count))
