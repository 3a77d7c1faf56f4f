"""A page behind its access proxy, from the first round to the last."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from godojo.errors import GodojoError
from godojo.runs.folder import RunFolder
from godojo.show.policies_to_show import run_to_show
from godojo.show.replay_file import is_replay, read_any
from godojo.show.watch.access import AccessProxy, is_loopback
from godojo.show.watch.document import document
from godojo.show.watch.page import Page
from godojo.show.watch.rounds import FileRounds, Rounds, RunRounds


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
