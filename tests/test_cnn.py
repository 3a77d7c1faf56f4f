"""Images in observations: convolutions in torch, in files, in ONNX, and learners that see."""

import io
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
import torch

from godojo.demos.file import DemoEpisode
from godojo.engines.base import RoleArrays, Worlds
from godojo.errors import GodojoError
from godojo.export.card import _origin
from godojo.export.dojo_file import check_dojo, dojo_bytes, load_dojo, write_dojo
from godojo.export.godot_rl_onnx import godot_rl_bytes
from godojo.export.onnx_file import OnnxSession, onnx_bytes, replayed
from godojo.export.onnx_guard import check_onnx
from godojo.export.ship import Trained, gdscript_us, weight_count
from godojo.export.vectors import make_vectors
from godojo.games.parts import ActionPart, ObservationPart
from godojo.learn.cnn import Convolution, ImageInput, image_inputs
from godojo.learn.kernels.policy import has_kernels
from godojo.learn.networks import NORMALISED_LIMIT, Policy
from godojo.learn.policy_file import load_policy, policy_bytes, save_policy
from godojo.learn.sac import SacSelfPlay
from godojo.learn.self_play import PpoSelfPlay
from godojo.learn.settings import PpoSettings, SacSettings
from tests.dojo_policies import PIXELS, drawn_policy

KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "leaky": {"memory": "leaky", "memory_size": 6},
    "gru": {"net_arch": (9,), "memory": "gru", "memory_size": 5},
    "squashed": {"squashed": True},
}
SEES: dict[str, Any] = {"observation_parts": PIXELS, "cnn_channels": (8, 6, 10)}


@pytest.mark.parametrize(
    ("size", "shapes"),
    [
        ((36, 36, 3), [(17, 17, 16), (8, 8, 32), (3, 3, 32)]),
        ((84, 84, 4), [(20, 20, 16), (9, 9, 32), (4, 4, 32)]),
        ((64, 128, 1), [(15, 31, 16), (7, 15, 32), (3, 7, 32)]),
        ((2, 3, 3), [(1, 2, 16), (1, 2, 32), (1, 2, 32)]),
        ((1, 1, 1), [(1, 1, 16), (1, 1, 32), (1, 1, 32)]),
    ],
)
def test_kernels_and_strides_follow_from_the_size_of_the_image(
    size: tuple[int, int, int], shapes: list[tuple[int, int, int]]
) -> None:
    parts = (ObservationPart("place", (5,)), ObservationPart("eye", size, "image", 0.0, 1.0))
    (image,) = image_inputs(parts, PpoSettings().cnn_channels)
    assert (image.first, image.shapes) == (5, [size, *shapes])
    assert image_inputs(parts, ()) == ()


def test_a_policy_computes_what_the_page_says() -> None:
    """Convolution by convolution with plain loops, as `docs/dojo-file.md` describes a decision."""
    policy, card = drawn_policy(**SEES)
    header, blocks = check_dojo(dojo_bytes(policy, card))
    scale, offset, *weights = blocks
    raw = np.random.default_rng(0).uniform(0.0, 1.0, header.observation_size).astype(np.float32)
    seen = np.clip(raw * scale + offset, -NORMALISED_LIMIT, NORMALISED_LIMIT)
    features = [seen[702:707]]
    for image in header.images:
        pixels = seen[image.first : image.first + image.size].reshape(image.shape)
        for layer in image.convolutions:
            matrix, bias, *weights = weights
            rows, columns = ((extent - layer.kernel) // layer.stride + 1 for extent in pixels.shape[:2])
            found = np.empty((rows, columns, layer.channels), np.float32)
            for y in range(rows):
                for x in range(columns):
                    top, left = y * layer.stride, x * layer.stride
                    patch = pixels[top : top + layer.kernel, left : left + layer.kernel].reshape(-1)
                    found[y, x] = np.maximum(matrix @ patch + bias, 0.0)
            pixels = found
        features.append(pixels.reshape(-1))
    wanted = np.concatenate(features)
    with torch.no_grad():
        np.testing.assert_allclose(policy.see(policy.preprocess(torch.from_numpy(raw))), wanted, atol=1e-5, rtol=0)
    assert header.layers[0].inputs == len(wanted)


def test_images_are_not_normalised() -> None:
    policy, _ = drawn_policy(**SEES)
    raw = torch.rand(3, policy.shape.observation_size)
    seen = policy.preprocess(raw)
    assert torch.allclose(seen[:, :702], raw[:, :702], atol=1e-5)
    assert not torch.allclose(seen[:, 702:707], raw[:, 702:707], atol=1e-2)
    assert torch.allclose(seen[:, 707:], raw[:, 707:], atol=1e-5)


def test_kernels_leave_images_to_torch() -> None:
    assert has_kernels(drawn_policy(observation_parts=PIXELS)[0])
    assert not has_kernels(drawn_policy(**SEES)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_every_file_decides_alike(kind: str, tmp_path: Path) -> None:
    """A thousand observations; tests/godot/test_inference.py has GDScript."""
    policy, card = drawn_policy(**SEES, **KINDS[kind])
    vectors = make_vectors(policy, card, 125, streams=8, seed=3)
    assert np.ptp(vectors.action, axis=(0, 1)).min() > 0.1, "actions that are all alike prove nothing"
    save_policy(tmp_path / "agent.pt", policy, card)
    write_dojo(tmp_path / "agent.dojo", policy, card)
    for loaded, its_card in (load_policy(tmp_path / "agent.pt"), load_dojo(tmp_path / "agent.dojo")):
        assert its_card == card
        found = make_vectors(loaded, card, 125, streams=8, seed=3).action
        np.testing.assert_allclose(found, vectors.action, atol=1e-5, rtol=0)
    content, _ = onnx_bytes(policy, card)
    np.testing.assert_allclose(replayed(OnnxSession(content), vectors), vectors.action, atol=1e-5, rtol=0)
    assert check_onnx(content) == check_dojo(dojo_bytes(policy, card)).header
    assert weight_count(card.shape) == sum(
        weights.numel() for name, weights in policy.named_parameters() if name != "head.log_std"
    )


def test_files_without_images_are_those_of_before() -> None:
    assert dojo_bytes(*drawn_policy())[4] == 2
    assert dojo_bytes(*drawn_policy(**SEES))[4] == 3
    assert dojo_bytes(*drawn_policy(activation="tanh"))[4] == 3
    assert b"images" not in dojo_bytes(*drawn_policy())
    for policy, card in (drawn_policy(), drawn_policy(**SEES), drawn_policy(activation="silu")):
        model = onnx.load_model_from_string(onnx_bytes(policy, card)[0])
        tags = {entry.key: entry.value for entry in model.metadata_props}
        kept = torch.load(io.BytesIO(policy_bytes(policy, card)), weights_only=True)
        newer = int(not card.shape.is_plain)
        assert (tags["godojo.format"], kept["format"]) == (f"godojo-onnx/{3 + newer}", f"godojo-policy/{3 + newer}")


def test_a_damaged_card_is_refused_before_memory_is_taken(tmp_path: Path) -> None:
    policy, card = drawn_policy(**SEES)
    for image in (
        ImageInput(0, (13, 18, 3), (Convolution(8, 3, 0),)),
        ImageInput(0, (13, 18, 3), (Convolution(8, 14, 1),)),
        ImageInput(0, (13, 18, 3), ()),
        ImageInput(0, (13, 18, 3), (Convolution(2**40, 3, 2),)),
        ImageInput(700, (13, 18, 3), (Convolution(8, 3, 2),)),
        ImageInput(0, (13, 18, 3), (Convolution(8, 1, 1),) * 100),
    ):
        shape = msgspec.structs.replace(card.shape, images=(image,))
        save_policy(tmp_path / "agent.pt", policy, msgspec.structs.replace(card, shape=shape))
        with pytest.raises(GodojoError, match="does not fit together"):
            load_policy(tmp_path / "agent.pt")


def test_the_card_and_the_estimate_know_convolutions() -> None:
    policy, card = drawn_policy(**SEES)
    assert "convolutions with 8-6-10 and 8-6-10 channels" in _origin("agent.pt", [Trained("", policy, card)])
    assert gdscript_us(card.shape) > gdscript_us(drawn_policy()[1].shape)


def test_godot_rl_names_are_refused_for_images() -> None:
    policy, card = drawn_policy(observation_parts=PIXELS[:1], cnn_channels=(4,))
    with pytest.raises(GodojoError, match="feeds the key 'obs' alone, and the agent observes eye"):
        godot_rl_bytes(policy, card)


class Bars(Worlds):
    """A picture shows a bar, and the closer the action is to its place, the better. Rounds have four decisions."""

    SHAPE = (10, 12, 1)

    def __init__(self, num_worlds: int) -> None:
        self.num_worlds, self.ticks_per_decision, self._decisions = num_worlds, 1, 0
        rows, size = (num_worlds, 1), 121
        self._role = RoleArrays(
            name="agent",
            observation=np.zeros((*rows, size), np.float32),
            action=np.zeros((*rows, 1), np.float32),
            reward=np.zeros(rows, np.float32),
            terms=np.zeros((*rows, 1), np.float32),
            acted=np.ones(rows, bool),
            terminated=np.zeros(rows, bool),
            truncated=np.zeros(rows, bool),
            final_observation=np.zeros((*rows, size), np.float32),
            final_terms=np.zeros((*rows, 1), np.float32),
            final_score=np.zeros(rows, np.float32),
            observation_parts=(ObservationPart("sign", (1,)), ObservationPart("eye", self.SHAPE, "image", 0.0, 1.0)),
            action_parts=(ActionPart("guess", "continuous", 1),),
        )
        self.roles, self.winners = {"agent": self._role}, ("nobody",)
        self.ended, self.winner = np.zeros(num_worlds, bool), np.zeros(num_worlds, np.int8)
        self.length_ticks = np.full(num_worlds, 4)
        self.reset(1)

    def reset(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._show()

    def _show(self) -> None:
        """The number says whether left and right are exchanged, so that both parts are needed."""
        column, sign = self._rng.integers(0, 12, self.num_worlds), self._rng.choice([-1.0, 1.0], self.num_worlds)
        self._role.observation[:, 0] = bar(sign, column)
        self.wanted = sign * (column - 5.5) / 8.0

    def _start(self) -> None:
        self._role.reward[:, 0] = -np.square(self._role.action[:, 0, 0] - self.wanted)

    def finish(self) -> None:
        self._decisions += 1
        self._show()
        self.ended[:] = self._role.terminated[:] = self._decisions % 4 == 0
        self._role.final_observation[:] = self._role.observation


def bar(sign: np.ndarray, column: np.ndarray) -> np.ndarray:
    pictures = np.zeros((len(sign), *Bars.SHAPE), np.float32)
    pictures[np.arange(len(sign)), :, column] = 1.0
    return np.concatenate([sign[:, None], pictures.reshape(len(sign), -1)], axis=1).astype(np.float32)


@torch.no_grad()
def error_of(policy: Policy) -> float:
    column, sign = (grid.reshape(-1) for grid in np.meshgrid(np.arange(12), [-1.0, 1.0]))
    shown = torch.from_numpy(bar(sign, column))
    features, _ = policy.features(policy.preprocess(shown), policy.initial_memory(len(shown)))
    done = policy.head.sample(features, deterministic=True).action[:, 0].numpy()
    return float(np.abs(done - sign * (column - 5.5) / 8.0).mean())


def test_ppo_learns_from_pixels_and_numbers() -> None:
    settings = PpoSettings(
        num_worlds=32,
        n_steps=16,
        n_epochs=4,
        n_minibatches=4,
        learning_rate=5e-3,
        net_arch=(32, 32),
        memory="",
        cnn_channels=(8, 8),
    )
    made = PpoSelfPlay(Bars(32), settings, 1)
    before = error_of(made.policies["agent"])
    for _ in range(10):
        made.iterate(0.0)
    assert error_of(made.policies["agent"]) < 0.3 * before
    made.close()


def test_ppo_imitates_demonstrations_with_pixels() -> None:
    rng, episodes = np.random.default_rng(3), []
    for _ in range(8):
        column, sign = rng.integers(0, 12, 16), rng.choice([-1.0, 1.0], 16)
        action = (sign * (column - 5.5) / 8.0).astype(np.float32)[:, None]
        episodes.append(DemoEpisode("agent", bar(sign, column), action))
    settings = PpoSettings(
        num_worlds=8, n_steps=8, n_minibatches=2, net_arch=(16, 16), memory="", cnn_channels=(4, 4), imitation_epochs=4
    )
    made = PpoSelfPlay(Bars(8), settings, 1)
    (cloned,) = made.imitate({"agent": episodes}, clone=True).values()
    assert cloned.loss < cloned.loss_before
    assert made.iterate(0.0).metrics["agent"]["train/imitation_loss"] > 0.0
    made.close()


def test_sac_trains_the_convolutions_of_policy_and_critics() -> None:
    settings = SacSettings(
        num_worlds=16,
        n_steps=4,
        buffer_size=1024,
        learning_starts=128,
        gradient_steps=1,
        batch_size=64,
        net_arch=(16, 16),
        cnn_channels=(4, 4),
    )
    made = SacSelfPlay(Bars(16), settings, 1)
    agent = made.agents["agent"]
    seeing = [agent.policy.cnn, agent.critics.one.cnn, agent.critics.other.cnn]
    assert all(seeing)
    before = [[weights.clone() for weights in cnn.parameters()] for cnn in seeing if cnn]
    for _ in range(6):
        made.iterate(0.0)
    for cnn, kept in zip(seeing, before, strict=True):
        assert cnn is not None
        assert not any(torch.equal(weights, old) for weights, old in zip(cnn.parameters(), kept, strict=True))
    made.close()


def test_too_many_pictures_are_refused() -> None:
    with pytest.raises(GodojoError, match=r"a rollout would take 2\.\d GiB.*n_steps"):
        PpoSelfPlay(Bars(8), PpoSettings(num_worlds=8, n_steps=600_000), 1)
    with pytest.raises(GodojoError, match=r"the replay buffer would take .* GiB.*buffer_size"):
        SacSelfPlay(Bars(8), SacSettings(num_worlds=8, buffer_size=10_000_000), 1)
    with pytest.raises(GodojoError, match="cnn_channels"):
        PpoSettings(cnn_channels=(0,)).check()
