"""ONNX models: what they compute is what torch computes, small ones nearly, and strangers' files do no harm."""

import hashlib
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest

from godojo.errors import GodojoError
from godojo.evaluation.evaluation import judge
from godojo.evaluation.players import player_from
from godojo.export.dojo_file import DojoHeader, write_dojo
from godojo.export.onnx_file import OnnxSession, int8_bytes, onnx_bytes, replayed
from godojo.export.onnx_graph import HEADER, OPSET
from godojo.export.onnx_guard import check_onnx
from godojo.export.players import SHIPPED, OnnxPlayer
from godojo.export.ship import int8_cost
from godojo.export.vectors import make_vectors
from godojo.learn.policy_file import save_policy
from tests.judged_runs import small_policy
from tests.policies import KINDS, TURNING, trained


@pytest.mark.parametrize("kind", KINDS)
def test_onnxruntime_does_what_torch_does(kind: str) -> None:
    policy, card = trained(**KINDS[kind])
    content, differs = onnx_bytes(policy, card)
    vectors = make_vectors(policy, card, 100, streams=20, seed=5)
    found = replayed(OnnxSession(content), vectors)
    np.testing.assert_allclose(found, vectors.action, atol=1e-5, rtol=0)
    assert differs <= 1e-5
    check_onnx(content)
    if card.shape.action_parts[0].kind == "discrete":
        np.testing.assert_array_equal(found[..., 0], vectors.action[..., 0])


def test_ten_thousand_observations_and_the_same_decisions() -> None:
    """Fault 16, torch and ONNX; `godot/tests` has the third."""
    policy, card = small_policy("seeker", memory="leaky")
    vectors = make_vectors(policy, card, 100, streams=100)
    found = replayed(OnnxSession(onnx_bytes(policy, card)[0]), vectors)
    assert np.abs(found - vectors.action).max() <= 1e-5
    jumps, clear = vectors.action[..., 2] > 0.0, np.abs(vectors.action[..., 2]) > 1e-5
    assert np.array_equal((found[..., 2] > 0.0)[clear], jumps[clear])


def test_names_shapes_opset_and_metadata_are_those_of_the_page() -> None:
    policy, card = trained()
    content, _ = onnx_bytes(policy, card)
    model = onnx.load_from_string(content)
    assert [(one.domain, one.version) for one in model.opset_import] == [("", OPSET)]
    shapes = {
        value.name: [one.dim_param or one.dim_value for one in value.type.tensor_type.shape.dim]
        for value in (*model.graph.input, *model.graph.output)
    }
    assert shapes == {
        "observation": ["batch", 13],
        "memory": ["batch", 5],
        "action": ["batch", 3],
        "next_memory": ["batch", 5],
        "mean": ["batch", 3],
        "log_std": ["batch", 3],
    }
    told = {entry.key: entry.value for entry in model.metadata_props}
    assert (told["game"], told["role"], told["agent_steps"]) == ("race", "driver", "77")
    assert told["settings_sha256"] == hashlib.sha256(b'{"laps":3}').hexdigest()
    assert msgspec.json.decode(told[HEADER], type=DojoHeader).card == card


def test_what_is_remembered_in_between_is_along_the_worlds_axes() -> None:
    policy, card = trained(heading=TURNING)
    vectors = make_vectors(policy, card, 60, streams=4)
    session, memory = OnnxSession(onnx_bytes(policy, card)[0]), np.zeros((4, 5), np.float32)
    for seen, fresh, remembered in zip(vectors.observation, vectors.fresh, vectors.memory, strict=True):
        _, memory = session.decide(seen, memory * (1.0 - fresh)[:, None])
        np.testing.assert_allclose(memory, remembered, atol=1e-5, rtol=0)


def test_a_header_that_turns_what_is_not_remembered_is_refused() -> None:
    model = onnx.load_from_string(onnx_bytes(*trained(heading=TURNING))[0])
    (told,) = [entry for entry in model.metadata_props if entry.key == HEADER]
    told.value = told.value.replace('"remembered":[[4,1]', '"remembered":[[5,1]')
    with pytest.raises(GodojoError, match="memory cells that are not"):
        check_onnx(model.SerializeToString())


def test_int8_is_small_and_near_and_its_price_is_measured() -> None:
    policy, card = small_policy("hider", memory="leaky")
    content, _ = onnx_bytes(policy, card)
    small = int8_bytes(content)
    check_onnx(small)
    vectors = make_vectors(policy, card, 50, streams=10)
    differs = np.abs(replayed(OnnxSession(small), vectors) - vectors.action)
    assert 0.0 < differs.mean() < 0.05
    cost = int8_cost(content, small, card, rounds=30)
    assert cost.before.rounds == cost.after.rounds == 30
    assert cost.difference.low <= 100 * (cost.after.rate - cost.before.rate) <= cost.difference.high


def test_a_wide_policy_gets_four_times_smaller() -> None:
    content, _ = onnx_bytes(*trained(net_arch=(256, 256)))
    assert len(int8_bytes(content)) < 0.35 * len(content)


def test_exported_files_play_as_what_they_were_exported_from(tmp_path: Path) -> None:
    policy, card = small_policy("seeker", ahead=1.0)
    save_policy(tmp_path / "seeker.pt", policy, card)
    write_dojo(tmp_path / "seeker.dojo", policy, card)
    (tmp_path / "seeker.onnx").write_bytes(onnx_bytes(policy, card)[0])
    names = [str(tmp_path / f"seeker.{suffix}") for suffix in ("pt", "dojo", "onnx")]
    found = [judge(name, ["wander"], rounds=40, files=SHIPPED).verdicts[0] for name in names]
    assert found[0].wins == found[1].wins == found[2].wins
    player = player_from(names[2], "seeker", game="tag", files=SHIPPED)
    assert isinstance(player, OnnxPlayer)
    with pytest.raises(GodojoError, match="plays the seeker, not the hider"):
        player_from(names[2], "hider", game="tag", files=SHIPPED)
    with pytest.raises(GodojoError, match="always deterministic"):
        player_from(names[2], "seeker", game="tag", deterministic=False, files=SHIPPED)
