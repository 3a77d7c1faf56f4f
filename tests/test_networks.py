"""The networks: distributions against torch's own, frames of reference, memory, and what is normalised."""

import ast
import math
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from torch.distributions import Categorical, Normal

import godojo.learn
from godojo.games.parts import ActionPart, Heading
from godojo.learn.kernels.memory import leaky_scan as kernel_scan
from godojo.learn.memory import leaky_scan
from godojo.learn.networks import NORMALISED_LIMIT, ActionHead, Critic, Normaliser, Policy, PolicyShape

MIXED = (
    ActionPart("gear", "discrete", 4),
    ActionPart("steer", "continuous", 2),
    ActionPart("horn", "discrete", 2),
    ActionPart("gas", "continuous", 1),
)
NUMBERS = ActionPart("move", "continuous", 3)
HEADING = Heading(forward=(0, 1), observed=((0, 1), (2, 4)), acted=((0, 2),))


def policy_of(
    parts: tuple[ActionPart, ...] = (NUMBERS,),
    memory: Literal["", "leaky", "gru"] = "",
    heading: Heading | None = None,
    net_arch: tuple[int, ...] = (16, 16),
) -> Policy:
    torch.manual_seed(0)
    policy = Policy(PolicyShape(6, parts, net_arch, memory, 5 if memory else 0, heading))
    assert isinstance(policy.head, ActionHead)
    with torch.no_grad():  # fresh heads hardly do anything; a trained one does
        policy.head.linear.weight.normal_()
        policy.head.log_std.normal_()
    return policy


def head_of(parts: tuple[ActionPart, ...]) -> ActionHead:
    head = policy_of(parts).head
    assert isinstance(head, ActionHead)
    return head


def reference(head: ActionHead, features: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probability and entropy by torch.distributions, part by part."""
    raw = head.linear(features)
    numbers_at, choices_at, column, number = 0, head.continuous_size, 0, 0
    log_prob, entropy = torch.zeros(features.shape[:-1]), torch.zeros(features.shape[:-1])
    for part in head.parts:
        if part.kind == "continuous":
            mean = raw[..., numbers_at : numbers_at + part.size]
            spread = head.log_std[number : number + part.size].exp()
            normal: Any = Normal(mean, spread)
            log_prob += normal.log_prob(action[..., column : column + part.size]).sum(-1)
            entropy += normal.entropy().sum(-1)
            numbers_at, number = numbers_at + part.size, number + part.size
        else:
            choice: Any = Categorical(logits=raw[..., choices_at : choices_at + part.size])
            log_prob += choice.log_prob(action[..., column])
            entropy += choice.entropy()
            choices_at += part.size
        column += part.width
    return log_prob, entropy


@pytest.mark.parametrize("parts", [(NUMBERS,), MIXED, (ActionPart("turn", "discrete", 3),)])
@pytest.mark.parametrize("shape", [(50,), (7, 11)])
def test_probabilities_are_those_of_torch(parts: tuple[ActionPart, ...], shape: tuple[int, ...]) -> None:
    head = head_of(parts)
    features = torch.randn(*shape, 16)
    choice = head.sample(features, generator=torch.Generator().manual_seed(1))
    assert choice.action.shape == (*shape, sum(part.width for part in parts))
    log_prob, entropy = reference(head, features, choice.action)
    judged, judged_entropy = head.evaluate_actions(features, choice.action)
    assert torch.allclose(choice.log_prob, log_prob, atol=1e-5)
    assert torch.allclose(judged, log_prob, atol=1e-5)
    assert torch.allclose(judged_entropy.expand(shape), entropy, atol=1e-5)


@torch.no_grad()
def test_choices_are_drawn_as_often_as_their_probability_says() -> None:
    head = head_of(MIXED)
    features = torch.randn(1, 16).expand(40_000, 16)
    drawn = head.sample(features, generator=torch.Generator().manual_seed(1)).action
    raw = head.linear(features[:1])[0]
    for column, logits in ((0, raw[3:7]), (3, raw[7:9])):
        seen = torch.bincount(drawn[:, column].long(), minlength=len(logits)) / len(drawn)
        assert torch.allclose(seen, logits.softmax(-1), atol=0.02)
    for column, index in ((1, 0), (2, 1), (4, 2)):
        spread = float(head.log_std[index].exp())
        assert float(drawn[:, column].mean()) == pytest.approx(float(raw[index]), abs=0.03 * spread)
        assert float(drawn[:, column].std()) == pytest.approx(spread, rel=0.02)


def test_greedy_does_the_likeliest() -> None:
    head = head_of(MIXED)
    features = torch.randn(30, 16)
    action = head.sample(features, deterministic=True).action
    raw = head.linear(features)
    assert torch.equal(action[:, [1, 2, 4]], raw[:, :3])
    assert torch.equal(action[:, 0], raw[:, 3:7].argmax(-1).float())
    assert torch.equal(action[:, 3], raw[:, 7:9].argmax(-1).float())


def turned(pairs: tuple[tuple[int, int], ...], rows: torch.Tensor, angle: float) -> torch.Tensor:
    """The same in a world that is turned about its vertical axis."""
    new = rows.clone()
    for x_at, z_at in pairs:
        new[:, x_at] = rows[:, x_at] * math.cos(angle) + rows[:, z_at] * math.sin(angle)
        new[:, z_at] = -rows[:, x_at] * math.sin(angle) + rows[:, z_at] * math.cos(angle)
    return new


def seen_by(rows: int) -> torch.Tensor:
    """Observations whose first two numbers are a unit vector, as a heading is."""
    raw = torch.randn(rows, 6, generator=torch.Generator().manual_seed(2))
    raw[:, :2] /= raw[:, :2].norm(dim=1, keepdim=True)
    return raw


@pytest.mark.parametrize("angle", [0.5, math.pi / 2, 2.8, -1.9])
def test_a_turned_world_is_the_same_to_the_agent_and_gets_the_turned_action(angle: float) -> None:
    policy = policy_of(heading=HEADING)
    raw = seen_by(40)
    raw_turned = turned(HEADING.observed, raw, angle)
    assert torch.allclose(policy.to_egocentric(raw), policy.to_egocentric(raw_turned), atol=1e-5)
    features, _ = policy.features(policy.preprocess(raw), policy.initial_memory(40))
    own = policy.head.sample(features, deterministic=True).action
    own = own / (1.0 + own.norm(dim=1, keepdim=True))  # what is within reach of either world's axes
    there = policy.to_env_action(own, raw_turned)
    assert torch.allclose(turned(HEADING.acted, policy.to_env_action(own, raw), angle), there, atol=1e-5)


def test_ahead_is_where_the_agent_looks() -> None:
    policy = policy_of(heading=HEADING)
    raw = seen_by(40)
    raw[:, 2], raw[:, 4] = 3.0 * raw[:, 0], 3.0 * raw[:, 1]  # something three metres ahead
    own = policy.to_egocentric(raw)
    assert torch.allclose(own[:, :2], torch.tensor([0.0, 1.0]).expand(40, 2), atol=1e-6)
    assert torch.allclose(own[:, [2, 4]], torch.tensor([0.0, 3.0]).expand(40, 2), atol=1e-6)
    assert torch.equal(own[:, [3, 5]], raw[:, [3, 5]]), "what is not along the world's axes stays"
    ahead = torch.zeros(40, 3)
    ahead[:, 2], ahead[:, 1] = 1.0, 0.7
    action = policy.to_env_action(ahead, raw)
    assert torch.allclose(action[:, [0, 2]], raw[:, :2], atol=1e-6)
    assert torch.equal(action[:, 1], ahead[:, 1])


def test_frames_are_each_others_inverse() -> None:
    """What is observed ahead and walked towards is one direction: into the own frame and out again changes nothing."""
    heading = Heading(forward=(0, 1), observed=((2, 4),), acted=((2, 4),))
    policy = policy_of(heading=heading)
    raw = seen_by(40)
    raw /= 1.0 + raw[:, 2:].norm(dim=1, keepdim=True)
    raw[:, :2] /= raw[:, :2].norm(dim=1, keepdim=True)
    there_and_back = policy.to_env_action(policy.to_egocentric(raw), raw)
    assert torch.allclose(there_and_back[:, [2, 4]], raw[:, [2, 4]], atol=1e-6)
    assert torch.equal(policy_of().to_egocentric(raw), raw), "without a heading nothing is turned"


@pytest.mark.parametrize("memory", ["leaky", "gru"])
def test_a_sequence_remembers_as_step_by_step(memory: Literal["leaky", "gru"]) -> None:
    policy = policy_of(memory=memory)
    steps, rows = 9, 6
    seen, not_done = torch.randn(steps, rows, 6), (torch.rand(steps, rows) > 0.3).float()
    begun = torch.randn(rows, 5)
    at_once = policy.features_of_sequence(seen, begun, not_done)
    remembered = begun
    for step in range(steps):
        features, remembered = policy.features(seen[step], remembered * not_done[step, :, None])
        assert torch.allclose(at_once[step], features, atol=1e-5)


def test_the_normaliser_learns_mean_and_variance_batch_by_batch() -> None:
    rows = torch.randn(1000, 4, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 10.0, 0.1, 0.0]) + 3.0
    normaliser = Normaliser(4)
    for batch in torch.split(rows, [10, 490, 500]):
        normaliser.update(batch.reshape(-1, 2, 4))
    assert torch.allclose(normaliser.mean, rows.mean(0), atol=1e-4)
    assert torch.allclose(normaliser.variance, rows.var(0, correction=0), rtol=1e-3, atol=1e-6)
    normalised = normaliser(rows)
    assert torch.allclose(normalised[:, :3].mean(0), torch.zeros(3), atol=1e-3)
    assert torch.allclose(normalised[:, :3].std(0), torch.ones(3), atol=1e-2)
    assert float(normaliser(torch.full((1, 4), 1e9)).max()) == NORMALISED_LIMIT
    assert torch.isfinite(normaliser(rows)).all(), "a number that never changes divides by nothing"


def test_the_normaliser_learns_from_agents_that_acted_alone() -> None:
    rows = torch.randn(60, 3, generator=torch.Generator().manual_seed(0)) + 2.0
    acted = torch.arange(60) % 3 > 0
    some, wanted = Normaliser(3), Normaliser(3)
    some.update(torch.where(acted[:, None], rows, 0.0), acted)
    wanted.update(rows[acted])
    assert all(torch.equal(one, other) for one, other in zip(some.buffers(), wanted.buffers(), strict=True))
    some.update(torch.zeros(5, 3), torch.zeros(5, dtype=torch.bool))
    assert float(some.count) == 40, "nobody acted: nothing is learnt"


@pytest.mark.parametrize("net_arch", [(16,), (16, 8), (8, 16, 8)])
def test_any_number_of_layers(net_arch: tuple[int, ...]) -> None:
    policy = policy_of(net_arch=net_arch, memory="leaky")
    features, memory = policy.features(policy.preprocess(torch.randn(3, 6)), policy.initial_memory(3))
    assert features.shape == (3, net_arch[-1])
    assert memory.shape == (3, 5)
    assert Critic(6, 2, net_arch)(torch.randn(3, 6), torch.randn(3, 2)).shape == (3,)


def test_the_critic_sees_the_others() -> None:
    torch.manual_seed(0)
    critic = Critic(6, 2, (16, 16))
    own, others = torch.randn(5, 6), torch.randn(5, 2)
    assert not torch.allclose(critic(own, others), critic(own, others + 1.0))


def test_a_wish_that_is_too_long_does_not_bend() -> None:
    """It is shortened; cutting it axis by axis would turn it."""
    policy = policy_of(heading=HEADING)
    raw = torch.zeros(1, 6)
    raw[0, 0], raw[0, 1] = math.sin(0.5), math.cos(0.5)
    action = policy.to_env_action(torch.tensor([[0.0, -2.0, 3.0]]), raw)
    assert torch.allclose(action, torch.tensor([[math.sin(0.5), -1.0, math.cos(0.5)]]))


@pytest.mark.parametrize("name", ["networks", "memory", "rotation", "rollout", "ppo", "gae"])
def test_reference_modules_import_no_kernels(name: str) -> None:
    tree = ast.parse((Path(godojo.learn.__file__).parent / f"{name}.py").read_text("utf-8"))
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    imported += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    assert not [module for module in imported if "kernels" in module or "numba" in module]
    if name in ("networks", "memory"):
        assert "numpy" not in ast.dump(tree)


@pytest.mark.parametrize("parts", [(NUMBERS,), MIXED])
@pytest.mark.parametrize("memory", ["", "leaky", "gru"])
def test_policies_run_on_any_device(memory: Literal["", "leaky", "gru"], parts: tuple[ActionPart, ...]) -> None:
    """The meta device has no numbers: whatever leaves it for NumPy or the CPU fails."""
    heading = Heading(
        forward=(0, 1), observed=((2, 4),), acted=((1, 2),), remembered=((3, 1),) if memory == "leaky" else ()
    )
    policy, critic = policy_of(parts, memory, heading).to("meta"), Critic(6, 2, (16, 16)).to("meta")
    observation, done = torch.empty(7, 3, 6, device="meta"), torch.empty(7, 3, device="meta")
    step, memory_rows = observation[0], policy.initial_memory(3)
    features, memory_rows = policy.features(policy.preprocess(step), memory_rows, policy.heading_of(step))
    action = policy.to_env_action(policy.head.sample(features).action, step)
    headings = policy.heading_of(observation)
    sequence = policy.features_of_sequence(policy.preprocess(observation), memory_rows, done, headings)
    log_prob, _ = policy.head.evaluate_actions(sequence, action.expand(7, *action.shape))
    (log_prob.sum() + critic(policy.preprocess(observation), observation[..., :2]).sum()).backward()
    assert {each.device.type for each in (action, log_prob, memory_rows)} == {"meta"}
    assert all(weights.grad is not None for weights in (*policy.encoder.parameters(), *critic.parameters()))


@pytest.mark.parametrize("rotated", [(), ((3, 1), (0, 4))])
def test_the_gradient_of_the_leaky_scan(rotated: tuple[tuple[int, int], ...]) -> None:
    chance = torch.Generator().manual_seed(0)
    steps, rows, size = 4, 3, 5
    raw = torch.randn(steps, rows, 2 * size, generator=chance, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(rows, size, generator=chance, dtype=torch.float64, requires_grad=True)
    not_done = (torch.rand(steps, rows, generator=chance) > 0.3).double()
    heading = torch.nn.functional.normalize(torch.randn(steps, rows, 2, generator=chance, dtype=torch.float64), dim=-1)
    assert torch.autograd.gradcheck(
        lambda raw, memory, done, ahead: leaky_scan(raw, memory, done, ahead, rotated), (raw, memory, not_done, heading)
    )
    with torch.no_grad():
        ours = kernel_scan(raw, memory, not_done, heading, rotated)
    assert torch.allclose(ours, leaky_scan(raw, memory, not_done, heading, rotated), rtol=1e-12, atol=1e-12)
    towards = torch.randn(steps, rows, size, generator=chance, dtype=torch.float64)
    gradients = [
        torch.autograd.grad((scan(raw, memory.detach(), not_done, heading, rotated) * towards).sum(), raw)[0]
        for scan in (kernel_scan, leaky_scan)
    ]
    assert torch.allclose(gradients[0], gradients[1], rtol=1e-9, atol=1e-12)
