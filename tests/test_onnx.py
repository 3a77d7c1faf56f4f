"""ONNX models: what they compute is what torch computes, small ones nearly, and strangers' files do no harm."""

import hashlib
import pickle
import resource
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from godojo.errors import GodojoError
from godojo.evaluate.intervals import Difference, Share
from godojo.evaluate.judge import judge
from godojo.evaluate.players import player_from
from godojo.export.dojo_file import DojoHeader, write_dojo
from godojo.export.onnx_file import OnnxSession, int8_bytes, onnx_bytes, replayed
from godojo.export.onnx_graph import HEADER, OPSET
from godojo.export.onnx_guard import check_onnx, read_onnx
from godojo.export.players import SHIPPED, OnnxPlayer
from godojo.export.ship import int8_cost
from godojo.export.vectors import make_vectors
from godojo.learn.policy_file import load_policy, save_policy
from tests.judged_runs import small_policy
from tests.policies import KINDS, trained


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
    assert cost.difference.low <= cost.after.rate - cost.before.rate <= cost.difference.high


def test_a_wide_policy_gets_four_times_smaller() -> None:
    content, _ = onnx_bytes(*trained(hidden=(256, 256)))
    assert len(int8_bytes(content)) < 0.35 * len(content)


def test_difference_of_shares_is_newcombes() -> None:
    """The example of Newcombe (1998): 56 of 70 less 48 of 80."""
    found = Difference.of(Share.of(56, 70), Share.of(48, 80))
    assert (found.rate, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def test_exported_files_play_as_what_they_were_exported_from(tmp_path: Path) -> None:
    policy, card = small_policy("seeker", ahead=1.0)
    save_policy(tmp_path / "seeker.pt", policy, card)
    write_dojo(tmp_path / "seeker.dojo", policy, card)
    (tmp_path / "seeker.onnx").write_bytes(onnx_bytes(policy, card)[0])
    names = [str(tmp_path / f"seeker.{suffix}") for suffix in ("pt", "dojo", "onnx")]
    found = [judge(name, ["wander"], rounds=40, files=SHIPPED).verdicts[0] for name in names]
    assert found[0].wins == found[1].wins == found[2].wins
    player = player_from(names[2], "seeker", files=SHIPPED)
    assert isinstance(player, OnnxPlayer)
    with pytest.raises(GodojoError, match="plays the seeker, not the hider"):
        player_from(names[2], "hider", files=SHIPPED)
    with pytest.raises(GodojoError, match="draws no lots"):
        player_from(names[2], "seeker", greedy=False, files=SHIPPED)


# What strangers may send (fault 15).


def good() -> onnx.ModelProto:
    return onnx.load_from_string(onnx_bytes(*trained())[0])


def external(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../../etc/passwd")


def external_in_attribute(model: onnx.ModelProto) -> None:
    tensor = helper.make_tensor("t", TensorProto.FLOAT, [1], [0.0])
    tensor.data_location = TensorProto.EXTERNAL
    model.graph.node.append(helper.make_node("Constant", [], ["c"], value=tensor))


def loop(model: onnx.ModelProto) -> None:
    body = helper.make_graph([], "body", [], [])
    model.graph.node.append(helper.make_node("Loop", ["", "", "observation"], ["l"], body=body))


def own_operator(model: onnx.ModelProto) -> None:
    model.graph.node.append(helper.make_node("Run", ["observation"], ["r"], domain="com.example"))


def huge_value(model: onnx.ModelProto) -> None:
    """A few bytes of file, gigabytes of memory: [60000, 1] and [1, 60000] added."""
    for name, shape in (("tall", (60000, 1)), ("wide", (1, 60000))):
        model.graph.initializer.append(numpy_helper.from_array(np.zeros(shape, np.float32), name))
    model.graph.node.append(helper.make_node("Add", ["tall", "wide"], ["bomb"]))


def filling(model: onnx.ModelProto) -> None:
    shape = numpy_helper.from_array(np.array([2**20, 2**10], np.int64), "shape")
    model.graph.initializer.append(shape)
    model.graph.node.append(helper.make_node("ConstantOfShape", ["shape"], ["bomb"]))


def doubling(model: onnx.ModelProto) -> None:
    last = "observation"
    for number in range(40):
        model.graph.node.append(helper.make_node("Concat", [last, last], [f"twice{number}"], axis=1))
        last = f"twice{number}"


def endless(model: onnx.ModelProto) -> None:
    for number in range(1000):
        model.graph.node.append(helper.make_node("Relu", ["observation"], [f"again{number}"]))


def deep(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    tensor.dims[:] = [1] * 50


def lying_dims(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].dims[:] = [60000, 60000]


def other_width(model: onnx.ModelProto) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 12


def no_header(model: onnx.ModelProto) -> None:
    del model.metadata_props[:]


def functions(model: onnx.ModelProto) -> None:
    model.functions.add(name="f", domain="")


HOSTILE: dict[Any, str] = {
    external: "external data",
    external_in_attribute: "Constant",
    loop: "Loop",
    own_operator: "com.example.Run",
    huge_value: "too large|one row",
    filling: "ConstantOfShape",
    doubling: "too large|fit together",
    endless: "operators",
    deep: "shape",
    lying_dims: "fit together|too large|one row",
    other_width: "fit together|inputs",
    no_header: "not written by",
    functions: "functions",
}


@pytest.mark.parametrize("spoil", HOSTILE)
def test_models_that_could_harm_are_refused(spoil: Any) -> None:
    model = good()
    spoil(model)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(GodojoError, match=HOSTILE[spoil]):
        check_onnx(model.SerializeToString())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024, "it took more than 200 MiB"


def test_a_model_cut_anywhere_or_no_model_at_all_is_refused(tmp_path: Path) -> None:
    content = good().SerializeToString()
    for length in range(0, len(content), 211):
        with pytest.raises(GodojoError):
            check_onnx(content[:length])
    for wrong in (b"", b"\0" * 100, b"PK\x03\x04" + b"\0" * 50, bytes(range(256))):
        with pytest.raises(GodojoError):
            check_onnx(wrong)
    large = tmp_path / "large.onnx"
    with large.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(GodojoError, match="at most"):
        read_onnx(large)
    for path in (tmp_path, tmp_path / "none.onnx"):
        with pytest.raises(GodojoError):
            read_onnx(path)


class Harm:
    """What a pickle runs when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("suffix", [".pt", ".dojo", ".onnx"])
def test_a_pickle_is_refused_and_not_run(suffix: str, tmp_path: Path) -> None:
    harm = tmp_path / "harm"
    plain, zipped = tmp_path / f"plain{suffix}", tmp_path / f"zipped{suffix}"
    plain.write_bytes(pickle.dumps(Harm(harm), protocol=2))
    torch.save({"format": "godojo-policy/1", "card": Harm(harm)}, zipped)
    for path in (plain, zipped):
        with pytest.raises(GodojoError):
            _ = load_policy(path) if suffix == ".pt" else SHIPPED[suffix](path, seed=0, greedy=True, name="stranger")
    assert not harm.exists()
    pickle.loads(plain.read_bytes())
    assert harm.exists(), "this pickle would have done something"


def test_policy_files_that_unpack_to_more_than_they_are_are_refused(tmp_path: Path) -> None:
    policy, card = trained()
    save_policy(tmp_path / "good.pt", policy, card)
    load_policy(tmp_path / "good.pt")
    bomb = tmp_path / "bomb.pt"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in zipfile.ZipFile(tmp_path / "good.pt").infolist():
            archive.writestr(entry.filename, zipfile.ZipFile(tmp_path / "good.pt").read(entry.filename))
        archive.writestr("good/data/99", bytes(300 * 2**20))
    assert bomb.stat().st_size < 2**20
    with pytest.raises(GodojoError, match="unpacks to"):
        load_policy(bomb)


def huge_card(content: dict[str, Any]) -> None:
    content["card"]["shape"]["hidden"] = [2**20, 2**20]


def many_layers(content: dict[str, Any]) -> None:
    content["card"]["shape"]["hidden"] = [4] * 100_000


def thin_weights(content: dict[str, Any]) -> None:
    """Numbers that claim to be many and are one, over and over."""
    content["card"]["shape"]["hidden"] = [2**20, 2**20]
    wide, high = torch.zeros(1).expand(2**20), torch.zeros(1).expand(2**20, 2**20)
    content["weights"] |= {"eyes.0.weight": torch.zeros(1).expand(2**20, 13), "eyes.0.bias": wide}
    content["weights"] |= {"mind.0.weight": high, "mind.0.bias": wide, "head.linear.weight": wide.expand(3, 2**20)}


@pytest.mark.parametrize("spoil", [huge_card, many_layers, thin_weights])
def test_policy_files_that_ask_for_more_room_than_they_hold_are_refused(spoil: Any, tmp_path: Path) -> None:
    save_policy(tmp_path / "policy.pt", *trained(memory="", hidden=(8, 6)))
    content = torch.load(tmp_path / "policy.pt", weights_only=True)
    spoil(content)
    torch.save(content, tmp_path / "policy.pt")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(GodojoError, match="does not fit together"):
        load_policy(tmp_path / "policy.pt")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024, "it took more than 200 MiB"
