"""What Ray costs and gains on one machine, measured in turns; and the sizes of the messages.

    python3 dojo.py install ray
    python3 dojo.py run benchmarks/ray_speed.py            the real engine and the twin, 20 turns of 4 s each
    python3 dojo.py run benchmarks/ray_speed.py --turns 5 --engines godot
    python3 dojo.py run benchmarks/ray_speed.py --sizes    message sizes only; needs no Ray

`godot`: 64 worlds in one local Godot process, against two workers with a Godot process and half of the worlds each;
`godot-128`: the same with 128, so that each worker's process has the 64 worlds that are usual for one.
`sim`: the default training of tag, against two workers with half of the worlds each; the learner and the workers share
the cores in turns, since workers wait while the learner updates.

Both trainings run the whole time, and one of them pauses between two updates while the other plays, so that other work
on the machine slows both alike. The ratio is the median of the turns' ratios.
"""

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from typing import Any

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

RUNS: dict[str, dict[str, Any]] = {
    "godot": {"engine": "godot", "processes": 1, "num_envs": 64},
    "godot-128": {"engine": "godot", "processes": 1, "num_envs": 128},
    "sim": {"engine": "sim"},
}
PATIENCE_S = 600.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=4.0, help="Seconds of a turn, for each of the two trainings.")
    parser.add_argument("--engines", default="godot,godot-128,sim")
    parser.add_argument("--sizes", action="store_true")
    wanted = parser.parse_args()
    if wanted.sizes:
        return sizes()
    write("| engine | local, agent-steps/s | 2 Ray workers, agent-steps/s | ratio (its quartiles) |")
    write("|---|---|---|---|")
    for engine in wanted.engines.split(","):
        local, ray = speeds(engine, wanted.turns, wanted.seconds)
        ratios = [there / here for here, there in zip(local, ray, strict=True)]
        first, middle, last = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        each = [f"{statistics.median(of):,.0f} ({min(of):,.0f} to {max(of):,.0f})" for of in (local, ray)]
        write(f"| {engine} | {each[0]} | {each[1]} | {middle:.2f} ({first:.2f} to {last:.2f}) |")
    return 0


def speeds(engine: str, turns: int, seconds: float) -> list[list[float]]:
    """Agent-steps per second in every turn, of the local training and of that with Ray."""
    context = multiprocessing.get_context("spawn")
    found: list[list[float]] = [[], []]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GODOJO_RUNS"] = folder
        trainings = []
        for options in ({}, {"ray": "local", "workers": 2}):
            here, there = context.Pipe()
            process = context.Process(target=train, args=(there, seconds, {**RUNS[engine], **options}))
            process.start()
            trainings.append((here, process))
            receive(here)  # the first update has compiled everything
        for _ in range(turns):
            for (connection, _process), of in zip(trainings, found, strict=True):
                connection.send(True)
                of.append(receive(connection))
        for connection, process in trainings:
            connection.send(False)
            process.join(PATIENCE_S)
            process.kill()
    return found


def receive(connection: Connection) -> float:
    if not connection.poll(PATIENCE_S):
        raise SystemExit(f"no answer of a training within {PATIENCE_S:.0f} s")
    return float(connection.recv())


def train(connection: Connection, seconds: float, options: dict[str, Any]) -> None:
    """Train tag; pause after the first update and after every turn, and tell its speed."""
    began, steps_before = 0.0, 0

    def after_update(status: Any) -> bool:
        nonlocal began, steps_before
        took = time.monotonic() - began
        if took < seconds:
            return True
        connection.send((status.agent_steps - steps_before) / took)
        if not connection.poll(PATIENCE_S) or not connection.recv():
            return False  # ends the training
        began, steps_before = time.monotonic(), status.agent_steps
        return True

    run_id = "ray" if "ray" in options else "local"
    godojo.train("tag", steps=10**9, run_id=run_id, progress=after_update, **options)


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
