"""PPO's losses and their gradients, against the same written plainly; rows that are no data give exactly nothing."""

from dataclasses import replace
from typing import Any, Literal

import msgspec
import pytest
import torch
from torch import Tensor
from torch.distributions import Normal
from torch.nn.functional import linear

from godojo.engines.base import Worlds
from godojo.games.parts import ActionPart, Heading
from godojo.learn import ppo
from godojo.learn.networks import ActionHead, Critic, Policy, PolicyShape
from godojo.learn.rollout_buffer import RolloutBuffer
from godojo.learn.self_play import PpoSelfPlay
from godojo.learn.settings import PpoSettings
from tests.learning_games import SMALL, fingerprints, learner, one_rollout, tag

STEPS, COLUMNS, CLIP = 7, 5, 0.2
MEMORY = 3


TURNING = Heading(forward=(0, 1), observed=(), acted=(), remembered=((2, 0),))


def networks(memory: Literal["", "leaky", "turning"]) -> tuple[Policy, Critic]:
    torch.manual_seed(0)
    size, heading = MEMORY if memory else 0, TURNING if memory == "turning" else None
    kind: Literal["", "leaky"] = "leaky" if memory else ""
    shape = PolicyShape(6, (ActionPart("move", "continuous", 2),), (8, 8), kind, size, heading)
    policy, critic = Policy(shape).double(), Critic(6, 4, (8, 8)).double()
    with torch.no_grad():
        policy.head.linear.weight.normal_()
    return policy, critic


def batch_of(policy: Policy, seed: int = 1) -> RolloutBuffer:
    """Some data, with ends, rows without a decision, and policies that have moved beyond the clip both ways."""
    chance = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=chance, dtype=torch.float64)

    observation, not_done = normal(STEPS, COLUMNS, 6), (normal(STEPS, COLUMNS) > -0.7).double()
    memory, action = normal(COLUMNS, policy.memory_size), normal(STEPS, COLUMNS, 2)
    heading = torch.nn.functional.normalize(normal(STEPS, COLUMNS, 2), dim=-1)
    with torch.no_grad():
        now, _ = policy.head.evaluate_actions(
            policy.features_of_sequence(observation, memory, not_done, heading), action
        )
    nothing = torch.zeros(STEPS, COLUMNS)
    return RolloutBuffer(
        observation=torch.cat((observation, normal(1, COLUMNS, 6))),
        privileged=normal(STEPS + 1, COLUMNS, 4),
        action=action,
        log_prob=now + 0.3 * normal(STEPS, COLUMNS),
        reward=nothing,
        terminated=nothing > 0,
        truncated=nothing > 0,
        acted=normal(STEPS, COLUMNS) > -0.5,
        bootstrap_value=nothing,
        not_done=not_done,
        heading=heading,
        memory=memory,
        imitated=normal(STEPS, COLUMNS, 2),
        imitation_weight=0.5 * (normal(STEPS, COLUMNS) > 0.5),
        value=nothing,
        advantage=normal(STEPS, COLUMNS),
        returns=normal(STEPS, COLUMNS),
    )


def plain_loss(policy: Policy, critic: Critic, batch: RolloutBuffer, vf_coef: float, ent_coef: float) -> Tensor:
    """The same from the papers: agent by agent and decision by decision, by torch's own gradient."""
    total = torch.zeros((), dtype=torch.float64)
    count = 0
    head = policy.head
    assert isinstance(head, ActionHead)
    for column in range(COLUMNS):
        held = batch.memory[column]
        for step in range(STEPS):
            seen = batch.observation[step, column]
            if not batch.not_done[step, column]:
                held = torch.zeros_like(held)
            encoder = policy.encoder[0]
            sight = torch.relu(linear(seen, encoder.weight, encoder.bias))  # type: ignore[arg-type]
            if policy.memory is not None:
                gates, told = policy.memory.linear(sight).chunk(2)  # type: ignore[operator]
                gate = torch.sigmoid(gates)
                x, z = batch.heading[step, column]
                into, back = torch.eye(MEMORY, dtype=torch.float64), torch.eye(MEMORY, dtype=torch.float64)
                for at_x, at_z in policy.rotated_cells:
                    into[at_x, at_x], into[at_x, at_z], into[at_z, at_x], into[at_z, at_z] = z, -x, x, z
                    back[at_x, at_x], back[at_x, at_z], back[at_z, at_x], back[at_z, at_z] = z, x, -x, z
                own = (1.0 - gate) * (into @ held) + gate * torch.tanh(told)
                sight, held = torch.cat((sight, own)), back @ own
            mean = head.linear(torch.relu(policy.trunk[0](sight)))
            normal: Any = Normal(mean, head.log_std.exp())
            if not batch.acted[step, column]:
                continue
            count += 1
            ratio = torch.exp(normal.log_prob(batch.action[step, column]).sum() - batch.log_prob[step, column])
            advantage = batch.advantage[step, column]
            gain = torch.min(ratio * advantage, torch.clamp(ratio, 1.0 - CLIP, 1.0 + CLIP) * advantage)
            first = torch.relu(critic.own(seen) + critic.privileged(batch.privileged[step, column]))
            value = critic.value(torch.relu(critic.trunk[0](first)))[0]
            error = (value - batch.returns[step, column]) ** 2
            imitation = batch.imitation_weight[step, column] * ((mean - batch.imitated[step, column]) ** 2).sum()
            total = total - gain + vf_coef * error - ent_coef * normal.entropy().sum() + imitation
    return total / count


@pytest.mark.parametrize("memory", ["", "leaky", "turning"])
def test_gradients_are_those_of_the_plain_formula(memory: Literal["", "leaky", "turning"]) -> None:
    policy, critic = networks(memory)
    batch = batch_of(policy)
    parameters = {**dict(policy.named_parameters()), **{f"critic.{n}": p for n, p in critic.named_parameters()}}
    found = ppo.losses(policy, critic, batch, CLIP)
    assert 0.1 < float(found.clip_fraction) < 0.9, "the case has rows on both sides of the clip"
    loss = found.policy_gradient_loss + 0.5 * found.value_loss - 0.01 * found.entropy + found.imitation_loss
    ours = torch.autograd.grad(loss, list(parameters.values()))
    plain = plain_loss(policy, critic, batch, 0.5, 0.01)
    theirs = torch.autograd.grad(plain, list(parameters.values()))
    assert loss.item() == pytest.approx(plain.item(), rel=1e-9)
    for name, one, other in zip(parameters, ours, theirs, strict=True):
        assert torch.allclose(one, other, rtol=1e-5, atol=1e-7), name


def test_a_row_without_a_decision_gives_nothing() -> None:
    """Not a little: whatever stands in it, all gradients have the same bits."""
    policy, critic = networks("")
    batch = batch_of(policy)
    idle = ~batch.acted
    assert idle.any()
    spoilt = {
        name: getattr(batch, name).clone()
        for name in ("observation", "privileged", "action", "advantage", "returns", "imitated")
    }
    for values in spoilt.values():
        values[:STEPS][idle] = 3.0
    gradients = []
    for each in (batch, replace(batch, **spoilt)):
        found = ppo.losses(policy, critic, each, CLIP)
        loss = found.policy_gradient_loss + found.value_loss - found.entropy + found.imitation_loss
        gradients.append(torch.autograd.grad(loss, [*policy.parameters(), *critic.parameters()]))
    assert all(torch.equal(one, other) for one, other in zip(*gradients, strict=True))


def test_a_batch_in_which_nobody_acted_moves_nothing() -> None:
    policy, critic = networks("leaky")
    batch = batch_of(policy)
    found = ppo.losses(policy, critic, replace(batch, acted=torch.zeros_like(batch.acted)), CLIP)
    loss = found.policy_gradient_loss + found.value_loss - found.entropy
    for gradient in torch.autograd.grad(loss, [*policy.parameters(), *critic.parameters()]):
        assert not gradient.any()


def after_update(worlds: Worlds, settings: PpoSettings, spoil: bool) -> tuple[dict[str, str], int]:
    """Everybody's weights after one update, with or without nonsense in what is not to be learnt from."""
    made = learner(settings, worlds=worlds)
    try:
        one_rollout(made)
        spoilt = sum(nonsense(made, name) for name in made.workers) if spoil else 0
        for name, worker in made.workers.items():
            ppo.update(worker, made.gradients[name], made.optimisers[name], settings)
        return fingerprints(made), spoilt
    finally:
        made.close()


def nonsense(made: PpoSelfPlay, name: str) -> int:
    """Spoils rows without a decision; how many that were."""
    buffer = made.workers[name].buffer
    idle = ~buffer.acted
    # What was seen in such a row may be remembered in the next one, so that stays.
    for values in (buffer.action, buffer.log_prob, buffer.reward, buffer.value[:-1], buffer.privileged[:-1]):
        values[idle] = 0.7
    return int(idle.sum())


def test_idle_rows_change_no_bit_of_an_update() -> None:
    """Three seekers against five hiders, where a caught hider waits for the round to end."""
    rules = {"rules.seekers": 3, "rules.hiders": 5, "spawns.distance_m": 0.0, "rules.touch_reach_m": 0.09}
    settings = msgspec.structs.replace(SMALL, n_steps=24)
    clean, _ = after_update(tag(SMALL.num_worlds, rules=rules), settings, spoil=False)
    spoilt, rows = after_update(tag(SMALL.num_worlds, rules=rules), settings, spoil=True)
    assert rows > 0, "somebody had to wait"
    assert clean == spoilt
