"""RLlib's PPO, with one policy shared by many agents: a training in RLlib's own words.

    python3 dojo.py install rllib
    python3 dojo.py run examples/rllib_shared_policy.py --iterations 20
    python3 dojo.py run examples/rllib_shared_policy.py --game navigation
    python3 dojo.py run examples/rllib_shared_policy.py --project path/to/project

By default five players of classic tag learn one policy. All agents of a role share one; with `--each` every agent
has its own. Use `godojo train --trainer rllib` for runs that can be evaluated, watched and exported.
"""

import argparse
import sys
import tempfile
from typing import Any

try:
    import ray
    from ray.rllib.algorithms.algorithm import Algorithm
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.connectors.env_to_module import MeanStdFilter
    from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
except ImportError:
    sys.exit("RLlib is not installed; install it with: python3 dojo.py install rllib")

from godojo.envs.rllib import GameMultiAgentEnv, role_of


def env_config(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `GameMultiAgentEnv`."""
    if args.project:
        return {"project": args.project}
    classic = {"rules.mode": "classic", "rules.players": args.players}
    return {"game": args.game, "settings": classic if args.game == "tag" else {}}


def build(args: argparse.Namespace) -> Algorithm:
    env = GameMultiAgentEnv(env_config(args))
    agents = env.possible_agents
    env.close()
    policies = set(agents) if args.each else {role_of(agent) for agent in agents}
    is_each = args.each  # the mapping travels to the workers: it must not hold `args`
    config = (
        PPOConfig()
        .environment(GameMultiAgentEnv, env_config=env_config(args))
        .env_runners(
            num_env_runners=args.workers,
            num_envs_per_env_runner=args.num_envs,
            env_to_module_connector=lambda *_, **__: MeanStdFilter(multi_agent=True),
        )
        .multi_agent(
            policies=policies,
            policy_mapping_fn=lambda agent, *_, **__: agent if is_each else role_of(agent),
        )
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64], fcnet_activation="relu"))
        .training(lr=3e-4, gamma=0.99, train_batch_size_per_learner=args.batch, minibatch_size=256, num_epochs=6)
        .fault_tolerance(restart_failed_sub_environments=True)
        .debugging(seed=args.seed)
    )
    return config.build_algo()


def main() -> None:
    parser = argparse.ArgumentParser(description="One policy for many agents, by RLlib.")
    parser.add_argument("--game", default="tag", help="a game of Godojo; defaults to tag, in its classic mode")
    parser.add_argument("--players", type=int, default=5, help="players of classic tag")
    parser.add_argument("--project", help="a Godot project in place of a game")
    parser.add_argument("--each", action="store_true", help="a policy for each agent instead of one for each role")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--batch", type=int, default=2048, help="environment steps of an iteration")
    parser.add_argument("--num-envs", type=int, default=8, help="environments of each worker")
    parser.add_argument("--workers", type=int, default=0, help="Ray workers; 0: this process plays")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rllib-") as folder:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR", _temp_dir=folder)
        algorithm = build(args)
        try:
            for iteration in range(1, args.iterations + 1):
                found = algorithm.train()["env_runners"]
                returns = {
                    name: round(float(mean), 3) for name, mean in found.get("module_episode_returns_mean", {}).items()
                }
                steps = int(found["num_env_steps_sampled_lifetime"])
                sys.stdout.write(f"iteration {iteration}: {steps:,} steps, return by policy {returns}\n")
                sys.stdout.flush()
        finally:
            algorithm.stop()
            ray.shutdown()


if __name__ == "__main__":
    main()
