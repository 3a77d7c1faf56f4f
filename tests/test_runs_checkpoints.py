"""Checkpoints: the newest whole one is found, a damaged one is told of, nobody begins anew unknowingly."""

from pathlib import Path

import pytest
import torch

from godojo.errors import GodojoError
from godojo.runs.checkpoints import KEPT, CheckpointStore


def filled(folder: Path, *steps: int) -> CheckpointStore:
    store = CheckpointStore(folder)
    for number, agent_steps in enumerate(steps, start=1):
        store.save({"weights": torch.full((100,), float(agent_steps))}, agent_steps, number, number / 2)
    return store


def spoil(path: Path) -> None:
    """Changes a byte in the middle of the weights."""
    content = bytearray(path.read_bytes())
    steps = float(int(path.stem.removeprefix("step_")))
    content[content.index(torch.full((100,), steps).numpy().tobytes()) + 200] ^= 0xFF
    path.write_bytes(bytes(content))


def test_the_newest_comes_back(tmp_path: Path) -> None:
    store = filled(tmp_path, 100, 200)
    state, entry = store.newest()
    assert torch.equal(state["weights"], torch.full((100,), 200.0))
    assert (entry.name, entry.agent_steps, entry.update, entry.seconds) == ("step_000000000200", 200, 2, 1.0)
    assert CheckpointStore(tmp_path).load("step_000000000100")[1].agent_steps == 100


def test_the_newest_three_are_kept_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "step_000000000001.pt").write_bytes(b"left by a kill before it was listed")
    (tmp_path / ".step_000000000002.pt.0123abcd.part").write_bytes(b"left by a kill while it was written")
    (tmp_path / "mine.txt").write_text("not ours to delete", encoding="utf-8")
    (tmp_path / "index.json").write_text('{"checkpoints": []}', encoding="utf-8")
    store = filled(tmp_path, 100, 200, 300, 400, 500)
    names = [f"step_{steps:012d}" for steps in (300, 400, 500)]
    assert [entry.name for entry in store.entries()] == names
    assert len(names) == KEPT
    there = sorted(path.name for path in tmp_path.iterdir())
    assert there == sorted(["index.json", "mine.txt", *(f"{name}.pt" for name in names)])


@pytest.mark.parametrize("damage", ["byte", "cut", "empty", "missing", "other file"])
def test_a_damaged_newest_is_spoken_of_and_passed_over(tmp_path: Path, damage: str) -> None:
    filled(tmp_path, 100, 200, 300)
    path = tmp_path / "step_000000000300.pt"
    if damage == "byte":
        spoil(path)
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-1])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "missing":
        path.unlink()
    else:
        path.write_bytes((tmp_path / "step_000000000100.pt").read_bytes())
    said: list[str] = []
    store = CheckpointStore(tmp_path, said.append)
    state, entry = store.newest()
    assert entry.agent_steps == 200
    assert float(state["weights"][0]) == 200.0
    assert len(said) == 1
    assert "step_000000000300 is damaged" in said[0]
    with pytest.raises(GodojoError, match="step_000000000300 is damaged"):
        store.load("step_000000000300")

    store.save({"weights": torch.zeros(1)}, 300, 4, 9.0)
    assert [each.agent_steps for each in store.entries()] == [100, 200, 300]
    said.clear()
    assert store.newest()[1].update == 4
    assert not said


def test_none_whole_is_an_error_and_so_is_none_at_all(tmp_path: Path) -> None:
    with pytest.raises(GodojoError, match="no checkpoint to resume"):
        CheckpointStore(tmp_path).newest()
    filled(tmp_path, 100, 200)
    for path in tmp_path.glob("*.pt"):
        spoil(path)
    with pytest.raises(GodojoError, match=r"all checkpoints in .* are damaged"):
        CheckpointStore(tmp_path).newest()


@pytest.mark.parametrize("index", [None, b"", b"{", b'{"checkpoints": [{"name": 3}]}'])
def test_a_lost_index_is_made_anew_from_whole_files(tmp_path: Path, index: bytes | None) -> None:
    filled(tmp_path, 100, 200, 300)
    (tmp_path / "index.json").unlink()
    if index is not None:
        (tmp_path / "index.json").write_bytes(index)
    spoil(tmp_path / "step_000000000300.pt")
    said: list[str] = []
    store = CheckpointStore(tmp_path, said.append)
    assert store.newest()[1].agent_steps == 200
    assert "index.json" in said[0]
    store.save({}, 400, 4, 2.0)
    assert [entry.agent_steps for entry in CheckpointStore(tmp_path).entries()] == [100, 200, 400]
    for path in tmp_path.glob("*.pt"):
        path.write_bytes(b"rubbish")
    (tmp_path / "index.json").write_bytes(b"rubbish")
    with pytest.raises(GodojoError, match="all checkpoints are damaged"):
        store.newest()


def test_a_listed_file_is_never_written_over(tmp_path: Path) -> None:
    store = filled(tmp_path, 100, 100, 100)
    assert [entry.name.removeprefix("step_000000000100") for entry in store.entries()] == ["", "-2", "-3"]
    assert store.newest()[1].update == 3


def test_names_cannot_lead_elsewhere(tmp_path: Path) -> None:
    store = filled(tmp_path / "checkpoints", 100)
    for name in ("../secret", "/etc/passwd", "..", ".hidden", "a/b", "a\\b", "", "x\0", "a" * 65, "step\n"):
        with pytest.raises(GodojoError, match="is no name"):
            store.load(name)
    with pytest.raises(GodojoError, match="did you mean step_000000000100"):
        store.load("step_000000000101")
    (tmp_path / "checkpoints/index.json").write_text(
        '{"checkpoints": [{"name": "../x", "agent_steps": 1, "update": 1, "seconds": 1, "sha256": ""}]}'
    )
    with pytest.raises(GodojoError, match="is no name"):
        store.newest()


def test_what_a_checkpoint_says_is_not_run(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return print, ("run",)

    filled(tmp_path, 100)
    torch.save({"format": "godojo-checkpoint/1", "state": Evil()}, tmp_path / "step_000000000200.pt")
    (tmp_path / "index.json").unlink()
    said: list[str] = []
    assert CheckpointStore(tmp_path, said.append).newest()[1].agent_steps == 100
