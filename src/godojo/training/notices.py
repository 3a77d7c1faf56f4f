"""What people who watch a game are shown of the training: phase, epoch, speed, rewards, win rates and their curve."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from godojo.bridge.messages import Curve, Status

if TYPE_CHECKING:
    from godojo.learn.algorithm import Phase
    from godojo.learn.training import Training, TrainingStatus

CURVE_POINTS = 240
REPORTED_EVERY_S = 0.5
"""Of epochs that follow each other faster, only some are shown."""


class StatusBoard:
    """The status of a training, kept up to date by its reports."""

    def __init__(self, training: "Training") -> None:
        self._training = training
        self._curve: list[tuple[float, dict[str, float], dict[str, float]]] = []
        self._stride_s = 0.0
        self._latest: TrainingStatus | None = None
        self._rates: dict[str, float] = {}
        self._written: Status | None = None
        """The status of the latest report, once it was needed."""
        self._phase = "training"

    def report(self, status: "TrainingStatus") -> None:
        """Takes the report of an update."""
        self._latest, self._written = status, None
        # Short rounds end first, so the first ones to end say little about who wins; and some games know no winner.
        has_rates = status.episodes >= self._training.worlds.num_worlds and any(status.win_rates.values())
        rates = self._rates = status.win_rates if has_rates else {}
        if rates and self._curve and not self._curve[0][1]:
            self._curve.clear()  # rewards from before the first win rates
        is_new = bool(rates or status.rewards)
        if is_new and (not self._curve or status.seconds - self._curve[-1][0] >= self._stride_s):
            self._curve.append((status.seconds, rates, status.rewards))
        if len(self._curve) > CURVE_POINTS:
            del self._curve[1::2]
            self._stride_s = status.seconds / CURVE_POINTS * 2

    @property
    def status(self) -> Status:
        if self._written is None:
            self._written = self._write()
        return msgspec.structs.replace(self._written, phase=self._phase, learns=self._learns)

    def _write(self) -> Status:
        name, status, rates = self._training.run.name, self._latest, self._rates
        if status is None:
            return Status("", name, epoch=self._training.learner.updates)
        return Status(
            "",
            name,
            (),
            status.episodes,
            round(status.seconds, 1),
            round(status.progress, 4),
            round(status.steps_per_s),
            {role: round(rate, 4) for role, rate in rates.items()},
            Curve(
                tuple(round(seconds, 1) for seconds, *_ in self._curve),
                {role: tuple(round(then.get(role, 0.0), 3) for _, then, _ in self._curve) for role in rates},
                {
                    role: tuple(round(then.get(role, mean), 3) for *_, then in self._curve)
                    for role, mean in status.rewards.items()
                },
            ),
            status.updates,
            {role: round(mean, 3) for role, mean in status.rewards.items()},
        )

    def turn_to(self, phase: str) -> None:
        """The trainer does something else now."""
        self._phase = phase

    @property
    def _learns(self) -> tuple[str, ...]:
        if self._phase == "done training":
            return ()
        return tuple(role for role, mode in self._training.learner.modes.items() if mode == "train")


class TrainingNotices:
    """Shows a training to people who watch its games."""

    def __init__(self, training: "Training") -> None:
        self._training, self._board = training, StatusBoard(training)
        self._shown_at = -REPORTED_EVERY_S
        self._is_shown = False
        """Whether this epoch is."""

    def train(self, report: "Callable[[TrainingStatus], None]") -> bool:
        """`Training.train`, shown."""

        def after_update(status: "TrainingStatus") -> None:
            self._board.report(status)
            report(status)

        return self._training.train(after_update, self._on_phase)

    def _on_phase(self, phase: "Phase") -> None:
        """Shows the phases of an epoch, unless epochs are too short to be seen."""
        now = time.monotonic()
        if phase == "playing":
            self._is_shown = now - self._shown_at >= REPORTED_EVERY_S
            self._shown_at = now if self._is_shown else self._shown_at
        if self._is_shown or phase == "done training":
            self._board.turn_to(phase)
            self._training.worlds.notice(self._board.status)
