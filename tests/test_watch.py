"""The page in the browser: who may look, that it moves, and that those who stall hold nobody up."""

import io
import math
import os
import pty
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import msgspec
import numpy as np
import pytest
import viser
from matplotlib import image
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from godojo.errors import GodojoError
from godojo.games.tag.arenas import hand_made_arenas
from godojo.games.tag.opponents import OPPONENTS
from godojo.games.tag.replay import layout as layout_of
from godojo.games.tag.settings import TagSettings
from godojo.opponents import make_opponent
from godojo.show.curves import Table, read_table
from godojo.show.recording import record_rounds
from godojo.show.replay_file import write_rounds
from godojo.show.watch import access as gate_room
from godojo.show.watch.access import AccessProxy
from godojo.show.watch.board import NO_ROUNDS, rates_html, training_status
from godojo.show.watch.page import Page, curve_data, last_win_rates
from godojo.show.watch.rounds import GENERATED, NEWEST, Choice, RunRounds
from godojo.show.watch.scene import FOV_RAD, PATH_STEPS, view_of
from godojo.show.watch.serve import document, opened
from tests.browser import Tab, browser, chromium
from tests.judged_runs import ROLES, make_run, make_solo_run

VIEWERS, STALLED = 12, 3
CAMERA = {
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
"""What a page says first; the round moves while there is somebody who has."""


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rounds") / "some.npz"
    players = {
        "seeker": make_opponent("sighted", "seeker", game="tag"),
        "hider": make_opponent("sighted", "hider", game="tag"),
    }
    write_rounds(path, record_rounds("tag", players, episodes=5, seed=3))
    return path


@contextmanager
def shown(what: Path | str, token: str = "") -> Iterator[tuple[Page, AccessProxy]]:
    """A page that runs."""
    stop = threading.Event()
    with opened(str(what), token=token) as (page, gate):
        runner = threading.Thread(target=page.run, args=(stop.is_set,))
        runner.start()
        try:
            yield page, gate
        finally:
            stop.set()
            runner.join(20)


def wait(until: Callable[[], bool], timeout_s: float = 20.0) -> None:
    ends = time.monotonic() + timeout_s
    while not until():
        assert time.monotonic() < ends
        time.sleep(0.05)


def test_only_its_own_address_and_the_token_open_the_door(rounds: Path) -> None:
    with shown(rounds) as (_, gate):
        assert "<html" in httpx.get(gate.url).text
        assert httpx.get(gate.url, headers={"Host": "elsewhere.example"}).status_code == 403
        assert httpx.get(gate.url, headers={"Origin": "http://elsewhere.example"}).status_code == 403
    with shown(rounds, token="open-sesame") as (_, gate):
        bare = gate.url.partition("?")[0]
        assert httpx.get(bare).status_code == 401
        assert httpx.get(f"{bare}?token=wrong-one").status_code == 401
        with httpx.Client(follow_redirects=True) as client:
            assert "<html" in client.get(gate.url).text
            assert client.get(bare).status_code == 200
        with pytest.raises(Exception, match="401"):
            viewer(gate, stalls=False)


def test_what_is_no_request_is_sent_away(rounds: Path) -> None:
    with shown(rounds) as (_, gate):
        for words in (b"\x00\xff\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n", b"GET /" + b"x" * 70000):
            # Silence and the end; or a reset, where we were still talking.
            with socket.create_connection(("127.0.0.1", gate.port), timeout=10) as wire, suppress(ConnectionError):
                wire.sendall(words)
                assert wire.recv(100) == b""
        assert httpx.get(gate.url).status_code == 200


def test_beyond_this_machine_there_is_always_a_token(rounds: Path) -> None:
    with opened(str(rounds), host="0.0.0.0") as (_, gate):
        assert len(gate.token) >= 16
        assert httpx.get(f"http://127.0.0.1:{gate.port}/").status_code == 401
    with pytest.raises(GodojoError, match="--token must have"), opened(str(rounds), host="0.0.0.0", token="short"):
        pass


def test_a_taken_port_is_one_line(rounds: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(GodojoError, match=f"port {port} .* cannot be used .* another port"),
            opened(str(rounds), port=port),
        ):
            pass


def test_an_empty_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(GodojoError, match="holds no replay"), opened(str(tmp_path / "empty")):
        pass


def test_a_training_is_followed_and_anybody_can_meet_anybody(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    source = RunRounds(run)
    assert source.players("seeker") == [NEWEST, "start", "final", *(f"scripted:{name}" for name in OPPONENTS)]
    first = source.next(Choice("open", {"seeker": NEWEST, "hider": "scripted:random"}))
    assert first.header.arena["name"] == "open"
    assert [role.player for role in first.header.roles] == [NEWEST, "random"]
    run_ahead = np.linalg.norm(first.position_m[-1, 0] - first.position_m[0, 0])
    assert run_ahead > 0.5, "the newest policy runs where it looks"
    newer = run.policy("seeker", "start").read_bytes()  # it stands still
    run.save_policy("seeker", newer)
    second = source.next(Choice(GENERATED, {"seeker": NEWEST, "hider": "start"}))
    assert second.header.arena["name"].startswith("generated")
    assert np.ptp(second.position_m[:, 0], axis=0).max() < 0.01
    (run.path / "policy_seeker.pt").unlink()
    with pytest.raises(GodojoError, match="no policy of the seeker yet"):
        source.next(Choice("open", {}))
    for path in run.path.glob("snapshots/*/policy_seeker.pt"):
        path.unlink()
    with pytest.raises(GodojoError, match="train it longer"):
        RunRounds(run)


def test_the_tab_names_the_run_and_only_the_document_is_served(rounds: Path) -> None:
    assert b"<title>a&lt;b&gt;\\1 \xc2\xb7 Godojo</title>" in document("a<b>\\1")
    with shown(rounds) as (_, gate):
        answer = httpx.get(gate.url)
        assert f"<title>{rounds.name} · Godojo</title>" in answer.text
        assert "Loading the viewer" in answer.text
        assert httpx.get(f"{gate.url}other.js").status_code == 404


def test_the_status_follows_the_files_of_the_run(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    run.snapshots().cut_back(500)  # `final` was at 1000
    written = (run.path / "config.json").stat().st_mtime
    assert training_status(run, read_table(run.updates), written + 5).sentence == "Training is starting"
    assert training_status(run, read_table(run.updates), written + 500).state == "stopped"

    def status(rows: list[str], later_s: float) -> tuple[str, str]:
        run.updates.write_text("\n".join(["update,agent_steps,seconds,progress", *rows]) + "\n")
        for path in (run.updates, run.path / "config.json", run.path / "environment.json"):
            if path.exists():
                os.utime(path, (written, written))
        found = training_status(run, read_table(run.updates), written + later_s)
        return found.state, found.sentence

    quick = [f"{n},{100 * n},{n},{n / 10}" for n in (1, 2, 3)]
    slow = [f"{n},{100 * n},{60 * n},{n / 10}" for n in (1, 2, 3)]
    assert status(quick, 20) == ("live", "Training is live · 30 % of its budget")
    assert status(quick, 40) == ("stopped", "Training stopped at 30 % of its budget")
    assert status(slow, 40)[0] == "live", "its updates take a minute each"
    run.snapshots().save("final", {}, 300, 3.0)
    assert status(quick, 5) == ("finished", "Training finished · 300 agent-steps in 3 s")
    assert status([*quick, "4,400,4,0.4"], 5)[0] == "live", "resumed with a larger budget"


@pytest.mark.parametrize("absent", ["", "nan", "0"])  # 0 for all roles is how older runs noted no rounds
def test_no_rounds_are_never_shown_as_0_percent(absent: str) -> None:
    names = ("seconds", "seeker/rollout/win_rate", "hider/rollout/win_rate")
    nothing = Table(dict(zip(names, (("1", "2"), (absent,) * 2, (absent,) * 2), strict=True)))
    colours = dict.fromkeys(ROLES, "#fff")
    for table in (nothing, Table({"seconds": ("1", "2")}), Table({})):
        said = rates_html(last_win_rates(table, ROLES), colours, 4000)
        assert NO_ROUNDS in said
        assert "%" not in said
        assert curve_data(table, ROLES, "win_rate") is None
    later = (("1", "2", "3", "4"), (absent, "0", "0.25", "0.5"), (absent, "1", "0.75", "0.5"))
    table = Table(dict(zip(names, later, strict=True)))
    data = curve_data(table, ROLES, "win_rate")
    assert data is not None
    assert list(data[0]) == [2.0, 3.0, 4.0]
    assert data[1][0] == pytest.approx(12.5)
    said = rates_html(last_win_rates(table, ROLES), colours, 4000)
    assert "seeker 50 %" in said
    assert "last 4,000 rounds" in said


@pytest.mark.parametrize("aspect", [0.46, 0.96, 1.1, 1.6, 2.4])
def test_the_first_view_holds_the_whole_arena(aspect: float) -> None:
    for arena in hand_made_arenas(TagSettings.defaults()).values():
        layout = layout_of(TagSettings.defaults(), arena)
        place, look_at = (np.array(point) for point in view_of(layout, aspect))
        away = (place - look_at) / np.linalg.norm(place - look_at)
        up = np.cross(away, [1.0, 0.0, 0.0])
        largest = 0.0
        for x in (-0.5, 0.5):
            for z in (-0.5, 0.5):
                corner = np.array([x * arena.size_m[0], 0.0, z * arena.size_m[1]]) - place
                depth = -corner @ away * math.tan(FOV_RAD / 2)
                largest = max(largest, abs(corner[0] / depth / aspect), abs(corner @ up / depth))
        assert 0.8 < largest < 1.0


def viewer(gate: AccessProxy, *, stalls: bool) -> ClientConnection:
    """Somebody whose page is open; one who stalls never reads."""
    wire = socket.socket()
    if stalls:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    wire.connect(("127.0.0.1", gate.port))
    looks = connect(
        f"ws://127.0.0.1:{gate.port}/",
        sock=wire,
        subprotocols=[Subprotocol(f"viser-v{viser.__version__}")],
        max_queue=1 if stalls else None,
        max_size=2**26,
        ping_interval=None,
        close_timeout=1,
    )
    looks.send(msgspec.msgpack.encode(CAMERA))
    return looks


@pytest.mark.slow
def test_who_stalls_is_let_go_and_holds_nobody_up(rounds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate_room, "STALL_TIMEOUT_S", 1.0)
    monkeypatch.setattr(gate_room, "BUFFER_BYTES", 16384)
    with shown(rounds) as (_, gate), ExitStack() as stack:
        wires = [stack.enter_context(viewer(gate, stalls=number < STALLED)) for number in range(VIEWERS)]
        assert gate.viewers == VIEWERS
        received = [0] * VIEWERS
        stop = threading.Event()

        def read(number: int) -> None:
            while not stop.is_set():
                try:
                    received[number] += len(wires[number].recv(timeout=0.5))
                except TimeoutError:
                    continue

        readers = [threading.Thread(target=read, args=(number,)) for number in range(STALLED, VIEWERS)]
        for reader in readers:
            reader.start()
        wait(lambda: gate.dropped >= STALLED, 45)
        before = list(received)
        wait(lambda: all(received[number] > before[number] for number in range(STALLED, VIEWERS)))
        stop.set()
        for reader in readers:
            reader.join(5)
        wait(lambda: gate.viewers == VIEWERS - STALLED)


AUTOGROUP = Path("/proc/sys/kernel/sched_autogroup_enabled")
NICE_PROGRAM = """
import os, time
from godojo.cli.watch import give_way, leave_terminal_session
leave_terminal_session()
give_way()
print(os.nice(0), open("/proc/self/autogroup").read().split()[-1], os.getsid(0) == os.getpid(), flush=True)
try:
    time.sleep(20)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(
    not AUTOGROUP.exists() or AUTOGROUP.read_text().strip() != "1", reason="sessions are not scheduled as groups here"
)
def test_at_a_terminal_the_viewer_has_a_low_priority_session_of_its_own() -> None:
    child, wire = pty.fork()
    if not child:  # the shell of a terminal, whose session the viewer would share
        script = 'trap : INT; "$0" -c "$1"; cat /proc/self/autogroup'
        os.execv("/bin/sh", ["sh", "-c", script, sys.executable, NICE_PROGRAM])
    said = b""

    def heard(words: bytes) -> bool:
        nonlocal said
        with suppress(OSError):  # its end, where nobody holds the terminal any more
            said += os.read(wire, 1000) if select.select([wire], [], [], 0.1)[0] else b""
        return words in said

    try:
        wait(lambda: heard(b"19 15 True"))
        os.write(wire, b"\x03")  # Ctrl-C
        wait(lambda: heard(b"interrupted"))
        wait(lambda: heard(b"nice 0"))  # the shell's own session is as it was
    finally:
        os.close(wire)
        os.waitpid(child, 0)


def press(tab: Tab, word: str) -> None:
    tab.run(f"[...document.querySelectorAll('button')].find(one => one.textContent === '{word}').click()")


def coloured(picture: bytes, right: float, bottom: float) -> tuple[int, int, int]:
    """Points of the scene that are orange, blue, and of the floor's straw."""
    pixels = image.imread(io.BytesIO(picture))[..., :3]
    pixels = pixels[: int(pixels.shape[0] * bottom), : int(pixels.shape[1] * right)]
    red, green, blue = (pixels[..., channel] for channel in range(3))
    orange = (red > 0.75) & (green > 0.35) & (green < 0.75) & (blue < 0.35)
    deep = (blue > 0.55) & (red < 0.3) & (green < 0.5)
    straw = (np.abs(red - 0.83) < 0.12) & (np.abs(green - 0.78) < 0.12) & (np.abs(blue - 0.68) < 0.14)
    return int(orange.sum()), int(deep.sum()), int(straw.sum())


def test_an_agent_that_is_alone_has_a_path_a_rating_and_successes(tmp_path: Path) -> None:
    with shown(make_solo_run(tmp_path).path) as (page, _):
        wait(lambda: bool(page.scene._bodies))
        page._ended, page._wins = 2, {"walker": 1}
        page._tell(page.scene.show(3.0, rays=True, trails=True))
        assert "comfort 80 % · succeeded in 1 of 2 shown" in page._board.content, "it walks fast"
        way = page.scene._bodies[0]._trail
        assert len(way.points) == PATH_STEPS - 1
        assert np.abs(way.points[0, 0] - page.replay.position_m[0, 0]).max() < 0.3, "from the start"  # type: ignore[union-attr]
        assert len(np.unique(way.colors.reshape(-1, 3), axis=0)) == 2, "comfortable until it was fast"
        page._tell(page.scene.show(60.0, rays=False, trails=True))
        assert "Time is up" in page._board.content
        assert list(page._titles.values()) == ["Success rate, % by seconds of training"]


@pytest.mark.slow
@pytest.mark.rendering
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium here (apt install chromium)")
def test_the_page_shows_a_round_on_a_desk_and_on_a_phone(rounds: Path, tmp_path: Path) -> None:
    with shown(rounds) as (page, gate), browser() as new_tab:
        tab = new_tab()
        tab.size(1280, 800)
        tab.open(gate.url)
        tab.wait("!!document.querySelector('.board.ready') && !document.querySelector('#loading')")
        assert tab.run("document.title") == f"{rounds.name} · Godojo"
        text = tab.run("document.body.innerText")
        for words in (rounds.name, "Recorded rounds", "time left", "seeker", "hider"):
            assert words in text, words
        wait(lambda: page.seconds > 0.5)
        press(tab, "Pause")
        tab.wait("[...document.querySelectorAll('button')].some(one => one.textContent === 'Play')")
        time.sleep(0.5)
        stood = page.seconds
        press(tab, "Step")
        wait(lambda: page.seconds != stood)
        assert page.seconds == pytest.approx(stood + 1 / 60, abs=1e-6)
        for _ in range(60):  # drawing in software takes its time
            orange, deep, straw = coloured(tab.picture(tmp_path / "desk.png"), 0.7, 1.0)
            if min(orange, deep) > 60 and straw > 20000:
                break
            time.sleep(0.3)
        assert orange > 60
        assert deep > 60
        assert straw > 20000
        round_now = page.rounds_shown
        press(tab, "Next round")
        wait(lambda: page.rounds_shown > round_now)
        tab.size(390, 844, mobile=True)
        tab.open(gate.url)
        tab.wait("!!document.querySelector('.board.ready') && !document.querySelector('#loading')")
        edges = (
            "(one => [one.left, one.top, one.right, one.bottom])(document.querySelector('%s').getBoundingClientRect())"
        )
        arena, panel = tab.run(edges % "canvas[data-engine]"), tab.run(edges % '.mantine-Paper-root[style*="fixed"]')
        assert (arena[0], arena[2], panel[0], panel[2]) == (0, 390, 0, 390)
        assert 300 < arena[3] <= panel[1] + 1, "the panel is below the arena"
        for _ in range(60):
            orange, deep, straw = coloured(tab.picture(tmp_path / "phone.png"), 1.0, 0.48)
            if straw > 20000:
                break
            time.sleep(0.3)
        assert straw > 20000
        assert tab.run("document.documentElement.scrollWidth") <= 390
        assert not [line for line in tab.said if "favicon" not in line]
