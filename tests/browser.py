"""A real browser without a screen: Chromium, driven over its DevTools protocol."""

import base64
import itertools
import json
import shutil
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from godojo.processes import started

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WORDS = (
    "--headless",
    "--no-sandbox",  # root has none, and only our own pages are opened
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",  # WebGL in software
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-port=0",
)
START_TIMEOUT_S = 30.0


def chromium() -> str | None:
    """Where it is, if it is here."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


class Tab:
    """One page in it."""

    def __init__(self, wire: ClientConnection) -> None:
        self._wire = wire
        self._numbers = itertools.count(1)
        self.said: list[str] = []
        """What went wrong in the page: errors on its console, exceptions."""
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._wire.send(json.dumps({"id": number, "method": method, "params": given}))
        while True:
            told = json.loads(self._wire.recv(timeout=60))
            if told.get("id") == number:
                assert "error" not in told, f"{method}: {told['error']}"
                result: dict[str, Any] = told["result"]
                return result
            self._hear(told)

    def _hear(self, told: dict[str, Any]) -> None:
        if told.get("method") == "Runtime.exceptionThrown":
            self.said.append(json.dumps(told["params"]["exceptionDetails"])[:400])
        if told.get("method") == "Log.entryAdded" and told["params"]["entry"]["level"] == "error":
            self.said.append(told["params"]["entry"]["text"])

    def size(self, wide: int, high: int, *, mobile: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1, mobile=mobile)

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, script: str, timeout_s: float = 30.0) -> Any:
        """Until the expression is true."""
        ends = time.monotonic() + timeout_s
        while time.monotonic() < ends:
            found = self.run(script)
            if found:
                return found
            time.sleep(0.1)
        raise AssertionError(f"{script} was not true within {timeout_s:g} s; the page said: {self.said[-3:]}")

    def picture(self, path: Path | None = None) -> bytes:
        """What is on screen, as PNG."""
        content = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            path.write_bytes(content)
        return content


@contextmanager
def browser() -> Iterator[Callable[[], Tab]]:
    """Chromium for the length of the block; call what it gives for a new tab."""
    program = chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        noted = Path(folder) / "DevToolsActivePort"
        wires: list[ClientConnection] = []
        with started([program, *WORDS, f"--user-data-dir={folder}", "about:blank"]):
            ends = time.monotonic() + START_TIMEOUT_S
            while not noted.exists() or not noted.read_text().strip():
                assert time.monotonic() < ends, "Chromium did not start"
                time.sleep(0.1)
            port = noted.read_text().split()[0]

            def tab() -> Tab:
                asked = urllib.request.Request(f"http://127.0.0.1:{port}/json/new?about:blank", method="PUT")
                with urllib.request.urlopen(asked, timeout=10) as answer:
                    address = json.load(answer)["webSocketDebuggerUrl"]
                wires.append(connect(address, max_size=2**26))
                return Tab(wires[-1])

            try:
                yield tab
            finally:
                for wire in wires:
                    wire.close()
