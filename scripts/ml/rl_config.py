#!/usr/bin/env python3
"""The training configuration in five sections: network, ppo, rewards, training and environment.

python3 scripts/ml/rl_config.py                                       writes example_config.json
python3 scripts/ml/rl_config.py --preset quick_test --out quick.json  a preset with every value
"""

import argparse

if __name__ == "__main__":
    from launch import ensure_godojo

    ensure_godojo(__file__)

from godojo.games.navigation.config_sections import (
    CurriculumStage,
    EnvironmentConfig,
    NetworkConfig,
    PPOConfig,
    RewardConfig,
    RLConfig,
    TrainingConfig,
)

__all__ = [
    "CurriculumStage",
    "EnvironmentConfig",
    "NetworkConfig",
    "PPOConfig",
    "RLConfig",
    "RewardConfig",
    "TrainingConfig",
]


def main() -> None:
    from godojo.cli import main as godojo

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="default", help="the preset to start from")
    parser.add_argument("--out", default="example_config.json", metavar="FILE.json", help="the file to write")
    args = parser.parse_args()
    godojo(["config", "example", "navigation", "--preset", args.preset, "--out", args.out])


if __name__ == "__main__":
    main()
