"""Every kind of file that we write and read again notices when a single bit of it has changed."""

import functools
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
import torch

from godojo.documents import write_document
from godojo.engines.godot import run_project
from godojo.engines.godot.find import Engine
from godojo.errors import GodojoError
from godojo.evaluation.intervals import Proportion
from godojo.evaluation.league import LeagueReport
from godojo.export.dojo_file import load_dojo, write_dojo
from godojo.export.onnx_file import int8_bytes, onnx_bytes
from godojo.export.onnx_guard import read_onnx
from godojo.formats import LEAGUE, NewerVersion
from godojo.learn.policy_file import load_policy, save_policy
from godojo.opponents import make_opponent
from godojo.runs.checkpoints import CheckpointStore
from godojo.runs.config import Environment, RunConfig
from godojo.runs.folder import RunFolder
from godojo.show.charts import league_of
from godojo.show.curves import RunTables
from godojo.show.frame_renderer import Note, Piece, read_note, write_note
from godojo.show.recording import record_rounds
from godojo.show.replay import Replay
from godojo.show.replay_file import read_replay, read_rounds, write_replay, write_rounds
from godojo.show.shots import PRESETS
from tests.conftest import ROOT
from tests.policies import trained

OLD = ROOT / "tests/old_runs/version_1/run"
FLIPS = [pytest.param(60, id="60"), pytest.param(400, id="400", marks=pytest.mark.nightly)]


class Written(NamedTuple):
    """A file, and what reads it."""

    path: Path
    read: Callable[[], object]


def config() -> RunConfig:
    return RunConfig("tag", "sim", ("seeker", "hider"), "ppo", {"net_arch": [8, 8]}, {}, 1, {"minutes": 5.0})


def policy(folder: Path) -> Written:
    path = folder / "policy_seeker.pt"
    save_policy(path, *trained())
    return Written(path, lambda: load_policy(path))


def dojo(folder: Path) -> Written:
    path = folder / "seeker.dojo"
    write_dojo(path, *trained())
    return Written(path, lambda: load_dojo(path))


def onnx(folder: Path) -> Written:
    path = folder / "seeker.onnx"
    path.write_bytes(onnx_bytes(*trained())[0])
    return Written(path, lambda: read_onnx(path))


def onnx_int8(folder: Path) -> Written:
    path = folder / "seeker_int8.onnx"
    path.write_bytes(int8_bytes(onnx_bytes(*trained())[0]))
    return Written(path, lambda: read_onnx(path))


def checkpoint(folder: Path) -> Written:
    entry = CheckpointStore(folder).save({"weights": torch.arange(300.0)}, 100, 2, 1.5)
    return Written(folder / f"{entry.name}.pt", lambda: CheckpointStore(folder).newest())


def checkpoint_without_index(folder: Path) -> Written:
    entry = CheckpointStore(folder).save({"weights": torch.arange(300.0)}, 100, 2, 1.5)
    (folder / "index.json").unlink()
    return Written(folder / f"{entry.name}.pt", lambda: CheckpointStore(folder).newest())


def run_config(folder: Path) -> Written:
    run = RunFolder.create(config(), "mine", root=folder)
    return Written(run.path / "config.json", lambda: RunFolder.open("mine", root=folder))


def environment(folder: Path) -> Written:
    run = RunFolder.create(config(), "mine", root=folder)
    run.add_environment(Environment.here())
    return Written(run.path / "environment.json", run.environments)


def snapshots(folder: Path) -> Written:
    store = RunFolder.create(config(), "mine", root=folder).snapshots()
    store.save("start", {"seeker": b"policy"}, 0, 0.0, {"seeker": {"mu": 25.0}})
    store.save("10s", {"seeker": b"policy"}, 1000, 10.0)
    return Written(folder / "mine/snapshots/snapshots.json", store.entries)


def league(folder: Path) -> Written:
    run = RunFolder.create(config(), "mine", root=folder)
    found = LeagueReport("mine", "tag", "held-out", 9, 0, True, "seeker", "hider", [], [[Proportion.of(3, 9)]])
    write_document(run.path / "league.json", LEAGUE, found)
    return Written(run.path / "league.json", lambda: league_of(run))


def replay(folder: Path) -> Written:
    path = folder / "ep_0000.jsonl"
    write_replay(path, rounds()[0])
    return Written(path, lambda: read_replay(path))


def packed_rounds(folder: Path) -> Written:
    path = folder / "all.npz"
    write_rounds(path, rounds())
    return Written(path, lambda: read_rounds(path))


def frames(folder: Path) -> Written:
    (folder / "piece_000.mjpeg").write_bytes(bytes(range(256)) * 4)
    write_note(folder, Note((Piece("piece_000.mjpeg", 3),), PRESETS["small"]))
    return Written(folder / "piece_000.mjpeg", lambda: read_note(folder))


def frames_note(folder: Path) -> Written:
    return Written(folder / "frames.json", frames(folder).read)


KINDS = [
    *(policy, dojo, onnx, onnx_int8, checkpoint, checkpoint_without_index, run_config, environment, snapshots, league),
    *(replay, packed_rounds, frames, frames_note),
]


@functools.cache
def rounds() -> list[Replay]:
    players = {role: make_opponent("random", role, 3, game="tag") for role in ("seeker", "hider")}
    return record_rounds("tag", players, episodes=2, seed=5)


def flipped(content: bytes, count: int, seed: int = 1) -> list[bytes]:
    """The content with one bit changed, in so many ways: at random, and in every corner."""
    lots, found = random.Random(seed), []
    bits = {0, 7, 8 * len(content) - 1, *(lots.randrange(8 * len(content)) for _ in range(count))}
    bits |= {8 * (len(content) - back) + lots.randrange(8) for back in range(1, min(120, len(content)), 10)}
    for bit in sorted(bits):
        spoilt = bytearray(content)
        spoilt[bit // 8] ^= 1 << bit % 8
        found.append(bytes(spoilt))
    return found


@pytest.mark.parametrize("flips", FLIPS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_refused_in_a_line_that_names_the_file(
    kind: Callable[[Path], Written], flips: int, tmp_path: Path
) -> None:
    written = kind(tmp_path)
    written.read()
    content = written.path.read_bytes()
    for spoilt in flipped(content, flips):
        written.path.write_bytes(spoilt)
        with pytest.raises(GodojoError) as refused:
            written.read()
        told = str(refused.value)
        assert written.path.stem in told
        assert "\n" not in told
    written.path.write_bytes(content)
    written.read()


@pytest.mark.parametrize("flips", FLIPS)
def test_a_spoilt_index_is_made_anew_from_the_checkpoints(flips: int, tmp_path: Path) -> None:
    store = CheckpointStore(tmp_path)
    store.save({"weights": torch.arange(3.0)}, 100, 1, 0.5)
    store.save({"weights": torch.arange(4.0)}, 200, 2, 1.5)
    index, entries = tmp_path / "index.json", store.entries()
    for spoilt in flipped(index.read_bytes(), flips):
        index.write_bytes(spoilt)
        said: list[str] = []
        try:
            found = CheckpointStore(tmp_path, said.append).entries()
        except NewerVersion:  # the version itself was hit
            continue
        assert [msgspec.structs.replace(entry, sha256="") for entry in entries] == found
        assert len(said) == 1
        assert "index.json is damaged" in said[0]


@pytest.mark.parametrize("flips", FLIPS)
def test_a_policy_without_a_hash_is_refused_or_unchanged(flips: int, tmp_path: Path) -> None:
    """Old files have nothing but the checksums of their zip, which do not cover what is between its entries."""
    path = OLD / "policy_seeker.pt"
    weights = load_policy(path)[0].state_dict()
    for spoilt in flipped(path.read_bytes(), flips):
        (tmp_path / "policy.pt").write_bytes(spoilt)
        try:
            found = load_policy(tmp_path / "policy.pt")[0].state_dict()
        except GodojoError:
            continue
        assert all(torch.equal(found[name], weights[name]) for name in weights)


@pytest.mark.parametrize("flips", FLIPS)
@pytest.mark.parametrize("table", ["metrics.csv", "updates.csv"])
def test_a_spoilt_table_is_refused_or_read_never_a_crash(table: str, flips: int, tmp_path: Path) -> None:
    run = tmp_path / "old"
    shutil.copytree(OLD, run)
    content = (run / table).read_bytes()
    for spoilt in flipped(content, flips):
        (run / table).write_bytes(spoilt)
        with suppress(GodojoError):
            tables = RunTables(RunFolder.open(run))
            for name in ("episode", "agent_steps", "length_s", "seeker_reward"):
                tables.numbers(name)
            tables.updates_of("seeker/train/approx_kl", "agent_steps")


def test_a_run_can_be_edited_by_hand_on_purpose(tmp_path: Path) -> None:
    """A hash guards against accidents; whoever empties it says that the change is meant."""
    path = run_config(tmp_path).path
    text = path.read_text(encoding="utf-8").replace('"seed": 1', '"seed": 2')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GodojoError, match=r'config.json is damaged or was edited.*set its "sha256" to ""'):
        RunFolder.open("mine", root=tmp_path)
    digest = text.rpartition('"sha256": "')[2].partition('"')[0]
    path.write_text(text.replace(digest, ""), encoding="utf-8")
    assert RunFolder.open("mine", root=tmp_path).config.seed == 2


@pytest.mark.engine
def test_the_addon_refuses_a_flipped_bit(engine: Engine, tmp_path: Path) -> None:
    written = dojo(tmp_path)
    paths = []
    for number, spoilt in enumerate(flipped(written.path.read_bytes(), 60)):
        paths.append(tmp_path / f"{number}.dojo")
        paths[-1].write_bytes(spoilt)
    (tmp_path / "list").write_text("\n".join(map(str, [*paths, written.path])), encoding="utf-8")
    words = [
        "--headless",
        "--no-header",
        "--script",
        "res://tests/inference/try_files.gd",
        "--",
        str(tmp_path / "list"),
    ]
    done = run_project(engine, words, timeout_s=60)
    *refused, sound = done.output.strip().splitlines()
    assert sound == "sound 3"
    assert len(refused) == len(paths)
    assert all(line.startswith("refused ") for line in refused)
