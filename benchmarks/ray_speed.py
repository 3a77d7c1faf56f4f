"""What Ray costs and gains on one machine, measured in turns; and the sizes of the messages.

    python3 dojo.py install ray
    python3 dojo.py run benchmarks/ray_speed.py            the real engine and the twin, 3 turns of 30 s each
    python3 dojo.py run benchmarks/ray_speed.py --turns 1 --seconds 10
    python3 dojo.py run benchmarks/ray_speed.py --sizes    message sizes only; needs no Ray

`godot`: 64 worlds in one local Godot process, against two workers with a Godot process and half of the worlds each.
`sim`: the default training of tag, against two workers with half of the worlds each; the learner and the workers share
the cores in turns, since workers wait while the learner updates.
"""

import argparse
import os
import statistics
import sys
import tempfile

import msgspec

import godojo
from godojo import __version__
from godojo.cluster.messages import Assignment, Order, Weights, size_bytes, weights_of
from godojo.cluster.shard import Shard
from godojo.games.base import GAMES
from godojo.learn.presets import learner_settings, read_preset
from godojo.learn.self_play import shape_for
from godojo.runs.config import RunConfig
from godojo.training.worlds import worlds_of

RUNS = {
    "godot": {"engine": "godot", "processes": 1, "num_envs": 64},
    "sim": {"engine": "sim"},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--engines", default="godot,sim")
    parser.add_argument("--sizes", action="store_true")
    wanted = parser.parse_args()
    if wanted.sizes:
        return sizes()
    write("| engine | local, agent-steps/s | 2 Ray workers, agent-steps/s | ratio of medians |")
    write("|---|---|---|---|")
    for engine in wanted.engines.split(","):
        speeds: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(wanted.turns):
            for is_ray in (False, True):
                speeds[is_ray].append(speed(engine, is_ray, wanted.seconds))
        local, ray = (statistics.median(speeds[is_ray]) for is_ray in (False, True))
        each = [", ".join(f"{one:,.0f}" for one in speeds[is_ray]) for is_ray in (False, True)]
        write(f"| {engine} | {each[0]} | {each[1]} | {ray / local:.2f} |")
    return 0


def speed(engine: str, is_ray: bool, seconds: float) -> float:
    """Agent-steps per second after the first update."""
    seen: list[tuple[float, int]] = []
    options = {"ray": "local", "workers": 2} if is_ray else {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        godojo.train(
            "tag",
            minutes=seconds / 60.0,
            progress=lambda status: seen.append((status.seconds, status.agent_steps)),
            **RUNS[engine],  # type: ignore[arg-type]
            **options,  # type: ignore[arg-type]
        )
    (began, first), (ended, last) = seen[0], seen[-1]
    return (last - first) / (ended - began)


def sizes() -> int:
    """Bytes of one broadcast of weights, and of one rollout, in the default trainings."""
    write("| game | worlds of a worker | agent-steps of a rollout | its bytes | per agent-step | broadcast, bytes |")
    write("|---|---|---|---|---|---|")
    for game in ("tag", "navigation"):
        for worlds in (64, 512):
            preset = read_preset(game, "default")
            settings = learner_settings("ppo", preset.learner("ppo"), {"num_worlds": worlds})
            rules = GAMES[game].settings.defaults().override(**preset.game)
            config = RunConfig(
                game, "sim", (), "ppo", msgspec.to_builtins(settings), msgspec.to_builtins(rules), 1, {"minutes": 1}
            )
            shard = Shard(config, worlds_of, 0, 0, __version__)
            roles = shard.open().roles
            shapes = {name: shape_for(role, settings) for name, role in roles.items()}
            shard.assign(Assignment(settings, shapes))
            player = shard._player
            assert player is not None
            weights = {key: (weights_of(one.policy), weights_of(one.critic)) for key, one in player.learners.items()}
            past: dict[str, Weights | None] = {name: weights_of(policy) for name, policy in player.policies.items()}
            order = Order(0.0, dict(player.modes), weights, past if player.opponent_pool else {}, 0, None)
            rollout = shard.collect(order)
            steps = settings.n_steps * sum(role.acted.size for role in roles.values())
            write(
                f"| {game} | {worlds} | {steps:,} | {size_bytes(rollout):,} | {size_bytes(rollout) / steps:.0f} "
                f"| {size_bytes(order):,} |"
            )
            shard.close()
    return 0


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
