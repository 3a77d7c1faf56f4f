"""A page behind its access proxy: its document, and the loop that shows rounds."""

import html
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import viser

from godojo.errors import GodojoError
from godojo.runs.folder import RunFolder
from godojo.show.policies_to_show import run_to_show
from godojo.show.replay_file import is_replay, read_any
from godojo.show.watch.access import AccessProxy, is_loopback
from godojo.show.watch.page import Page
from godojo.show.watch.rounds import FileRounds, Rounds, RunRounds

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Crect x='2' y='2' width='28' height='28' rx='7' fill='%23ff7810'/%3E"
    "%3Cg fill='%23fff8ec'%3E%3Ccircle cx='10.5' cy='14' r='4.5'/%3E%3Ccircle cx='21.5' cy='14' r='4.5'/%3E%3C/g%3E"
    "%3Cg fill='%23171a26'%3E%3Ccircle cx='11.5' cy='14.5' r='2.2'/%3E%3Ccircle cx='22.5' cy='14.5' r='2.2'/%3E%3C/g%3E"
    "%3C/svg%3E"
)


def serve(
    what: str,
    *,
    host: str,
    port: int,
    token: str,
    seed: int,
    seconds: float | None,
    say: Callable[[str], None],
    loaded: Callable[[], None],
) -> None:
    """Shows a run or replays for some seconds, or until stopped; calls `loaded` when the first round is there."""
    with opened(what, host=host, port=port, token=token, seed=seed) as (page, gate):
        say(f"watch it at {gate.url}")
        if gate.token:
            say("anyone with this address can look and press buttons; nobody else can")
        ends = None if seconds is None else time.monotonic() + seconds
        page.run(lambda: ends is not None and time.monotonic() >= ends, loaded)


@contextmanager
def opened(
    what: str, *, host: str = "127.0.0.1", port: int = 0, token: str = "", seed: int = 0
) -> Iterator[tuple[Page, AccessProxy]]:
    """A page that can be looked at; `Page.run` moves it."""
    if not is_loopback(host):
        token = token or secrets.token_urlsafe(16)
        if len(token) < 8 or not token.isascii() or not token.replace("-", "").replace("_", "").isalnum():
            raise GodojoError("--token must have 8 or more letters, digits, '-' and '_'")
    rounds, run = _rounds(what, seed)
    page = Page(rounds, run)
    try:
        gate = AccessProxy(host, port, page.port, document(rounds.title), token)
        try:
            yield page, gate
        finally:
            gate.close()
    finally:
        page.close()


def _rounds(what: str, seed: int) -> tuple[Rounds, RunFolder | None]:
    path = Path(what).expanduser()
    if is_replay(path):
        return FileRounds(read_any(path), path), None
    run = run_to_show(what)
    return RunRounds(run, seed), run


def document(title: str) -> bytes:
    """The whole document; everything else arrives over the websocket."""
    client = Path(viser.__file__).parent / "client" / "build" / "index.html"
    style, notice = (
        resources.files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "loading.html")
    )
    name = html.escape(title)
    # Replacements are functions: a backslash in a name or in the script is no escape of a pattern.
    text = client.read_text(encoding="utf-8")
    text = re.sub(r"<title>.*?</title>", lambda _: f"<title>{name} · Godojo</title>", text, count=1)
    text = re.sub(r'<link\s+rel="icon".*?/>', lambda _: f'<link rel="icon" href="{_ICON}">', text, count=1, flags=re.S)
    text = text.replace("<body>", f"<body>\n<style>\n{style}</style>\n{notice.replace('{name}', name)}", 1)
    return text.encode()
