"""Exported policies as players, so that they can be evaluated like their originals."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from godojo.errors import GodojoError, option
from godojo.evaluation.players import PlayerFile, PolicyPlayer, TrainedPlayer, known_settings
from godojo.export import dojo_file, onnx_guard, sb3_zip
from godojo.export.onnx_file import OnnxSession
from godojo.learn.policy_file import PolicyCard


class OnnxPlayer(TrainedPlayer):
    """A policy in onnxruntime; always deterministic."""

    _memory: np.ndarray | None = None

    def __init__(self, content: bytes, card: PolicyCard, name: str = "") -> None:
        super().__init__(card.role)
        self.card, self.name = card, name or f"ONNX policy of {card.role}"
        self._session = OnnxSession(content)

    def start(self, rows: int) -> None:
        self._memory = np.zeros((rows, self._session.memory_size), np.float32)

    def decide(self, observation: np.ndarray, not_done: np.ndarray, *, deterministic: bool) -> np.ndarray:
        if not deterministic:
            raise GodojoError(f"{self.name} is an ONNX model, whose actions are always deterministic")
        assert self._memory is not None
        memory = self._memory * not_done.reshape(-1, 1)
        action, self._memory = self._session.decide(observation, memory)
        return action


def read_onnx_player(path: Path, *, seed: int, deterministic: bool, name: str) -> TrainedPlayer:  # noqa: ARG001 - always deterministic
    if not deterministic:
        raise GodojoError(f"{name} is always deterministic; remove {option('deterministic', False)}")
    content, header = onnx_guard.read_onnx(path)
    return OnnxPlayer(content, known_settings(header.card, path), name)


def read_dojo_player(path: Path, *, seed: int, deterministic: bool, name: str) -> TrainedPlayer:
    policy, card = dojo_file.load_dojo(path)
    return PolicyPlayer(policy, known_settings(card, path), seed=seed, deterministic=deterministic, name=name)


SHIPPED: Mapping[str, PlayerFile] = {
    dojo_file.SUFFIX: read_dojo_player,
    onnx_guard.SUFFIX: read_onnx_player,
    sb3_zip.SUFFIX: sb3_zip.read_zip_player,
}
"""Readers of the files that `godojo export` and Stable-Baselines3 write, by suffix."""
