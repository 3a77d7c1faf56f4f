"""Every command of every page: the verb, its options and its files exist, and it runs where that takes no minutes."""

import os
import re
import shlex
import shutil
import signal
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.exceptions import TyperException

from godojo.cli import main
from godojo.cli.verbs import VERBS, load
from godojo.runs.folder import RunFolder
from tests.conftest import ROOT
from tests.doc_pages import LAUNCHER, PAGES, Command, blocks, commands, page_name, shell_lines
from tests.learning_games import STEPS, WORDS

COMMANDS = [
    command
    for page in PAGES
    for command in commands(page)
    if "scripts/ml/" not in str(command)  # tests/test_navigation_scripts.py
]
SNAPSHOTS = ("10s", "30s", "1m")
LAUNCHERS = ("run", "test", "install")
"""Verbs of dojo.py itself."""
BUDGET = ("--minutes", "--steps", "--judge", "--eval")
"""Options of `train` and `distil` that say how long; the tests have budgets of their own."""

STANDS_FOR = {"RUN": "tiny", "OTHER": "second", "DIR": "frames", "PROJECT_DIR": "project", "path/to/project": "project"}
STANDS_FOR["vr_nav_model_4000_steps.zip"] = "vr_nav_model_100_steps.zip"
"""What a page leaves to its reader, and what it is here."""

ELSEWHERE = {
    "test": "starts tests; its files are looked for here",
    "install": "loads from the network; tests/test_launcher.py",
    "run": "a benchmark takes minutes, and tests/test_launcher.py runs a script; file and options are looked for here",
    "bench": "measures for minutes; tests/test_bench*.py",
    "doctor": "answers by the machine it runs on; tests/test_doctor.py",
    "play": "needs a person at a screen; tests/godot/test_play.py",
    "serve": "waits for a game; tests/test_serve.py",
    "serve-game": "listens until it is stopped; tests/godot/test_http_docs.py",
    "engine install": "loads from the network; tests/test_engine_install.py",
    "engine run": "is the engine itself, often its editor; tests/godot/test_godot_engine.py",
    "qa": "reads runs and files; tests/test_qa.py, tests/godot/test_qa_workflows.py",
    "twin": "needs scripts; tests/test_gdscript.py",
    "check": "needs a game with agents; tests/godot/test_game_check.py",
    "hunt": "plays for minutes; tests/godot/test_hunt.py",
    "reproduce": "needs a finding; tests/godot/test_hunt.py",
    "train build/gems.x86_64": "needs an exported game; tests/godot/test_exporting.py",
    "train path/to/project": "needs a godot_rl game; tests/godot/test_external_road.py",
    "export godot-rl": "needs a policy of a godot_rl game; tests/test_external_games.py",
    "train --connect": "waits for a game; tests/test_train_cli.py",
    "train PROJECT_DIR": "needs a godot_rl game; tests/godot/test_twins.py",
    "train --demos": "needs a file of demonstrations; tests/test_demos.py",
    "train --ray": "needs Ray; tests/test_ray.py",
    "train rllib": "needs RLlib; tests/test_rllib.py",
    "eval --ray": "needs Ray; tests/test_ray.py",
    "league --ray": "needs Ray; tests/test_ray.py",
    "train landing": "trains for minutes; tests/test_landing_twin.py",
    "train physics_stress": "plays the real engine for minutes; tests/godot/test_physics_stress.py",
    "train voxel_stress": "plays the real engine for minutes; tests/godot/test_voxel_scenarios.py",
    "eval voxel_stress": "needs a run of it; tests/godot/test_voxel_scenarios.py",
    "train bug_reproduction": "plays the real engine for minutes; tests/godot/test_voxel_scenarios.py",
    "eval hunt": "needs a run of it; tests/godot/test_voxel_scenarios.py",
    "train pursuit": "needs GODOJO_GAMES; tests/test_third_game.py",
    "train locomotion": "plays the real engine; tests/godot/test_locomotion.py",
    "eval locomotion": "needs a run of it; tests/godot/test_locomotion.py",
    "eval walk": "needs a run of locomotion; tests/godot/test_locomotion.py",
    "eval plain": "needs a run of locomotion; tests/godot/test_locomotion.py",
    "train menu": "plays the real engine; tests/godot/test_menu.py",
    "eval tester@start": "needs a run of menu; tests/godot/test_menu.py",
    "eval alone": "needs a run of menu; tests/godot/test_menu.py",
    "train crowd": "plays the real engine; tests/godot/test_crowd.py",
    "eval together": "needs a run of it; tests/godot/test_crowd.py",
    "eval apart": "needs a run of it; tests/godot/test_crowd.py",
    "train navigation --http": "needs a game that listens; tests/test_navigation_training.py",
    "scripts/train.sh": "tests/test_scripts.py",
    "scripts/record_gui.sh": "tests/godot/test_film.py",
    "scripts/encode_frames.sh": "tests/godot/test_film.py",
    "scripts/plot_metrics.sh": "`plot` in a shell script; its words are those of `plot`",
}
"""Commands that are not run here, by how they begin or by an option they have, and the reason."""

LONG = ("parity", "film", "record", "encode", "--clips", "--engine", "--project", "--exploit")
"""Words of commands that play the real engine or train for some time: they run nightly."""


def key_of(command: Command) -> str | None:
    """By which entry of ELSEWHERE it is left out."""
    given = " ".join((command.verb, *command.arguments)) if command.verb else " ".join(command.words)
    for key in ELSEWHERE:
        first, *others = key.split()
        if given.split()[0] == first and all(word in given.split() for word in others):
            return key
    return None


def leaf(command: Command) -> tuple[Any, list[str]]:
    """The command of the command line that is meant, and the words that are its own."""
    assert command.verb in VERBS, f"{command.page}: {command}: there is no {command.verb}"
    found, words = load(command.verb), [*command.arguments]
    while hasattr(found, "get_command") and words:
        name = words.pop(0)
        below = found.get_command(typer.Context(found), name)
        assert below is not None, f"{command.page}: {command}: there is no {name}"
        found = below
    return found, words


def test_no_page_writes_a_command_that_is_not_there_after_the_set_up() -> None:
    """`godojo` is there once `.venv` is activated, which three pages say; Python's scripts need the environment."""
    for command in COMMANDS:
        assert command.words[:2] == LAUNCHER or command.words[0].startswith("scripts/") or command.words[0] == "godojo"
    plain = {(command.page, command.words) for command in COMMANDS if command.words[0] == "godojo"} - {
        ("README.md", ("godojo", "VERB")),
        ("docs/install.md", ("godojo", "VERB")),
        ("docs/training.md", ("godojo", "train")),
    }
    assert {words for _, words in plain} <= {("godojo",)}, "the name of the package and of the addon"
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"python3? (?:-m |benchmarks/|tests/)|pip install godojo", text), page_name(page)


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.verb not in ("", "VERB", *LAUNCHERS)], ids=str)
def test_words_fit_the_command_line(command: Command) -> None:
    found, words = leaf(command)
    try:
        found.make_context(command.verb, words)
    except TyperException as error:
        if not (command.is_inline and not words):  # the mere name of a command that needs more
            pytest.fail(f"{command.page}: {command}: {error}")


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.verb in LAUNCHERS], ids=str)
def test_words_fit_the_launcher(command: Command) -> None:
    """`dojo.py run FILE ...` and `dojo.py test FILE ...` have files that exist, `install` knows its packages."""
    assert f'"{command.verb}"' in (ROOT / "dojo.py").read_text(encoding="utf-8")
    if command.verb == "install":
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
            "optional-dependencies"
        ]
        assert set(command.arguments) <= set(extras)
        return
    page = (ROOT / command.page).read_text(encoding="utf-8")
    files = [word for word in command.arguments if word.endswith((".py", ".gd"))]
    assert files or command.verb == "test" or "FILE.py" in command.arguments
    for name in files:
        saved = f"Save this as `{name}`" in page or name == "FILE.py"
        assert saved or (ROOT / name).is_file(), f"{command.page}: {command}: no file {name}"
    source = "".join((ROOT / name).read_text(encoding="utf-8") for name in files if (ROOT / name).is_file())
    if command.verb == "run" and source:
        for option in (word for word in command.arguments if word.startswith("--")):
            field = option.removeprefix("--").replace("-", "_")  # of a dataclass whose fields are the options
            is_there = f'"{option}"' in source or re.search(rf"^    {field}: \w+ = ", source, re.MULTILINE)
            assert is_there, f"{command.page}: {command}: no option {option}"
    if "-k" in command.arguments:
        names = re.findall(r"\b(?:def|func) (test_\w+)", source)
        for part in command.arguments[command.arguments.index("-k") + 1].split(" or "):
            assert any(part in name for name in names), f"{command.page}: {command}: no test {part}"


@pytest.mark.parametrize("command", [one for one in COMMANDS if one.words[0].startswith("scripts/")], ids=str)
def test_scripts_know_their_words(command: Command) -> None:
    script = ROOT / command.words[0]
    assert os.access(script, os.X_OK)
    for word in command.arguments:
        assert word in STANDS_FOR or word in script.read_text(encoding="utf-8"), f"{command.page}: {command}"


def test_the_options_of_the_page_for_godot_rl_users_exist() -> None:
    """In the right column of its tables, where options stand without their command."""
    known = {name for verb in ("train", "export", "eval", "record") for one in load(verb).params for name in one.opts}
    page = (ROOT / "docs/from-godot-rl.md").read_text(encoding="utf-8")
    ours = " ".join(row.split(" | ")[1] for row in page.splitlines() if row.startswith("| `") and " | " in row)
    options = set(re.findall(r"`(--[\w-]+)", ours))
    assert len(options) >= 10
    assert options <= known


def test_every_reason_is_needed() -> None:
    assert {key_of(command) for command in COMMANDS} == {None, *ELSEWHERE}


def runnable(page: Path) -> list[Command]:
    """Commands in full, in the order of the page, each on the first page that has it."""
    firsts = {one.words: one for one in reversed(COMMANDS) if one.arguments or not one.is_inline}
    on_page = [one for one in firsts.values() if one.page == page_name(page)]
    left = [one for one in on_page if one.verb not in ("", "VERB") and key_of(one) is None]
    return sorted(left, key=COMMANDS.index)


def is_long(command: Command) -> bool:
    """Also where it needs a run that a long one has trained."""
    if any(word in LONG for word in (command.verb, *command.arguments)):
        return True
    long = [
        one for one in COMMANDS if one.page == command.page and "--run-id" in one.words and set(LONG) & {*one.words}
    ]
    return any(one.words[one.words.index("--run-id") + 1] in command.arguments for one in long)


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a reader has by then: two runs with all their files, exported policies, a project, arenas, an opponent."""
    place = tmp_path_factory.mktemp("workplace")
    before = Path.cwd()
    os.chdir(place)
    try:
        small = (*WORDS, "--set=rules.round_s=1.0", "--judge=0", f"--steps={16 * STEPS}", "--run-id=tiny")
        typed("train", "tag", *small)
        run = RunFolder.open("tiny")
        policies = {role: run.policy(role).read_bytes() for role in ("seeker", "hider")}
        for number, name in enumerate(SNAPSHOTS, 1):
            run.snapshots().save(name, policies, number, number / 10)
        shutil.copytree("runs/tiny", "runs/second")
        typed("export", "tiny", "--out", ".")
        typed("export", "tiny", "--out", ".", "--format", "onnx")
        typed("replay", "tiny", "-n", "1", "--packed", "--out", ".")
        next(place.glob("*.npz")).rename("some.npz")
    finally:
        os.chdir(before)
    (place / "project").mkdir()
    (place / "project/project.godot").write_text('config_version=5\n\n[application]\n\nconfig/name="Mine"\n')
    shutil.copytree(ROOT / "godot/addons/godojo", place / "flags/addons/godojo")
    for name, content in saved_files("docs/inference.md")[:4]:
        (place / "flags" / name).write_text(content, encoding="utf-8")
    shutil.copytree(ROOT / "godot/addons/godojo", place / "first-agent/addons/godojo")
    for name, content in saved_files("docs/first-agent.md"):
        (place / "first-agent" / name).write_text(content, encoding="utf-8")
    (place / "rooms").mkdir()
    (arena,) = (block for block in blocks(ROOT / "docs/games/tag.md") if block.language == "json")
    (place / "rooms/yard.json").write_text(arena.text)
    (own,) = (block for block in blocks(ROOT / "docs/opponents.md") if "class Chaser" in block.text)
    (place / "mine.py").write_text(own.text)
    return place


def saved_files(page: str) -> list[tuple[str, str]]:
    """Names and contents of the files that a page asks its reader to save."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"Save this as `([\w.]+)`:\n\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def typed(*words: str) -> None:
    """Runs the command line in this process: it would take longer to begin than to do its work."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert ended.value.code == 0, shlex.join(words)


def shortened(command: Command) -> list[str]:
    """The same command with other lengths: few rounds, few decisions, small nets, small pictures."""
    words = [command.verb]
    rest = iter(command.arguments)
    for word in rest:
        if word in BUDGET and command.verb in ("train", "distil"):
            next(rest)
            continue
        for name, here in STANDS_FOR.items():
            word = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", here, word)
        words.append(word)
    return words + more_words(command)


def more_words(command: Command) -> list[str]:
    words = command.arguments
    match command.verb:
        case "train" if "--resume" in words:
            return [f"--steps={4 * STEPS}", "--judge=0"]
        case "train":
            learner = ["--set=num_worlds=32", "--set=n_steps=8"]
            if "sb3" in words:
                learner = ["--num-envs=4", "--set=n_steps=64", "--set=batch_size=64"]
                if {"sac", "td3", "dqn"} & set(words):
                    learner = ["--num-envs=4", "--set=learning_starts=100", "--set=gradient_steps=1"]
                learner += ["--set=checkpoint_steps=100", "--set=best_rounds=2"]
            elif "sac" in words:
                learner += ["--set=net_arch=[8]"]
            elif "--init-from" not in words:
                learner = list(WORDS)
            if "classic" in words:
                learner += ["--set=opponent_resample_interval=5"]
            processes = ["--processes=1"] if {"--engine", "--project"} & set(words) else []
            return [*learner, *processes, f"--steps={2 * STEPS}", "--judge=0"]
        case "distil":
            return [f"--steps={4 * STEPS}", "--episodes=2"]
        case "behaviours":
            return ["--episodes=2", "--preset=small"]
        case "eval" | "league" | "report" | "export" | "replay" | "parity":
            exploit = ["--exploit=0.01"] if "--exploit" in words else []
            return ["--episodes=2", *exploit]
        case "watch":
            return ["--port=0", "--seconds=1"]
        case "film" | "record":
            return ["--preset=small"]
        case _:
            return []


@pytest.fixture
def here(workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = shutil.copytree(workplace, tmp_path / "place")
    monkeypatch.delenv("GODOJO_RUNS", raising=False)
    monkeypatch.chdir(place)
    yield place
    shutil.rmtree(place)


def pages_with(long: bool) -> list[Path]:
    return [page for page in PAGES if any(is_long(one) == long for one in runnable(page))]


@pytest.mark.parametrize("page", pages_with(long=False), ids=page_name)
@pytest.mark.usefixtures("here")
def test_commands_run(page: Path) -> None:
    for command in runnable(page):
        if not is_long(command):
            typed(*shortened(command))


def test_most_commands_are_run_and_not_only_read() -> None:
    assert len({one.words for page in PAGES for one in runnable(page) if not is_long(one)}) >= 35


@pytest.mark.parametrize("page", pages_with(long=True), ids=page_name)
@pytest.mark.nightly
@pytest.mark.engine
@pytest.mark.rendering
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("here", "engine")
def test_long_commands_run(page: Path) -> None:
    for command in runnable(page):
        typed(*shortened(command))


def test_every_line_of_a_shell_block_is_a_command_of_ours() -> None:
    """Or is run as a whole by the test named here."""
    whole = {
        "docs/http.md": "tests/godot/test_http_docs.py runs its requests",
        "docs/pictures/README.md": "draws the pictures of the pages, on a display",
    }
    ours = ("python3 dojo.py ", "scripts/", "python3 scripts/ml/")
    elsewhere = "sample_factory_venv"  # tests/godot/test_sample_factory.py
    for page in PAGES:
        if page_name(page) in whole:
            continue
        lines = [line for block in blocks(page) if block.language == "sh" for line in shell_lines(block)]
        assert [line for line in lines if not line.startswith(ours) and elsewhere not in line] == []
