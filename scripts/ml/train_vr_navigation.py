#!/usr/bin/env python3
"""Trains a VR navigation policy with Stable-Baselines3, resumes a training, or evaluates a saved model.

    python3 scripts/ml/train_vr_navigation.py --preset quick_test
    python3 scripts/ml/train_vr_navigation.py --config example_config.json --timesteps 100000
    python3 scripts/ml/train_vr_navigation.py --resume runs/mine/checkpoints/vr_nav_model_10000_steps.zip
    python3 scripts/ml/train_vr_navigation.py --eval runs/mine/best_models/best_model.zip --episodes 100

Further options are those of `python3 dojo.py train` and `python3 dojo.py eval`, such as `--run-id mine`.
"""

import argparse

from launch import ensure_godojo


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--preset", help="quick_test, full_training, curriculum_learning, comfort_optimized, ...")
    parser.add_argument("--config", metavar="FILE.json", help="a configuration, as rl_config.py writes one")
    parser.add_argument("--timesteps", metavar="N", help="steps to train, in place of the configuration's")
    parser.add_argument("--resume", metavar="ZIP", help="continue from this model, in a new run")
    parser.add_argument("--eval", metavar="ZIP", help="evaluate this model instead of training")
    parser.add_argument("--episodes", metavar="N", default="100", help="episodes of --eval (default: 100)")
    parser.add_argument("--verbose", action="store_true", help="print the metrics of every update")
    args, others = parser.parse_known_args()
    ensure_godojo(__file__)
    from godojo.cli import main as godojo

    if args.eval is not None:
        godojo(["eval", args.eval, "--episodes", args.episodes, *others])
    words = ["train", "navigation", "--trainer", "sb3", *others, *["--verbose"] * args.verbose]
    options = {"--preset": args.preset, "--config": args.config, "--steps": args.timesteps, "--resume": args.resume}
    for name, value in options.items():
        words += [] if value is None else [name, value]
    godojo(words)


if __name__ == "__main__":
    main()
