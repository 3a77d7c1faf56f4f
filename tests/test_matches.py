"""Matches count whole rounds without bias, and policies play in them as they do in training."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
import torch

from godojo.engines.base import Worlds
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.evaluation import matches
from godojo.evaluation.intervals import Mean, Proportion, wilson
from godojo.evaluation.matches import Player, play_matches
from godojo.evaluation.players import PolicyPlayer
from godojo.games.tag.settings import TagSettings
from godojo.opponents import make_opponent
from tests.judged_runs import small_policy


def scripted(seeker: str, hider: str, seed: int = 1) -> dict[str, Player]:
    return {
        "seeker": make_opponent(seeker, "seeker", seed, game="tag"),
        "hider": make_opponent(hider, "hider", seed + 1, game="tag"),
    }


def rounds_by_hand(worlds: Worlds, players: Mapping[str, Player], each: int, seed: int) -> list[list[tuple[int, int]]]:
    """Winner and length of the first rounds of every world, by the plainest way there is."""
    worlds.reset(seed)
    for player in players.values():
        player.begin(worlds)
    found: list[list[tuple[int, int]]] = [[] for _ in range(worlds.num_worlds)]
    while min(len(one) for one in found) < each:
        for role, player in players.items():
            player.act(worlds, worlds.roles[role].action)
        worlds.step()
        for world in np.flatnonzero(worlds.ended):
            found[world].append((int(worlds.winner[world]), int(worlds.length_ticks[world])))
    return [one[:each] for one in found]


def test_every_world_plays_the_same_number_of_rounds_whatever_their_length() -> None:
    worlds = make_vec("tag", num_worlds=8, generated_share=0.5)
    results = play_matches(worlds, scripted("sighted", "random"), 24, seed=5)
    by_hand = [one for world in rounds_by_hand(worlds, scripted("sighted", "random"), 3, 5) for one in world]
    assert results.rounds == 24
    assert results.winner.tolist() == [winner for winner, _ in by_hand]
    assert np.allclose(results.length_s, [ticks / 60 for _, ticks in by_hand])
    assert len({ticks for _, ticks in by_hand}) > 5  # lengths do differ, so that counting the first ones would show


def test_a_number_that_cannot_be_shared_evenly_is_settled_beforehand() -> None:
    worlds = make_vec("tag", num_worlds=4)
    results = play_matches(worlds, scripted("sighted", "random"), 6, seed=5)
    by_hand = rounds_by_hand(worlds, scripted("sighted", "random"), 2, 5)
    expected = [*by_hand[0], *by_hand[1], by_hand[2][0], by_hand[3][0]]
    assert results.winner.tolist() == [winner for winner, _ in expected]


def test_short_rounds_do_not_count_more() -> None:
    """Half of all worlds end at once and half late: counting whichever end first would see the quick ones only."""

    class Halves:
        def begin(self, worlds: Worlds) -> None: ...

        def act(self, worlds: Worlds, out: np.ndarray) -> None:
            told = worlds.privileged()
            quick = slice(0, worlds.num_worlds, 2)
            told.position_m[quick, 1] = told.position_m[quick, 0]
            out[:] = 0.0

    class Still(Halves):
        def act(self, worlds: Worlds, out: np.ndarray) -> None:  # noqa: ARG002 - what a player is called with
            out[:] = 0.0

    worlds = make_vec("tag", num_worlds=10)
    results = play_matches(worlds, {"seeker": Halves(), "hider": Still()}, 40, seed=1)
    assert results.wins("seeker").wins == 20
    assert results.wins("hider").wins == 20


def test_what_is_told_of_a_round() -> None:
    settings = TagSettings.defaults().override(**{"rules.seekers": 2, "rules.hiders": 2, "rules.round_s": 6.0})
    worlds = make_vec("tag", num_worlds=6, settings=settings, generated_share=0.5)
    results = play_matches(worlds, scripted("oracle", "random"), 60, seed=2)
    assert results.lost == 0
    assert results.wins("seeker").wins + results.wins("hider").wins == 60
    assert (results.length_s <= 6.0 + 1e-6).all()
    by_arena = results.wins_by_arena("seeker")
    assert "generated" in by_arena
    assert sum(share.rounds for share in by_arena.values()) == 60
    assert sum(share.wins for share in by_arena.values()) == results.wins("seeker").wins
    won = results.reward["hider"][results.winner == results.winners.index("hider")]
    lost = results.reward["hider"][results.winner == results.winners.index("seeker")]
    assert won.mean() > lost.mean()
    with pytest.raises(GodojoError, match="nobody called 'goalkeeper' wins"):
        results.wins("goalkeeper")


def test_rounds_lost_with_their_process_are_played_again(monkeypatch: pytest.MonkeyPatch) -> None:
    worlds = make_vec("tag", num_worlds=2)
    finish, steps = worlds.finish, 0

    def finish_and_lose() -> None:
        nonlocal steps
        finish()
        steps += 1
        if steps == 3:  # as the contract says of a lost process: cut short, nobody acted, a new round has begun
            worlds.ended[0] = True
            for role in worlds.roles.values():
                role.truncated[0], role.acted[0] = True, False

    monkeypatch.setattr(worlds, "finish", finish_and_lose)
    results = play_matches(worlds, scripted("random", "random"), 2, seed=3)
    assert (results.rounds, results.lost) == (2, 1)
    assert (results.winner > 0).all()


def test_a_game_that_does_not_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "MAX_ROUND_DECISIONS", 20)
    with pytest.raises(GodojoError, match="does not end"):
        play_matches(make_vec("tag", num_worlds=2), scripted("random", "random"), 2)


def test_mistakes_are_answered() -> None:
    worlds = make_vec("tag")
    players = scripted("random", "random")
    with pytest.raises(GodojoError, match="at least one round"):
        play_matches(worlds, players, 0)
    with pytest.raises(GodojoError, match="nobody plays hider"):
        play_matches(worlds, {"seeker": players["seeker"]}, 1)
    with pytest.raises(GodojoError, match="no role 'judge'"):
        play_matches(worlds, {**players, "judge": players["seeker"]}, 1)


@pytest.mark.parametrize("memory", ["", "leaky", "gru"])
@pytest.mark.parametrize("deterministic", [True, False])
def test_a_policy_plays_as_it_learnt_to(memory: str, deterministic: bool) -> None:
    """The player does, world by world and round by round, what the policy says when it is asked step by step."""
    settings = TagSettings.defaults().override(**{"rules.hiders": 2, "rules.round_s": 1.0})
    worlds = make_vec("tag", num_worlds=3, settings=settings)
    policy, card = small_policy("hider", settings, memory=memory)
    player = PolicyPlayer(policy, card, seed=4, deterministic=deterministic)
    player.begin(worlds)
    lots = torch.Generator().manual_seed(4)
    arrays = worlds.roles["hider"]
    remembered = policy.initial_memory(6)
    for _ in range(40):
        player.act(worlds, arrays.action)
        raw = torch.from_numpy(arrays.observation.reshape(6, -1).copy())
        features, remembered = policy.features(policy.preprocess(raw), remembered)
        choice = policy.head.sample(features, deterministic=deterministic, generator=lots)
        expected = policy.to_env_action(choice.action, raw)
        assert np.array_equal(arrays.action.reshape(6, 3), expected.numpy())
        worlds.step()
        remembered[torch.from_numpy((arrays.terminated | worlds.ended[:, None]).reshape(6))] = 0.0
    assert np.abs(arrays.action).max() <= 1.0


def test_a_policy_of_another_layout_is_refused() -> None:
    player = PolicyPlayer(*small_policy("seeker"), name="mine@final")
    rows = [{"elevation_deg": 0.0, "columns": 9}]
    worlds = make_vec("tag", settings=TagSettings.defaults().override(**{"sight.rows": rows}))
    with pytest.raises(
        GodojoError, match="mine@final was trained on other observations: rays is 48 x 2 to it, and 9 x 2"
    ):
        player.begin(worlds)
    classic = make_vec("tag", settings=TagSettings.defaults().override(**{"rules.mode": "classic"}))
    with pytest.raises(GodojoError, match="no role 'seeker' to play; there is: player"):
        player.begin(classic)
    with pytest.raises(GodojoError, match=r"call begin\(worlds\)"):
        player.act(make_vec("tag", num_worlds=2), np.zeros((2, 1, 3), np.float32))


def test_wilson_by_known_figures() -> None:
    """From Newcombe (1998), table I, method 3."""
    for (wins, rounds), (low, high) in {
        (81, 263): (0.2553, 0.3662),
        (15, 148): (0.0624, 0.1605),
        (0, 20): (0.0, 0.1611),
        (1, 29): (0.0061, 0.1718),
    }.items():
        assert wilson(wins, rounds) == pytest.approx((low, high), abs=5e-5)
    assert wilson(20, 20)[1] == 1.0
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


def test_intervals_hold_what_they_promise() -> None:
    rng = np.random.default_rng(1)
    shares = [Proportion.of(int(rng.binomial(60, 0.9)), 60) for _ in range(2000)]
    assert np.mean([one.low <= 0.9 <= one.high for one in shares]) == pytest.approx(0.95, abs=0.02)
    means = [Mean.of(rng.normal(3.0, 2.0, 50)) for _ in range(2000)]
    assert np.mean([one.low <= 3.0 <= one.high for one in means]) == pytest.approx(0.95, abs=0.02)
    assert Mean.of(np.array([2.0])).high == math.inf
    assert Proportion.of(90, 100).low > Proportion.of(60, 100).high
    assert not Proportion.of(90, 100).low > Proportion.of(85, 100).high
