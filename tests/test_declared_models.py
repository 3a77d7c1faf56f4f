"""What scenes declare of their models, without an engine: what becomes of it, and what is refused."""

import re
from typing import Any

import msgspec
import pytest

from godojo.errors import GodojoError
from godojo.learn.declared import COMMON, OF_ALGORITHM, PROPERTIES, declared
from godojo.learn.presets import Preset, learner_settings, split_settings
from godojo.learn.self_play import PpoSelfPlay
from godojo.learn.settings import PpoSettings, SacSettings
from godojo.runs.config import RunConfig
from godojo.training import external_game
from tests.conftest import ROOT
from tests.learning_games import SMALL, learner, tag
from tests.test_learner_defaults import worlds_with

NODE = "Main/DojoSync"


def model(algorithm: str = "ppo", node: str = NODE, **properties: Any) -> dict[str, Any]:
    return {"algorithm": algorithm, "node": node, **properties}


def test_every_property_of_the_node_is_known_to_the_learner() -> None:
    script = (ROOT / "godot/addons/godojo/agents/dojo_model.gd").read_text(encoding="utf-8")
    exported = re.findall(r"^@export\w*(?:\(.*?\))? var (\w+)", script, re.MULTILINE)
    assert set(exported) == PROPERTIES
    assert len(exported) == len(PROPERTIES)


def test_the_model_of_the_page_can_be_trained() -> None:
    page = (ROOT / "docs/addon.md").read_text(encoding="utf-8")
    ((resource, node),) = re.findall(r"^```ini\n.*?^script.*?\n(.*?)\n\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    values = dict(re.findall(r"^(\w+) = (.*)$", resource, re.MULTILINE))
    assert "model = SubResource" in node
    assert values.pop("algorithm") == "0", "PPO"
    values["net_arch"] = values["net_arch"].replace("PackedInt32Array(", "[").replace(")", "]")
    told = {name: msgspec.json.decode(text) for name, text in values.items()}
    settings = learner_settings("ppo", declared({"walker": model(**told)}).layer)
    assert {name: getattr(settings, name) for name in told} == told | {"net_arch": (128, 64)}


def test_without_a_model_nothing_is_declared() -> None:
    found = declared({})
    assert (found.algorithm, found.layer) == ("", {})


def test_one_model_is_that_of_all_roles() -> None:
    one = model(net_arch=[32, 16], learning_rate=3e-4, memory="none", activation_fn="tanh")
    found = declared({"a": one, "b": one})
    assert (found.algorithm, found.roles) == ("ppo", {})
    settings = learner_settings("ppo", found.layer)
    assert (settings.net_arch, settings.activation_fn, settings.memory) == ((32, 16), "tanh", "")
    assert settings.learning_rate == settings.final_learning_rate == 3e-4, "constant, as in Stable-Baselines3"


def test_no_memory_has_the_same_name_on_the_command_line() -> None:
    for text in ("memory=none", "memory="):
        assert learner_settings("ppo", split_settings([text])[0]).memory == ""


def test_roles_have_models_of_their_own() -> None:
    found = declared({"a": model(net_arch=[8], n_steps=16), "b": model(node="World/B", gamma=0.5)})
    assert found.settings == {"n_steps": 16}, "which all roles share"
    assert found.roles == {"a": {"net_arch": [8]}, "b": {"gamma": 0.5}}
    settings = learner_settings("ppo", found.layer)
    assert settings.for_role("a").net_arch == (8,)
    assert settings.for_role("a").gamma == PpoSettings().gamma
    assert (settings.for_role("b").gamma, settings.for_role("b").n_steps) == (0.5, 16)


def test_the_model_of_one_role_is_not_that_of_the_others() -> None:
    found = declared({"a": model(net_arch=[8], n_steps=16)}, roles=["a", "b"])
    assert (found.settings, found.roles) == ({"n_steps": 16}, {"a": {"net_arch": [8]}})
    settings = learner_settings("ppo", found.layer)
    assert (settings.for_role("a").net_arch, settings.for_role("b").net_arch) == ((8,), PpoSettings().net_arch)


def test_minibatches_that_the_user_counts_replace_a_declared_batch_size() -> None:
    found = declared({"a": model(batch_size=64, n_epochs=2)}).without({"n_minibatches": 4})
    assert found.settings == {"n_epochs": 2}


def test_the_user_wins_over_the_scene_for_all_roles() -> None:
    found = declared({"a": model(net_arch=[8], learning_rate=0.1), "b": model(node="World/B", learning_rate=0.2)})
    left = found.without({"learning_rate": 0.5})
    assert left.roles == {"a": {"net_arch": [8]}}
    settings = learner_settings("ppo", left.layer, {"learning_rate": 0.5})
    assert settings.for_role("a").learning_rate == settings.for_role("b").learning_rate == 0.5


def test_another_algorithm_keeps_the_network_only() -> None:
    found = declared({"a": model(net_arch=[8], activation_fn="silu", clip_range=0.3, memory="gru")}, "sac")
    assert found.settings == {"net_arch": [8], "activation_fn": "silu"}
    assert learner_settings("sac", found.layer).net_arch == (8,)
    sees = {"a": model(net_arch=[8], cnn_channels=[4])}
    assert declared(sees, "sac").settings == {"net_arch": [8], "cnn_channels": [4]}
    assert declared(sees, "sb3_sac").settings == {"net_arch": [8]}, "whose policies have no convolutions"


def test_stable_baselines3_takes_what_it_has() -> None:
    found = declared({"a": model(net_arch=[8], learning_rate=1e-3, memory="none", batch_size=32)}, "sb3")
    assert learner_settings("sb3", found.layer).batch_size == 32
    wrong: list[dict[str, Any]] = [
        {"memory": "gru"},
        {"learning_rate": 0.1, "final_learning_rate": 0.01},
        {"activation_fn": "silu"},
        {"cnn_channels": [4]},
    ]
    for own in wrong:
        with pytest.raises(GodojoError, match=f"^{NODE}: "):
            declared({"a": model(**own)}, "sb3")


def test_a_small_buffer_does_not_wait_for_more_than_it_holds() -> None:
    settings = learner_settings("sac", declared({"a": model("sac", buffer_size=1000)}).layer)
    assert (settings.buffer_size, settings.learning_starts) == (1000, 1000)


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"algorithm": "7"}, "there is no algorithm '7'"),
        ({"algorithm": "sac", "clip_range": 0.2}, "clip_range is a setting of PPO, and the algorithm is SAC"),
        ({"buffer_size": 1000}, "buffer_size is a setting of SAC, and the algorithm is PPO"),
        ({"algorithm": "sac", "memory": "leaky"}, "policies of SAC have no memory"),
        ({"algorithm": "sac", "memory_size": 4}, "policies of SAC have no memory"),
        ({"memory": "none", "memory_size": 4}, "memory_size without a memory"),
        ({"activation_fn": "elu"}, "activation_fn must be one of relu, tanh, silu, not 'elu'"),
        ({"memory": "lstm"}, "memory must be one of"),
        ({"net_arch": [64, 0]}, "net_arch must be the widths of one layer or more"),
        ({"net_arch": "wide"}, "net_arch must be a list"),
        ({"cnn_channels": [0]}, "cnn_channels must be up to 8 numbers"),
        ({"learning_rate": -1.0}, "learning_rate must be above 0, not -1.0"),
        ({"gamma": 1.5}, "gamma must be from 0 to 1, not 1.5"),
        ({"gae_lambda": -0.5}, "gae_lambda must be from 0 to 1, not -0.5"),
        ({"ent_coef": -2.0}, "ent_coef must be 0 or more, not -2.0"),
        ({"batch_size": -3}, "batch_size must be 0 or more, not -3"),
        ({"n_epochs": 2.5}, "n_epochs must be a whole number, not 2.5"),
        ({"algorithm": "sac", "buffer_size": 100, "learning_starts": 200}, "learning_starts must be at most"),
        ({"layers": 3}, "a DojoModel has no property 'layers'"),
    ],
)
def test_a_wrong_model_is_refused_with_the_node_that_declares_it(properties: dict[str, Any], why: str) -> None:
    with pytest.raises(GodojoError) as error:
        declared({"a": model() | properties})
    assert str(error.value).startswith(f"{NODE}: {why}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("algorithm", OF_ALGORITHM)
def test_a_property_is_taken_by_its_algorithms_and_refused_by_the_others(algorithm: str) -> None:
    values: dict[str, Any] = {"net_arch": [8], "activation_fn": "tanh", "cnn_channels": [4], "memory": "gru"}
    for name in PROPERTIES - {"algorithm"}:
        own = model(algorithm, **{name: values.get(name, 1)})
        if name in (*COMMON, *OF_ALGORITHM[algorithm]):
            assert declared({"a": own}).settings
        else:
            with pytest.raises(GodojoError, match=f"^{NODE}: "):
                declared({"a": own})


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (model(), model("sac", "World/B"), "algorithm ppo and World/B declares sac"),
        (model(n_steps=8), model(node="World/B", n_steps=16), "n_steps 8 and World/B declares 16"),
        (model("sac", train_freq=8), model("sac", "World/B", train_freq=4), "train_freq 8 and World/B declares 4"),
    ],
)
def test_roles_that_disagree_about_what_they_share_are_named(
    one: dict[str, Any], other: dict[str, Any], what: str
) -> None:
    with pytest.raises(GodojoError, match=f"{NODE} declares {what}: it must be the same for all agents"):
        declared({"a": one, "b": other})


def test_a_node_from_outside_is_fit_for_a_line() -> None:
    with pytest.raises(GodojoError, match=r"^Main\?\?\[31m/Sync: gamma"):
        declared({"a": model(node="Main\n\x1b[31m/Sync", gamma=5.0)})


def test_roles_train_with_networks_and_hyperparameters_of_their_own() -> None:
    own = {"seeker": {"net_arch": [6, 10], "activation_fn": "tanh", "memory": "", "learning_rate": 0.01, "n_epochs": 2}}
    made = learner(msgspec.structs.replace(SMALL, roles=own))
    try:
        metrics = made.iterate(0.0).metrics
        seeker, hider = made.policies["seeker"].shape, made.policies["hider"].shape
        assert (seeker.net_arch, seeker.activation, seeker.memory) == ((6, 10), "tanh", "")
        assert (hider.net_arch, hider.activation, hider.memory) == (SMALL.net_arch, "relu", SMALL.memory)
        assert metrics["seeker"]["train/learning_rate"] == 0.01
        assert metrics["hider"]["train/learning_rate"] == SMALL.learning_rate
    finally:
        made.close()


def test_wrong_settings_of_a_role_are_refused() -> None:
    for own, why in (
        ({"n_steps": 8}, "roles.seeker: 'n_steps' cannot differ between roles"),
        ({"gamma": 7}, "roles.seeker: gamma must be from 0 to 1"),
        ({"net_arch": "no"}, "net_arch must be a list"),
    ):
        with pytest.raises(GodojoError, match=why):
            learner_settings("ppo", {"roles": {"seeker": own}})
    with pytest.raises(GodojoError, match="there is no role 'ghost'"):
        PpoSelfPlay(tag(4), msgspec.structs.replace(SMALL, num_worlds=4, roles={"ghost": {"gamma": 0.5}}), 1)
    assert SacSettings(roles={"a": {"tau": 0.5}}).for_role("a").tau == 0.5


def test_sequences_are_as_short_as_a_declared_batch_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_game, "samples_per_s", lambda *_: 500.0)
    scene = declared({"one": model(n_steps=96, batch_size=20)})
    said: list[str] = []
    defaults = external_game._external_defaults(worlds_with(16), 1, "ppo", scene, {}, said.append)
    settings = learner_settings("ppo", defaults, scene.layer)
    assert (settings.n_steps, settings.sequence_length, settings.batch_size) == (96, 16, 20)
    assert "n_minibatches" not in said[0], "which follows of the batch"


@pytest.mark.parametrize(
    ("declares", "by_user", "said"),
    [
        ({"batch_size": 60_000}, {}, f"{NODE}: batch_size must be at most a rollout"),
        ({"batch_size": 60_000}, {"gamma": 0.9}, f"{NODE}: batch_size must be at most a rollout"),
        ({"batch_size": 64}, {"n_epochs": -1}, "n_epochs must be 1 or more, not -1"),
        ({"n_steps": 60}, {"sequence_length": 32}, "sequence_length must divide n_steps (60), not 32"),
    ],
)
def test_a_node_is_not_blamed_for_settings_of_the_user(
    declares: dict[str, Any], by_user: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_game, "samples_per_s", lambda *_: 500.0)
    worlds = worlds_with(16)
    worlds.declared_models, worlds.declared_loop = {"one": model(**declares)}, None
    config = RunConfig("game", "godot", (), "ppo", {}, {}, 1, {"minutes": 1.0})
    with pytest.raises(GodojoError) as error:
        external_game.from_scene(config, worlds, None, Preset(), by_user, lambda _: None)
    assert str(error.value).startswith(said)


def test_a_batch_is_at_least_a_sequence_and_at_most_a_rollout() -> None:
    settings = learner_settings("ppo", {"n_steps": 16, "batch_size": 64})
    settings.check_batches({"a": 4})
    with pytest.raises(GodojoError, match=r"batch_size must be at most a rollout of the a, 48 samples"):
        settings.check_batches({"a": 3})
    with pytest.raises(GodojoError, match="batch_size must be at least a sequence, 16 steps, not 8"):
        learner_settings("ppo", {"n_steps": 16, "batch_size": 8})
