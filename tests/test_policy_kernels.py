"""What kernels do in training, against the same by torch: deciding, and the gradients of PPO's losses."""

import copy
from dataclasses import replace
from typing import Literal

import msgspec
import numpy as np
import pytest
import torch
from torch import Tensor

from godojo.games.parts import ActionPart, Heading
from godojo.learn.backend import Backend, backend_for
from godojo.learn.critic_runner import CriticRunner
from godojo.learn.kernels.adam import KernelAdam
from godojo.learn.kernels.backend import KernelBackend
from godojo.learn.kernels.critic import KernelCriticRunner
from godojo.learn.kernels.policy import KernelPolicyRunner
from godojo.learn.kernels.ppo import KernelPpoGradient
from godojo.learn.networks import ActionHead, Critic, Normaliser, Policy, PolicyShape, flatten_parameters
from godojo.learn.policy_runner import PolicyInput, PolicyOutput, PolicyRunner
from godojo.learn.ppo import METRICS, TorchPpoGradient
from godojo.learn.rollout_buffer import RolloutBuffer
from godojo.learn.settings import Activation, PpoSettings
from godojo.learn.step_results import Ends, Results

OBSERVED, OTHERS = 29, 7
MOVE = ActionPart("move", "continuous", 2)
JUMP = ActionPart("jump", "continuous", 1)
TOOL = ActionPart("tool", "discrete", 4)
HEADING = Heading(forward=(0, 1), observed=((2, 4),), acted=((0, 1),))
TURNING = Heading(forward=(0, 1), observed=((2, 4),), acted=((0, 1),), remembered=((1, 2), (8, 5)))
Memory = Literal["", "leaky", "gru", "turning"]
SHAPES: list[tuple[tuple[int, ...], Memory, Activation]] = [
    ((64, 64), "leaky", "relu"),
    ((64, 64), "turning", "relu"),
    ((20,), "turning", "relu"),
    ((64, 64), "", "relu"),
    ((24,), "leaky", "relu"),
    ((17,), "", "relu"),
    ((33, 48, 20), "leaky", "relu"),
    ((33, 48, 20), "leaky", "tanh"),
    ((17,), "", "tanh"),
]


def policy_of(net_arch: tuple[int, ...], memory: Memory, *parts: ActionPart, activation: Activation = "relu") -> Policy:
    torch.manual_seed(len(net_arch) + net_arch[0])
    kind: Literal["", "leaky", "gru"] = "leaky" if memory == "turning" else memory
    heading = TURNING if memory == "turning" else HEADING
    shape = PolicyShape(OBSERVED, parts or (MOVE, JUMP), net_arch, kind, 9 if memory else 0, heading)
    policy = Policy(msgspec.structs.replace(shape, activation=activation))
    with torch.no_grad():
        policy.head.linear.weight.normal_(std=0.2)
        if isinstance(policy.head, ActionHead):
            policy.head.log_std.normal_(std=0.3)
    return policy


def played_by(runner: PolicyRunner, policy: Policy, rows: int, deterministic: bool) -> list[Tensor]:
    """Three decisions: actions, their probabilities, what the game gets, and what is remembered in the end."""
    torch.manual_seed(rows)
    chance = torch.Generator().manual_seed(5)
    memory, found = torch.randn(rows, policy.memory_size), []
    for _ in range(3):
        raw = torch.randn(rows, OBSERVED)
        raw[:, :2] = torch.nn.functional.normalize(raw[:, :2])
        numbers = policy.head.linear.out_features
        action, log_prob, env_action = torch.empty(rows, numbers), torch.empty(rows), torch.empty(rows, numbers)
        situation, decision = (
            PolicyInput(policy.preprocess(raw), raw, memory),
            PolicyOutput(action, log_prob, env_action),
        )
        runner.act(situation, decision, deterministic=deterministic, generator=chance)
        found += [action, env_action] if deterministic else [action, log_prob, env_action]
    return [*found, memory]


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("rows", [1, 8, 77])
@pytest.mark.parametrize(("net_arch", "memory", "activation"), SHAPES)
def test_plays_as_torch_does(
    net_arch: tuple[int, ...], memory: Memory, activation: Activation, rows: int, deterministic: bool
) -> None:
    policy = policy_of(net_arch, memory, activation=activation)
    quick = backend_for("cpu").policy_runner(policy, rows)
    assert isinstance(quick, KernelPolicyRunner)
    ours = played_by(quick, policy, rows, deterministic)
    theirs = played_by(PolicyRunner(policy, rows), policy, rows, deterministic)
    for one, other in zip(ours, theirs, strict=True):
        assert torch.allclose(one, other, atol=2e-5)


@pytest.mark.parametrize("rows", [1, 3, 77])
def test_many_numbers_are_written_where_they_belong_and_nowhere_else(rows: int) -> None:
    """Rows are worked on in fours, where actions have many numbers their last ones too."""
    policy = policy_of((16, 16), "leaky", ActionPart("joints", "continuous", 17))
    quick = KernelPolicyRunner(policy, rows)
    quick._mean.fill(3.0)
    ours, theirs = (played_by(one, policy, rows, deterministic=False) for one in (quick, PolicyRunner(policy, rows)))
    for one, other in zip(ours, theirs, strict=True):
        assert torch.allclose(one, other, atol=2e-5)
    assert len(quick._mean) % 8 == 0, "there is room for whole fours"


@pytest.mark.parametrize(("net_arch", "memory"), [shape[:2] for shape in SHAPES[:2]])
def test_observations_and_actions_have_the_bits_of_torch(net_arch: tuple[int, ...], memory: Memory) -> None:
    policy, rows = policy_of(net_arch, memory), 200
    kernels, reference = backend_for("cpu"), Backend()
    assert isinstance(kernels, KernelBackend)
    assert isinstance(backend_for("meta"), Backend), "kernels are for the CPU alone"
    raw, acted = 3.0 * torch.randn(rows, OBSERVED) + 1.0, torch.rand(rows) > 0.2
    action = torch.randn(rows, 3)
    found = []
    for backend in (reference, kernels):
        runner, normaliser = backend.policy_runner(policy, rows), Normaliser(OBSERVED)
        own, normalised = torch.empty_like(raw), torch.empty_like(raw)
        state, relative = torch.empty(rows, 4), torch.empty_like(action)
        runner.from_env_action(action, raw, relative)
        runner.update_normaliser(normaliser, raw, acted)
        runner.to_egocentric(raw, own)
        policy.normaliser.update(raw, acted)
        runner.normalise(policy.normaliser, own, normalised)
        places = np.array([[0, 1, 5, 6, 2, 4], [2, 3, 7, 8, -1, -1]]), np.array([5, 6, 7, 8])
        backend.relative_state(raw, raw.flip(0), np.array([0, 1]), *places, state)
        found.append((own, torch.cat((state, relative), dim=1), normaliser, normalised))
        policy.normaliser.load_state_dict(Normaliser(OBSERVED).state_dict())
    (own, state, moments, normalised), (our_own, our_state, our_moments, our_normalised) = found
    assert torch.equal(own, our_own)
    assert torch.equal(state, our_state)
    assert torch.equal(normalised, our_normalised)
    for one, other in zip(moments.buffers(), our_moments.buffers(), strict=True):
        assert torch.allclose(one, other, rtol=1e-5)


def test_what_is_no_number_is_not_hidden_from_the_game() -> None:
    policy = policy_of((16, 16), "leaky")
    action = torch.full((2, 3), torch.nan)
    assert policy.to_env_action(action, torch.ones(2, OBSERVED)).isnan().all()


def test_plays_by_new_weights_once_it_is_told() -> None:
    policy = policy_of((64, 64), "leaky")
    quick = KernelPolicyRunner(policy, 8)
    before = played_by(quick, policy, 8, deterministic=True)
    with torch.no_grad():
        for weights in policy.parameters():
            weights.mul_(1.5)
    assert torch.equal(before[0], played_by(quick, policy, 8, deterministic=True)[0])
    quick.refresh()
    after, wanted = (played_by(one, policy, 8, deterministic=True) for one in (quick, PolicyRunner(policy, 8)))
    assert not torch.allclose(before[0], after[0], atol=1e-3)
    assert torch.allclose(after[0], wanted[0], atol=2e-5)


def test_what_kernels_do_not_know_goes_through_torch() -> None:
    silu = policy_of((16, 16), "leaky", activation="silu")
    for policy in (policy_of((16, 16), "gru"), policy_of((16, 16), "", MOVE, TOOL), silu):
        critic, settings = Critic(OBSERVED, OTHERS, (16, 16), policy.shape.activation), PpoSettings(n_steps=8)
        weights = flatten_parameters([*policy.parameters(), *critic.parameters()])
        backend = backend_for("cpu")
        assert not isinstance(backend.policy_runner(policy, 4), KernelPolicyRunner)
        assert isinstance(backend.ppo_gradient(policy, critic, weights, settings), TorchPpoGradient)


def buffer_of(policy: Policy, steps: int, columns: int) -> RolloutBuffer:
    """Some data, with ends, rows without a decision, and a policy that has moved beyond the clip both ways."""
    buffer = RolloutBuffer(
        observation=torch.randn(steps + 1, columns, OBSERVED),
        privileged=torch.randn(steps + 1, columns, OTHERS),
        action=torch.randn(steps, columns, 3),
        log_prob=torch.zeros(steps, columns),
        reward=torch.zeros(steps, columns),
        terminated=torch.zeros(steps, columns, dtype=torch.bool),
        truncated=torch.zeros(steps, columns, dtype=torch.bool),
        acted=torch.rand(steps, columns) > 0.2,
        bootstrap_value=torch.zeros(steps, columns),
        not_done=(torch.rand(steps, columns) > 0.1).float(),
        heading=torch.nn.functional.normalize(torch.randn(steps, columns, 2), dim=-1),
        memory=torch.randn(columns, policy.memory_size),
        imitated=torch.randn(steps, columns, 3),
        imitation_weight=0.5 * (torch.rand(steps, columns) > 0.5),
        value=torch.zeros(steps + 1, columns),
        advantage=torch.randn(steps, columns),
        returns=torch.randn(steps, columns),
    )
    with torch.no_grad():
        features = policy.features_of_sequence(buffer.observation[:-1], buffer.memory, buffer.not_done, buffer.heading)
        now, _ = policy.head.evaluate_actions(features, buffer.action)
    buffer.log_prob = now + 0.3 * torch.randn(steps, columns)
    return buffer


@pytest.mark.parametrize("max_grad_norm", [0.3, 1e3])
@pytest.mark.parametrize(("steps", "columns"), [(32, 12), (7, 5), (1, 1)])
@pytest.mark.parametrize(("net_arch", "memory", "activation"), SHAPES)
def test_gradients_are_those_of_torch(
    net_arch: tuple[int, ...],
    memory: Memory,
    activation: Activation,
    steps: int,
    columns: int,
    max_grad_norm: float,
) -> None:
    policy = policy_of(net_arch, memory, activation=activation)
    critic = Critic(OBSERVED, OTHERS, net_arch, activation)
    settings = PpoSettings(n_steps=steps, max_grad_norm=max_grad_norm)
    weights = flatten_parameters([*policy.parameters(), *critic.parameters()])
    buffer = buffer_of(policy, steps, columns)
    chosen = torch.randperm(columns)[: max(columns * 3 // 4, 1)]
    found = []
    for gradient in (
        KernelPpoGradient(policy, critic, weights, settings),
        TorchPpoGradient(policy, critic, weights, settings),
    ):
        assert weights.grad is not None
        weights.grad.normal_()  # what was there before must not matter
        figures = gradient(buffer, chosen)
        found.append((weights.grad.clone(), dict(zip(METRICS, figures, strict=True))))
    (ours, our_figures), (theirs, their_figures) = found
    assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-6)
    assert our_figures == pytest.approx(their_figures, rel=1e-4, abs=1e-6)
    if steps == 32:
        assert 0.1 < our_figures["clip_fraction"] < 0.9, "the case has rows on both sides of the clip"
        assert (our_figures["grad_norm"] > max_grad_norm) == (max_grad_norm < 1.0)


@pytest.mark.parametrize(("steps", "columns"), [(33, 12), (7, 5), (1, 1)])
@pytest.mark.parametrize(("net_arch", "memory", "activation"), SHAPES)
def test_values_are_those_of_torch(
    net_arch: tuple[int, ...], memory: Memory, activation: Activation, steps: int, columns: int
) -> None:
    policy = policy_of(net_arch, memory, activation=activation)
    critic = Critic(OBSERVED, OTHERS, net_arch, activation)
    ours, theirs = KernelCriticRunner(policy, critic), CriticRunner(policy, critic)
    for _ in range(2):  # with new weights as well
        with torch.no_grad():
            for weights in critic.parameters():
                weights.normal_(std=0.3)
            given = torch.randn(steps, columns, OBSERVED), torch.randn(steps, columns, OTHERS)
            found, wanted = torch.full((2, steps, columns), torch.nan)
            ours.values(*given, found)
            theirs.values(*given, wanted)
        assert torch.allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_the_optimiser_steps_as_torch_does_and_takes_over_its_state() -> None:
    torch.manual_seed(3)
    ours, theirs = (torch.nn.Parameter(start) for start in torch.randn(1, 500).repeat(2, 1))
    quick, reference = KernelBackend().adam(ours, 0.01), Backend().adam(theirs, 0.01)
    assert isinstance(quick, KernelAdam)
    for step in range(40):
        if step == 20:  # a checkpoint of either continues in the other
            states = copy.deepcopy((quick.state_dict(), reference.state_dict()))
            quick.load_state_dict(states[1])
            reference.load_state_dict(states[0])
        gradient = torch.randn(500) * torch.rand(500).pow(8)
        for weights, optimiser in ((ours, quick), (theirs, reference)):
            weights.grad = gradient.clone()
            optimiser.param_groups[0]["lr"] = 0.01 / (1 + step)
            optimiser.step()
        assert torch.allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_sequences_shorter_than_the_rollout_have_the_gradients_of_torch() -> None:
    """The same object is called with whole rollouts and with their pieces."""
    policy, critic, settings = policy_of((24, 20), "leaky"), Critic(OBSERVED, OTHERS, (24, 20)), PpoSettings(n_steps=32)
    weights = flatten_parameters([*policy.parameters(), *critic.parameters()])
    whole = buffer_of(policy, 32, 5)
    parts = whole.split(torch.randn(4, 5, policy.memory_size))
    kernels, reference = (kind(policy, critic, weights, settings) for kind in (KernelPpoGradient, TorchPpoGradient))
    for buffer in (whole, parts, whole):
        found = []
        for gradient in (kernels, reference):
            gradient(buffer, torch.arange(buffer.num_columns))
            assert weights.grad is not None
            found.append(weights.grad.clone())
        assert torch.allclose(found[0], found[1], rtol=1e-4, atol=1e-6)


def test_a_loss_that_is_no_number_is_told() -> None:
    policy, critic = policy_of((16, 16), "leaky"), Critic(OBSERVED, OTHERS, (16, 16))
    weights = flatten_parameters([*policy.parameters(), *critic.parameters()])
    buffer = replace(buffer_of(policy, 8, 4), returns=torch.full((8, 4), torch.nan))
    figures = KernelPpoGradient(policy, critic, weights, PpoSettings(n_steps=8))(buffer, torch.arange(4))
    found = dict(zip(METRICS, figures, strict=True))
    assert torch.isnan(torch.tensor(found["value_loss"]))
    assert torch.isfinite(torch.tensor(found["policy_gradient_loss"]))


def test_results_of_a_step_are_stored_alike() -> None:
    chance = np.random.default_rng(3)
    worlds, agents, columns = 20, 3, 31
    rows = np.sort(chance.choice(worlds * agents, columns, replace=False))
    flags = [chance.random(worlds * agents) < 0.2 for _ in range(3)]
    results = Results(chance.random(worlds * agents, np.float32), flags[0])
    ends = Ends(agents, flags[1], flags[2], chance.random(worlds) < 0.2)
    stored = []
    for backend in (Backend(), KernelBackend()):
        numbers = [np.full(columns, 9.0, np.float32) for _ in range(2)]
        kept = [np.zeros(columns, np.bool_) for _ in range(3)]
        memory = np.ones((columns, 4), np.float32)
        not_done, reward = numbers
        assert backend.store_results(rows, results, ends, not_done, memory, reward, *kept)
        forgotten = np.ones((columns, 4), np.float32)
        backend.reset_memory(rows, ends, forgotten)
        np.testing.assert_array_equal(forgotten, memory)
        stored.append([*numbers, *kept, memory])
    for plain, kernel in zip(*stored, strict=True):
        np.testing.assert_array_equal(plain, kernel)
    assert 0 < stored[0][0].sum() < columns
