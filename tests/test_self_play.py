"""Self-play: who learns from what, who does not learn, and what a cut round is worth."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

from godojo.engines.base import Worlds
from godojo.engines.godot.open import launch_games
from godojo.errors import GodojoError
from godojo.games.parts import ActionPart
from godojo.learn.networks import Policy, PolicyShape
from godojo.learn.opponent_pool import OpponentPool, Rating
from godojo.learn.policy_file import PolicyCard, load_policy, save_policy
from godojo.learn.privileged import PrivilegedObservation
from godojo.learn.rollout_buffer import RolloutBuffer
from godojo.learn.self_play import PpoSelfPlay, shape_for
from godojo.opponents import make_opponent
from tests.learning_games import SMALL, fingerprint, fingerprints, iterated, learner, one_rollout, tag
from tests.watched_games import pretend

BLOCK = 6
"""Worlds with a past self of either role: half of all, two blocks."""


def test_everybody_learns_and_nobody_learns_from_past_selves() -> None:
    made = learner()
    try:
        before = fingerprints(made)
        seen: list[dict[str, np.ndarray]] = []

        def watch(worlds: Worlds) -> None:
            seen.append({name: role.action.reshape(SMALL.num_worlds, -1).copy() for name, role in worlds.roles.items()})

        made.iterate(0.0)
        made.iterate(0.0, watch)
        after = fingerprints(made)
        assert all(before[name] != after[name] for name in before)
        for index, (name, worker) in enumerate(made.workers.items()):
            block = slice(0, BLOCK) if index == 0 else slice(SMALL.num_worlds - BLOCK, SMALL.num_worlds)
            own = slice(BLOCK, SMALL.num_worlds) if index == 0 else slice(0, SMALL.num_worlds - BLOCK)
            assert (name, block) in [assignment[:2] for assignment in made.assignments]
            assert worker.world_slice == worker.columns == own
            # The present policy is asked, and learns, everywhere but in its past self's block, where that one plays.
            done = np.stack([step[name] for step in seen])
            meant = worker.buffer.action.numpy().clip(-1, 1)[:, :, 2]  # the only number that is not turned
            assert np.array_equal(done[:, own, 2], meant)
            assert done[:, block, 2].any()
    finally:
        made.close()


def test_scripted_opponents_play_as_they_would_alone_and_nobody_learns_from_them() -> None:
    settings = msgspec.structs.replace(
        SMALL, scripted_opponents=("wander", "oracle"), scripted_opponent_fraction=0.5, past_opponent_fraction=0.25
    )
    made = learner(settings)
    try:
        assert [(assignment.role, assignment.worlds, assignment.who) for assignment in made.assignments] == [
            ("seeker", slice(3, 6), "wander"),
            ("seeker", slice(6, 9), "oracle"),
            ("hider", slice(SMALL.num_worlds - 6, SMALL.num_worlds - 3), "wander"),
            ("hider", slice(SMALL.num_worlds - 3, SMALL.num_worlds), "oracle"),
        ]
        alone = tag()
        oracle = make_opponent("oracle", "seeker", seed=1, game="tag")
        oracle.begin(alone)
        oracle.act(alone, alone.roles["seeker"].action)
        wanted = alone.roles["seeker"].action[6:9].copy()
        done: list[np.ndarray] = []
        made.iterate(0.0, lambda worlds: done.append(worlds.roles["seeker"].action[6:9].copy()))
        assert np.array_equal(done[0], wanted)
        assert made.workers["seeker"].columns == slice(9, SMALL.num_worlds)
        assert made.workers["hider"].columns == slice(0, SMALL.num_worlds - 9)
    finally:
        made.close()


@pytest.mark.parametrize("mode", ["frozen", "deterministic"])
def test_a_role_that_does_not_learn_stays_as_it_is_bit_by_bit(mode: Any) -> None:
    made = learner(modes={"hider": mode})
    try:
        hider = made.workers["hider"].policy
        weights = {name: each.clone() for name, each in hider.named_parameters()}
        before = fingerprints(made)
        iterated(made, 3)
        after = fingerprints(made)
        assert all(torch.equal(weights[name], each) for name, each in hider.named_parameters())
        assert before["hider policy"] == after["hider policy"], "what it normalises with, too"
        assert before["seeker policy"] != after["seeker policy"]
    finally:
        made.close()


def test_a_deterministic_role_draws_no_lots() -> None:
    """Two learners that differ in their lots only: the hider does the same at first sight."""
    done = []
    for seed in (1, 2):
        made = learner(msgspec.structs.replace(SMALL, past_opponent_fraction=0.0), modes={"hider": "deterministic"})
        try:
            made.workers["hider"].generator.manual_seed(seed)
            made.iterate(0.0)
            done.append(made.workers["hider"].buffer.action[0].clone())
        finally:
            made.close()
    assert torch.equal(done[0], done[1])


def test_a_role_may_stop_learning_and_begin_again() -> None:
    made = learner()
    try:
        iterated(made, 1)
        made.modes["seeker"] = "frozen"
        held = fingerprint(made.workers["seeker"].policy)
        iterated(made, 2)
        assert fingerprint(made.workers["seeker"].policy) == held
        made.modes["seeker"] = "train"
        iterated(made, 1)
        assert fingerprint(made.workers["seeker"].policy) != held
    finally:
        made.close()


def test_a_round_that_was_cut_is_worth_what_was_seen_last() -> None:
    """On the twin, where every round is cut after four decisions."""
    made = learner(worlds=tag(truncate_after=4))
    seen: list[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]] = []
    try:
        step_worlds = made.worlds.step

        def watched_step() -> None:
            step_worlds()
            roles = made.worlds.roles
            final = {name: role.final_observation.copy() for name, role in roles.items()}
            seen.append((final, {name: role.truncated.copy() for name, role in roles.items()}))

        made.worlds.step = watched_step  # type: ignore[method-assign,assignment]
        one_rollout(made)
        for name, worker in made.workers.items():
            buffer = worker.buffer
            assert buffer.truncated.any()
            others = PrivilegedObservation(made.worlds, name)
            for step, (final, truncated) in enumerate(seen):
                cut = torch.from_numpy(truncated[name].reshape(-1))[worker.columns]
                assert torch.equal(buffer.truncated[step], cut)
                raw = torch.from_numpy(final[name]).flatten(0, 1)
                with torch.no_grad():
                    everybody = worker.critic(worker.policy.preprocess(raw), worker.critic.normaliser(others.of(final)))
                worth = everybody[worker.columns]
                assert torch.allclose(buffer.bootstrap_value[step][cut], worth[cut], atol=1e-5)
                gain = buffer.reward[step] + SMALL.gamma * buffer.bootstrap_value[step] - buffer.value[step]
                rows = cut & buffer.acted[step]
                assert torch.allclose(buffer.advantage[step][rows], gain[rows], atol=1e-5)
    finally:
        made.close()


def test_nothing_is_learnt_across_a_game_that_was_lost() -> None:
    """Real processes, one of which dies in the middle: its row is no data, and the decision before it looks ahead."""
    worlds = launch_games(pretend("--die-after", "3"), num_worlds=4, num_processes=2, max_restarts=100)
    settings = msgspec.structs.replace(SMALL, num_worlds=4, n_steps=6)
    made = PpoSelfPlay(worlds, settings, 1)
    try:
        one_rollout(made)
        assert worlds.incidents
        for worker in made.workers.values():
            buffer = worker.buffer
            lost = ~buffer.acted
            assert lost.any()
            assert (buffer.truncated | ~lost).all()
            assert not buffer.advantage[lost].any()
            assert not buffer.reward[lost].any()
            for step, column in lost.nonzero().tolist():
                assert step > 0
                if step + 1 < settings.n_steps:
                    assert buffer.not_done[step + 1, column] == 0.0, "the next round remembers nothing"
                if buffer.acted[step - 1, column] and not (buffer.terminated | buffer.truncated)[step - 1, column]:
                    ahead = buffer.reward[step - 1, column] + settings.gamma * buffer.value[step, column]
                    wanted = float(ahead - buffer.value[step - 1, column])
                    assert float(buffer.advantage[step - 1, column]) == pytest.approx(wanted, abs=1e-3)
        before = fingerprints(made)
        made.iterate(0.0)
        assert all(before[name] != value for name, value in fingerprints(made).items())
        for worker in made.workers.values():
            assert all(bool(torch.isfinite(weights).all()) for weights in worker.policy.state_dict().values())
    finally:
        made.close()


def test_what_is_remembered_is_forgotten_with_the_round() -> None:
    made = learner(worlds=tag(truncate_after=4))
    try:
        one_rollout(made)
        for worker in made.workers.values():
            assert worker.buffer.memory.shape == (worker.buffer.num_columns, SMALL.memory_size)
            ended = worker.buffer.truncated | worker.buffer.terminated
            assert torch.equal(worker.buffer.not_done[1:], (~ended[:-1]).float())
            assert not worker.memory[ended[-1]].any()
            assert worker.memory[~ended[-1]].any(dim=1).all()
    finally:
        made.close()


def test_log_probabilities_of_the_rollout_are_those_of_the_update() -> None:
    """Before the first gradient step, the policy that learns is the one that played: all ratios are 1."""
    made = learner(worlds=tag(truncate_after=4))
    try:
        one_rollout(made)
        for worker in made.workers.values():
            buffer, policy = worker.buffer, worker.policy
            with torch.no_grad():
                features = policy.features_of_sequence(
                    buffer.observation[:-1], buffer.memory, buffer.not_done, buffer.heading
                )
                log_prob, _ = policy.head.evaluate_actions(features, buffer.action)
            assert torch.allclose(log_prob, buffer.log_prob, atol=1e-4)
    finally:
        made.close()


def test_a_state_goes_on_bit_by_bit_elsewhere() -> None:
    """With past checkpoints in the middle of their turn, exploiters, and scripted opponents that remember."""
    everybody = ("random", "wander", "sighted", "drawn")
    settings = msgspec.structs.replace(
        SMALL,
        opponent_resample_interval=2,
        snapshot_interval=2,
        past_opponent_fraction=0.3,
        scripted_opponents=everybody,
        scripted_opponent_fraction=0.4,
        exploiter_fraction=0.2,
        exploiter_interval=2,
        imitated_opponents={"seeker": "searcher"},
    )
    straight, first, second = learner(settings), learner(settings), learner(settings, seed=9)
    try:
        iterated(straight, 7)
        iterated(first, 3)
        second.load_state(first.state())
        iterated(second, 4)
        assert fingerprints(straight) == fingerprints(second)
        assert straight.agent_steps == second.agent_steps == 7 * SMALL.n_steps * SMALL.num_worlds * 2
        assert straight.assignments == second.assignments
        assert straight.opponent_pool is not None
        assert second.opponent_pool is not None
        assert straight.opponent_pool.now == second.opponent_pool.now
    finally:
        for made in (straight, first, second):
            made.close()


def test_the_critic_of_each_agent_sees_all_the_others() -> None:
    worlds = tag(rules={"rules.seekers": 2, "rules.hiders": 2})
    told = {name: role.observation[:, :, :13].copy() for name, role in worlds.roles.items()}
    seen = PrivilegedObservation(worlds, "hider").of({name: role.observation for name, role in worlds.roles.items()})
    rows = seen.reshape(SMALL.num_worlds, 2, 3, 13).numpy()
    for agent in (0, 1):
        own = told["hider"][:, agent]
        others = [told["seeker"][:, 0], told["seeker"][:, 1], told["hider"][:, 1 - agent]]
        for row, other in zip(rows[:, agent].swapaxes(0, 1), others, strict=True):
            # Complex numbers turn: divided by the heading, what is along the world's axes is left of it and ahead.
            ahead = own[:, 7] - 1j * own[:, 6]
            for x, z, is_from_own_place in ((0, 2, True), (3, 5, True), (6, 7, False)):
                way = other[:, x] - own[:, x] * is_from_own_place + 1j * (other[:, z] - own[:, z] * is_from_own_place)
                assert np.allclose(row[:, x] + 1j * row[:, z], way / ahead, atol=1e-5)
            same = [1, 4, 8, 9, 10, 11, 12]
            assert np.array_equal(row[:, same], other[:, same])


def test_a_policy_survives_its_file(tmp_path: Path) -> None:
    worlds = tag()
    role = worlds.roles["seeker"]
    policy = Policy(shape_for(role, SMALL))
    card = PolicyCard("tag", "seeker", role.observation_parts, policy.shape, 5)
    save_policy(tmp_path / "one.pt", policy, card)
    again, read = load_policy(tmp_path / "one.pt")
    assert fingerprint(again) == fingerprint(policy)
    assert read == card
    content = (tmp_path / "one.pt").read_bytes()
    (tmp_path / "cut.pt").write_bytes(content[: len(content) // 2])
    with pytest.raises(GodojoError, match="no whole policy file"):
        load_policy(tmp_path / "cut.pt")
    with torch.no_grad():
        policy.head.linear.weight[0, 0] = torch.nan
    save_policy(tmp_path / "nan.pt", policy, card)
    with pytest.raises(GodojoError, match="not numbers"):
        load_policy(tmp_path / "nan.pt")


def test_learning_that_breaks_down_leaves_both_roles_as_before_the_update(monkeypatch: pytest.MonkeyPatch) -> None:
    """One role's loss is no number in its second gradient step; by then, the other one may have learnt all it could."""
    made = iterated(learner(), 2)
    gradient, calls = made.gradients["hider"], 0

    def breaking(buffer: RolloutBuffer, columns: torch.Tensor) -> list[float]:
        nonlocal calls
        calls += 1
        return gradient(replace(buffer, returns=buffer.returns * torch.nan) if calls == 2 else buffer, columns)

    def weights() -> dict[str, list[torch.Tensor]]:
        return {
            name: [
                *(each.detach().clone() for each in (*worker.policy.parameters(), *worker.critic.parameters())),
                *(entry[key].clone() for entry in made.optimisers[name].state.values() for key in sorted(entry)),
            ]
            for name, worker in made.workers.items()
        }

    before = weights()
    monkeypatch.setitem(made.gradients, "hider", breaking)
    with pytest.raises(GodojoError, match="learning of hider broke down: the value_loss term is nan"):
        made.iterate(0.0)
    assert calls == 2
    assert made.updates == 2
    for name, after in weights().items():
        assert all(torch.equal(one, other) for one, other in zip(before[name], after, strict=True)), name
    monkeypatch.undo()
    made.iterate(0.0)  # and it can go on
    assert all(not torch.equal(one, other) for one, other in zip(before["hider"], weights()["hider"], strict=True))
    made.close()


def test_exploiters_learn_to_beat_the_current_policy_and_join_the_pool() -> None:
    settings = msgspec.structs.replace(
        SMALL,
        past_opponent_fraction=0.25,
        exploiter_fraction=0.25,
        opponent_resample_interval=1,
        snapshot_interval=1,
        exploiter_interval=2,
    )
    made = learner(settings)
    try:
        count = SMALL.num_worlds // 8
        assert made.exploiters["seeker"].world_slice == slice(0, count)
        assert made.exploiters["hider"].world_slice == slice(SMALL.num_worlds - count, SMALL.num_worlds)
        assert made.workers["seeker"].world_slice.start == made.slots["seeker"].past.stop == 2 * count
        assert made.workers["hider"].world_slice.stop == made.slots["hider"].past.start
        assert ("hider", made.slots["hider"].exploiter, "exploiter") in made.assignments
        for _ in range(2):
            before = fingerprint(made.exploiters["hider"].policy)
            made.iterate(0.0)
            assert fingerprint(made.exploiters["hider"].policy) != before
        frozen = fingerprint(made.exploiters["hider"].policy)
        made.iterate(0.0)
        assert made.opponent_pool is not None
        joined = [past for past in made.opponent_pool.past["hider"] if past.is_exploiter]
        assert [fingerprint(past.policy) for past in joined] == [frozen]
        assert joined[0].name.startswith("exploiter_")
    finally:
        made.close()


def test_a_policy_learns_what_the_script_it_imitates_would_do(tmp_path: Path) -> None:
    script = tmp_path / "jumper.py"
    script.write_text(
        "class Jumper:\n"
        "    def __init__(self, role, seed): ...\n"
        "    def begin(self, worlds): ...\n"
        "    def act(self, worlds, out): out[:] = (0.0, 0.0, 1.0)\n"
    )
    settings = msgspec.structs.replace(SMALL, imitated_opponents={"hider": f"{script}:Jumper"}, imitation_coef=10.0)
    made = learner(settings)
    try:
        losses = [made.iterate(0.0).metrics["hider"]["train/imitation_loss"] for _ in range(25)]
        assert losses[-1] < 0.3 * losses[0]
        assert made.iterate(0.4).metrics["seeker"]["train/imitation_loss"] == 0.0
        assert not made.iterate(settings.imitation_end).metrics["hider"]["train/imitation_loss"]
    finally:
        made.close()
    with pytest.raises(GodojoError, match=r"no role 'seker'; did you mean seeker"):
        learner(msgspec.structs.replace(SMALL, imitated_opponents={"seker": "cutoff"}))


def test_the_pool_prefers_opponents_that_win() -> None:
    pool = OpponentPool(("seeker", "hider"), size=2)
    policy = Policy(PolicyShape(4, (ActionPart("move", "continuous", 1),), (8,), "", 0, None))
    for steps in (0, 100):
        pool.add("hider", policy, steps)
    weak, strong = pool.past["hider"]
    pool.past["hider"] = [weak._replace(rating=Rating(10.0, 1.0)), strong._replace(rating=Rating(40.0, 1.0))]
    rng = np.random.default_rng(1)
    drawn = [pool.sample("hider", "seeker", rng) for _ in range(400)]
    assert 0.75 < drawn.count(1) / len(drawn) < 0.95
    for steps in range(200, 1000, 100):
        pool.add("hider", policy, steps, is_exploiter=True)
    kept = [(past.agent_steps, past.is_exploiter) for past in pool.past["hider"]]
    assert kept == [(0, False), (100, False), (900, True)]
