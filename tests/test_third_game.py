"""A game in two folders of its own, `tests/third_game`, does everything that Godojo's own games do.

Copy it to begin a game: `GODOJO_GAMES` names the folder that holds the game's Python package.
"""

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from godojo import games
from godojo.cli import main
from godojo.engines.godot.find import Engine
from godojo.engines.make import make_vec
from godojo.errors import GodojoError
from godojo.games.base import GAMES, SEARCH_PATH, Game, game_named
from tests.conftest import ROOT

NAME, ROLES = "pursuit", ("pursuer", "evader")
SMALL = ("--set", "num_worlds=16", "--set", "n_steps=16", "--set", "net_arch=[16,16]", "--eval", "0")
Verb = Callable[..., str]
"""Runs a verb that must succeed, or end with `status`; returns what it printed."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the game, its Godot project with the addon, and a short training of it."""
    folder = tmp_path_factory.mktemp("third_game")
    shutil.copytree(ROOT / "tests/third_game", folder, dirs_exist_ok=True)
    shutil.copytree(ROOT / "godot/addons/godojo", folder / "godot/addons/godojo")
    before = list(games.__path__)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SEARCH_PATH, str(folder / "games"))
        patch.setenv("GODOJO_RUNS", str(folder / "runs"))
        with pytest.raises(SystemExit) as ended:
            main(["train", NAME, "--steps", "200000", "--run-id", "one", "--eval", "0"])
        assert ended.value.code == 0
        with pytest.raises(SystemExit) as ended:
            main(["train", "navigation", "--steps", "512", "--run-id", "nav", *SMALL])
        assert ended.value.code == 0
        yield folder
    games.__path__[:] = before
    for name in [name for name in sys.modules if name.startswith(f"{games.__name__}.{NAME}")]:
        del sys.modules[name]


@pytest.fixture
def verb(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verb:
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "250")

    def run(*words: str, status: int = 0) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        said = capsys.readouterr()
        assert (ended.value.code or 0) == status, said.err
        return said.err if status else said.out

    return run


@pytest.mark.usefixtures("place")
def test_the_game_is_found_and_keeps_the_contract() -> None:
    assert set(GAMES) >= {"navigation", "tag", NAME}
    few, many = (make_vec(NAME, num_worlds=count, seed=3, truncate_after=7) for count in (3, 40))
    rng = np.random.default_rng(1)
    cut = 0
    for _ in range(60):
        actions = {role: rng.uniform(-1, 1, (40, 1, 2)).astype(np.float32) for role in ROLES}
        many.step(actions)
        few.step({role: action[:3] for role, action in actions.items()})
        for role in ROLES:
            assert np.array_equal(few.roles[role].observation, many.roles[role].observation[:3])
        assert np.allclose(many.roles["pursuer"].reward, -many.roles["evader"].reward)
        cut += int(many.roles["evader"].truncated.sum())
    assert cut > 0
    saved = many.save_state()
    assert saved is not None
    many.step()
    first = many.roles["evader"].observation.copy()
    many.load_state(saved)
    many.step()
    assert np.array_equal(first, many.roles["evader"].observation), "a saved state continues bit-exactly"


def test_it_learns_and_is_judged(verb: Verb) -> None:
    words = ("-n", "200", "-o", "straight", "--role", "pursuer", "--json")
    start, final = (json.loads(verb("eval", f"one@{name}", *words))["verdicts"][0] for name in ("start", "final"))
    assert final["wins"]["low"] > start["wins"]["high"]


def test_it_resumes(verb: Verb) -> None:
    verb("train", NAME, "--steps", "4096", "--run-id", "longer", "--eval", "0")
    verb("train", "--resume", "longer", "--steps", "8192", "--eval", "0")


@pytest.mark.parametrize("kind", ["godot", "onnx"])
def test_it_is_exported(verb: Verb, place: Path, kind: str) -> None:
    verb("export", "one", "--format", kind, "--out", str(place / kind))
    suffix = {"godot": "dojo", "onnx": "onnx"}[kind]
    found = json.loads(verb("eval", str(place / kind / f"pursuer.{suffix}"), "-n", "20", "--json"))
    assert [verdict["opponent"] for verdict in found["verdicts"]] == ["straight"]


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_it_plays_in_the_real_godot(verb: Verb) -> None:
    sim = make_vec(NAME, num_worlds=2)
    with make_vec(NAME, engine="godot", num_worlds=2) as godot:
        assert (godot.reward_terms, godot.winners) == (sim.reward_terms, sim.winners)
        for role in ROLES:
            assert godot.roles[role].observation_parts == sim.roles[role].observation_parts
            assert godot.roles[role].action_parts == sim.roles[role].action_parts
    rows = json.loads(verb("eval", "one", "--engine", "both", "-n", "20", "-o", "straight", "--json"))["rows"]
    assert abs(rows[0]["sim"]["rate"] - rows[0]["godot"]["rate"]) < 0.5
    verb("train", NAME, "--engine", "godot", "--steps", "256", *SMALL)


def test_a_game_without_a_godot_side_says_so(monkeypatch: pytest.MonkeyPatch, verb: Verb) -> None:
    game = GAMES[NAME]
    bare = Game(NAME, game.settings, game.load_twin)
    monkeypatch.setattr(sys.modules[f"{games.__name__}.{NAME}.game"], "GAME", bare)
    assert make_vec(NAME, num_worlds=2).num_worlds == 2
    with pytest.raises(GodojoError, match=r"^pursuit has no Godot side, which `engine godot` needs$"):
        make_vec(NAME, engine="godot")
    assert json.loads(verb("eval", "one", "-n", "5", "--json"))["verdicts"][0]["opponent"] == "itself"


def test_a_search_path_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(SEARCH_PATH, str(tmp_path / "nowhere"))
    with pytest.raises(GodojoError, match="GODOJO_GAMES: there is no folder"):
        game_named("tag")


class Case(NamedTuple):
    """A verb and, where it is refused, the one line that says why."""

    words: tuple[str, ...]
    refusal: str = ""


CASES = [
    Case(("eval", "nav", "-n", "4")),
    Case(("eval", "nav", "-n", "4", "-o", "random"), "plays alone: there is nobody to play against"),
    Case(("league", "nav", "-n", "4"), "a league is between two roles; navigation has: walker"),
    Case(("bench", "sim", "navigation", "--worlds", "8", "--seconds", "0.05", "--repeats", "1")),
    Case(("export", "nav", "--out", "nav")),
    Case(("parity", "navigation", "--set", "rules.round_s=3"), "parity chooses rules.round_s itself"),
    Case(("serve", "--policy", "sightd"), "there is no opponent 'sightd'; did you mean sighted?"),
    Case(("eval", "one", "-n", "4")),
    Case(("eval", "one", "-n", "4", "-o", "sighted"), "no run 'sighted'"),
    Case(("eval", "one", "-n", "4", "-o", "scripted:sighted"), "there is no opponent 'sighted'; "),
    Case(("league", "one", "-n", "4")),
    Case(("league", "one", "-n", "4", "--exploit", "0.001")),
    Case(("bench", "sim", NAME, "--worlds", "8", "--seconds", "0.05", "--repeats", "1")),
    Case(("parity", NAME), "pursuit has no parity plan, which `parity` needs"),
    Case(("serve-game", NAME), "pursuit has no API"),
    Case(("train", NAME, "--arena", "x"), "there is no option --arena"),
    Case(("config", "example", NAME)),
    Case(("plot", "one", "--out", "plot.png")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case.words))
def test_every_verb_works_or_says_in_a_line_what_is_missing(case: Case, verb: Verb) -> None:
    said = verb(*case.words, status=2 if case.refusal else 0)
    if case.refusal:
        problems = [line for line in said.splitlines() if line.startswith("godojo: ")]
        assert len(problems) == 1
        assert case.refusal in problems[0]


def test_play_needs_a_display_for_it_too(verb: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert "there is no display; run this" in verb("play", NAME, status=2)


def test_it_is_recorded(verb: Verb, place: Path) -> None:
    picture = place / "paths.png"
    assert "map: " in verb("replay", NAME, "--episodes", "2", "--out", str(place / "replays"), "--map", str(picture))
    assert list((place / "replays").rglob("*"))
    assert picture.read_bytes().startswith(b"\x89PNG")
    said = verb("replay", str(place / "replays"), "--map", "paths.jpg", status=2)
    assert "--map paths.jpg: maps are PNG" in said


def test_it_is_reported(verb: Verb) -> None:
    verb("report", "one")


@pytest.mark.slow
def test_it_is_watched(verb: Verb) -> None:
    verb("watch", "one", "--port", "0", "--seconds", "5")


@pytest.mark.slow
@pytest.mark.engine
def test_it_is_filmed(verb: Verb, place: Path, engine: Engine) -> None:  # noqa: ARG001 - skips where there is none
    for name in ("film", "record"):
        path = place / f"{name}.mp4"
        verb(name, "one", "--preset", "small", "--out", str(path))
        assert path.stat().st_size > 10_000
