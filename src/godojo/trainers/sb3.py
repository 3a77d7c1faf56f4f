"""Training with Stable-Baselines3 in a run folder, with the same tables, checkpoints and policy files as the built-in.

`VecNormalize` normalises observations exactly as our policies do, so that the result is also a `policy_ROLE.pt`, which
can be evaluated, watched and shipped like any other.
"""

import io
import pickle
import time
from collections.abc import Callable, Mapping
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
from godojo.games.curriculum import Curriculum
from godojo.learn.algorithm import Iteration
from godojo.learn.budget import Budget
from godojo.learn.networks import NORMALISED_LIMIT, VARIANCE_FLOOR, Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard, policy_bytes
from godojo.learn.presets import filled
from godojo.learn.threads import one_thread
from godojo.learn.training import WINDOW, RolloutStatistics, TrainingStatus
from godojo.runs.config import Environment
from godojo.runs.episodes import EpisodeLog
from godojo.runs.folder import RunFolder
from godojo.runs.updates import UpdateLog
from godojo.trainers.sb3_settings import Sb3Settings

try:
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.vec_env import VecNormalize
except ImportError as error:
    raise missing("sb3") from error


class Sb3Training:
    """One session of training in a run folder. `stop()` ends it after the current step."""

    def __init__(
        self,
        run: RunFolder,
        worlds: Worlds,
        budget: Budget,
        *,
        resume: bool,
        curriculum: Curriculum | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.run, self.worlds, self.budget, self.curriculum, self._say = run, worlds, budget, curriculum, say
        self.settings = filled(Sb3Settings, run.config.learner_settings)
        self.role = only_agent(worlds)
        self.env = VecNormalize(
            WorldsVecEnv(worlds, run.config.seed),
            norm_reward=True,
            gamma=self.settings.gamma,
            clip_obs=NORMALISED_LIMIT,
            epsilon=VARIANCE_FLOOR,
        )
        with one_thread():
            self.model = _model(self.env, self.settings, run.config.seed)
        self.checkpoints = run.checkpoints(say)
        self.updates_made, self._seconds_before, episodes = 0, 0.0, None
        self.best = -np.inf
        if resume:
            state, entry = self.checkpoints.newest()
            with self.checkpoints.fitting(entry):
                self._load(state)
                episodes = state["episodes"]
            self.updates_made, self._seconds_before = entry.update, entry.seconds
            run.snapshots(say).cut_back(entry.agent_steps)
        self._resumed = resume
        if curriculum is not None:
            worlds.change_settings(curriculum.settings[curriculum.at])
        run.add_environment(Environment.here(getattr(worlds, "godot_version", "")))
        self.episodes = EpisodeLog(run.metrics, worlds, episodes, say)
        update = self.updates_made if resume else None
        self.updates = UpdateLog(run.updates, run.tensorboard, update, self.agent_steps, say, roles=(self.role.name,))
        self.statistics = RolloutStatistics(worlds)
        self._recent: list[Iteration] = []
        self._judged: dict[str, float] = {}
        """Results of the last evaluation, for the next row of metrics."""
        self._begun = time.monotonic()
        self._steps_before = self.agent_steps
        self.is_stopping = False

    @property
    def agent_steps(self) -> int:
        return int(self.model.num_timesteps)

    @property
    def seconds(self) -> float:
        """Training time, earlier sessions included."""
        return self._seconds_before + time.monotonic() - self._begun

    @property
    def progress(self) -> float:
        return self.budget.progress(self.seconds, self.agent_steps)

    def stop(self) -> None:
        self.is_stopping = True

    def train(self, report: Callable[[TrainingStatus], None]) -> bool:
        """Train until the budget is spent or `stop` is called; returns whether it was spent. Saves in either case."""
        self._begun = time.monotonic()
        if not self._resumed:
            self._snapshot("start")
            self.save()
        if self.progress < 1.0:
            left = self.budget.agent_steps - self.agent_steps if self.budget.agent_steps is not None else 2**40
            with one_thread():  # batches are too small for more threads
                self.model.learn(left, callback=_Watch(self, report), reset_num_timesteps=False)
        self.save()
        is_spent = self.progress >= 1.0
        if is_spent:
            self._snapshot("final")
        return is_spent

    def note(self, rounds: int, won: int) -> TrainingStatus:
        """Log the metrics of an update."""
        self.episodes.write()
        name = self.role.name
        self._recent.append(Iteration(rounds, {name: won}, {}))
        while len(self._recent) > 1 and sum(one.rounds for one in self._recent[1:]) >= WINDOW // 10:
            self._recent.pop(0)
        played = sum(one.rounds for one in self._recent)
        rates = {name: sum(one.wins[name] for one in self._recent) / played} if played else {}
        seconds = self.seconds
        speed = (self.agent_steps - self._steps_before) / max(seconds - self._seconds_before, 1e-9)
        figures = {f"{role}/rollout/win_rate": rate for role, rate in rates.items()}
        figures |= {"time/fps": speed, "progress": self.progress}
        figures |= self.statistics.means() | self._judged
        self._judged = {}
        learnt = self.model.logger.name_to_value if self.updates_made else {}
        figures |= {
            f"{name}/{key}": float(value)
            for key, value in learnt.items()
            if key.startswith("train/") and isinstance(value, int | float)
        }
        if self.curriculum is not None:
            figures["curriculum/stage"] = self.curriculum.at
        self.updates_made += 1
        self.updates.write(self.updates_made, self.agent_steps, seconds, figures)
        if self.curriculum is not None and self.curriculum.after(self.agent_steps, rounds, won):
            self.worlds.change_settings(self.curriculum.settings[self.curriculum.at])
            self._say(f"stage {self.curriculum.stage.name} begins after {self.agent_steps:,} agent-steps")
        return TrainingStatus(
            progress=self.progress,
            seconds=seconds,
            agent_steps=self.agent_steps,
            steps_per_s=speed,
            updates=self.updates_made,
            episodes=self.episodes.episodes,
            win_rates=rates,
            ratings={},
        )

    def save(self) -> None:
        """Save a checkpoint, the latest policy, and the model for use with Stable-Baselines3 itself."""
        self.updates.sync()
        state: dict[str, Any] = {
            "parameters": self.model.get_parameters(),
            "agent_steps": self.agent_steps,
            "observed": _moments(self.env.obs_rms),
            "rewarded": _moments(self.env.ret_rms),
            "best": float(self.best),
            "episodes": self.episodes.sync(),
        }
        if self.curriculum is not None:
            state["curriculum"] = self.curriculum.state()
        self.checkpoints.save(state, self.agent_steps, self.updates_made, self.seconds)
        self.run.save_policy(self.role.name, self.policy_file())
        self._save_model("model")

    def save_best(self) -> None:
        """Evaluate the current policy; the best so far becomes `best_model.zip` and a snapshot."""
        if not self.settings.best_rounds or self.run.config.more.get("tasks"):
            return
        path = self.run.path / f"policy_{self.role.name}.pt"
        found = evaluate_solo(str(path), rounds=self.settings.best_rounds, seed=self.run.config.seed)
        if found.reward.mean > self.best:
            self.best = found.reward.mean
            self._save_model("best_model")
            self._snapshot("best")
        name = self.role.name
        self._judged = {f"{name}/eval/mean_reward": found.reward.mean}
        for measure, share in found.measures.items():
            self._judged[f"{name}/eval/{measure.replace(' ', '_')}"] = share.rate

    def policy_file(self) -> bytes:
        """The policy in our format: normaliser, layers and head."""
        shape = PolicyShape(self.role.observation.shape[2], self.role.action_parts, self.settings.net_arch)
        policy = Policy(shape)
        policy.load_state_dict(_as_ours(self.model.policy.state_dict(), self.env.obs_rms, policy))
        card = PolicyCard(
            game=self.run.config.game,
            role=self.role.name,
            observation_parts=self.role.observation_parts,
            shape=shape,
            agent_steps=self.agent_steps,
            settings=self.run.config.game_settings,
        )
        return policy_bytes(policy, card)

    def close(self) -> None:
        self.episodes.close()
        self.updates.close()
        self.env.close()

    def _snapshot(self, name: str) -> None:
        files = {self.role.name: self.policy_file()}
        self.run.snapshots().save(name, files, self.agent_steps, self.seconds, {})

    def _save_model(self, name: str) -> None:
        """Files for `PPO.load` and `VecNormalize.load`."""
        buffer = io.BytesIO()
        self.model.save(buffer)
        atomic_write(self.run.path / f"{name}.zip", buffer.getvalue())
        atomic_write(self.run.path / f"{name}_normalize.pkl", pickle.dumps(self.env))

    def _load(self, state: Mapping[str, Any]) -> None:
        self.model.set_parameters(state["parameters"])
        self.model.num_timesteps = int(state["agent_steps"])
        self.best = float(state["best"])
        _set_moments(self.env.obs_rms, state["observed"])
        _set_moments(self.env.ret_rms, state["rewarded"])
        if self.curriculum is not None:
            self.curriculum.load_state(state["curriculum"])


class _Watch(BaseCallback):
    """Collects statistics after every step and logs every update."""

    def __init__(self, training: Sb3Training, report: Callable[[TrainingStatus], None]) -> None:
        super().__init__()
        self._training, self._report = training, report
        self._rounds = self._won = 0
        self._saved_at = training.agent_steps

    def _on_step(self) -> bool:
        training, worlds = self._training, self._training.worlds
        if worlds.ended.any():
            training.episodes.collect(worlds, training.agent_steps, training.seconds)
            training.statistics.collect(worlds)
            self._rounds += int(np.count_nonzero(worlds.played))
            winner = worlds.winners.index(training.role.name)
            self._won += int(np.count_nonzero(worlds.winner[worlds.played] == winner))
        if training.budget.agent_steps is None and training.progress >= 1.0:
            return False
        return not training.is_stopping  # with a step budget, SB3 stops by itself after the last update

    def _on_rollout_end(self) -> None:
        training = self._training
        self._report(training.note(self._rounds, self._won))
        self._rounds = self._won = 0
        if training.agent_steps - self._saved_at >= training.settings.checkpoint_steps:
            self._saved_at = training.agent_steps
            training.save()
            training.save_best()


def _model(env: VecNormalize, settings: Sb3Settings, seed: int) -> PPO:
    return PPO(
        "MlpPolicy",
        env,
        learning_rate=settings.learning_rate,
        n_steps=settings.n_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.n_epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip_range,
        ent_coef=settings.ent_coef,
        vf_coef=settings.vf_coef,
        max_grad_norm=settings.max_grad_norm,
        policy_kwargs={"net_arch": list(settings.net_arch), "activation_fn": nn.ReLU},
        seed=seed,
        device="cpu",
        verbose=0,
    )


def _as_ours(weights: Mapping[str, torch.Tensor], seen: Any, like: Policy) -> dict[str, torch.Tensor]:
    """The weights of an MlpPolicy under the names of our policy."""
    linear = [name.removesuffix(".weight") for name in weights if name.startswith("mlp_extractor.policy_net.")]
    layers = list(dict.fromkeys(name.removesuffix(".bias") for name in linear))
    own = [name.removesuffix(".weight") for name in like.state_dict() if name.startswith(("encoder.", "trunk."))]
    ours = list(dict.fromkeys(name.removesuffix(".bias") for name in own))
    found = {}
    for theirs, name in zip(layers, ours, strict=True):
        for part in ("weight", "bias"):
            found[f"{name}.{part}"] = weights[f"{theirs}.{part}"]
    found["head.linear.weight"], found["head.linear.bias"] = weights["action_net.weight"], weights["action_net.bias"]
    found["head.log_std"] = weights["log_std"]
    found["normaliser.mean"] = torch.from_numpy(np.asarray(seen.mean, np.float32).copy())
    found["normaliser.variance"] = torch.from_numpy(np.asarray(seen.var, np.float32).copy())
    found["normaliser.count"] = torch.tensor(float(seen.count), dtype=torch.float64)
    return found


def _moments(seen: Any) -> dict[str, Any]:
    return {"mean": np.asarray(seen.mean), "var": np.asarray(seen.var), "count": float(seen.count)}


def _set_moments(seen: Any, state: Mapping[str, Any]) -> None:
    seen.mean, seen.var = np.asarray(state["mean"], np.float64), np.asarray(state["var"], np.float64)
    seen.count = float(state["count"])
