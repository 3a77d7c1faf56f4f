"""Worlds around other worlds."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from godojo.bridge.messages import Plan, Status
from godojo.engines.base import Worlds


class WorldsWrapper(Worlds):
    """The same worlds, described alike; a subclass overrides what it changes. Arrays are shared with `inner`."""

    def __init__(self, worlds: Worlds) -> None:
        self.inner = worlds
        self.describe_as(worlds)

    def reset(self, seed: int) -> None:
        self.inner.reset(seed)

    def _start(self) -> None:
        self.inner._start()

    def finish(self) -> None:
        self.inner.finish()

    def privileged(self) -> Any:
        return self.inner.privileged()

    def change_settings(self, settings: Any) -> None:
        self.inner.change_settings(settings)
        self.settings = self.inner.settings

    def plan(self, epoch: int) -> Plan:
        return self.inner.plan(epoch)

    def pause(self, reason: str) -> bool:
        return self.inner.pause(reason)

    def is_resumed(self, timeout_s: float) -> bool:
        return self.inner.is_resumed(timeout_s)

    def notice(self, status: Status) -> None:
        self.inner.notice(status)

    def save_state(self) -> dict[str, np.ndarray] | None:
        return self.inner.save_state()

    def load_state(self, state: Mapping[str, np.ndarray]) -> None:
        self.inner.load_state(state)

    def close(self) -> None:
        self.inner.close()
