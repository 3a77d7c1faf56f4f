"""What watching costs a training: 50 viewers, 5 of them stalled, switched on and off by turns while it trains.

    python3 dojo.py run benchmarks/watch_cost.py --seconds 120 --slice 6 --viewers 50 --stalled 5

Speed is read from the run's updates.csv. The machine must be otherwise idle: everything else that runs on it is in the
figure, too.
"""

import argparse
import itertools
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import viser
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from godojo.cli.watch import give_way
from godojo.evaluation.intervals import Mean
from godojo.processes import started
from godojo.show.curves import read_table

PYTHON = [sys.executable, "-m", "godojo"]


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--seconds", type=float, default=120.0)
    words.add_argument("--slice", type=float, default=6.0)
    words.add_argument("--viewers", type=int, default=50)
    words.add_argument("--stalled", type=int, default=5)
    words.add_argument("--look", type=int, help=argparse.SUPPRESS)  # we ourselves, as the viewers
    asked = words.parse_args()
    if asked.look:
        look(asked.look, asked.viewers, asked.stalled)
        return
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "GODOJO_RUNS": folder}
        minutes = str((asked.seconds + 30) / 60)
        run = Path(folder) / "watched"
        with started([*PYTHON, "train", "tag", "--minutes", minutes, "--run-id", "watched", "--judge", "0"], env=env):
            wait_for(lambda: len(read_table(run / "updates.csv").numbers("seconds")) > 2)
            port = free_port()
            with started([*PYTHON, "watch", "watched", "--port", str(port)], env=env) as page:
                wait_for(lambda: answers(port))
                counts = ["--look", str(port), "--viewers", str(asked.viewers), "--stalled", str(asked.stalled)]
                with started([sys.executable, __file__, *counts], env=env) as viewers:
                    time.sleep(8.0)
                    report(alternate(run, [page, viewers], asked.seconds, asked.slice), asked)


def alternate(
    run: Path, others: "list[subprocess.Popen[str]]", seconds: float, slice_s: float
) -> dict[bool, list[float]]:
    """Agent-steps a second, slice by slice, with everybody watching and with everybody stopped."""
    speeds: dict[bool, list[float]] = {True: [], False: []}
    ends = time.monotonic() + seconds
    for is_watched in itertools.cycle((True, False)):
        if time.monotonic() > ends:
            break
        for other in others:
            os.killpg(other.pid, signal.SIGCONT if is_watched else signal.SIGSTOP)
        first = standing(run)
        time.sleep(slice_s)
        last = standing(run)
        speeds[is_watched].append((last[1] - first[1]) / max(last[0] - first[0], 1e-9))
    for other in others:
        os.killpg(other.pid, signal.SIGCONT)
    return speeds


def standing(run: Path) -> tuple[float, float]:
    table = read_table(run / "updates.csv")
    return table.numbers("seconds")[-1], table.numbers("agent_steps")[-1]


def report(speeds: dict[bool, list[float]], asked: argparse.Namespace) -> None:
    pairs = min(len(speeds[True]), len(speeds[False]))
    watched, alone = np.array(speeds[True][:pairs]), np.array(speeds[False][:pairs])
    slower = Mean.of(100 * (1 - watched / alone))
    sys.stdout.write(
        f"{asked.viewers} viewers, {asked.stalled} stalled, {pairs} pairs of {asked.slice:g} s:"
        f" {watched.mean() / 1e3:.1f} k agent-steps/s watched, {alone.mean() / 1e3:.1f} k alone;"
        f" {slower.mean:.1f} % slower ({slower.low:.1f} to {slower.high:.1f})\n"
    )


def look(port: int, viewers: int, stalled: int) -> None:
    """Open so many pages; most read all they are sent, some nothing."""
    give_way()  # browsers are on other machines, as a rule
    for number in range(viewers):
        threading.Thread(target=view, args=(port, number < stalled), daemon=True).start()
    time.sleep(3600)


def view(port: int, stalls: bool) -> None:
    while True:
        try:
            wire = opened(port, stalls)
            if stalls:
                time.sleep(3600)
            for _ in wire:
                pass
        except (OSError, WebSocketException):
            time.sleep(1.0)


def opened(port: int, stalls: bool) -> ClientConnection:
    raw = socket.socket()
    if stalls:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    raw.connect(("127.0.0.1", port))
    wire = connect(
        f"ws://127.0.0.1:{port}/",
        sock=raw,
        subprotocols=[Subprotocol(f"viser-v{viser.__version__}")],
        max_size=2**26,
        max_queue=1 if stalls else 16,
    )
    wire.send(camera())
    return wire


def camera() -> bytes:
    """What a page says first, so that the server takes it for one that somebody looks at."""
    message = {
        "type": "ViewerCameraMessage",
        "wxyz": (1.0, 0.0, 0.0, 0.0),
        "position": (0.0, 20.0, 20.0),
        "fov": 0.8,
        "near": 0.01,
        "far": 1000.0,
        "image_height": 800,
        "image_width": 1280,
        "look_at": (0.0, 0.0, 0.0),
        "up_direction": (0.0, 1.0, 0.0),
    }
    return msgspec.msgpack.encode(message)


def answers(port: int) -> bool:
    with socket.socket() as wire:
        return wire.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


def wait_for(until: Callable[[], bool], timeout_s: float = 180.0) -> None:
    ends = time.monotonic() + timeout_s
    while not until():
        if time.monotonic() > ends:
            raise SystemExit("it did not begin in time")
        time.sleep(0.2)


if __name__ == "__main__":
    main()
