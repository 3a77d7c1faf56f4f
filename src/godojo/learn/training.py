"""The training loop around an algorithm: budget, checkpoints, snapshots, logs and curriculum, in a run folder."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from godojo.engines.agent_episodes import AgentEpisodes
from godojo.engines.base import Worlds
from godojo.engines.measures import EndedRounds, measures_of
from godojo.games.curriculum import Curriculum
from godojo.learn.algorithm import Algorithm, Iteration, Phase
from godojo.learn.budget import Budget
from godojo.learn.networks import Policy
from godojo.learn.policy_file import PolicyCard, check_layout, load_policy, policy_bytes
from godojo.learn.presets import learner_settings
from godojo.learn.registry import algorithm_named, load
from godojo.opponents import shared_role
from godojo.runs.config import Environment, RunConfig
from godojo.runs.episodes import EpisodeLog, mean_of_agents
from godojo.runs.folder import RunFolder
from godojo.runs.role_map import Mode
from godojo.runs.updates import UpdateLog

CHECKPOINT_S = 30.0
"""Seconds between two checkpoints, for algorithms without `checkpoint_steps`."""
SNAPSHOTS_S = {"10s": 10, "30s": 30} | {f"{minute}m": 60 * minute for minute in (1, 2, 3, 4, 5, 10, 15, 20, 30, 45, 60)}
"""Seconds of training after which snapshots are saved, by name; besides `start` and `final`."""
PAUSE_CHECK_S = 0.25
"""How often a paused training looks whether its scene has started again, or whether it has to stop."""
WIN_RATE_ROUNDS = 4000
"""Win rates are computed over about this many of the latest rounds."""


class OutOfTime(Exception):
    """The time budget and its grace period ran out in the middle of a rollout."""


class TrainingStatus(NamedTuple):
    """Progress of a training, for display."""

    progress: float
    seconds: float
    agent_steps: int
    steps_per_s: float
    updates: int
    episodes: int
    """Finished rounds."""
    win_rates: dict[str, float]
    """By role, over the latest rounds that an iteration counts (`Iteration.rounds`); empty before the first, or if a
    game has no winners."""
    ratings: dict[str, tuple[float, float]]
    """By role: openskill's mu and sigma."""
    rewards: dict[str, float]
    """By role: the mean reward of the latest finished episodes."""
    modes: Mapping[str, Mode] = {}
    """By role: whether it learned in this update."""
    metrics: Mapping[str, float] = {}
    """Of the update, by tag."""


class Training:
    """One session of training in a run folder. `stop()` ends it after the current update."""

    def __init__(
        self,
        run: RunFolder,
        worlds: Worlds,
        budget: Budget,
        *,
        resume: bool,
        policies: Mapping[str, Policy] | None = None,
        curriculum: Curriculum | None = None,
        start: Callable[[Algorithm], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """With a `curriculum`, worlds take the settings of its stages; it advances by the wins of the first role.

        `start` may change a new learner, for example load weights into it.
        """
        self.curriculum = curriculum
        self.run, self.worlds, self.budget, self._say = run, worlds, budget, say
        self._role_map = run.role_map(say)
        self.learner = make_learner(run.config, worlds, policies, self._role_map.modes({}))
        self.checkpoints = run.checkpoints(say)
        self._seconds_before, self._resumed, episodes = 0.0, resume, None
        self._recent: list[tuple[int, dict[str, int]]] = []
        update: int | None = None
        agent_steps = 0
        start(self.learner)
        if curriculum is not None:
            curriculum.begin(self.learner.agent_steps)
        if resume:
            state, entry = self.checkpoints.newest()
            with self.checkpoints.fitting(entry):
                self.learner.load_state(state["learner"])
                self._seconds_before, episodes = entry.seconds, state["episodes"]
                self._recent = [(rounds, wins) for rounds, wins in state["recent"]]
                if curriculum is not None:
                    curriculum.load_state(state["curriculum"])
            update, agent_steps = entry.update, entry.agent_steps
            run.snapshots(say).cut_back(agent_steps)
            run.cut_back_numbered(update)
        run.add_environment(Environment.here(worlds.godot_version))
        self._shared = shared_role(worlds)
        own = {} if self._shared is None else {self._shared.name: self._shared.own}
        self._episode_log = EpisodeLog(run.metrics, worlds, episodes, say, own)
        self._update_log = UpdateLog(run.updates, run.tensorboard(), update, agent_steps, say, roles=run.config.roles)
        if curriculum is not None:
            worlds.change_settings(curriculum.settings[curriculum.at])
        self._statistics = RolloutStatistics(worlds)
        self._against: dict[str, np.ndarray] | None = None
        self._begun = time.monotonic()
        self._steps_before = self.learner.agent_steps
        self._saved_at = self._begun, self._steps_before
        """Time and agent-steps of the last checkpoint."""
        self._is_stopping = False

    @property
    def agent_steps(self) -> int:
        return self.learner.agent_steps

    @property
    def seconds(self) -> float:
        """Training time, earlier sessions included."""
        return self._seconds_before + time.monotonic() - self._begun

    def stop(self) -> None:
        self._is_stopping = True

    def train(
        self, report: Callable[[TrainingStatus], None], on_phase: Callable[[Phase], None] = lambda _: None
    ) -> bool:
        """Train until the budget is spent, a scene ends its loop or `stop` is called; returns false after `stop`.
        Saves in any case.

        Also saves when an update fails, but not when interrupted, since an update may be incomplete. `on_phase` is
        called when the trainer turns to something else.
        """
        self._begun = time.monotonic()
        self._saved_at = self._begun, self.learner.agent_steps
        self.learner.on_start(self.run)
        self.learner.on_phase = on_phase
        if not self._resumed:
            self._snapshot("start")
            self.save()
        taken = {entry.name for entry in self.run.snapshots().entries()}
        try:
            while (progress := self.budget.progress(self.seconds, self.learner.agent_steps)) < 1.0:
                if self._is_stopping:
                    break
                plan = self.worlds.plan(self.learner.updates)
                if not plan.running:
                    on_phase("done training")
                    if self._resumes_after_pause():
                        continue
                    if not self._is_stopping:
                        progress = 1.0  # the scene has ended the training
                    break
                self.learner.modes.update(self._role_map.modes(plan.deterministic))
                on_phase("playing")
                iteration = self.learner.iterate(progress, self._after_step)
                report(self._log(progress, iteration))
                self._advance_curriculum(iteration)
                for name, due_s in SNAPSHOTS_S.items():
                    if name not in taken and self.seconds >= due_s > self._seconds_before:
                        taken.add(name)
                        self._snapshot(name)
                if self.learner.copy_interval and self.learner.updates % self.learner.copy_interval == 0:
                    for role, content in self._policy_files().items():
                        self.run.save_numbered(role, self.learner.updates, content)
                if self._is_checkpoint_due():
                    self.save()
        except OutOfTime:
            progress = 1.0
        except Exception:  # the weights are those from before the failed update
            self.save()
            raise
        self.save()
        self.learner.on_end(self.run)
        on_phase("done training")
        is_spent = progress >= 1.0
        if is_spent:
            self._snapshot("final")
        return is_spent

    def save(self) -> None:
        """Save a checkpoint and the latest policies."""
        learner = self.learner
        self._update_log.sync()
        state = {"learner": learner.state(), "episodes": self._episode_log.sync(), "recent": self._recent}
        if self.curriculum is not None:
            state["curriculum"] = self.curriculum.state()
        self.checkpoints.save(state, learner.agent_steps, learner.updates, self.seconds)
        for role, content in self._policy_files().items():
            self.run.save_policy(role, content)
        self.run.save_ratings({} if learner.opponent_pool is None else learner.opponent_pool.ratings())
        learner.on_checkpoint(self.run, self.seconds)
        self._saved_at = time.monotonic(), learner.agent_steps

    def _resumes_after_pause(self) -> bool:
        """Save, release a game that the user started, and wait until its scene starts again; false if it cannot, or if
        `stop` is called. The wait is no training time."""
        paused_at = time.monotonic()
        self.save()
        if not self.worlds.pause("the scene stopped the training; the run is saved"):
            return False
        self._say(f"the scene stopped the training; run {self.run.name} is saved and waits for its next start")
        while not self.worlds.is_resumed(PAUSE_CHECK_S):
            if self._is_stopping:
                return False
        self._begun += time.monotonic() - paused_at
        return True

    def _is_checkpoint_due(self) -> bool:
        seconds, agent_steps = self._saved_at
        if self.learner.checkpoint_steps is not None:
            return self.learner.agent_steps - agent_steps >= self.learner.checkpoint_steps
        return time.monotonic() - seconds > CHECKPOINT_S

    def close(self) -> None:
        self._episode_log.close()
        self._update_log.close()
        self.learner.close()

    def _advance_curriculum(self, iteration: Iteration) -> None:
        curriculum, role = self.curriculum, next(iter(self.worlds.roles))
        if curriculum is None:
            return
        if curriculum.after(self.learner.agent_steps, iteration.rounds, iteration.wins[role]):
            self.worlds.change_settings(curriculum.settings[curriculum.at])
            self._say(f"stage {curriculum.stage.name} begins after {self.learner.agent_steps:,} agent-steps")

    def _after_step(self, worlds: Worlds) -> None:
        self._statistics.collect(worlds)
        if self._against is None:
            self._against = self._opponents(worlds)
        self._episode_log.collect(worlds, self.learner.agent_steps, self.seconds, self._against)
        if self.budget.is_overdrawn(self.seconds):
            raise OutOfTime

    def _opponents(self, worlds: Worlds) -> dict[str, np.ndarray]:
        """The opponent's number in the log of episodes, by role and world."""
        against = {name: np.zeros(worlds.num_worlds, np.int64) for name in worlds.roles}
        for assignment in self.learner.assignments:
            for other in against.keys() - {assignment.role} or {assignment.role}:
                against[other][assignment.worlds] = self._episode_log.opponent(assignment.who)
        return against

    def _log(self, progress: float, iteration: Iteration) -> TrainingStatus:
        self._episode_log.write()
        self._against = None  # opponents are drawn between two rollouts
        learner, names, pool = self.learner, list(self.worlds.roles), self.learner.opponent_pool
        self._recent.append((iteration.rounds, iteration.wins))
        while len(self._recent) > 1 and sum(rounds for rounds, _ in self._recent[1:]) >= WIN_RATE_ROUNDS:
            self._recent.pop(0)
        rounds = sum(rounds for rounds, _ in self._recent)
        seconds = self.seconds
        means = self._statistics.means()
        speed = (learner.agent_steps - self._steps_before) / max(seconds - self._seconds_before, 1e-9)
        status = TrainingStatus(
            progress=progress,
            seconds=seconds,
            agent_steps=learner.agent_steps,
            steps_per_s=speed,
            updates=learner.updates,
            episodes=self._episode_log.episodes,
            win_rates={
                name: sum(wins[name] for _, wins in self._recent) / rounds
                for name in names
                if rounds
                and (name in self.worlds.winners or (self._shared is not None and learner.assignments))
                and not any(measure.name == "success" for measure in self.worlds.roles[name].measures)
            },
            ratings={} if pool is None else {name: (rating.mu, rating.sigma) for name, rating in pool.now.items()},
            rewards=dict(self._statistics.latest),
            modes=dict(learner.modes),
        )
        metrics = {
            f"{role}/{name}": value for role, found in iteration.metrics.items() for name, value in found.items()
        }
        metrics |= {f"{role}/rollout/win_rate": rate for role, rate in status.win_rates.items()}
        metrics |= {f"{role}/rollout/rating": rating[0] for role, rating in status.ratings.items()}
        metrics |= means
        if self.curriculum is not None:
            metrics["curriculum/stage"] = self.curriculum.at
        metrics |= {"time/fps": speed, "progress": progress}
        self._update_log.write(learner.updates, learner.agent_steps, seconds, metrics)
        return status._replace(metrics=metrics)

    def _snapshot(self, name: str) -> None:
        pool = self.learner.opponent_pool
        ratings = {} if pool is None else {role: rating._asdict() for role, rating in pool.now.items()}
        self.run.snapshots().save(name, self._policy_files(), self.learner.agent_steps, self.seconds, ratings)

    def _policy_files(self) -> dict[str, bytes]:
        files = {}
        for name, policy in self.learner.policies.items():
            card = PolicyCard(
                game=self.run.config.game,
                role=name,
                observation_parts=self.worlds.roles[name].observation_parts,
                shape=policy.shape,
                agent_steps=self.learner.agent_steps,
                settings=self.run.config.game_settings,
            )
            files[name] = policy_bytes(policy, card)
        return files


class RolloutStatistics:
    """Mean reward (total and by term), length and measures of the episodes that ended since the last call of `means`.

    A measure that agents report is `ROLE/rollout/NAME`, and `success` is called `success_rate`; a name with a slash,
    such as `performance/physics_frame_time_ratio`, is a tag itself. A measure of the game (`Game.measures`) is
    `rollout/NAME`, such as `rollout/catches`: it is no role's own.
    """

    def __init__(self, worlds: Worlds) -> None:
        self._terms = worlds.reward_terms
        self._by_agent = AgentEpisodes(worlds) if worlds.agent_episodes else None
        self._measures_of = {name: [measure.name for measure in role.measures] for name, role in worlds.roles.items()}
        self._episodes = {name: self._no_episodes(name) for name in worlds.roles}
        self._worlds = worlds
        self._waiting: list[tuple[EndedRounds, dict[str, tuple[np.ndarray, np.ndarray]]]] = []
        """Rounds of each step, with every role's terms and measures: a batch of many steps is faster to sum up."""
        self.latest: dict[str, float] = {}
        """The last known mean reward of an episode, by role."""

    def collect(self, worlds: Worlds) -> None:
        if self._by_agent is not None:
            for name, found in self._by_agent.finished(worlds).items():
                self._episodes[name].add(found.terms, found.length_ticks / worlds.ticks_per_decision, found.measures)
        elif worlds.ended.any():
            played = np.flatnonzero(worlds.played)
            of_roles = {}
            for name, role in worlds.roles.items():
                measures = role.final_terms[..., :0] if role.final_measures is None else role.final_measures
                of_roles[name] = role.final_terms.take(played, axis=0), measures.take(played, axis=0)
            self._waiting.append((EndedRounds.of(worlds, played), of_roles))

    def means(self) -> dict[str, float]:
        means: dict[str, float] = {}
        if self._waiting:
            parts, of_roles = zip(*self._waiting, strict=True)
            rounds = EndedRounds.together(parts)
            steps = rounds.length_ticks / self._worlds.ticks_per_decision
            for name, sums in self._episodes.items():
                terms, measures = (
                    np.concatenate(arrays) for arrays in zip(*(of[name] for of in of_roles), strict=True)
                )
                sums.add(terms.mean(axis=1, dtype=np.float64), steps, mean_of_agents(measures))
            for name, values in measures_of(self._worlds, rounds).items():
                means[f"rollout/{name.replace(' ', '_')}"] = float(values.sum()) / len(rounds.winner)
            self._waiting.clear()
        for role, sums in self._episodes.items():
            means |= {
                f"{role}/{name if '/' in name else f'rollout/{name}'}": value
                for name, value in sums.means(self._terms, self._measures_of[role]).items()
            }
            if sums.episodes:
                self.latest[role] = means[f"{role}/rollout/ep_rew_mean"]
            self._episodes[role] = self._no_episodes(role)
        return means

    def _no_episodes(self, role: str) -> "_EpisodeSums":
        return _EpisodeSums(len(self._terms), len(self._measures_of[role]))


class _EpisodeSums:
    """Sums over finished episodes of one role."""

    def __init__(self, terms: int, measures: int) -> None:
        self.episodes, self.steps, self.terms = 0, 0.0, np.zeros(terms)
        self.measures, self.reports = np.zeros(measures), np.zeros(measures, np.int64)
        """Sums, and the number of episodes that report each."""

    def add(self, terms: np.ndarray, steps: np.ndarray, measures: np.ndarray) -> None:
        """Terms [K, T], decision steps [K] and measures [K, M] of K episodes."""
        self.episodes += len(terms)
        self.steps += float(steps.sum())
        self.terms += terms.sum(axis=0)
        self.measures += np.nansum(measures, axis=0)
        self.reports += np.isfinite(measures).sum(axis=0)

    def means(self, terms: Sequence[str], measures: Sequence[str]) -> dict[str, float]:
        if not self.episodes:
            return {}
        means = {"ep_rew_mean": float(self.terms.sum()) / self.episodes, "ep_len_mean": self.steps / self.episodes}
        for name, summed, reports in zip(measures, self.measures, self.reports, strict=True):
            if reports:
                means["success_rate" if name == "success" else name.replace(" ", "_")] = float(summed / reports)
        return means | {
            f"reward_{term}": float(total) / self.episodes for term, total in zip(terms, self.terms, strict=True)
        }


def make_learner(
    config: RunConfig,
    worlds: Worlds,
    policies: Mapping[str, Policy] | None = None,
    modes: Mapping[str, Mode] | None = None,
) -> Algorithm:
    """The algorithm of a run's configuration, with its settings."""
    settings = learner_settings(config.learner, config.learner_settings)
    entry = algorithm_named(config.learner)
    factory = (entry.cluster_factory if hasattr(worlds, "fleet") else "") or entry.factory
    learner: Algorithm = load(factory)(worlds, settings, config.seed, policies, modes)
    return learner


def starting_policies(source: RunFolder, worlds: Worlds) -> dict[str, Policy]:
    """The latest policies of another run as a starting point; rejects those that do not fit the game."""
    policies = {}
    for name, role in worlds.roles.items():
        policy, card = load_policy(source.policy(name))
        check_layout(card, role, f"the {name} of {source.name}")
        policies[name] = policy.train()
    return policies
