"""Configurations of navigation in five sections: read as they are, written with every value, refused in one line."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import godojo
from godojo.cli import main
from godojo.errors import GodojoError
from godojo.games.base import GAMES
from godojo.games.curriculum import Curriculum
from godojo.games.navigation.config_sections import SECTIONS, RLConfig, keys
from godojo.games.navigation.settings import NavigationSettings
from godojo.games.settings import flatten
from godojo.learn.presets import Preset, example_config, learner_settings, preset_names, read_config, read_preset
from godojo.learn.registry import ALGORITHMS
from godojo.runs.folder import RunFolder
from godojo.trainers.sb3_settings import Sb3Settings
from tests.conftest import ROOT
from tests.doc_pages import blocks

KNOWN = """{
    "network": {"policy": "MlpPolicy", "net_arch": [256, 256], "activation_fn": "relu"},
    "ppo": {"learning_rate": 0.0003, "batch_size": 64, "n_epochs": 10, "gamma": 0.99},
    "rewards": {"goal_reached": 100.0, "collision_penalty": -10.0, "comfort_bonus": 2.0},
    "training": {"total_timesteps": 1000000, "save_freq": 10000}
}"""
"""The file that users bring."""


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def from_tree(tree: Any) -> Preset:
        path = tmp_path / "mine.json"
        path.write_text(tree if isinstance(tree, str) else json.dumps(tree), encoding="utf-8")
        return read_config(path, "navigation")

    return from_tree


def settings_of(preset: Preset) -> NavigationSettings:
    return NavigationSettings.defaults().override(**preset.game)


def effective(preset: Preset, *algorithms: str) -> dict[str, Any]:
    """Everything a training takes from a preset, with defaults."""
    settings = settings_of(preset)
    stages = Curriculum(preset.curriculum, settings)
    return {
        "game": settings,
        "learners": [learner_settings(name, preset.learner(name)) for name in algorithms],
        "budget": preset.budget,
        "options": {"truncate_after": 0, **preset.options},
        "stages": [
            (
                stage.name,
                stage.success,
                stages.settings[place],
                stage.agent_steps if place + 1 < len(stages.stages) else 0,
            )
            for place, stage in enumerate(stages.stages)
        ],
        "more": (preset.tasks, preset.reward, preset.reward_scale),
    }


def test_the_file_that_users_bring_is_read_as_it_is(read: Any) -> None:
    preset = read(KNOWN)
    assert preset.trainer == "sb3"
    assert preset.budget == {"agent_steps": 1_000_000}
    assert learner_settings("sb3", preset.sb3) == msgspec.structs.replace(Sb3Settings(), checkpoint_steps=10_000)
    rewards = settings_of(preset).rewards
    assert (rewards.goal, rewards.collision, rewards.comfort) == (100.0, -10.0, 2.0)
    assert rewards == NavigationSettings.defaults().rewards


@pytest.mark.parametrize("name", preset_names("navigation"))
def test_every_preset_is_written_and_read_back_as_the_same_training(name: str, read: Any) -> None:
    preset = read_preset("navigation", name)
    five = example_config("navigation", name)
    assert tuple(five) == SECTIONS
    assert effective(read(five), "sb3") == effective(preset, "sb3")
    own = example_config("navigation", name, own_form=True)
    assert set(own["game"]) == set(flatten(msgspec.to_builtins(NavigationSettings.defaults())))
    assert effective(read(own), *ALGORITHMS) == effective(preset, *ALGORITHMS)
    assert RLConfig.of(read(five)) == RLConfig.from_preset(name), "all of it again"


def test_every_value_of_game_and_trainer_has_one_key() -> None:
    ours = [one for _, _, one in keys()]
    assert len(ours) == len(set(ours))
    of_other_games = {"role", "opponent"}
    assert {f"sb3.{name}" for name in Sb3Settings.__struct_fields__ if name not in of_other_games} <= set(ours)
    config, every = RLConfig().to_dict(), flatten(msgspec.to_builtins(NavigationSettings.defaults()))
    named = {one.removeprefix("game.") for one in ours if one.startswith("game.")}
    assert {*named, *config["environment"]["game"]} == set(every)
    assert {f"rewards.{name}" for name in dir(NavigationSettings.defaults().rewards) if name[0] != "_"} <= named


def test_whole_numbers_stay_whole(capsys: pytest.CaptureFixture[str]) -> None:
    for form in ("game", "preset"):
        with pytest.raises(SystemExit):
            main(["config", "example", "navigation", "--preset", "quick_test", "--form", form])
        assert re.search(r"1_?0000\b(?!\.)", text := capsys.readouterr().out)
        assert "10000.0" not in text


def test_both_spellings_and_numbers_in_any_notation(read: Any) -> None:
    theirs = {"rewards": {"goal_reached": 50}, "environment": {"max_speed": 1.5}, "training": {"total_timesteps": 2e4}}
    ours = {"rewards": {"goal": 50.0}, "environment": {"speed_mps": 1.5}, "training": {"agent_steps": 20_000}}
    assert effective(read(theirs)) == effective(read(ours))
    preset = read(theirs)
    assert (settings_of(preset).rewards.goal, preset.budget) == (50.0, {"agent_steps": 20_000})


def test_episodes_may_be_longer_than_the_default_time_limit(read: Any) -> None:
    assert settings_of(read({"environment": {"max_episode_steps": 200}})).rules.round_s == 60.0
    preset = read({"environment": {"max_episode_steps": 1500}})
    assert preset.options["truncate_after"] == 1500
    assert settings_of(preset).rules.round_s > 1500 * 4 / 60
    assert settings_of(read({"environment": {"max_episode_steps": 1500, "time_limit_s": 30}})).rules.round_s == 30.0


def test_stages_are_used_if_asked_for_and_make_up_the_length(read: Any) -> None:
    stages = [
        {"name": "easy", "max_goal_distance": 10, "timesteps": 1000},
        {"name": "hard", "max_goal_distance": 30.0, "timesteps": 2000},
    ]
    off = read({"training": {"curriculum_stages": stages, "total_timesteps": 500}})
    assert (off.curriculum, off.budget) == ((), {"agent_steps": 500})
    on = read({"training": {"curriculum_stages": stages, "use_curriculum": True, "total_timesteps": 500}})
    assert on.budget == {"agent_steps": 3000}
    goals = [one.rules.goal_within_m for one in Curriculum(on.curriculum, settings_of(on)).settings]
    assert goals == [10.0, 30.0]
    del stages[1]["timesteps"]
    open_ended = read({"training": {"curriculum_stages": stages, "use_curriculum": True, "total_timesteps": 9000}})
    assert open_ended.budget == {"agent_steps": 9000}
    documented = read({"training": {"use_curriculum": True}})
    assert effective(documented)["stages"] == effective(read_preset("navigation", "curriculum_learning"))["stages"]


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"ppo": {"learning_rat": 1}}, "there is no setting 'ppo.learning_rat'; did you mean learning_rate?"),
        ({"enviroment": {}}, "there is no section 'enviroment'; did you mean environment?"),
        ({"training": {"num_environments": 4}}, "'training.num_environments'; it belongs in environment"),
        ({"training": {"curriculum_stages": [{"name": "a", "steps": 1}]}}, "curriculum_stages[0].steps'; did you mean"),
        ({"training": {"curriculum_stages": [{"timesteps": 1}]}}, "missing required field `name`"),
        ({"training": {"total_timesteps": "many"}}, "training.total_timesteps must be a whole number, 1 or more, not"),
        ({"training": {"total_timesteps": -5}}, "training.total_timesteps must be a whole number, 1 or more, not -5"),
        ({"training": {"total_timesteps": 5, "minutes": 1}}, "both given; remove one"),
        ({"training": {"use_curriculum": True, "curriculum_stages": []}}, "use_curriculum needs stages"),
        ({"ppo": {"learning_rate": -1}}, "ppo.learning_rate must be above 0, not -1"),
        ({"ppo": {"batch_size": 10**9}}, "ppo.batch_size must be from 2 to"),
        ({"ppo": []}, "ppo must be a section with settings of its own, not []"),
        ({"network": {"policy": "CnnPolicy"}}, "network.policy must be MlpPolicy, not 'CnnPolicy'"),
        ({"network": {"activation_fn": "elu"}}, "network.activation_fn must be one of relu, tanh, not 'elu'"),
        ({"network": {"net_arch": 64}}, "network.net_arch must be a list of whole numbers such as [64,64], not 64"),
        ({"rewards": {"collision_penalty": 10}}, "rewards.collision_penalty must be 0 or less, not 10"),
        ({"rewards": {"goal": 1, "goal_reached": 2}}, "are the same; remove one"),
        ({"environment": {"max_speed": 50}}, "environment.max_speed must be from 0.1 to 10.0, not 50"),
        ({"environment": {"max_rotation_speed": 1.57}}, "environment.max_rotation_speed is in degrees per second"),
        (
            {"environment": {"game": {"motion.gravity": 1}}},
            "there is no setting 'motion.gravity'; did you mean motion.",
        ),
        ({"network": {}, "budget": {}}, "there is no section 'network'"),
        (
            {"environment": {"max_episode_steps": 10**30}},
            "environment.max_episode_steps must be a whole number, 0 or more",
        ),
        ('{"ppo": {"gamma": ' + "[" * 600 + "]" * 600 + "}}", "maximum recursion depth exceeded"),
        ([], "a configuration is an object with sections, not list"),
    ],
)
def test_mistakes_are_answered_in_one_line(tree: Any, said: str, read: Any) -> None:
    with pytest.raises(GodojoError) as refused:
        read(tree)
    assert said in str(refused.value)
    assert str(refused.value).startswith(str(refused.value).partition("mine.json: ")[0] + "mine.json: ")
    assert "\n" not in str(refused.value)


def test_a_dataclass_is_written_and_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    config = RLConfig()
    config.rewards.goal_reached, config.ppo.n_steps, config.environment.num_environments = 42.0, 64, 2
    config.training.eval_episodes, config.training.num_workers = 0, 3
    config.save(tmp_path / "mine.json")
    assert RLConfig.load(tmp_path / "mine.json") == config
    assert read_config(tmp_path / "mine.json", "navigation").processes == 3
    words = [
        "train",
        "navigation",
        "--config",
        str(tmp_path / "mine.json"),
        "--steps=128",
        "--judge=0",
        "--run-id=mine",
    ]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    run = RunFolder.open("mine").config
    assert (run.learner, run.learner_settings["num_envs"], run.learner_settings["checkpoint_steps"]) == (
        "sb3",
        2,
        10_000,
    )
    assert run.game_settings["rewards"]["goal"] == 42.0
    assert run.more["reward_scale"] == 0.05


def test_the_built_in_trainer_takes_all_but_hyperparameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path / "runs"))
    (tmp_path / "mine.json").write_text(KNOWN.replace("100.0", "42.0"))
    small = ("--set=num_worlds=16", "--set=n_steps=8", "--steps=256", "--judge=0", "--run-id=own")
    with pytest.raises(SystemExit) as ended:
        main(["train", "navigation", "--trainer=built-in", "--config", str(tmp_path / "mine.json"), *small])
    assert ended.value.code == 0
    assert "has hyperparameters of sb3; ppo uses those of the default preset" in capsys.readouterr().err
    run = RunFolder.open("own").config
    assert run.game_settings["rewards"]["goal"] == 42.0
    assert run.learner_settings["n_minibatches"] == read_preset("navigation", "default").ppo["n_minibatches"]


def test_the_page_has_every_key_with_its_default() -> None:
    page = (ROOT / "docs/games/navigation-workflow.md").read_text(encoding="utf-8")
    config = RLConfig().to_dict()
    for section, name, ours in keys():
        value = config[section][name]
        shown = "none" if value in (None, "", []) else json.dumps(value)
        row = re.search(rf"^\| `{section}\.{name}` \| `{re.escape(ours)}` \| .* \| {re.escape(shown)} \|$", page, re.M)
        assert row, f"{section}.{name} | {ours} | … | {shown}"
    for section in SECTIONS:
        for name in config[section]:
            assert f"`{section}.{name}`" in page
    assert KNOWN.replace(" ", "").replace("\n", "") in page.replace(" ", "").replace("\n", "")


def test_a_file_whose_walkers_would_rather_stand_still_is_warned_about(read: Any) -> None:
    def advice(preset: Preset) -> str:
        return GAMES["navigation"].advice(settings_of(preset), learner_settings("sb3", preset.sb3).gamma)

    assert "standing still earns 2.1 a step, 210 at gamma 0.99, and the goal 100" in advice(read(KNOWN))
    assert "1890 at gamma 1" in advice(read({"ppo": {"gamma": 1}})), "a round has 900 steps"
    assert advice(read(KNOWN.replace("0.99", "0.95"))) == ""
    assert [name for name in preset_names("navigation") if advice(read_preset("navigation", name))] == []


def test_the_program_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = (
        block.text for block in blocks(ROOT / "docs/games/navigation-workflow.md") if block.language == "python"
    )
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    try:
        exec(compile(program, "docs/games/navigation-workflow.md", "exec"), {})
    finally:
        sys.modules.pop("rl_config", None)
    assert RLConfig.load(tmp_path / "mine.json").rewards.comfort_bonus == 4.0


@pytest.mark.parametrize(
    "error",
    [MemoryError("Unable to allocate 23 GiB"), RuntimeError("CUDA out of memory. Tried"), RuntimeError("other")],
)
def test_too_many_environments_are_one_line(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory itself is not exhausted here: the worlds raise what NumPy and torch do."""
    monkeypatch.setenv("GODOJO_RUNS", str(tmp_path))

    def too_large(*_: Any) -> Any:
        raise error

    monkeypatch.setattr("godojo.training.new_run.worlds_of", too_large)
    with pytest.raises(RuntimeError if str(error) == "other" else GodojoError, match=str(error)) as refused:
        godojo.train("navigation", steps=1)
    assert ("play fewer environments at a time (num_envs" in str(refused.value)) == (str(error) != "other")
    assert not list(tmp_path.iterdir())
