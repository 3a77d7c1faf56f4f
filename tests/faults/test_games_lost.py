"""Games that die, freeze, babble or never start: found in time, ended, started again; nothing spans the gap."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from godojo.engines.godot import logs
from godojo.engines.godot.launch import Recipe, own_scene
from godojo.engines.godot.open import launch_games, open_game
from godojo.engines.godot.worlds import GodotWorlds
from godojo.errors import GodojoError
from godojo.games.tag.godot import TagInGodot
from tests.conftest import Run
from tests.nightly import repeats
from tests.watched_games import PRETEND, Marked, pid_of, pretend

KILLS, FREEZES = repeats(2, nightly=6), repeats(4, nightly=20)
# A game with a child of its own, which must not be forgotten.
WITH_A_CHILD = 'sleep 300 & exec {python} {game} "$@"'


@pytest.fixture(params=["pretend", pytest.param("tag", marks=pytest.mark.engine)])
def marked(request: pytest.FixtureRequest) -> Iterator[Marked]:
    """A game of either kind; none of its processes may be left afterwards."""
    if request.param == "tag":
        request.getfixturevalue("engine")
        made = Marked(own_scene(TagInGodot.scene))
    else:
        words = WITH_A_CHILD.format(python=sys.executable, game=PRETEND)
        made = Marked(Recipe(("/bin/sh", "-c", words, "game")))
    yield made
    assert made.all_gone(), made.running()


def opened(marked: Marked, **options: Any) -> GodotWorlds:
    tag = TagInGodot()
    return launch_games(
        marked.recipe,
        num_worlds=4,
        num_processes=2,
        ticks_per_decision=tag.ticks_per_decision,
        options=tag.configure_options,
        **options,
    )


def play_until_lost(worlds: GodotWorlds) -> dict[str, np.ndarray]:
    """What everybody was told before the loss."""
    known = len(worlds.incidents)
    while True:
        before = {name: role.observation.copy() for name, role in worlds.roles.items()}
        worlds.step()
        if len(worlds.incidents) > known:
            return before


def step_often(worlds: GodotWorlds) -> None:
    for _ in range(100):
        worlds.step()


def check_cut_short(worlds: GodotWorlds, lost: slice, before: dict[str, np.ndarray]) -> None:
    others = np.ones(worlds.num_worlds, np.bool_)
    others[lost] = False
    for name, role in worlds.roles.items():
        assert role.truncated[lost].all()
        assert not role.terminated[lost].any()
        assert not role.acted[lost].any()
        assert not role.reward[lost].any()
        assert np.array_equal(role.final_observation[lost], before[name][lost])
        assert not np.array_equal(role.observation[lost], before[name][lost])
        assert role.acted[others].all()
    assert worlds.ended[lost].all()
    assert not worlds.winner[lost].any()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_killed_game_is_replaced(marked: Marked, number: signal.Signals) -> None:
    with opened(marked) as worlds:
        for time_lost in range(KILLS):
            for _ in range(4):
                worlds.step()
            game = time_lost % 2
            os.kill(pid_of(worlds, game), number)
            before = play_until_lost(worlds)
            check_cut_short(worlds, slice(2 * game, 2 * game + 2), before)
            assert "was killed by SIG" in worlds.incidents[-1].cause
        worlds.step()
        assert all(role.acted.all() for role in worlds.roles.values())
        assert len(worlds.incidents) == KILLS


@pytest.mark.slow
def test_a_frozen_game_is_found_within_its_deadline(marked: Marked) -> None:
    """Again and again, by turns; the others lose nothing by waiting."""
    with opened(marked, step_timeout_s=0.5) as worlds:
        for time_lost in range(FREEZES):
            worlds.step()
            game = time_lost % 2
            pid = pid_of(worlds, game)
            os.kill(pid, signal.SIGSTOP)
            before = play_until_lost(worlds)
            assert pid not in marked.running()
            check_cut_short(worlds, slice(2 * game, 2 * game + 2), before)
        assert "no answer within 0.5 s" in worlds.incidents[-1].cause
        assert len(worlds.incidents) == FREEZES


def test_all_games_lost_at_once(marked: Marked) -> None:
    with opened(marked) as worlds:
        worlds.step()
        for game in (0, 1):
            os.kill(pid_of(worlds, game), signal.SIGKILL)
        before = play_until_lost(worlds)
        check_cut_short(worlds, slice(0, 4), before)
        worlds.step()
        assert not worlds.ended.any()


def test_a_game_lost_between_start_and_finish(marked: Marked) -> None:
    with opened(marked) as worlds:
        worlds.step()
        before = {name: role.observation.copy() for name, role in worlds.roles.items()}
        os.kill(pid_of(worlds, 0), signal.SIGSTOP)
        worlds.start()
        os.kill(pid_of(worlds, 0), signal.SIGKILL)
        worlds.finish()
        check_cut_short(worlds, slice(0, 2), before)


def test_a_game_lost_between_decisions_is_missed_by_reset(marked: Marked) -> None:
    with opened(marked) as worlds:
        os.kill(pid_of(worlds, 1), signal.SIGKILL)
        worlds.reset(5)
        assert not worlds.ended.any()
        worlds.step()
        assert all(role.acted.all() for role in worlds.roles.values())


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (("--babble-after", "3"), "a step"),
        (("--die-after", "3"), "ended by itself with exit status 3"),
        (("--freeze-after", "3"), "gave no answer within 0.3 s"),
    ],
)
def test_games_that_fail_again_and_again_get_by_until_the_quota(words: tuple[str, ...], cause: str) -> None:
    """Three good decisions each, so they are not broken; but it cannot go on for ever."""
    marked = Marked(pretend(*words))
    with launch_games(marked.recipe, num_worlds=1, step_timeout_s=0.3, max_restarts=4) as worlds:
        with pytest.raises(GodojoError, match=rf"{cause}.*max_restarts=4 within 10 min are used up.*log: "):
            step_often(worlds)
        assert len(worlds.incidents) == 5
    assert marked.all_gone()


def test_a_quota_is_one_of_the_last_ten_minutes() -> None:
    from godojo.engines.godot.restarts import Restarts

    restarts = Restarts(1, window_s=0.05)
    for _ in range(5):
        restarts.note(0, "fell over", None, "", "started again")
        restarts.good_step(0)
        time.sleep(0.06)
    restarts.note(0, "fell over", None, "", "started again")
    restarts.good_step(0)
    with pytest.raises(GodojoError, match="max_restarts=1"):
        restarts.note(0, "fell over", None, "", "started again")


@pytest.mark.parametrize("words", [("--die-after", "0"), ("--babble-after", "0"), ("--freeze-after", "0")])
def test_a_game_without_one_good_step_is_broken(words: tuple[str, ...]) -> None:
    marked = Marked(pretend(*words))
    with launch_games(marked.recipe, num_worlds=1, step_timeout_s=0.3) as worlds:
        with pytest.raises(GodojoError, match="3rd loss in a row without a good step"):
            step_often(worlds)
        assert len(worlds.incidents) == 3
    assert marked.all_gone()


def game_that(folder: Path, *lines: str) -> Path:
    script = folder / "game.sh"
    script.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    script.chmod(0o755)
    return script


def test_a_game_that_dies_at_every_start_stops_us(godojo: Run, tmp_path: Path) -> None:
    script = game_that(tmp_path, "echo begun >> $0.starts", "echo 'no licence for this game' >&2", "exit 7")
    home = str(tmp_path / "home")
    done = godojo("serve", "--binary", str(script), GODOJO_HOME=home)
    assert done.returncode == 2
    assert "exit status 7" in done.stderr
    assert "no licence for this game" in done.stderr
    assert "3rd loss in a row" in done.stderr
    (complaint,) = [line for line in done.stderr.splitlines() if line.startswith("godojo:")]
    log = Path(complaint.split("(log: ")[1].split(")")[0])
    assert log.parent == Path(home) / "logs"
    assert log.read_text() == "no licence for this game\n"
    assert (tmp_path / "game.sh.starts").read_text().count("begun") == 3


def test_a_game_that_never_connects() -> None:
    marked = Marked(Recipe(("/bin/sh", "-c", "echo lost in thought; sleep 300", "game")))
    with pytest.raises(GodojoError, match=r"did not connect within 0\.3 s.*lost in thought"):
        launch_games(marked.recipe, num_worlds=1, start_timeout_s=0.3)
    assert marked.all_gone()


@pytest.mark.engine
@pytest.mark.usefixtures("engine")
def test_a_project_that_does_not_parse_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "project.godot").write_text('[application]\nconfig/name="Broken"\nrun/main_scene="res://main.tscn"\n')
    (tmp_path / "main.gd").write_text("extends Node\nfunc _ready() -> void:\n\tprint(hello there)\n")
    (tmp_path / "main.tscn").write_text(
        '[gd_scene load_steps=2 format=3]\n[ext_resource type="Script" path="res://main.gd" id="1"]\n'
        '[node name="Main" type="Node"]\nscript = ExtResource("1")\n'
    )
    with pytest.raises(GodojoError, match=r"Parse Error.*log|Parse Error.*main\.gd"):
        open_game(tmp_path)


def test_logs_are_kept_small_and_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_HOME", str(tmp_path))
    made = [logs.GameLog() for _ in range(3)]
    kept = logs.GameLog()
    for log in made:
        log.let_go()
    for _ in range(logs.KEPT + 5):
        logs.GameLog().let_go()
    left = {path.name for path in (tmp_path / "logs").iterdir()}
    assert len(left) <= logs.KEPT + 1
    assert kept.path.name in left
    assert made[0].path.name not in left
    with kept.opened() as output:
        output.write(b"\x1b[31mred\x1b[0m\n" + b"x" * 999 + b"\n\x07 last\n")
    assert kept.last_lines(2) == ["x" * 300, "last"]
    assert kept.last_lines(3)[0] == "red"
    assert kept.new_lines()[-1] == "last"
    monkeypatch.setattr(logs, "MOST_BYTES", 12)
    with kept.opened() as output:
        kept.keep_small()
        output.write(b"\nafter\nhalf a li")
    assert kept.last_lines(9) == ["red", "after", "half a li"], "its beginning is kept"
    assert kept.new_lines() == ["", "after"]


def test_a_log_that_cannot_be_written_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GODOJO_HOME", str(tmp_path / "file"))
    with pytest.raises(GodojoError, match=r"cannot write a game's log.*GODOJO_HOME"):
        launch_games(pretend(), num_worlds=1)
