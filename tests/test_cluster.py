"""Rollouts of several workers: merged, counted, lost, replaced and resumed. The workers are threads; no Ray."""

import copy
import subprocess
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch

from godojo import __version__
from godojo.cluster.fleet import MAX_LOSSES
from godojo.cluster.learner import ClusterPpo
from godojo.cluster.messages import EpisodeRecorder, merge_normaliser, size_bytes, weights_of
from godojo.cluster.shard import Shard
from godojo.cluster.start import ClusterConfig, make_folder, one_line, resolve, worker_config
from godojo.cluster.tasks import run_tasks
from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.learn.networks import Normaliser
from godojo.learn.self_play import players_state
from tests.cluster_workers import START, cluster_learner, run_config, worlds_for
from tests.learning_games import SMALL, fingerprints, iterated, learner

EVERYBODY = msgspec.structs.replace(
    SMALL,
    scripted_opponents=("sighted",),
    scripted_opponent_fraction=0.2,
    exploiter_fraction=0.2,
    exploiter_interval=2,
    imitated_opponents={"seeker": "cutoff"},
    normalize_reward=True,
    sequence_length=3,
)


@pytest.fixture
def make() -> Any:
    """`cluster_learner`, closed at the end."""
    made: list[ClusterPpo] = []

    def one(*args: Any, **options: Any) -> ClusterPpo:
        made.append(cluster_learner(*args, **options))
        return made[-1]

    yield one
    for each in made:
        each.close()


Make = Callable[..., ClusterPpo]


def test_one_worker_plays_what_a_local_learner_plays(make: Make) -> None:
    """From the same state, a rollout of one worker fills the same buffers and reports the same episodes."""
    local, remote = learner(EVERYBODY), make(1, EVERYBODY)
    for _ in range(4):  # until the first rounds are about to end
        local.play(lambda _: None)
    remote.load_state({**local.state(), "worlds": None})
    past = dict.fromkeys(local.workers)
    roles = {key: players_state(worker) for key, worker in local.learners.items()}
    state = {"worlds": local.worlds.save_state(), "drawn_at": 0, "roles": roles}
    remote.worlds.fleet.load_states({0: state}, past)
    for each in (local, remote):
        each.apply_modes(0.0)
    remote._progress = 0.0
    episodes: list[list[Any]] = [[], []]
    for each, seen in zip((local, remote), episodes, strict=True):
        each.play(lambda worlds, seen=seen: seen.append(_episodes(worlds)))  # type: ignore[misc]
    local.close()
    assert any(len(step[0]) for step in episodes[0]), "some rounds must end"
    for one, other in zip(*episodes, strict=True):
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))
    for key, worker in local.learners.items():
        merged = remote.learners[key]
        for field in fields(worker.buffer):
            if field.name not in ("value", "advantage", "returns"):
                assert torch.equal(getattr(worker.buffer, field.name), getattr(merged.buffer, field.name)), field.name
        assert torch.equal(worker.sequence_memory, merged.sequence_memory)
        for name in ("mean", "variance", "count"):
            torch.testing.assert_close(
                getattr(worker.policy.normaliser, name), getattr(merged.policy.normaliser, name), rtol=1e-4, atol=1e-5
            )


def _episodes(worlds: Worlds) -> list[np.ndarray]:
    ended = worlds.ended
    found = [np.flatnonzero(ended), worlds.winner[ended], worlds.length_ticks[ended], worlds.played[ended]]
    for role in worlds.roles.values():
        found += [role.final_terms[ended], role.final_score[ended], role.terminated[ended], role.acted[ended]]
    return found


def test_columns_of_all_workers_are_side_by_side(make: Make) -> None:
    """Each worker's part of the merged buffer is that worker's own buffer, and opponents' worlds stay together."""
    made = make(3, EVERYBODY)
    transport = made.worlds.fleet._transport
    made.apply_modes(0.0)
    made._progress = 0.0
    made.play(lambda _: None)
    for key, merged in made.learners.items():
        columns_of_all = [torch.arange(merged.buffer.num_columns)[columns] for columns in made._columns[key]]
        assert sum(map(len, columns_of_all)) == merged.buffer.num_columns
        for worker, columns in enumerate(columns_of_all):
            own = transport.workers[worker].shard._player.learners[key].buffer  # type: ignore[attr-defined]
            for name in ("observation", "action", "reward", "acted", "memory"):
                part = getattr(merged.buffer, name).index_select(0 if name == "memory" else 1, columns)
                assert torch.equal(part, getattr(own, name)), (key, name)
    slots = made.slots["seeker"]
    own_slots = transport.workers[0].shard._player.slots["seeker"]  # type: ignore[attr-defined]
    assert (slots.past.start, slots.past.stop) == (own_slots.past.start * 3, own_slots.past.stop * 3)


def test_both_roles_learn_with_every_kind_of_opponent(make: Make) -> None:
    made = make(2, EVERYBODY)
    before = fingerprints(made)
    iteration = None
    for _ in range(3):
        iteration = made.iterate(0.1)
    assert all(before[name] != after for name, after in fingerprints(made).items())
    assert iteration is not None
    assert "train/approx_kl" in iteration.metrics["seeker"]
    assert "train/imitation_loss" in iteration.metrics["seeker"]
    assert made.agent_steps == 3 * 6 * 24 * 2
    assert {assignment.who for assignment in made.assignments} >= {"sighted", "exploiter"}
    assert made.opponent_pool is not None
    assert len(made.opponent_pool.past["seeker"]) > 1


def test_the_same_seed_and_workers_learn_the_same_bits(make: Make) -> None:
    found = [fingerprints(iterated(make(2, EVERYBODY, seed), 3)) for seed in (1, 1, 2)]
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_a_resumed_learner_continues_bit_exactly(make: Make) -> None:
    first = iterated(make(2, EVERYBODY), 3)
    state = copy.deepcopy(first.state())  # Adam would share its moments
    second = make(2, EVERYBODY)
    second.load_state(state)
    assert fingerprints(iterated(first, 2)) == fingerprints(iterated(second, 2))


def test_asynchronous_workers_play_while_the_learner_learns(make: Make) -> None:
    """Each rollout but the first is played with the weights of the update before, whatever the timing."""
    found = []
    for _ in range(2):
        made = make(2, EVERYBODY)
        made.asynchronous = True
        weights = [weights_of(made.policies["seeker"])]
        for update in range(4):
            made.iterate(0.0)
            weights.append(weights_of(made.policies["seeker"]))
            [(order, _)] = made.worlds.fleet._pending
            assert np.array_equal(order.weights["seeker"][0]["trunk.0.weight"], weights[update]["trunk.0.weight"])
        assert made.agent_steps == 4 * 6 * 24 * 2
        assert set(made.state()["worlds"].values()) == {None}, "a rollout that is being played is not continued"
        found.append(fingerprints(made))
    assert found[0] == found[1]
    assert found[0] != fingerprints(iterated(make(2, EVERYBODY), 4))


def test_another_number_of_workers_continues_with_new_rounds(make: Make) -> None:
    state = iterated(make(2, EVERYBODY), 2).state()
    more = make(3, EVERYBODY)
    more.load_state(state)
    assert more.updates == 2
    assert iterated(more, 1).updates == 3


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("fault", ["dies", "hangs", "fails"])
def test_a_lost_worker_is_left_out_and_replaced(make: Make, fault: str, asynchronous: bool) -> None:
    said: list[str] = []
    made = make(2, faults={(1, 0, 1): fault}, said=said, behind_s=0.5 if fault == "hangs" else 60.0)
    made.asynchronous = asynchronous
    iterated(made, 1)
    whole = made.agent_steps
    made.iterate(0.0)
    assert made.agent_steps == whole + whole // 2, "only one worker's steps count"
    for key, columns in made._columns.items():
        assert not made.learners[key].buffer.acted[:, columns[1]].any(), "no transition of a lost worker is learned"
        assert made.learners[key].buffer.acted[:, columns[0]].any()
    assert len(said) == 1
    assert "worker 1 is lost" in said[0]
    for _ in range(200):  # the new worker joins when its worlds are ready
        made.iterate(0.0)
        if made._arrived == 2:
            break
    assert made._arrived == 2
    assert [(worker.place, worker.generation) for worker in made.worlds.fleet._transport.workers] == [  # type: ignore[attr-defined]
        (0, 0),
        (1, 0),
        (1, 1),
    ]
    assert all(
        torch.isfinite(parameter).all() for policy in made.policies.values() for parameter in policy.parameters()
    )


def test_a_worker_that_hangs_while_it_starts_is_started_again(make: Make) -> None:
    said: list[str] = []
    made = make(2, faults={(1, 0, 1): "dies", (1, 1, START): "hangs"}, said=said)
    iterated(made, 3)
    assert made._arrived == 1, "the other one plays on"
    made.worlds.fleet._places[1].started_at -= 100.0
    for _ in range(200):
        made.iterate(0.0)
        if made._arrived == 2:
            break
    assert made._arrived == 2
    assert said[1:] == ["worker 1 has not started within 60 s; again"]
    assert made.worlds.fleet.losses == 1, "there may be no free CPU: that must not end the training"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_all_workers_lost_at_once_start_again(make: Make, asynchronous: bool) -> None:
    made = make(2, faults={(0, 0, 1): "dies", (1, 0, 1): "dies"})
    made.asynchronous = asynchronous
    iterated(made, 2)
    assert made.updates == 2
    assert made.worlds.fleet.losses == 2


def test_a_worker_that_is_lost_every_time_ends_the_training(make: Make) -> None:
    made = make(1, faults={(0, generation, 0): "fails" for generation in range(MAX_LOSSES + 2)})
    with pytest.raises(GodojoError, match="6 times in a row: ZeroDivisionError: a bug in a reward"):
        made.iterate(0.0)


def test_a_worker_of_another_version_is_refused() -> None:
    shard = Shard(worker_config(run_config(), 2), worlds_for, 0, 0, "0.0.0")
    with pytest.raises(GodojoError, match=r"the learner 0\.0\.0; install the same on every node"):
        shard.open()


def test_new_workers_of_a_place_play_other_rounds() -> None:
    config, observations = worker_config(run_config(), 2), []
    for place, generation in ((0, 0), (0, 1), (1, 0)):
        shard = Shard(config, worlds_for, place, generation, __version__)
        roles = shard.open().roles
        observations.append(roles["seeker"].observation.copy())
        shard.close()
    assert not np.array_equal(observations[0], observations[1])
    assert not np.array_equal(observations[0], observations[2])


def test_normalisers_of_workers_merge_as_if_one_had_seen_everything() -> None:
    rng = torch.Generator().manual_seed(1)
    rows = [torch.randn(200, 3, generator=rng) * 4.0 + 7.0 for _ in range(4)]
    base = Normaliser(3)
    base.update(rows[0])
    together, seen = Normaliser(3), []
    together.load_state_dict(base.state_dict())
    for part in rows[1:]:
        together.update(part)
        own = Normaliser(3)
        own.load_state_dict(base.state_dict())
        own.update(part)
        seen.append(weights_of(own))
    sent = weights_of(base)
    merge_normaliser(base, sent, [seen[0]])  # arrives before the others, which start from what was sent as well
    merge_normaliser(base, sent, [*seen[1:], sent])  # the last one has seen nothing
    for name in ("mean", "variance", "count"):
        torch.testing.assert_close(getattr(base, name), getattr(together, name), rtol=1e-5, atol=1e-5)


def test_a_recorder_without_any_episode() -> None:
    worlds = worlds_for(worker_config(run_config(), 2))
    record = EpisodeRecorder()
    worlds.step()
    record(worlds)
    found = record.result()
    assert len(found.step) == len(found.world) == 0
    assert found.rows(0) == slice(0, 0)
    assert size_bytes(found) == 0
    worlds.close()


def test_worlds_are_shared_evenly() -> None:
    for workers, share in ((2, 12), (5, 5), (100, 1)):
        assert worker_config(run_config(), workers).learner_settings["num_worlds"] == share


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("ray://head:10001", "an address for Ray Client; run this on a machine of the cluster"),
        ("head", "takes auto, local or HOST:PORT, not 'head'"),
        ("head:0", "takes auto, local or HOST:PORT"),
        ("127.0.0.1:1", "nothing answers at 127.0.0.1:1"),
    ],
)
def test_wrong_addresses_are_refused_without_ray(address: str, message: str) -> None:
    with pytest.raises(GodojoError, match=message):
        resolve(address, lambda _: None)


def test_without_ray_an_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GODOJO_LAUNCHED_AS", raising=False)  # else it would be installed
    monkeypatch.setattr("godojo.extras.is_installed", lambda _: False)
    with pytest.raises(GodojoError, match="ray is not installed; install it with: "):
        run_tasks([list], "auto")


@pytest.mark.parametrize(
    ("values", "message"),
    [({"workers": 0}, "1 or more, not 0"), ({"timeout_s": 0.0}, "seconds above 0"), ({"address": "x"}, "HOST:PORT")],
)
def test_wrong_configurations_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(GodojoError, match=message):
        ClusterConfig(**values).check()


def test_folders_of_killed_learners_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / f"godojo-ray-{ended.pid}-x" / "session").mkdir(parents=True)
    own = Path(make_folder())
    assert list(tmp_path.iterdir()) == [own]
    other = Path(make_folder())
    assert set(tmp_path.iterdir()) == {own, other}


def test_another_version_of_ray_and_a_missing_token_are_named_in_one_line() -> None:
    text = (
        "noise\nfailed: RuntimeError: Version mismatch: The cluster was started with:\n    Ray: 2.9.0\n"
        "    Python: 3.9.1\nThis process on node 10.0.0.1 was started with:\n    Ray: 2.60.0\n    Python: 3.11.7\n"
    )
    assert one_line(text) == (
        "it runs Ray and Python 2.9.0 and 3.9.1, this is 2.60.0 and 3.11.7; install the same versions"
    )
    refused = "W gcs_client.cc:210: Unauthenticated: InvalidAuthToken: missing\nfailed: ConnectionError: no"
    assert one_line(refused).startswith("it wants its token: set RAY_AUTH_MODE=token")
    assert one_line("") == "no reason given"
