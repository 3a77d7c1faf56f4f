"""The `.dojo` file: the page about it is true, what is written can be read again, and nothing wrong gets in."""

import hashlib
import itertools
import json
import math
import struct
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from godojo.errors import GodojoError
from godojo.export.dojo_file import check_dojo, dojo_bytes, header_text, load_dojo, read_dojo, write_dojo
from godojo.export.vectors import answered, make_vectors
from godojo.learn.networks import Policy
from godojo.learn.policy_file import load_policy, save_policy
from tests.conftest import ROOT
from tests.dojo_policies import as_version_1
from tests.policies import HEADING, KINDS, TURNING, trained


def by_the_page(content: bytes, fresh: np.ndarray, observation: np.ndarray) -> np.ndarray:
    """Best actions of one agent by nothing but docs/dojo-file.md."""
    header_bytes = struct.unpack_from("<I", content, 8)[0]
    header = json.loads(content[48 : 48 + header_bytes])
    numbers = iter(np.frombuffer(content, "<f4", offset=48 + header_bytes).astype(np.float64))

    def take(*shape: int) -> np.ndarray:
        return np.array(list(itertools.islice(numbers, math.prod(shape)))).reshape(shape)

    scale, offset = take(observation.shape[1]), take(observation.shape[1])
    layers, size = [], header["memory_size"]
    for layer in header["layers"]:
        rows = {"leaky": 2, "gru": 3}.get(layer["kind"], 1) * layer["outputs"]
        blocks = [take(rows, layer["inputs"]), take(rows)]
        if layer["kind"] == "gru":
            blocks += [take(rows, layer["outputs"]), take(rows)]
        layers.append((layer["kind"], blocks))
    if header["log_std"]:
        take(sum(part["size"] for part in header["action_parts"] if part["kind"] == "continuous"))
    assert next(numbers, None) is None
    actions, h = [], np.zeros(size)
    for begins, raw in zip(fresh, observation.astype(np.float64), strict=True):
        h = np.zeros(size) if begins else h
        seen, turn = raw.copy(), header["heading"]
        if turn:
            fx, fz = (raw[place] for place in turn["forward"])
            for a, b in turn["observed"]:
                seen[a], seen[b] = raw[a] * fz - raw[b] * fx, raw[a] * fx + raw[b] * fz
        v = np.clip(seen * scale + offset, -header["normalised_limit"], header["normalised_limit"])
        for kind, (matrix, bias, *own) in layers:
            t = matrix @ v + bias
            if kind == "leaky":
                pairs = turn.get("remembered", []) if turn else []
                o = h.copy()
                for a, b in pairs:
                    o[a], o[b] = h[a] * fz - h[b] * fx, h[a] * fx + h[b] * fz
                o = o + sigmoid(t[:size]) * (np.tanh(t[size:]) - o)
                v = np.concatenate((v, o))
                h = o.copy()
                for a, b in pairs:
                    h[a], h[b] = o[a] * fz + o[b] * fx, o[b] * fz - o[a] * fx
            elif kind == "gru":
                u = own[0] @ h + own[1]
                r, z = sigmoid(t[:size] + u[:size]), sigmoid((t + u)[size : 2 * size])
                n = np.tanh(t[2 * size :] + r * u[2 * size :])
                h = n + z * (h - n)
                v = np.concatenate((v, h))
            else:
                after = {"relu": np.maximum(t, 0.0), "tanh": np.tanh(t), "silu": t * sigmoid(t), "linear": t}
                v = after[kind]
        actions.append(decided(v, header, raw))
    return np.array(actions)


def sigmoid(t: np.ndarray) -> np.ndarray:
    return np.asarray(1.0 / (1.0 + np.exp(-t)))


def decided(head: np.ndarray, header: dict[str, Any], raw: np.ndarray) -> list[float]:
    """The page's steps 7 and 8."""
    parts = header["action_parts"]
    numbers = sum(part["size"] for part in parts if part["kind"] == "continuous")
    means = list(np.tanh(head[:numbers]) if header["squashed"] else head[:numbers])
    logits, free = list(head[numbers:]), set()
    action: list[float] = []
    for part in parts:
        if part["kind"] == "continuous":
            free |= set(range(len(action), len(action) + part["size"]))
            action += [means.pop(0) for _ in range(part["size"])]
        else:
            action.append(float(np.argmax([logits.pop(0) for _ in range(part["size"])])))
    if header["heading"]:
        fx, fz = (raw[place] for place in header["heading"]["forward"])
        for a, b in header["heading"]["acted"]:
            x, z = action[a] * fz + action[b] * fx, action[b] * fz - action[a] * fx
            length = max(1.0, math.hypot(x, z))
            action[a], action[b] = x / length, z / length
    return [min(max(value, -1.0), 1.0) if place in free else value for place, value in enumerate(action)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_says_what_torch_does(kind: str) -> None:
    policy, card = trained(**KINDS[kind])
    vectors = make_vectors(policy, card, 400)
    found = by_the_page(dojo_bytes(policy, card), vectors.fresh[:, 0], vectors.observation[:, 0])
    np.testing.assert_allclose(found, vectors.action[:, 0], atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_plays_as_what_was_written(kind: str, tmp_path: Path) -> None:
    policy, card = trained(**KINDS[kind])
    write_dojo(tmp_path / "policy.dojo", policy, card)
    again, card_again = load_dojo(tmp_path / "policy.dojo")
    assert card_again == card
    vectors = make_vectors(policy, card, 50, streams=20)
    np.testing.assert_allclose(
        answered(again, vectors.observation, vectors.fresh).action, vectors.action, atol=1e-5, rtol=0
    )


def test_vectors_are_as_long_as_the_page_says() -> None:
    policy, card = trained()
    content = make_vectors(policy, card, 7, streams=3).to_bytes()
    assert struct.unpack_from("<4s4I", content) == (b"DOJV", 7, 3, 13, 3)
    assert len(content) == 20 + 4 * 7 * 3 * (1 + 13 + 3 + 5)


def packed(header: Any, weights: bytes, version: int = 2) -> bytes:
    """A file whose lengths and checksum are right, whatever is in it."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    digest = hashlib.sha256(text + weights).digest()
    return struct.pack("<4sHHII32s", b"DOJO", version, 0, len(text), len(weights), digest) + text + weights


def unpacked(content: bytes) -> tuple[dict[str, Any], bytes]:
    end = 48 + struct.unpack_from("<I", content, 8)[0]
    return json.loads(content[48:end]), content[end:]


def test_a_file_cut_anywhere_is_refused() -> None:
    content = dojo_bytes(*trained())
    for length in [*range(60), *range(60, len(content), 97), len(content) - 1]:
        with pytest.raises(GodojoError):
            check_dojo(content[:length])
    with pytest.raises(GodojoError, match="longer than it says"):
        check_dojo(content + b"\0")


def test_every_flipped_bit_is_noticed() -> None:
    content = bytearray(dojo_bytes(*trained()))
    for place in [*range(48), *range(48, len(content), 53)]:
        content[place] ^= 4
        with pytest.raises(GodojoError):
            check_dojo(bytes(content))
        content[place] ^= 4
    check_dojo(bytes(content))


def change(path: str, value: Any) -> Any:
    def apply(header: dict[str, Any]) -> None:
        *way, last = path.split(".")
        inner: Any = header
        for step in way:
            inner = inner[int(step) if step.isdigit() else step]
        inner[int(last) if last.isdigit() else last] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("layers.0.outputs", 8, "fit together"),
        ("layers.0.outputs", 10**9, "header"),
        ("layers.0.outputs", -1, "header"),
        ("layers.0.kind", "exec", "header"),
        ("layers", [], "header"),
        ("layers", [{"name": "encoder", "kind": "relu", "inputs": 13, "outputs": 13}] * 17, "header"),
        ("memory", "", "fit together"),
        ("memory_size", 0, "fit together"),
        ("squashed", True, "log_std"),
        ("log_std", False, "log_std"),
        ("observation_parts.1.shape", [3, 4], "fit together"),
        ("observation_parts.1.shape", [-3, -3], "shape"),
        ("observation_parts.1.shape", [60000, 60000], "observes"),
        ("observation_parts", [], "header"),
        ("action_parts.0.size", 0, "size"),
        ("heading.forward", [0, 13], "heading"),
        ("heading.observed", [[-1, 2]], "heading"),
        ("heading.acted", [[0, 3]], "heading"),
        ("heading.remembered", [[0, 5]], "memory cells that are not"),
        ("heading.remembered", [[-1, 0]], "memory cells that are not"),
        ("heading.remembered", [[0, 2**70]], "memory cells that are not|header"),
        ("heading.remembered", [[3, 3]], "twice"),
        ("heading.remembered", [[0, 1], [1, 2]], "twice"),
        ("heading.remembered", [[0, 1, 2]], "header"),
        ("heading.remembered", None, "header"),
        ("heading.turned", [], "header"),
        ("normalised_limit", -1.0, "header"),
        ("agent_steps", "many", "header"),
        ("unknown", 1, "header"),
    ],
)
def test_a_header_that_lies_is_refused(path: str, value: Any, reason: str) -> None:
    header, weights = unpacked(dojo_bytes(*trained()))
    change(path, value)(header)
    with pytest.raises(GodojoError, match=reason):
        check_dojo(packed(header, weights))


def test_only_leaky_cells_turn() -> None:
    for memory in ("gru", ""):
        with pytest.raises(GodojoError, match=r"cannot become a \.dojo file: .* only leaky cells rotate"):
            dojo_bytes(*trained(memory=memory, heading=TURNING))


def test_a_file_says_of_turning_memories_only_where_there_are_any() -> None:
    """Files of version 1 hold the same header but for the names of two layers."""
    assert "remembered" not in unpacked(dojo_bytes(*trained()))[0]["heading"]
    assert unpacked(dojo_bytes(*trained(heading=TURNING)))[0]["heading"]["remembered"] == [[4, 1], [0, 3]]
    old = sorted((ROOT / "tests/old_policies").glob("*.dojo"))
    assert old
    for path in old:
        text = header_text(read_dojo(path).header).replace(b'"encoder"', b'"eyes"').replace(b'"trunk"', b'"mind"')
        assert path.read_bytes()[48:].startswith(text), path.name


def test_turning_memories_make_a_difference() -> None:
    """Else the comparisons with torch would prove nothing."""
    policy, card = trained(heading=TURNING)
    vectors = make_vectors(policy, card, 50)
    still = Policy(msgspec.structs.replace(card.shape, heading=HEADING))
    still.load_state_dict(policy.state_dict())
    assert np.abs(answered(still, vectors.observation, vectors.fresh).action - vectors.action).max() > 0.01


@pytest.mark.parametrize(
    ("heading", "reason"),
    [
        ({"remembered": ((0, 5),)}, "memory cells that are not"),
        ({"remembered": ((0, -1),)}, "memory cells that are not"),
        ({"remembered": ((0, 2**70),)}, "does not fit together"),
        ({"remembered": ((2, 2),)}, "twice"),
        ({"forward": (0, 13)}, "observations that are not there"),
        ({"acted": ((0, 3),)}, "actions that are not there"),
    ],
)
def test_a_card_that_turns_what_is_not_there_is_refused(heading: dict[str, Any], reason: str, tmp_path: Path) -> None:
    policy, card = trained()
    shape = msgspec.structs.replace(card.shape, heading=msgspec.structs.replace(HEADING, **heading))
    save_policy(tmp_path / "policy.pt", policy, msgspec.structs.replace(card, shape=shape))
    with pytest.raises(GodojoError, match=reason):
        load_policy(tmp_path / "policy.pt")


def test_a_card_of_turning_memories_is_taken_only_with_leaky_cells(tmp_path: Path) -> None:
    policy, card = trained(heading=TURNING)
    save_policy(tmp_path / "policy.pt", policy, card)
    assert load_policy(tmp_path / "policy.pt")[1] == card
    policy, card = trained(memory="gru", heading=TURNING)
    save_policy(tmp_path / "policy.pt", policy, card)
    with pytest.raises(GodojoError, match="only leaky cells rotate"):
        load_policy(tmp_path / "policy.pt")


def test_weights_that_are_no_numbers_or_too_few_are_refused() -> None:
    header, weights = unpacked(dojo_bytes(*trained()))
    with pytest.raises(GodojoError, match="not numbers"):
        check_dojo(packed(header, weights[:-4] + struct.pack("<f", math.nan)))
    with pytest.raises(GodojoError, match="above 0"):
        check_dojo(packed(header, struct.pack("<f", 0.0) + weights[4:]))
    for wrong in (weights[:-4], weights + b"\0\0\0\0", weights[:-1]):
        with pytest.raises(GodojoError, match="layers need"):
            check_dojo(packed(header, wrong))


@pytest.mark.parametrize("kind", KINDS)
def test_version_1_is_read_as_before(kind: str) -> None:
    content = dojo_bytes(*trained(**KINDS[kind]))
    old = as_version_1(content)
    assert b'"mind"' in old
    (header, weights), (old_header, old_weights) = check_dojo(content), check_dojo(old)
    assert header == old_header
    assert all(np.array_equal(one, other) for one, other in zip(weights, old_weights, strict=True))
    with pytest.raises(GodojoError, match="header"):
        check_dojo(old[:4] + struct.pack("<H", 2) + old[6:])


def test_other_versions_and_headers_that_are_no_policy_are_refused() -> None:
    header, weights = unpacked(dojo_bytes(*trained()))
    with pytest.raises(GodojoError, match="version 4"):
        check_dojo(packed(header, weights, version=4))
    for text in (b"", b"null", b"[]", b"{", b"[" * 100_000, b'{"settings":' * 20_000, b"\xff\xfe"):
        with pytest.raises(GodojoError, match="header"):
            check_dojo(packed(text, weights))


def test_paths_that_hold_no_policy_end_in_one_line(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.dojo"):
        with pytest.raises(GodojoError):
            read_dojo(path)
    large = tmp_path / "large.dojo"
    with large.open("wb") as file:
        file.truncate(2**40)  # takes no room on the disk
    with pytest.raises(GodojoError, match="at most"):
        read_dojo(large)
    (tmp_path / "pickle.dojo").write_bytes(b"\x80\x04cos\nsystem\n.")
    with pytest.raises(GodojoError, match="does not begin with DOJO"):
        read_dojo(tmp_path / "pickle.dojo")
