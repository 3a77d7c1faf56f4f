"""The twins on a GPU: kernels in Numba's CUDA simulator, and the errors of machines without one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import godojo
from godojo.cli import main
from godojo.errors import GodojoError
from godojo.kernels import cuda

SCRIPT = Path(__file__).with_name("cuda_simulated.py")


def simulated(
    game: str, decisions: int, share: float = 0.0, rules: dict[str, object] | None = None
) -> dict[str, float]:
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    words = [sys.executable, "-W", "ignore", str(SCRIPT), game, str(decisions), str(share), json.dumps(rules or {})]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, float] = json.loads(done.stdout)
    return found


def test_tag_plays_the_same_bits_in_cuda_kernels() -> None:
    found = simulated("tag", 9)
    assert found["ended"] > 0, "a round had to end and the next one to begin"
    assert found["difference"] == 0.0


def test_arenas_are_generated_in_cuda_kernels() -> None:
    assert simulated("tag", 2, share=1.0)["difference"] < 1e-5


@pytest.mark.nightly
def test_classic_tag_plays_the_same_bits_in_cuda_kernels() -> None:
    rules: dict[str, object] = {"rules.mode": "classic", "rules.players": 3, "rules.classic_round_s": 0.5}
    assert simulated("tag", 9, rules=rules)["difference"] == 0.0


def test_navigation_plays_in_cuda_kernels() -> None:
    assert simulated("navigation", 2)["difference"] < 1e-4


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("game", ["tag", "navigation"])
def test_cpu_and_gpu_play_the_same_rounds(game: str) -> None:
    from godojo.evaluation.parity.devices import compare

    found = compare(game, worlds=512, decisions=300)
    assert found.rounds > 0
    assert found.is_met if game == "tag" else found.worst < 1e-2


def test_a_machine_without_a_gpu_says_so_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "load", lambda: (_ for _ in ()).throw(GodojoError("no GPU here")))
    with pytest.raises(GodojoError, match="no GPU here"):
        godojo.make_vec("tag", device="cuda")


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "is_installed", lambda _: False)
    with pytest.raises(GodojoError, match=r"install cuda|numba-cuda") as error:
        cuda.load()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "gpu"}, "there is no device 'gpu'"),
        ({"device": "cuda", "engine": "godot"}, "Godot plays on the CPU"),
    ],
)
def test_wrong_devices_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(GodojoError, match=message):
        godojo.make_vec("tag", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", [["parity", "tag", "--between", "cpu", "tpu"], ["bench", "sim", "--device", "tpu"]])
def test_verbs_refuse_wrong_devices(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert "cuda" in capsys.readouterr().err
