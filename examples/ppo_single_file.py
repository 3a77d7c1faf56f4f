"""PPO in one file, in the manner of CleanRL: nothing of Godojo's learner, only its vector environment.

    python3 dojo.py run examples/ppo_single_file.py                               tag's seeker on the twin, one minute
    python3 dojo.py run examples/ppo_single_file.py --opponent sighted --seconds 300
    python3 dojo.py run examples/ppo_single_file.py --game navigation
    python3 dojo.py run examples/ppo_single_file.py --project path/to/project     any Godot project, dojo/1 or godot_rl

Prints the mean reward and success of the episodes of the last rollouts, and saves the weights as `ppo_single_file.pt`.
"""

import argparse
import sys
import time
from collections import deque
from dataclasses import MISSING, dataclass, fields

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical, Independent, Normal


@dataclass
class Args:
    """Hyperparameters and where to play; every field is an option."""

    game: str = "tag"
    """One of Godojo's games."""
    role: str = ""
    """The role that learns; the game's first by default."""
    opponent: str = ""
    """A scripted opponent that plays all other agents; the game's first by default."""
    project: str = ""
    """A Godot project to train in instead; all agents of its first policy learn, others act at random."""
    seconds: float = 60.0
    """Training time."""
    total_timesteps: int = 0
    """Train for this many steps instead."""
    num_envs: int = 256
    """Worlds that run in parallel; a project may have its own number."""
    num_steps: int = 32
    """Steps in each of them between two updates."""
    num_minibatches: int = 8
    update_epochs: int = 4
    learning_rate: float = 1e-3
    """Decays linearly to a tenth."""
    gamma: float = 0.99
    gae_lambda: float = 0.9
    clip_coef: float = 0.2
    ent_coef: float = 0.003
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    hidden: int = 128
    """Width of the two layers of actor and critic."""
    seed: int = 1
    save: str = "ppo_single_file.pt"
    """Where the weights go; empty for nowhere."""


def make_envs(args: Args) -> gymnasium.vector.VectorEnv:
    from godojo.envs.gymnasium import GameVectorEnv, WorldsVectorEnv

    if not args.project:
        return GameVectorEnv(args.game, args.num_envs, args.role or None, args.opponent or None)
    from godojo import open_game

    return WorldsVectorEnv(open_game(args.project, num_processes=2, seed=args.seed))


class Normalizer(nn.Module):
    """Observations by their running mean and variance."""

    mean: torch.Tensor
    var: torch.Tensor
    count: torch.Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        for name, value in (("mean", torch.zeros(size)), ("var", torch.ones(size)), ("count", torch.tensor(1e-4))):
            self.register_buffer(name, value)

    def update(self, rows: torch.Tensor) -> None:
        delta, total = rows.mean(0) - self.mean, self.count + len(rows)
        share = len(rows) / total
        self.var = (1 - share) * self.var + share * rows.var(0, correction=0) + share * (1 - share) * delta**2
        self.mean, self.count = self.mean + share * delta, total

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return ((rows - self.mean) / (self.var + 1e-6).sqrt()).clamp(-5, 5)


class Agent(nn.Module):
    """Actor and critic; actions are continuous (Box), one choice (Discrete) or several (MultiDiscrete)."""

    def __init__(self, envs: gymnasium.vector.VectorEnv, hidden: int) -> None:
        super().__init__()
        assert envs.single_observation_space.shape is not None
        size, space = int(np.prod(envs.single_observation_space.shape)), envs.single_action_space
        self.choices: list[int] = []
        if isinstance(space, gymnasium.spaces.Discrete):
            self.choices = [int(space.n)]
        elif isinstance(space, gymnasium.spaces.MultiDiscrete):
            self.choices = [int(count) for count in space.nvec]
        outputs = sum(self.choices) or int(np.prod(space.shape or (1,)))
        self.normalizer = Normalizer(size)
        self.actor = mlp(size, hidden, outputs, 0.01)
        self.critic = mlp(size, hidden, 1, 1.0)
        self.log_std = nn.Parameter(torch.full((0 if self.choices else outputs,), -0.5))

    def distributions(self, obs: torch.Tensor) -> list[Independent | Categorical]:
        out = self.actor(self.normalizer(obs))
        if not self.choices:
            return [Independent(Normal(out, self.log_std.exp()), 1)]
        return [Categorical(logits=logits) for logits in out.split(self.choices, -1)]

    def act(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Actions [N, A] and their log-probabilities [N]."""
        found = self.distributions(obs)
        drawn = [each.sample() for each in found]
        logprob = sum(each.log_prob(one) for each, one in zip(found, drawn, strict=True))
        return torch.stack(drawn, -1).float() if self.choices else drawn[0], torch.as_tensor(logprob)

    def evaluate(self, obs: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Log-probabilities, entropies and values."""
        found = self.distributions(obs)
        taken = list(actions.unbind(-1)) if self.choices else [actions]
        logprob = sum(each.log_prob(one) for each, one in zip(found, taken, strict=True))
        entropy = sum(each.entropy() for each in found)
        return torch.as_tensor(logprob), torch.as_tensor(entropy), self.value(obs)

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        value: torch.Tensor = self.critic(self.normalizer(obs)).squeeze(-1)
        return value


def mlp(inputs: int, hidden: int, outputs: int, last_gain: float) -> nn.Sequential:
    layers = [nn.Linear(inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, outputs)]
    for layer, gain in zip(layers, (2**0.5, 2**0.5, last_gain), strict=True):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])


def train(args: Args) -> dict[str, float]:
    """Trains; returns the last means of `reward` and `success`, and how many steps a second were played."""
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    torch.set_num_threads(1)  # the networks are too small for more
    envs = make_envs(args)
    agent = Agent(envs, args.hidden)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    steps, rows = args.num_steps, envs.num_envs
    space = envs.single_action_space
    observations, _ = envs.reset(seed=args.seed)
    next_obs = torch.as_tensor(observations)
    obs, actions, logprobs, rewards, dones, values = (list[torch.Tensor]() for _ in range(6))
    returns = np.zeros(rows)
    recent: deque[tuple[float, float]] = deque(maxlen=500)
    timesteps, updates, begun, told = 0, 0, time.monotonic(), 0.0
    scale = RewardScale(rows, args.gamma)
    while True:
        passed = time.monotonic() - begun
        progress = timesteps / args.total_timesteps if args.total_timesteps else passed / args.seconds
        if progress >= 1.0:
            break
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1.0 - 0.9 * progress)

        # A rollout.
        for kept in (obs, actions, logprobs, rewards, dones, values):
            kept.clear()
        for _ in range(steps):
            agent.normalizer.update(next_obs)
            with torch.no_grad():
                action, logprob = agent.act(next_obs)
                value = agent.value(next_obs)
            played = action.numpy()
            if isinstance(space, gymnasium.spaces.Box):
                played = played.clip(space.low, space.high)
            elif isinstance(space, gymnasium.spaces.Discrete):
                played = played[:, 0]
            observations, reward, terminated, truncated, infos = envs.step(played)
            done = terminated | truncated
            returns += reward
            shaped = scale(reward, done)
            if done.any():
                ended = np.flatnonzero(done)
                success = infos["final_info"].get("is_success", np.full(rows, np.nan))
                recent.extend((returns[row], float(success[row])) for row in ended)
                returns[ended] = 0.0
                cut = np.flatnonzero(truncated & ~terminated)
                if len(cut):  # what was cut short would have gone on: add the value of its last observation
                    last = torch.as_tensor(np.stack([infos["final_obs"][row] for row in cut]))
                    with torch.no_grad():
                        shaped[cut] += args.gamma * agent.value(last).numpy()
            for kept, one in zip(
                (obs, actions, logprobs, rewards, dones, values),
                (next_obs, action, logprob, torch.as_tensor(shaped), torch.as_tensor(done).float(), value),
                strict=True,
            ):
                kept.append(one)
            next_obs = torch.as_tensor(observations)
            timesteps += rows

        # Generalised advantage estimation.
        with torch.no_grad():
            advantages, running = [torch.zeros(rows)] * steps, torch.zeros(rows)
            next_value = agent.value(next_obs)
            for t in reversed(range(steps)):
                delta = rewards[t] + args.gamma * next_value * (1 - dones[t]) - values[t]
                running = delta + args.gamma * args.gae_lambda * (1 - dones[t]) * running
                advantages[t], next_value = running, values[t]

        # Updates.
        b_obs, b_actions, b_logprobs, b_values = (torch.cat(each) for each in (obs, actions, logprobs, values))
        b_advantages = torch.cat(advantages)
        b_returns = b_advantages + b_values
        for _ in range(args.update_epochs):
            for batch in torch.randperm(len(b_obs)).chunk(args.num_minibatches):
                logprob, entropy, value = agent.evaluate(b_obs[batch], b_actions[batch])
                ratio = (logprob - b_logprobs[batch]).exp()
                advantage = b_advantages[batch]
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                policy_loss = -torch.min(advantage * ratio, advantage * clipped).mean()
                value_loss = 0.5 * (value - b_returns[batch]).square().mean()
                loss = policy_loss + args.vf_coef * value_loss - args.ent_coef * entropy.mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
        updates += 1
        if time.monotonic() - told > 5.0:
            told = time.monotonic()
            say(f"{progress:4.0%}  {timesteps:>9,} steps  {updates} updates  {words(summary(recent))}")
    found = summary(recent) | {"steps_per_s": timesteps / (time.monotonic() - begun)}
    envs.close()
    if args.save:
        torch.save({"args": vars(args), "weights": agent.state_dict()}, args.save)
    say(f"done  {timesteps:>9,} steps  {words(found)}")
    return found


class RewardScale:
    """Divides rewards by the standard deviation of discounted returns, as VecNormalize does."""

    def __init__(self, rows: int, gamma: float) -> None:
        self.returns, self.gamma = np.zeros(rows), gamma
        self.mean, self.var, self.count = 0.0, 1.0, 1e-4

    def __call__(self, reward: np.ndarray, done: np.ndarray) -> np.ndarray:
        self.returns = self.returns * self.gamma + reward
        delta, total = self.returns.mean() - self.mean, self.count + len(reward)
        share = len(reward) / total
        self.var = (1 - share) * self.var + share * self.returns.var() + share * (1 - share) * delta**2
        self.mean, self.count = self.mean + share * delta, total
        self.returns[done] = 0.0
        return (reward / np.sqrt(self.var + 1e-8)).clip(-10, 10).astype(np.float32)


def summary(recent: deque[tuple[float, float]]) -> dict[str, float]:
    if not recent:
        return {}
    rewards, successes = np.array(recent).T
    known = successes[~np.isnan(successes)]
    return {"reward": float(rewards.mean())} | ({"success": float(known.mean())} if len(known) else {})


def words(found: dict[str, float]) -> str:
    return "  ".join(f"{name} {value:.4g}" for name, value in found.items()) or "no episode yet"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def parse_args() -> Args:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in fields(Args):
        assert field.default is not MISSING
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=type(field.default), default=field.default)
    return Args(**vars(parser.parse_args()))


if __name__ == "__main__":
    from godojo.errors import GodojoError

    try:
        train(parse_args())
    except GodojoError as error:
        raise SystemExit(str(error)) from None
