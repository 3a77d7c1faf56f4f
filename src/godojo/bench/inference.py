"""How long a policy takes to decide in the real Godot, in pure GDScript: alone, and in a crowd that decides at once."""

import json
import statistics
import tempfile
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from godojo.bench.measure import ENGINE_TIMEOUT_S, Conditions, Surroundings
from godojo.engines.godot.find import find
from godojo.engines.godot.project import run_project
from godojo.engines.godot.report import Report, Silent
from godojo.errors import GodojoError
from godojo.export.dojo_file import write_dojo
from godojo.games.parts import ActionPart, ObservationPart
from godojo.learn.cnn import image_inputs
from godojo.learn.networks import Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard
from godojo.learn.settings import PpoSettings

SCRIPT = "res://bench/inference.gd"
OBSERVATION_SIZE = 120
ACTIONS = (ActionPart("move", "continuous", 2), ActionPart("jump", "continuous", 1))


class Net(NamedTuple):
    """A net to measure."""

    title: str
    net_arch: tuple[int, ...]
    memory: Literal["", "leaky", "gru"] = ""
    memory_size: int = 0
    image: tuple[int, int, int] | None = None
    """Observes a picture of this shape, in place of numbers."""


NETS = (
    Net("2x64", (64, 64)),
    Net("2x128", (128, 128)),
    Net("2x256", (256, 256)),
    Net("2x64, 32 leaky cells", (64, 64), "leaky", 32),
    Net("2x64, GRU of 32", (64, 64), "gru", 32),
    Net("2x64, 36x36 pixels", (64, 64), image=(36, 36, 3)),
    Net("2x64, 84x84 pixels", (64, 64), image=(84, 84, 3)),
)


class NetTimes(msgspec.Struct, frozen=True):
    """One net; a decision of one agent each, medians over the turns."""

    title: str
    alone_us: float
    alone_quickest_us: float
    crowd_us: float
    crowd_quickest_us: float
    load_ms: float


class InferenceReport(Conditions, kw_only=True):
    """The result of `godojo bench inference`."""

    nets: list[NetTimes]
    observation_size: int
    crowd: int
    seconds: float


def measure(*, seconds: float = 2.0, crowd: int = 64, report: Report | None = None) -> InferenceReport:
    """Measures every net, alone and in a crowd; each for so long."""
    report = report or Silent()
    surroundings, engine = Surroundings(report), find()
    report.step("policies deciding in the engine")
    with tempfile.TemporaryDirectory() as folder:
        files = [_write(Path(folder) / f"{index}.dojo", net) for index, net in enumerate(NETS)]
        words = ["--headless", "--no-header", "--script", SCRIPT, "--", f"--seconds={seconds}", f"--crowd={crowd}"]
        timeout_s = ENGINE_TIMEOUT_S + 2.0 * seconds * len(NETS)
        done = run_project(engine, [*words, *map(str, files)], timeout_s=timeout_s)
    lines = done.output.strip().splitlines() or ["nothing"]
    if done.timed_out or done.code:
        raise GodojoError(f"the engine did not measure policies: {lines[-1]}")
    return InferenceReport(
        **surroundings.conditions((), godot=engine.version),
        nets=[_times(net, times) for net, times in zip(NETS, json.loads(lines[-1]), strict=True)],
        observation_size=OBSERVATION_SIZE,
        crowd=crowd,
        seconds=seconds,
    )


def _write(path: Path, net: Net) -> Path:
    """A net as training begins with it: what its weights are does not change how long it takes."""
    part = ObservationPart("observation", (OBSERVATION_SIZE,))
    if net.image is not None:
        part = ObservationPart("picture", net.image, "image", 0.0, 1.0)
    images = image_inputs((part,), PpoSettings().cnn_channels)
    shape = PolicyShape(part.size, ACTIONS, net.net_arch, net.memory, net.memory_size, images=images)
    write_dojo(path, Policy(shape), PolicyCard("bench", "agent", (part,), shape, 0))
    return path


def _times(net: Net, times: dict[str, list[float]]) -> NetTimes:
    alone, crowd = times["alone_us"], times["crowd_us"]
    load_us = times["load_us"]
    assert isinstance(load_us, int | float)
    return NetTimes(
        title=net.title,
        alone_us=statistics.median(alone),
        alone_quickest_us=min(alone),
        crowd_us=statistics.median(crowd),
        crowd_quickest_us=min(crowd),
        load_ms=load_us / 1000.0,
    )
