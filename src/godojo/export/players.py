"""Exported policies as players, so that they can be evaluated like their originals."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from godojo.engines.base import Worlds
from godojo.errors import GodojoError, option
from godojo.evaluation.players import PlayerFile, PolicyPlayer, TrainedPlayer, check_layout, known_settings
from godojo.export import dojo_file, onnx_guard
from godojo.export.onnx_file import OnnxSession
from godojo.learn.policy_file import PolicyCard
from godojo.opponents.base import check_role


class OnnxPlayer(TrainedPlayer):
    """A policy in onnxruntime; always deterministic."""

    def __init__(self, content: bytes, card: PolicyCard, name: str = "") -> None:
        super().__init__(card.role)
        self.card, self.name = card, name or f"ONNX policy of {card.role}"
        self._session = OnnxSession(content)
        self._memory: np.ndarray | None = None

    def begin(self, worlds: Worlds) -> None:
        check_role(worlds, self.role)
        check_layout(self.card, worlds.roles[self.role], self.name)
        count, agents, _ = worlds.roles[self.role].observation.shape
        self.start(count * agents)

    def start(self, rows: int) -> None:
        self._memory = np.zeros((rows, self._session.memory_size), np.float32)

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        arrays = worlds.roles[self.role]
        rows = arrays.observation.shape[0] * arrays.observation.shape[1]
        if self._memory is None or len(self._memory) != rows:
            raise GodojoError("call begin(worlds) after each reset, before the player acts")
        not_done = ~(arrays.terminated | arrays.truncated | worlds.ended[:, None])
        action = self.decide(arrays.observation.reshape(rows, -1), not_done, deterministic=True)
        if action.size != out.size:
            raise GodojoError(f"{self.name} gives {action.shape} actions where {out.shape} are wanted")
        out[...] = action.reshape(out.shape)

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


SHIPPED: Mapping[str, PlayerFile] = {dojo_file.SUFFIX: read_dojo_player, onnx_guard.SUFFIX: read_onnx_player}
"""Readers of the files that `godojo export` writes, by suffix."""
