"""What must hold in the twin whatever is played: any arena, any settings, any split, any actions."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from godojo.games.tag.arenas import Arena, SpawnArea, generate_arena
from godojo.games.tag.settings import TagSettings
from godojo.games.tag.spec import LAYOUT
from tests.tag_games import TICK_S, Game, all_settings, examples, games, play
from tests.tag_geometry import HIDER, SEEKER, WALL, FloorPlan, depth_m, look, outside_m
from tests.tag_referee import (
    check_start,
    flat_speed,
    goes_on,
    pushes,
    reward_terms,
    top_speed,
    upright_energy,
    wish_and_jump,
)

MOST_INSIDE_M = 0.001


@given(games())
@examples(60)
def test_nothing_penetrates_and_nothing_leaves(game: Game) -> None:
    for moment in play(game):
        size_m = game.settings.body.size_m
        assert np.isfinite(moment.after["position"]).all()
        assert depth_m(moment.after, moment.next_arena, size_m).max() <= MOST_INSIDE_M
        assert outside_m(moment.after, moment.next_arena, size_m).max() <= MOST_INSIDE_M


@given(games(fixed={"rules.ticks_per_decision": 1}))
@examples(60)
def test_energy_never_appears(game: Game) -> None:
    """A tick's gain is a jump's, the wish's or a push's, and no more than each may give."""
    motion = game.settings.motion
    # A body that rises faster than it may ever fall, and turns around within a tick, is lifted a little by the cap on
    # its fall; that takes a gravity of more than twice the fall's speed in a tick, which is nobody's game.
    assume(motion.gravity_mps2 * TICK_S <= 2 * motion.fall_speed_mps)
    for moment in play(game, 60):
        for world, number in goes_on(moment):
            before, after = moment.before[world, number], moment.after[world, number]
            wish, jump = wish_and_jump(moment, world, number)
            push_mps = pushes(moment.before[world], number, game.settings)
            upward = motion.jump_speed_mps**2 / 2 if jump else 0.0
            lift = upright_energy(after, motion.gravity_mps2) - upright_energy(before, motion.gravity_mps2)
            assert lift <= upward + 1e-3 * (1 + upright_energy(after, motion.gravity_mps2)), "upwards"
            old_mps, new_mps = flat_speed(before), flat_speed(after)
            most_mps = old_mps
            if wish >= motion.dead_zone - 1e-6:
                ground = motion.seeker_acceleration_mps2 if before["chases"] else motion.hider_acceleration_mps2
                rate = max(ground, motion.air_acceleration_mps2)
                most_mps = max(old_mps, min(old_mps + rate * TICK_S, top_speed(before, game.settings) * min(wish, 1)))
            assert new_mps <= most_mps + push_mps + 1e-4 * (1 + most_mps), "along the ground"


@given(games(fixed={"rules.ticks_per_decision": 1}))
@examples(40)
def test_who_wants_nothing_comes_to_rest(game: Game) -> None:
    """On the ground, without a wish and untouched, the speed falls by the brake's rate until it is zero."""
    brake_mps = game.settings.motion.deceleration_mps2 * TICK_S
    assume(game.settings.motion.dead_zone > 0)  # without one, no wish is a wish of length zero
    game = game._replace(style="lazy")
    for moment in play(game, 40):
        for world, number in goes_on(moment):
            before = moment.before[world, number]
            wish, jump = wish_and_jump(moment, world, number)
            is_pushed = pushes(moment.before[world], number, game.settings) > 0
            if wish == 0 and not jump and before["grounded"] and not is_pushed:
                most_mps = max(flat_speed(before) - brake_mps, 0.0)
                assert flat_speed(moment.after[world, number]) <= most_mps * (1 + 1e-5) + 1e-5


@given(games())
@examples(60)
def test_speeds_and_turns_stay_within_their_limits(game: Game) -> None:
    motion, ticks = game.settings.motion, game.settings.rules.ticks_per_decision
    for moment in play(game):
        assert (np.abs(moment.after["heading"]) <= math.pi + 1e-9).all()
        assert (moment.after["velocity"][..., 1] >= -motion.fall_speed_mps - 1e-4).all()
        assert (moment.after["velocity"][..., 1] <= motion.jump_speed_mps + 1e-4).all()
        for world, number in goes_on(moment):
            before, after = moment.before[world, number], moment.after[world, number]
            turn = math.remainder(after["heading"] - before["heading"], 2 * math.pi)
            assert abs(turn) <= motion.turn_rate_radps * TICK_S * ticks + 1e-6
            wish, _ = wish_and_jump(moment, world, number)
            if wish < motion.dead_zone - 1e-6:
                assert turn == 0
            moved_m = np.abs(after["position"].astype(float) - before["position"])
            assert moved_m.max() <= ticks + 1e-4, "farther than a metre a tick"
            if game.settings.agent_count == 2 and game.settings.rules.mode == "hide_and_seek":
                top_mps = top_speed(before, game.settings)
                assert flat_speed(after) <= max(top_mps, flat_speed(before)) + 1e-4 * (1 + top_mps)
                assert math.hypot(moved_m[0], moved_m[2]) <= top_mps * TICK_S * ticks + 1e-4 * (1 + top_mps)


@given(games())
@examples(30)
def test_rays_never_pass_a_wall_and_name_what_they_hit(game: Game) -> None:
    range_m = game.settings.sight.range_m
    for moment in play(game, 8)[::3]:
        for world, number in np.argwhere(moment.after["active"] == 1):
            told = LAYOUT.view(moment.results["observation"][world, number], "rays")
            for ray, seen in enumerate(look(moment.after[world], number, moment.next_arena[world], game.settings)):
                far_m, who = float(told[ray, 0]) * range_m, float(told[ray, 1])
                assert seen.least_m <= far_m <= seen.most_m, (ray, seen)
                kind = {1.0: HIDER, -1.0: SEEKER, 0.0: WALL if told[ray, 0] < 1.0 else 0}[who]
                assert kind in seen.kinds, (ray, kind, seen)


@given(games())
@examples(40)
def test_an_observation_says_what_is(game: Game) -> None:
    settings, motion = game.settings, game.settings.motion
    for moment in play(game, 20):
        told, after = moment.results["observation"].astype(float), moment.after
        here = np.ones((*after.shape, 13))
        for part, along in ((0, 0), (2, 1)):
            here[..., part] = after["position"][..., part] / (moment.next_arena["size_m"][:, along, None] / 2)
        here[..., 1] = after["position"][..., 1] / settings.arena.wall_height_m
        chases = after["chases"] == 1
        top_mps = np.where(chases, motion.seeker_speed_mps, motion.hider_speed_mps)[..., None]
        here[..., [3, 5]] = after["velocity"][..., [0, 2]] / top_mps
        here[..., 4] = after["velocity"][..., 1] / max(motion.jump_speed_mps, 1)
        here[..., 6], here[..., 7] = np.sin(after["heading"]), np.cos(after["heading"])
        here[..., 8], here[..., 9], here[..., 10] = after["grounded"], chases, ~chases
        here[..., 11] = after["immune"] > 0
        here[..., 12] = (1 - moment.next_ticks / settings.round_ticks)[:, None]
        here[after["active"] == 0] = 0.0
        np.testing.assert_allclose(told[..., : LAYOUT.start("rays")], here, rtol=1e-5, atol=1e-5)
        assert np.isfinite(told).all()
        assert (told[after["active"] == 0] == 0).all()


@given(games(fixed={"rules.ticks_per_decision": 1}))
@examples(40)
def test_rewards_are_the_sum_of_their_terms_as_documented(game: Game) -> None:
    """docs/games/tag.md, Rewards, written a second time for decisions of one tick."""
    for moment in play(game, 60):
        terms = moment.results["terms"].astype(float)
        np.testing.assert_allclose(moment.results["reward"], terms.sum(-1), rtol=1e-5, atol=1e-5)
        for world in np.flatnonzero(~moment.ended):
            expected = reward_terms(moment.before[world], moment.after[world], game.settings)
            np.testing.assert_allclose(terms[world], expected, rtol=1e-4, atol=2e-4)


@given(games(truncate=True) | games())
@examples(40)
def test_a_round_pays_the_sum_of_its_decisions(game: Game) -> None:
    sums = np.zeros(())
    for moment in play(game, 60):
        sums = sums + moment.results["terms"].astype(float)
        over = moment.ended
        np.testing.assert_allclose(moment.results["final_terms"][over], sums[over], rtol=1e-4, atol=1e-3)
        sums[over] = 0.0


@given(games())
@examples(40)
def test_the_end_of_a_round_pays_who_won(game: Game) -> None:
    weights = game.settings.rewards
    for moment in play(game, 60):
        for world in np.flatnonzero(moment.ended):
            survival, tag = moment.results["terms"][world, :, 3], moment.results["terms"][world, :, 2]
            acted = moment.results["acted"][world]
            if moment.winner[world] == 1:  # everybody was caught
                assert (survival == 0).all()
                assert (
                    tag[moment.before[world]["chases"] == 0][acted[moment.before[world]["chases"] == 0]] != 0
                ).all() or (weights.hider.tag == 0)
            elif game.settings.rules.mode == "hide_and_seek":
                assert moment.winner[world] == 2
                seekers = moment.before[world]["chases"] == 1
                np.testing.assert_allclose(survival[seekers], weights.seeker.survival, rtol=1e-6)
                caught = moment.results["final_observation"][world].any(-1) == False  # noqa: E712
                np.testing.assert_allclose(survival[~seekers & ~caught], weights.hider.survival, rtol=1e-6)
                assert (survival[caught] == 0).all()
                assert (~seekers & ~caught).any(), "hiders win only when one is left"
            else:
                assert moment.winner[world] == 0
                is_it = moment.results["final_observation"][world, :, 9] == 1
                assert is_it.sum() == 1
                wanted = np.where(is_it, weights.seeker.survival, weights.hider.survival)
                np.testing.assert_allclose(survival, wanted, rtol=1e-6)


@given(games(truncate=True) | games())
@examples(60)
def test_rounds_begin_legally(game: Game) -> None:
    worlds = game.make(8)
    moments = play(game, 40, worlds)
    begun = [(moments[0].before, moments[0].arena, moments[0].ticks)]
    for moment in moments:
        begun.append((moment.after[moment.ended], moment.next_arena[moment.ended], moment.next_ticks[moment.ended]))
        assert (moment.results["observation"][moment.ended][..., 8] == 1).all(), "observed on the ground"
    for agents, arenas, ticks in begun:
        check_start(agents, arenas, game.settings)
        assert (ticks == 0).all()


def roomy_arena() -> Arena:
    areas = [
        SpawnArea((x, 0.0, z), (4.0, 4.0), ("seeker", "hider"))
        for x in (-12.0, -6.0, 0.0, 6.0, 12.0)
        for z in (-9.0, 0.0, 9.0)
    ]
    return Arena(1, "roomy", "Roomy", (32.0, 26.0), (), tuple(areas))


@given(games(fixed={"spawns.tries": 400, "spawns.distance_m": 0.0}))
@examples(30)
def test_where_there_is_room_bodies_begin_apart(game: Game) -> None:
    worlds = game.make(16, arenas=(roomy_arena(),))
    agents = worlds.twin.agents  # type: ignore[attr-defined]
    at = agents["position"].astype(float)
    gap = np.abs(at[:, :, None] - at[:, None]).max(-1)
    gap[:, np.arange(gap.shape[1]), np.arange(gap.shape[1])] = np.inf
    assert gap.min() > game.settings.body.size_m + game.settings.rules.touch_reach_m


@given(all_settings({}), st.integers(0, 2**63))
@examples(60)
def test_generated_arenas_are_good_for_any_settings(settings: TagSettings, seed: int) -> None:
    """`generate_arena` checks what it made, as Godot would; what a round is played in is made the same way."""
    arena = generate_arena(seed, settings)
    assert FloorPlan(arena, settings).is_connected(), "every place can be reached"
    assert len(arena.spawns) >= 8


@given(games(truncate=True) | games())
@examples(60)
def test_terminated_and_truncated_are_told_apart(game: Game) -> None:
    decisions = np.zeros(4, int)
    for moment in play(game, 60):
        acted, over, cut = (moment.results[name] for name in ("acted", "terminated", "truncated"))
        assert not (over & cut).any()
        assert ((over | cut) <= acted).all(), "only who takes part comes to an end"
        assert (acted == (moment.before["active"] == 1)).all()
        decisions += 1
        ticks = game.settings.rules.ticks_per_decision
        by_rules = moment.ended & ~cut.any(-1)
        for world in range(len(moment.ended)):
            if not moment.ended[world]:
                assert (over[world] == (acted[world] & (moment.after[world]["active"] == 0))).all()
                assert not cut[world].any()
            elif by_rules[world]:
                assert (over[world] == acted[world]).all()
                by_clock = moment.ticks[world] + ticks >= game.settings.round_ticks
                assert by_clock or moment.winner[world] == 1
            else:
                assert decisions[world] == game.truncate_after
                assert moment.winner[world] == 0
                still_in = moment.results["final_observation"][world].any(-1)
                assert (cut[world] == (acted[world] & still_in)).all()
                assert (over[world] == (acted[world] & ~still_in)).all()
        if game.truncate_after:
            assert (moment.ended | (decisions < game.truncate_after)).all()
        decisions[moment.ended] = 0


@given(games())
@examples(40)
def test_time_runs_out(game: Game) -> None:
    ticks = game.settings.rules.ticks_per_decision
    for moment in play(game, 60):
        going = ~moment.ended
        assert (moment.next_ticks[going] == moment.ticks[going] + ticks).all()
        assert (moment.next_ticks[moment.ended] == 0).all()
        assert (moment.next_ticks[going] < game.settings.round_ticks).all()
        told = moment.results["observation"][going][..., 12]
        here = moment.after[going]["active"] == 1
        before = 1 - moment.ticks[going] / game.settings.round_ticks
        assert (told[here] < np.broadcast_to(before[:, None], here.shape)[here]).all()
        by_clock = moment.ended & (moment.winner != 1)
        last = moment.results["final_observation"][by_clock]
        assert np.abs(last[..., 12]).max(initial=0.0) == 0.0


@given(games(truncate=True))
@examples(40)
def test_final_observations_are_what_would_have_been_seen(game: Game) -> None:
    """A world that is cut short is compared with the same one that was not."""
    cut, uncut = game.make(), game.make(truncate_after=0)
    whole = game._replace(truncate_after=0)
    short, longer = play(game, game.truncate_after, cut), play(whole, game.truncate_after, uncut)
    for one, other in zip(short[:-1], longer[:-1], strict=True):
        np.testing.assert_array_equal(one.results["observation"], other.results["observation"])
    unharmed = [not any(moment.ended[world] for moment in longer) for world in range(4)]
    last, full = short[-1], longer[-1]
    assert last.ended[unharmed].all()
    np.testing.assert_array_equal(last.results["final_observation"][unharmed], full.results["observation"][unharmed])
    assert (last.next_ticks[unharmed] == 0).all(), "and the next round has begun"


@given(games(fixed={"rules.mode": "hide_and_seek"}))
@examples(40)
def test_who_is_caught_is_out(game: Game) -> None:
    game = game._replace(style="crowd")
    for moment in play(game, 60):
        out = (moment.before["active"] == 0) & ~moment.ended[:, None]
        was_out = moment.before["active"] == 0
        for name in ("acted", "terminated", "truncated", "reward"):
            assert not moment.results[name][was_out].any(), name
        assert not moment.results["terms"][was_out].any()
        assert not moment.results["observation"][out].any()
        assert (moment.after["active"][out] == 0).all(), "nobody comes back"
        np.testing.assert_array_equal(moment.after["position"][out], moment.before["position"][out])
        assert (moment.after["chases"][~moment.ended] == moment.before["chases"][~moment.ended]).all()
        assert (moment.before["active"][moment.before["chases"] == 1] == 1).all(), "seekers stay"


@given(games(fixed={"rules.mode": "classic"}))
@examples(40)
def test_in_classic_tag_exactly_one_is_it(game: Game) -> None:
    game = game._replace(style="crowd")
    for moment in play(game, 60):
        assert (moment.after["chases"].sum(-1) == 1).all()
        assert (moment.after["active"] == 1).all()
        for world in np.flatnonzero(~moment.ended):
            before, after = moment.before[world], moment.after[world]
            if game.settings.rules.ticks_per_decision == 1:
                passed = before["chases"] != after["chases"]
                assert passed.sum() in (0, 2)
                assert (before["immune"][passed] == 0).all(), "the immune neither tag nor are tagged"
                wanted = game.settings.rules.immunity_s > TICK_S
                assert ((after["immune"][passed] > 0) == wanted).all()


@given(games(fixed={"rules.ticks_per_decision": 6}))
@examples(40)
def test_a_decision_of_many_ticks_is_many_decisions_of_one(game: Game) -> None:
    long = game.make()
    short = game.make(settings=game.settings.override(**{"rules.ticks_per_decision": 1}))
    going = np.ones(4, bool)
    for _ in range(6):
        rng = np.random.default_rng(game.seed)
        sums = np.zeros((4, game.settings.agent_count))
        for name, role in long.roles.items():
            role.action[:] = rng.uniform(-1, 1, role.action.shape)
            short.roles[name].action[:] = role.action
        long.step()
        for _ in range(6):
            short.step()
            going &= ~short.ended
            sums += np.concatenate([role.terms[..., 0] for role in short.roles.values()], axis=1)
        going &= ~long.ended
        one, many = long.twin.agents[going], short.twin.agents[going]  # type: ignore[attr-defined]
        for field in ("position", "velocity", "heading", "grounded", "active", "chases", "immune"):
            np.testing.assert_array_equal(one[field], many[field])
        paid = np.concatenate([role.terms[..., 0] for role in long.roles.values()], axis=1)
        np.testing.assert_allclose(paid[going], sums[going], rtol=1e-3, atol=1e-3)


def test_the_judge_sees_what_is_wrong() -> None:
    """The slow geometry itself, at cases worked out by hand; the tenth of twenty rays looks nearly straight ahead."""
    rows = [{"elevation_deg": 0.0, "columns": 20}]
    settings = TagSettings.defaults().override(**{"sight.fov_deg": 120.0, "sight.rows": rows})
    worlds = Game(settings, (roomy_arena(),), 0.0, 0, 1, "held").make(1)
    agents, arenas = worlds.twin.agents.copy(), worlds.twin.arena_slots.copy()  # type: ignore[attr-defined]
    agents["position"][0, 0] = (0, 0.451, 0)
    agents["position"][0, 1] = (0, 0.451, 5)
    agents["heading"][0] = 0.0
    assert outside_m(agents, arenas, 0.9).max() == pytest.approx(-0.001, abs=1e-5)
    arenas["boxes"], arenas["low"][0, :, 0], arenas["high"][0, :, 0] = 1, (-1, 0, 2), (1, 2.4, 3)
    assert depth_m(agents, arenas, 0.9)[0] == pytest.approx([-1.55, -1.55], abs=1e-5)
    assert look(agents[0], 0, arenas[0], settings)[9].kinds == {1}
    assert look(agents[0], 0, arenas[0], settings)[9].most_m == pytest.approx(2.0, abs=0.02)
    arenas["boxes"] = 0
    assert look(agents[0], 0, arenas[0], settings)[9].kinds == {3}
    assert look(agents[0], 0, arenas[0], settings)[9].least_m == pytest.approx(4.55, abs=0.02)
