"""Policies played in pure GDScript, in the real engine: what torch would do, to 1e-5."""

import hashlib
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

from godojo.cli.bench import app
from godojo.engines.godot import run_project
from godojo.engines.godot.find import Engine
from godojo.engines.godot.project import problem_lines
from godojo.errors import GodojoError
from godojo.export.dojo_file import check_dojo, dojo_bytes, write_dojo
from godojo.export.vectors import make_vectors, write_vectors
from tests.dojo_policies import HEADING, MIXED, PIXELS, TURNING, as_version_1, drawn_policy

pytestmark = [pytest.mark.engine, pytest.mark.timeout(240)]

STREAMS = 8
STEPS = {"leaky": 1250}
"""Ten thousand observations for the kind that is trained most, a thousand for the others."""
KINDS: dict[str, dict[str, Any]] = {
    "plain": {"heading": HEADING},
    "leaky": {"memory": "leaky", "memory_size": 32, "heading": HEADING},
    "turning": {"memory": "leaky", "memory_size": 14, "heading": TURNING, "seed": 1},
    "gru": {"memory": "gru", "memory_size": 30, "net_arch": (33, 41), "action_parts": MIXED},
    "choices": {"net_arch": (32, 32), "action_parts": MIXED},
    "squashed": {"net_arch": (30, 50, 22), "squashed": True, "heading": HEADING},
    "tanh": {"net_arch": (33, 41), "activation": "tanh", "memory": "leaky", "memory_size": 6},
    "silu": {"net_arch": (30, 22), "activation": "silu"},
    "narrow": {"net_arch": (7,), "memory": "leaky", "memory_size": 3},
    "pixels": {"observation_parts": PIXELS, "cnn_channels": (8, 6, 10), "memory": "leaky", "memory_size": 6},
    "features": {"observation_parts": PIXELS[2:], "cnn_channels": (5,), "net_arch": (9,)},
}


def answer(engine: Engine, folders: list[Path], timeout_s: float = 200) -> None:
    words = ["--headless", "--no-header", "--script", "res://tests/inference/answer_vectors.gd", "--"]
    done = run_project(engine, [*words, *map(str, folders)], timeout_s=timeout_s)
    assert (done.code, problem_lines(done.output)) == (0, []), done.output


@pytest.mark.slow
def test_decisions_are_those_of_torch(engine: Engine, tmp_path: Path) -> None:
    expected = {}
    for name, kind in KINDS.items():
        (tmp_path / name).mkdir()
        policy, card = drawn_policy(**kind)
        expected[name] = make_vectors(policy, card, STEPS.get(name, 125), streams=STREAMS)
        write_dojo(tmp_path / name / "policy.dojo", policy, card)
        write_vectors(tmp_path / name / "vectors.bin", expected[name])
        if name in ("turning", "narrow"):
            file = tmp_path / name / "policy.dojo"
            file.write_bytes(as_version_1(file.read_bytes()))
    answer(engine, [tmp_path / name for name in KINDS])
    for name, vectors in expected.items():
        assert np.ptp(vectors.action, axis=(0, 1)).min() > 0.1, "actions that are all alike prove nothing"
        minds = np.fromfile(tmp_path / name / "minds.bin", "<f4")
        action, memory = np.split(minds, [vectors.action.size])
        crowd = np.fromfile(tmp_path / name / "crowd.bin", "<f4")
        np.testing.assert_allclose(action.reshape(vectors.action.shape), vectors.action, rtol=0, atol=1e-5)
        together = crowd.reshape(-1, *vectors.action.shape[1:])
        assert len(together) >= 125
        np.testing.assert_allclose(together, vectors.action[: len(together)], rtol=0, atol=1e-5)
        np.testing.assert_allclose(memory.reshape(vectors.memory.shape), vectors.memory, rtol=0, atol=1e-5)


def test_a_heading_that_is_no_number_is_not_remembered(engine: Engine, tmp_path: Path) -> None:
    """It is forgotten what would have turned with it, so that the agent does not think in it ever after."""
    policy, card = drawn_policy(**KINDS["turning"])
    vectors = make_vectors(policy, card, 40, streams=2)
    vectors.fresh[1:] = 0.0
    vectors.observation[10, 0, HEADING.forward[0]] = np.nan
    vectors.observation[12, 1, HEADING.forward[1]] = np.inf
    write_dojo(tmp_path / "policy.dojo", policy, card)
    write_vectors(tmp_path / "vectors.bin", vectors)
    answer(engine, [tmp_path])
    action, memory = np.split(np.fromfile(tmp_path / "minds.bin", "<f4"), [vectors.action.size])
    crowd = np.fromfile(tmp_path / "crowd.bin", "<f4")
    assert np.isfinite(memory).all()
    for found in (action, crowd):
        assert np.isfinite(found.reshape(vectors.action.shape)[13:]).all()


def sealed(header: bytes, weights: bytes, version: int = 2, zero: int = 0) -> bytes:
    """A file whose checksum fits, whatever is in it."""
    header += b" " * (-len(header) % 4)
    digest = hashlib.sha256(header + weights).digest()
    return struct.pack("<4sHHII32s", b"DOJO", version, zero, len(header), len(weights), digest) + header + weights


def turning_gru() -> bytes:
    """A file that is sound but for this: cells turn that are not leaky."""
    good = dojo_bytes(*drawn_policy(memory="gru", memory_size=8, net_arch=(12, 12), heading=HEADING))
    length = struct.unpack_from("<I", good, 8)[0]
    header = msgspec.json.decode(good[48 : 48 + length])
    header["heading"]["remembered"] = [[0, 1]]
    return sealed(msgspec.json.encode(header), good[48 + length :])


def hostile_files() -> dict[str, bytes]:
    """What is wrong with each, and the file."""
    good = dojo_bytes(*drawn_policy(memory="leaky", memory_size=8, net_arch=(12, 12), heading=HEADING))
    length = struct.unpack_from("<I", good, 8)[0]
    text, weights = good[48 : 48 + length], good[48 + length :]
    header: dict[str, Any] = msgspec.json.decode(text)

    def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
        fresh = msgspec.json.decode(text)
        change(fresh)
        return sealed(msgspec.json.encode(fresh), weights)

    nan = np.frombuffer(weights, "<f4").copy()
    nan[-5] = np.nan
    scale = np.frombuffer(weights, "<f4").copy()
    scale[3] = 0.0
    files = {
        "nothing": b"",
        "three letters": b"DOJ",
        "a pickle": b"\x80\x04\x95" + good,
        "only the magic": b"DOJO",
        "a version to come": sealed(text, weights, version=4),
        "a flag to come": sealed(text, weights, zero=1),
        "cut off": good[:-100],
        "too long": good + b"\0",
        "a bit that flipped": good[:-7] + bytes([good[-7] ^ 1]) + good[-6:],
        "a huge header": good[:8] + struct.pack("<II", 2**31, 4) + good[16:],
        "no text": sealed(b"\xff\xfe\x00\x01", weights),
        "no JSON": sealed(b'{"game": }', weights),
        "a list": sealed(b"[1, 2]", weights),
        "deep JSON": sealed(b"[" * 20_000 + b"]" * 20_000, weights),
        "a number too large": sealed(text.replace(b"12345", b"1e999"), weights),
        "fewer weights": sealed(text, weights[:-4]),
        "not a number": sealed(text, nan.tobytes()),
        "a scale of zero": sealed(text, scale.tobytes()),
        "something new": changed(lambda h: h.update(extra=1)),
        "a heading elsewhere": changed(lambda h: h["heading"].update(forward=[6, 7000])),
        "a heading by a choice": changed(lambda h: h["heading"].update(acted=[[0, 3]])),
        "a heading of nothing": changed(lambda h: h.update(heading=[])),
        "a heading of something new": changed(lambda h: h["heading"].update(turned=[])),
        "memories elsewhere": changed(lambda h: h["heading"].update(remembered=[[0, 1], [2, 8]])),
        "memories before the first": changed(lambda h: h["heading"].update(remembered=[[-1, 0]])),
        "a memory and itself": changed(lambda h: h["heading"].update(remembered=[[3, 3]])),
        "a memory in two pairs": changed(lambda h: h["heading"].update(remembered=[[0, 1], [2, 0]])),
        "three memories": changed(lambda h: h["heading"].update(remembered=[[0, 1, 2]])),
        "half a memory": changed(lambda h: h["heading"].update(remembered=[[0, 1.5]])),
        "memories of nothing": changed(lambda h: h["heading"].update(remembered=None)),
        "memories of letters": changed(lambda h: h["heading"].update(remembered=["ab"])),
        "memories of a gru": turning_gru(),
        "layers in disorder": changed(lambda h: h["layers"].reverse()),
        "no mind": changed(lambda h: h["layers"].pop(2)),
        "another width": changed(lambda h: h["layers"][0].update(outputs=13)),
        "half a neuron": changed(lambda h: h["layers"][0].update(outputs=12.5)),
        "a huge layer": changed(lambda h: h["layers"][0].update(outputs=2**40)),
        "a huge observation": changed(lambda h: h["observation_parts"][0].update(shape=[60000, 60000])),
        "an observation of nothing": changed(lambda h: h["observation_parts"][0].update(shape=[0])),
        "another memory": changed(lambda h: h.update(memory="lstm")),
        "no memory": changed(lambda h: h.update(memory="")),
        "a gru": changed(lambda h: h.update(memory="gru")),
        "squashed": changed(lambda h: h.update(squashed=True)),
        "no spread": changed(lambda h: h.update(log_std=False)),
        "no limit": changed(lambda h: h.update(normalised_limit=0)),
        "a choice of none": changed(lambda h: h["action_parts"][0].update(size=0)),
        "a new kind of action": changed(lambda h: h["action_parts"][0].update(kind="dance")),
    }
    files |= hostile_images()
    return files | {f"no {key}": changed(lambda h, key=key: h.pop(key)) for key in header}  # type: ignore[misc]


def hostile_images() -> dict[str, bytes]:
    """The same for a policy that sees images."""
    good = dojo_bytes(*drawn_policy(observation_parts=PIXELS, cnn_channels=(4, 4), net_arch=(5, 5)))
    length = struct.unpack_from("<I", good, 8)[0]

    def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
        header = msgspec.json.decode(good[48 : 48 + length])
        change(header)
        return sealed(msgspec.json.encode(header), good[48 + length :], version=3)

    def image(**fields: Any) -> bytes:
        return changed(lambda h: h["images"][1].update(fields))

    def layer(**fields: Any) -> bytes:
        return changed(lambda h: h["images"][0]["convolutions"][0].update(fields))

    return {
        "images of nothing": changed(lambda h: h.update(images=None)),
        "an image in an image": image(first=700),
        "an image elsewhere": image(first=710),
        "an image with a hole": image(shape=[7, 0, 1]),
        "an image of two extents": image(shape=[7, 6]),
        "a huge image": image(shape=[60000, 60000, 60000]),
        "another image": image(shape=[6, 7, 1]),
        "no convolutions": image(convolutions=[]),
        "an image of something new": image(frames=1),
        "a kernel too large": layer(kernel=14),
        "no stride": layer(stride=0),
        "another stride": layer(stride=1),
        "half a channel": layer(channels=2.5),
        "endless channels": layer(channels=2**40),
        "a layer of something new": layer(padding=1),
        "no images": changed(lambda h: h.pop("images")),
    }


def test_hostile_files_are_refused_with_the_reason(engine: Engine, tmp_path: Path) -> None:
    files = hostile_files()
    names = list(files)
    for number, content in enumerate(files.values()):
        (tmp_path / f"{number}.dojo").write_bytes(content)
    write_dojo(tmp_path / "good.dojo", *drawn_policy())
    with (tmp_path / "huge.dojo").open("wb") as huge:
        huge.truncate(65 * 2**20)
    paths = [tmp_path / f"{name}.dojo" for name in (*range(len(files)), "missing", "huge", "good")]
    (tmp_path / "list").write_text("\n".join(map(str, paths)), encoding="utf-8")
    words = [
        "--headless",
        "--no-header",
        "--script",
        "res://tests/inference/try_files.gd",
        "--",
        str(tmp_path / "list"),
    ]
    done = run_project(engine, words, timeout_s=60)
    assert (done.code, problem_lines(done.output)) == (0, []), done.output
    lines = done.output.strip().splitlines()
    *refused, missing, oversized, good = lines
    assert good == "sound 3"
    assert "cannot be read" in missing
    assert oversized == "refused it has more than 64 MiB"
    for name, content, line in zip(names, files.values(), refused, strict=True):
        with pytest.raises(GodojoError):
            check_dojo(content)
        assert line.startswith("refused "), f"{name} was taken: {line}"
    said = dict(zip(names, refused, strict=True))
    for name, word in {
        "a pickle": "does not begin with DOJO",
        "a version to come": "version 4",
        "cut off": "cut off",
        "too long": "longer than it says",
        "a bit that flipped": "checksum",
        "not a number": "not numbers",
        "layers in disorder": "do not fit",
        "memories elsewhere": "memory cells that are not",
        "a memory in two pairs": "twice",
        "memories of a gru": "only leaky cells rotate",
    }.items():
        assert word in said[name]


def test_the_bench_measures_every_net(engine: Engine) -> None:
    assert engine
    done = CliRunner().invoke(app, ["inference", "--json", "--seconds", "0.05", "--crowd", "8"])
    assert done.exit_code == 0, done.output
    nets = {net["title"]: net for net in json.loads(done.stdout)["nets"]}
    for net in nets.values():
        assert 0 < net["alone_quickest_us"] <= net["alone_us"]
        assert 0 < net["crowd_quickest_us"] <= net["crowd_us"]
    assert nets["2x256"]["alone_quickest_us"] > nets["2x64"]["alone_quickest_us"]
