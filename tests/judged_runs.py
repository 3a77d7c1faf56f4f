"""Runs for tests of judging: small nets, untrained or taught a simple trick, in folders as training leaves them."""

from pathlib import Path

import msgspec
import torch

from godojo.engines.make import make_vec
from godojo.games.navigation.settings import NavigationSettings
from godojo.games.tag.settings import TagSettings
from godojo.learn.networks import Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard, policy_bytes
from godojo.runs.config import RunConfig
from godojo.runs.folder import RunFolder

ROLES = ("seeker", "hider")


def small_policy(
    role: str,
    settings: TagSettings | None = None,
    *,
    ahead: float | None = None,
    game: str = "tag",
    memory: str = "",
    remembered: tuple[tuple[int, int], ...] = (),
) -> tuple[Policy, PolicyCard]:
    """An untrained policy; or one that does nothing but run where it looks, forwards or (below 0) backwards."""
    settings = settings or TagSettings.defaults()
    arrays = make_vec("tag", settings=settings).roles[role]
    assert arrays.heading is not None
    shape = PolicyShape(
        observation_size=arrays.observation.shape[2],
        action_parts=arrays.action_parts,
        net_arch=(8, 8),
        memory=memory,  # type: ignore[arg-type]
        memory_size=4 if memory else 0,
        heading=msgspec.structs.replace(arrays.heading, remembered=remembered),
    )
    torch.manual_seed(3)
    policy = Policy(shape)
    if ahead is not None:
        with torch.no_grad():
            policy.head.linear.weight.zero_()
            policy.head.linear.bias.copy_(torch.tensor([0.0, ahead, -1.0]))
    card = PolicyCard(game, role, arrays.observation_parts, shape, 1000, msgspec.to_builtins(settings))
    return policy.requires_grad_(False).eval(), card


def make_run(root: Path, run_id: str = "small", settings: TagSettings | None = None, game: str = "tag") -> RunFolder:
    """A run with the snapshots `start` (nobody moves) and `final` (everybody runs ahead)."""
    settings = settings or TagSettings.defaults()
    config = RunConfig(game, "sim", ROLES, "ppo", {}, msgspec.to_builtins(settings), 1, {"minutes": 1.0})
    run = RunFolder.create(config, run_id, root=root)
    for name, ahead, steps in (("start", 0.0, 0), ("final", 1.0, 1000)):
        files = {role: policy_bytes(*small_policy(role, settings, ahead=ahead, game=game)) for role in ROLES}
        run.snapshots().save(name, files, steps, steps / 100)
    for role, content in files.items():
        run.save_policy(role, content)
    return run


def make_solo_run(root: Path, run_id: str = "solo", round_s: float = 4.0) -> RunFolder:
    """A run of navigation with the snapshots `start` (the walker stands) and `final` (it walks straight on)."""
    settings = NavigationSettings.defaults().override_texts([f"rules.round_s={round_s}"])
    config = RunConfig("navigation", "sim", ("walker",), "ppo", {}, msgspec.to_builtins(settings), 1, {"minutes": 1.0})
    run = RunFolder.create(config, run_id, root=root)
    arrays = make_vec("navigation", settings=settings).roles["walker"]
    shape = PolicyShape(arrays.observation.shape[2], arrays.action_parts, net_arch=(8, 8))
    for name, forward, steps in (("start", 0.0, 0), ("final", 1.0, 1000)):
        policy = Policy(shape).requires_grad_(False).eval()
        policy.head.linear.weight.zero_()
        policy.head.linear.bias.copy_(torch.tensor([0.0, forward, 0.0]))
        values = msgspec.to_builtins(settings)
        card = PolicyCard("navigation", "walker", arrays.observation_parts, shape, steps, values)
        content = policy_bytes(policy, card)
        run.snapshots().save(name, {"walker": content}, steps, steps / 100)
    run.save_policy("walker", content)
    return run
