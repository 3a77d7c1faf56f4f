"""SAC to the letter: its distribution, its targets, what is stored, what stays as it is, and that it learns."""

import io
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from torch.distributions import Normal, TanhTransform, TransformedDistribution

from godojo.engines.base import RoleArrays, Worlds
from godojo.errors import GodojoError
from godojo.games.parts import ActionPart, ObservationPart
from godojo.learn import sac
from godojo.learn.networks import Policy, PolicyShape, SquashedHead
from godojo.learn.policy_file import PolicyCard, load_policy, save_policy
from godojo.learn.presets import learner_settings
from godojo.learn.privileged import PrivilegedObservation
from godojo.learn.replay_buffer import Transitions
from godojo.learn.sac import SacSelfPlay, TwinCritics, policy_loss, shape_for, targets
from godojo.learn.settings import SacSettings
from godojo.runs.folder import RunFolder
from godojo.runs.states import read_state, write_state
from tests.conftest import Run
from tests.learning_games import fingerprint, tag

SMALL = SacSettings(
    num_worlds=24, n_steps=4, buffer_size=512, learning_starts=64, gradient_steps=2, batch_size=32, net_arch=(12, 12)
)
NUMBERS = (ActionPart("push", "continuous", 2),)
WORDS = tuple(
    f"--set={word}"
    for word in (
        "num_worlds=32",
        "n_steps=8",
        "net_arch=[8]",
        "buffer_size=2048",
        "learning_starts=256",
        "batch_size=32",
        "gradient_steps=2",
    )
)
STEPS = 32 * 8 * 2


def learner(seed: int = 1, settings: SacSettings = SMALL, **more: Any) -> SacSelfPlay:
    return SacSelfPlay(tag(settings.num_worlds, seed, **more.pop("tag", {})), settings, seed, **more)


def prints(made: SacSelfPlay) -> dict[str, str]:
    return {
        f"{name} {kind}": fingerprint(getattr(agent, kind))
        for name, agent in made.agents.items()
        for kind in ("policy", "critics", "target_critics")
    }


def iterated(made: SacSelfPlay, times: int) -> SacSelfPlay:
    for _ in range(times):
        made.iterate(0.0)
    return made


def some_batch(rows: int, observation: int, others: int, actions: int) -> Transitions:
    torch.manual_seed(4)
    return Transitions(
        observation=torch.randn(rows, observation),
        privileged=torch.randn(rows, others),
        action=torch.rand(rows, actions) * 2.0 - 1.0,
        reward=torch.randn(rows),
        not_done=(torch.arange(rows) % 3 > 0).float(),
        next_observation=torch.randn(rows, observation),
        next_privileged=torch.randn(rows, others),
    )


def squashed_policy(observation: int = 5) -> Policy:
    torch.manual_seed(5)
    policy = Policy(PolicyShape(observation, NUMBERS, (16,), squashed=True))
    torch.nn.init.normal_(policy.head.linear.weight, std=0.4)
    return policy


def test_probabilities_are_those_of_a_squashed_normal() -> None:
    torch.manual_seed(1)
    head = SquashedHead(6, NUMBERS).double()
    torch.nn.init.normal_(head.linear.weight, std=0.2)
    features = torch.randn(200, 6, dtype=torch.float64)
    action, log_prob = head.sample(features, generator=torch.Generator().manual_seed(2))
    mean, log_std = head.linear(features).chunk(2, -1)
    reference: Any = TransformedDistribution(Normal(mean, log_std.exp()), [TanhTransform()])
    torch.testing.assert_close(log_prob, reference.log_prob(action).sum(-1), rtol=1e-6, atol=1e-6)
    assert action.abs().max() < 1.0
    deterministic = head.sample(features, deterministic=True).action
    torch.testing.assert_close(deterministic, mean.tanh())


def test_probabilities_stay_numbers_where_actions_are_extreme() -> None:
    head = SquashedHead(1, NUMBERS)
    with torch.no_grad():
        head.linear.bias.copy_(torch.tensor([40.0, -40.0, 9.0, -90.0]))
    action, log_prob = head.sample(torch.zeros(50, 1))
    log_prob.sum().backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(action).all()
    assert torch.isfinite(log_prob).all()
    assert head.linear.bias.grad is not None
    assert torch.isfinite(head.linear.bias.grad).all()


def test_a_squashed_policy_is_saved_and_loaded(tmp_path: Path) -> None:
    policy = squashed_policy()
    card = PolicyCard("toy", "agent", (ObservationPart("all", (5,)),), policy.shape, 1)
    save_policy(tmp_path / "policy.pt", policy, card)
    loaded, told = load_policy(tmp_path / "policy.pt")
    assert told == card
    assert fingerprint(loaded) == fingerprint(policy)


def test_targets_are_the_formula() -> None:
    policy, critics = squashed_policy(), TwinCritics(5, 3, 2, (8,))
    batch = some_batch(30, 5, 3, 2)
    temperature, gamma = 0.3, 0.9
    found = targets(policy, critics, batch, temperature, gamma, torch.Generator().manual_seed(7))
    with torch.no_grad():
        features = policy.trunk(policy.encoder(batch.next_observation))
        mean, log_std = policy.head.linear(features).chunk(2, -1)
        noise = torch.empty_like(mean).normal_(generator=torch.Generator().manual_seed(7))
        action = torch.tanh(mean + noise * log_std.exp())
        reference: Any = TransformedDistribution(Normal(mean, log_std.exp()), [TanhTransform()])
        own = torch.cat((batch.next_observation, action), -1)
        worth = torch.minimum(critics.one(own, batch.next_privileged), critics.other(own, batch.next_privileged))
        entropy = -reference.log_prob(action).sum(-1)
    for row in range(30):
        wanted = batch.reward[row]
        if batch.not_done[row]:
            wanted = wanted + gamma * (worth[row] + temperature * entropy[row])
        assert found[row].item() == pytest.approx(wanted.item(), abs=2e-4)


def test_critics_have_no_opinion_at_first() -> None:
    batch = some_batch(200, 5, 3, 2)
    assert TwinCritics(5, 3, 2, (8,))(batch.observation, batch.privileged, batch.action).abs().max() < 0.1


def test_the_policy_moves_towards_what_is_worth_more() -> None:
    policy = squashed_policy()
    optimiser = torch.optim.Adam(policy.parameters(), lr=0.02)
    batch = some_batch(64, 5, 3, 2)

    class Likes(TwinCritics):
        def forward(self, _normalised: torch.Tensor, _others: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
            liked = -(action - 0.5).square().sum(-1)
            return torch.stack((liked, liked + 1.0))

    critics, lots = Likes(5, 3, 2, (4,)), torch.Generator().manual_seed(1)
    for _ in range(150):
        optimiser.zero_grad()
        loss, _ = policy_loss(policy, critics, batch, 0.001, lots)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    features, _ = policy.features(batch.observation, policy.initial_memory(64))
    torch.testing.assert_close(
        policy.head.sample(features, deterministic=True).action, torch.full((64, 2), 0.5), atol=0.12, rtol=0.0
    )


@pytest.mark.parametrize(("target_entropy", "rises"), [(-20.0, False), (20.0, True)])
def test_the_temperature_follows_the_entropy(target_entropy: float, rises: bool) -> None:
    made = iterated(learner(settings=msgspec.structs.replace(SMALL, target_entropy=target_entropy)), 4)
    for agent in made.agents.values():
        assert (agent.log_ent_coef.exp().item() > SMALL.ent_coef) == rises
    made.close()


class Recorder:
    """Keeps what is stored, and what the game said at the time."""

    def __init__(self, made: SacSelfPlay, name: str) -> None:
        self.rows: list[tuple[Transitions, torch.Tensor, dict[str, dict[str, np.ndarray]]]] = []
        agent, worlds, add = made.agents[name], made.worlds, made.agents[name].replay_buffer.add

        def watched(batch: Transitions, keep: torch.Tensor) -> None:
            said = {
                role: {field: getattr(arrays, field).copy() for field in FIELDS}
                for role, arrays in worlds.roles.items()
            }
            self.rows.append((Transitions(*(rows.clone() for rows in batch)), keep.clone(), said))
            add(batch, keep)

        agent.replay_buffer.add = watched  # type: ignore[method-assign]


FIELDS = ("observation", "final_observation", "terminated", "truncated", "acted", "reward")


@pytest.mark.parametrize(
    ("rules", "truncate_after", "wanted"),
    [
        ({"rules.round_s": 0.8}, 0, {"over"}),
        ({}, 11, {"cut"}),
        (
            {"rules.seekers": 2, "rules.hiders": 3, "spawns.distance_m": 0.0, "spawns.tries": 1},
            25,
            {"cut", "over", "idle"},
        ),
    ],
    ids=["over", "cut", "2v3"],
)
def test_transitions_are_what_happened(rules: dict[str, float], truncate_after: int, wanted: set[str]) -> None:
    """Cut rounds go on in value from what was seen last; rounds that are over do not; nothing spans two rounds."""
    settings = msgspec.structs.replace(
        SMALL, egocentric=False, n_steps=40, learning_starts=512, batch_size=2, gradient_steps=1
    )
    made = learner(settings=settings, tag={"truncate_after": truncate_after, "rules": rules})
    recorder = Recorder(made, "hider")
    made.iterate(0.0)
    agent, seen = made.agents["hider"], {"cut": 0, "over": 0, "idle": 0}
    for index, (batch, keep, said) in enumerate(recorder.rows):
        own = said["hider"]
        ended = own["terminated"] | own["truncated"]
        following = np.where(ended[..., None], own["final_observation"], own["observation"])
        acted = own["acted"].reshape(-1)
        assert np.array_equal(keep.numpy(), acted)
        rows = following.reshape(len(acted), -1)
        assert np.array_equal(batch.next_observation.numpy()[acted], rows[acted])
        assert np.array_equal(batch.not_done.numpy(), 1.0 - own["terminated"].reshape(-1))
        assert np.array_equal(batch.reward.numpy(), own["reward"].reshape(-1))
        if index:
            before = recorder.rows[index - 1][2]["hider"]["observation"]
            assert np.array_equal(batch.observation.numpy(), before.reshape(len(acted), -1))
        seen["cut"] += int(own["truncated"].sum())
        seen["over"] += int(own["terminated"].sum())
        seen["idle"] += int((~acted).sum())
    assert {what for what, count in seen.items() if count} == wanted
    assert len(agent.replay_buffer) == min(sum(int(keep.sum()) for _, keep, _ in recorder.rows), settings.buffer_size)
    made.close()


def test_a_cut_round_is_valued_by_what_everybody_saw_last() -> None:
    settings = msgspec.structs.replace(SMALL, egocentric=False, n_steps=12, learning_starts=512)
    made = learner(settings=settings, tag={"truncate_after": 6})
    recorder = Recorder(made, "seeker")
    made.iterate(0.0)
    batch, keep, said = recorder.rows[5]
    cut = said["seeker"]["truncated"].reshape(-1)
    assert cut.mean() > 0.5
    final = {name: torch.from_numpy(said[name]["final_observation"]).flatten(0, 1) for name in said}
    assert torch.equal(batch.next_observation[cut], final["seeker"][cut])
    others = PrivilegedObservation(made.worlds, "seeker").of({name: said[name]["final_observation"] for name in said})
    assert torch.equal(batch.next_privileged[cut], others[torch.from_numpy(cut)])
    assert (batch.not_done[cut] == 1.0).all()
    assert keep[cut].all()
    made.close()


def test_the_same_seed_learns_the_same_at_any_number_of_threads() -> None:
    found = []
    before = torch.get_num_threads()
    for seed, threads in ((1, 1), (1, 2), (2, 2)):
        torch.set_num_threads(threads)
        made = iterated(learner(seed), 4)
        found.append(prints(made))
        made.close()
    torch.set_num_threads(before)
    assert found[0] == found[1]
    assert not set(found[0].values()) & set(found[2].values())


def test_nothing_is_learnt_before_the_warm_up_is_over() -> None:
    made = learner(settings=msgspec.structs.replace(SMALL, learning_starts=SMALL.num_worlds * SMALL.n_steps * 2))
    assert made.iterate(0.0).metrics == {"seeker": {}, "hider": {}}
    assert set(made.iterate(0.0).metrics["seeker"]) == {
        f"train/{name}" for name in ("actor_loss", "critic_loss", "entropy", "ent_coef", "q_value", "learning_rate")
    }
    made.close()


def test_who_is_frozen_stays_bitwise_as_it_is() -> None:
    made = learner(modes={"hider": "frozen"})
    before = prints(made)
    iterated(made, 2)
    made.modes["hider"] = "deterministic"
    iterated(made, 2)
    after = prints(made)
    for name in before:
        assert (before[name] == after[name]) == name.startswith("hider")
    assert len(made.agents["hider"].replay_buffer) == 0
    made.close()


def test_it_not_done_bit_by_bit_where_the_replay_is_small() -> None:
    whole, first = iterated(learner(), 6), iterated(learner(), 3)
    file = io.BytesIO()
    write_state(first.state(), file)
    file.seek(0)
    second = learner(seed=9)
    second.load_state(read_state(file))
    iterated(second, 3)
    assert prints(second) == prints(whole)
    assert (second.updates, second.agent_steps) == (whole.updates, whole.agent_steps)
    for made in (whole, first, second):
        made.close()


def test_a_large_replay_is_not_saved_and_fills_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sac, "SAVED_REPLAY_BYTES", 1000)
    first, second = iterated(learner(), 3), learner(seed=2)
    state = first.state()
    assert state["roles"]["seeker"]["replay_buffer"] is None
    second.load_state(state)
    assert prints(second) == prints(first)
    settings = msgspec.structs.replace(SMALL, learning_starts=2 * SMALL.num_worlds * SMALL.n_steps)
    for agent in second.agents.values():
        agent.settings = settings
    assert second.iterate(0.0).metrics["seeker"] == {}
    assert second.iterate(0.0).metrics["seeker"]
    for made in (first, second):
        made.close()


def test_a_loss_that_is_no_number_stops_it_and_is_named() -> None:
    made = iterated(learner(), 2)
    before = prints(made)["seeker policy"]
    for rows in made.agents["seeker"].replay_buffer.state()["rows"].values():
        assert torch.isfinite(rows).all()
    made.agents["seeker"].replay_buffer._rows.reward.fill_(float("nan"))
    with pytest.raises(GodojoError, match="learning of seeker broke down: the value term is nan"):
        made._update("seeker", 1e-3)
    everything = prints(made)
    assert everything["seeker policy"] == before
    with pytest.raises(GodojoError, match="broke down"):
        made.iterate(0.0)
    assert {name: each for name, each in prints(made).items() if "hider slow" in name} == {
        name: each for name, each in everything.items() if "hider slow" in name
    }, "the other role's update is undone, too"
    assert all(bool(torch.isfinite(weights).all()) for weights in made.agents["seeker"].critics.parameters())
    made.close()


class Mark(Worlds):
    """A game for one: a number is shown, and the closer the action is to it, the better. Rounds have four decisions."""

    def __init__(self, num_worlds: int, kind: Any = "continuous") -> None:
        self.num_worlds, self.ticks_per_decision, self._decisions = num_worlds, 1, 0
        rows = (num_worlds, 1)
        numbers, flags = (np.zeros((*rows, size), np.float32) for size in (1, 1)), [np.zeros(rows, bool) for _ in "tr"]
        observation, action = numbers
        self._role = RoleArrays(
            name="agent",
            observation=observation,
            action=action,
            reward=np.zeros(rows, np.float32),
            terms=np.zeros((*rows, 1), np.float32),
            acted=np.ones(rows, bool),
            terminated=flags[0],
            truncated=flags[1],
            final_observation=np.zeros((*rows, 1), np.float32),
            final_terms=np.zeros((*rows, 1), np.float32),
            final_score=np.zeros(rows, np.float32),
            observation_parts=(ObservationPart("mark", (1,)),),
            action_parts=(ActionPart("guess", kind, 1 if kind == "continuous" else 3),),
        )
        self.roles, self.winners = {"agent": self._role}, ("nobody",)
        self.ended, self.winner = np.zeros(num_worlds, bool), np.zeros(num_worlds, np.int8)
        self.reset(1)

    def reset(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._show()

    def _show(self) -> None:
        self._role.observation[:] = self._rng.uniform(-0.8, 0.8, self._role.observation.shape)

    def _start(self) -> None:
        role = self._role
        role.reward[:] = -np.square(role.action - role.observation)[..., 0]

    def finish(self) -> None:
        self._decisions += 1
        role = self._role
        self._show()
        self.ended[:] = role.terminated[:] = self._decisions % 4 == 0
        role.final_observation[:] = role.observation


def test_it_learns_a_simple_game() -> None:
    settings = SacSettings(
        num_worlds=16,
        n_steps=4,
        buffer_size=4096,
        learning_starts=256,
        gradient_steps=4,
        batch_size=128,
        net_arch=(32, 32),
        tau=0.05,
    )
    made = SacSelfPlay(Mark(16), settings, 1)
    iterated(made, 150)
    shown = torch.linspace(-0.7, 0.7, 15)[:, None]
    policy = made.policies["agent"]
    with torch.no_grad():
        features, _ = policy.features(policy.preprocess(shown), policy.initial_memory(15))
        done = policy.head.sample(features, deterministic=True).action
    assert (done - shown).abs().max() < 0.25
    made.close()


def test_a_game_with_choices_is_refused() -> None:
    with pytest.raises(GodojoError, match=r"guess of the agent is discrete; train with algorithm='ppo'"):
        SacSelfPlay(Mark(4, "discrete"), SMALL, 1)
    with pytest.raises(GodojoError, match="continuous actions only"):
        SquashedHead(4, (ActionPart("way", "discrete", 3),))


def test_ppo_does_not_go_on_with_a_policy_of_sac() -> None:
    policy = squashed_policy()
    with pytest.raises(GodojoError, match="algorithm='sac'"):
        policy.head.evaluate_actions(torch.zeros(1, 16), torch.zeros(1, 2))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"batch_size": 0}, "batch_size must be 1 or more"),
        ({"gamma": 1.5}, "gamma must be from 0 to 1"),
        ({"ent_coef": 0.0}, "ent_coef must be above 0"),
        ({"learning_starts": 10, "buffer_size": 5}, "learning_starts must be at most buffer_size"),
        ({"net_arch": []}, "net_arch must be"),
        ({"batchh": 4}, "did you mean batch"),
        ({"batch_size": "many"}, "batch_size must be a whole number, not 'many'"),
    ],
)
def test_settings_that_cannot_be_are_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(GodojoError, match=said):
        learner_settings("sac", values)


def test_an_unknown_algorithm_is_answered_with_the_known_ones() -> None:
    with pytest.raises(GodojoError, match="did you mean sac"):
        learner_settings("sacc")


def test_shapes_follow_the_settings() -> None:
    role = tag(2).roles["seeker"]
    assert shape_for(role, SMALL).heading == role.heading
    assert shape_for(role, msgspec.structs.replace(SMALL, egocentric=False)).heading is None
    assert shape_for(role, SMALL).squashed


@pytest.mark.slow
def test_the_command_line_trains_resumes_and_judges(godojo: Run, tmp_path: Path) -> None:
    env = {"GODOJO_RUNS": str(tmp_path)}
    words = (
        "train",
        "tag",
        "--algorithm",
        "sac",
        "--run-id",
        "soft",
        "--steps",
        str(4 * STEPS),
        "--judge",
        "4",
        *WORDS,
    )
    done = godojo(*words, timeout_s=110, **env)
    assert done.returncode == 0, done.stderr
    run = RunFolder.open(tmp_path / "soft")
    assert run.config.learner == "sac"
    assert load_policy(run.policy("hider"))[1].shape.squashed
    header = (tmp_path / "soft/updates.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "seeker/train/ent_coef" in header
    mixed = godojo("train", "--algorithm", "ppo", "--resume", "soft", **env)
    assert mixed.returncode != 0
    assert "trained by sac, not by ppo" in " ".join(mixed.stderr.split())
    again = godojo("train", "--resume", "soft", "--steps", str(6 * STEPS), "--judge", "0", timeout_s=110, **env)
    assert again.returncode == 0, again.stderr
    assert RunFolder.open(tmp_path / "soft").checkpoints().newest()[1].agent_steps == 6 * STEPS
