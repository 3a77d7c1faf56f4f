"""Hostile policy files (fault 15): refused, nothing in them is run, and they cost hardly more memory than they are."""

import functools
import pickle
import resource
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from godojo.errors import GodojoError
from godojo.export.dojo_file import check_dojo, dojo_bytes
from godojo.export.onnx_file import OnnxSession, onnx_bytes
from godojo.export.onnx_guard import check_onnx, read_onnx
from godojo.export.players import SHIPPED
from godojo.learn import policy_file
from godojo.learn.policy_file import load_policy, save_policy
from tests.nightly import repeats
from tests.policies import trained

SPOILT = repeats(500, nightly=5000)


@functools.cache
def good_bytes() -> bytes:
    return onnx_bytes(*trained())[0]


def good() -> onnx.ModelProto:
    return onnx.load_from_string(good_bytes())


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
            _ = (
                load_policy(path)
                if suffix == ".pt"
                else SHIPPED[suffix](path, seed=0, deterministic=True, name="stranger")
            )
    assert not harm.exists()
    pickle.loads(plain.read_bytes())
    assert harm.exists(), "this pickle would have done something"


def test_policy_files_that_unpack_to_more_than_they_are_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy_file, "MAX_BYTES", 2**21)  # the true limit takes seconds to pack
    policy, card = trained()
    save_policy(tmp_path / "good.pt", policy, card)
    load_policy(tmp_path / "good.pt")
    bomb = tmp_path / "bomb.pt"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in zipfile.ZipFile(tmp_path / "good.pt").infolist():
            archive.writestr(entry.filename, zipfile.ZipFile(tmp_path / "good.pt").read(entry.filename))
        archive.writestr("good/data/99", bytes(2**22))
    assert bomb.stat().st_size < 2**16
    with pytest.raises(GodojoError, match="unpacks to"):
        load_policy(bomb)


def huge_card(content: dict[str, Any]) -> None:
    content["card"]["shape"]["net_arch"] = [2**20, 2**20]


def many_layers(content: dict[str, Any]) -> None:
    content["card"]["shape"]["net_arch"] = [4] * 100_000


def thin_weights(content: dict[str, Any]) -> None:
    """Numbers that claim to be many and are one, over and over."""
    content["card"]["shape"]["net_arch"] = [2**20, 2**20]
    wide, high = torch.zeros(1).expand(2**20), torch.zeros(1).expand(2**20, 2**20)
    content["weights"] |= {"encoder.0.weight": torch.zeros(1).expand(2**20, 13), "encoder.0.bias": wide}
    content["weights"] |= {"trunk.0.weight": high, "trunk.0.bias": wide, "head.linear.weight": wide.expand(3, 2**20)}


@pytest.mark.parametrize("spoil", [huge_card, many_layers, thin_weights])
def test_policy_files_that_ask_for_more_room_than_they_hold_are_refused(spoil: Any, tmp_path: Path) -> None:
    save_policy(tmp_path / "policy.pt", *trained(memory="", net_arch=(8, 6)))
    content = torch.load(tmp_path / "policy.pt", weights_only=True)
    spoil(content)
    torch.save(content, tmp_path / "policy.pt")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(GodojoError, match="does not fit together"):
        load_policy(tmp_path / "policy.pt")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024, "it took more than 200 MiB"


@pytest.mark.parametrize("kind", ["dojo", "onnx"])
def test_spoilt_files_are_refused_or_harmless(kind: str) -> None:
    """Bytes changed, cut out and put in at random: nothing but our own error ever comes of it."""
    lots = np.random.default_rng(7)
    content = dojo_bytes(*trained()) if kind == "dojo" else good_bytes()
    check = check_dojo if kind == "dojo" else check_onnx
    refused = 0
    for _ in range(SPOILT):
        spoilt = bytearray(content)
        for place in lots.integers(0, len(spoilt), lots.integers(1, 6)):
            what = lots.integers(3)
            if what == 0:
                spoilt[place] ^= 1 << int(lots.integers(8))
            elif what == 1:
                del spoilt[place : place + int(lots.integers(1, 40))]
                break
            else:
                spoilt[place:place] = lots.bytes(int(lots.integers(1, 40)))
        try:
            check(bytes(spoilt))
            if kind == "onnx":  # nobody noticed, so it would be played
                OnnxSession(bytes(spoilt)).decide(np.zeros((3, 13), np.float32), np.zeros((3, 5), np.float32))
        except GodojoError:
            refused += 1
    assert refused == SPOILT if kind == "dojo" else refused > SPOILT / 5  # ONNX has no checksum: weights may differ
