"""A short training gets somewhere: win rates on unseen arenas, against thresholds in a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from godojo.cli import main
from godojo.evaluation.evaluation import judge
from godojo.evaluation.held_out import judging_worlds
from godojo.evaluation.matches import play_matches
from godojo.evaluation.players import PolicyPlayer
from godojo.games.tag.settings import TagSettings
from godojo.learn.policy_file import PolicyCard
from godojo.learn.self_play import PpoSelfPlay
from godojo.learn.settings import PpoSettings

THRESHOLDS: dict[str, Any] = json.loads(Path(__file__).with_name("learning_thresholds.json").read_bytes())
FIRST, *OTHERS = THRESHOLDS["seeds"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [FIRST, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in OTHERS)])
def test_a_short_training_reaches_its_thresholds(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))
    words = [f"--set={name}={value}" for name, value in THRESHOLDS["settings"].items()]
    words += ["--steps", str(THRESHOLDS["agent_steps"]), "--seed", str(seed), "--run-id", "short", "--judge", "0"]
    with pytest.raises(SystemExit) as ended:
        main(["train", "tag", *words])
    assert not ended.value.code
    for role, thresholds in THRESHOLDS["wins"].items():
        opponents = list(thresholds)
        before, after = (
            judge(f"short@{moment}", opponents, role=role, rounds=THRESHOLDS["rounds"]) for moment in ("start", "final")
        )
        for opponent, least in thresholds.items():
            untrained, trained = (found.verdict(role, opponent).wins for found in (before, after))
            assert untrained is not None
            assert trained is not None
            assert trained.rate >= least, f"{role} against {opponent}: {untrained.rate:.3f} to {trained.rate:.3f}"
            if role in THRESHOLDS["better_than_untrained"]:
                assert trained.low > untrained.high, f"{role} against {opponent}: no better than untrained"


def test_untrained_policies_meet_by_chance() -> None:
    """Without a tag now and then there would be nothing to learn from. docs/games/tag.md has the figure."""
    worlds = judging_worlds("tag", TagSettings.defaults(), rounds=1000)
    made = PpoSelfPlay(worlds, PpoSettings(num_worlds=worlds.num_worlds), 1)
    players = {}
    for role, policy in made.policies.items():
        card = PolicyCard("tag", role, worlds.roles[role].observation_parts, policy.shape, 0)
        players[role] = PolicyPlayer(policy, card, seed=len(role), deterministic=False)
    tags = play_matches(worlds, players, 1000, seed=7).wins("seeker")
    made.close()
    assert tags.low > 0.002, f"tags in {100 * tags.rate:.1f} % of rounds: untrained policies hardly ever meet"
    assert tags.high < 0.08, f"tags in {100 * tags.rate:.1f} % of rounds: untrained policies need no training"
