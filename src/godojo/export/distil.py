"""Distillation: a smaller student learns a teacher's actions in the states that the student itself visits.

Pure imitation fails where the student's own mistakes lead it to states the teacher never saw. So the student plays,
after a while in all worlds, and the teacher labels every decision (DAgger, Ross et al. 2011). The teacher sees the same
observations and keeps its own memory. There is no data set: the twin plays new rounds faster than old ones load.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import msgspec
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from godojo.engines.base import RoleArrays, Worlds
from godojo.errors import GodojoError, option
from godojo.export.dojo_file import MAX_LAYERS, MAX_WIDTH
from godojo.games.parts import Heading
from godojo.learn.backend import backend_for
from godojo.learn.budget import Budget
from godojo.learn.networks import ActionHead, Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard
from godojo.learn.threads import single_threaded_pool

Report = Callable[[float, dict[str, float]], None]


class DistilSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hyperparameters of distillation."""

    net_arch: tuple[int, ...] = (32, 32)
    """Widths of the student's hidden layers."""
    memory: Literal["", "leaky", "gru"] = ""
    """The teacher's kind of memory."""
    memory_size: int = 0
    egocentric: bool = True
    """Whether the teacher is egocentric."""
    num_worlds: int = 256
    """Copies of the game that run in parallel."""
    n_steps: int = 32
    """Decision steps in each world between two updates."""
    n_epochs: int = 2
    n_minibatches: int = 4
    """Gradient steps per epoch; each uses some of the worlds with all their decision steps."""
    learning_rate: float = 4e-3
    final_learning_rate: float = 2e-4
    max_grad_norm: float = 1.0
    teacher_until: float = 0.3
    """Up to this fraction of the budget the teacher plays in some worlds: in all at first, then in fewer and fewer."""

    def check(self) -> None:
        if not 1 <= len(self.net_arch) <= MAX_LAYERS - 3 or any(not 1 <= width <= MAX_WIDTH for width in self.net_arch):
            raise GodojoError(
                f"a net is 1 to {MAX_LAYERS - 3} widths from 1 to {MAX_WIDTH}, such as 32,32;"
                f" not {','.join(str(width) for width in self.net_arch)}"
            )
        if self.memory and not 1 <= self.memory_size <= MAX_WIDTH:
            raise GodojoError(f"a memory has from 1 to {MAX_WIDTH} numbers, not {self.memory_size}")


def settings_for(teacher: PolicyShape, net_arch: tuple[int, ...], memory_size: int | None = None) -> DistilSettings:
    """For a student with these layers; by default its memory is its teacher's, or as wide as its first layer."""
    size = 0
    if teacher.memory:
        size = min([teacher.memory_size, *net_arch[:1]]) if memory_size is None else memory_size
    elif memory_size is not None:
        raise GodojoError(f"the teacher has no memory, so its student cannot have one; remove {option('memory_size')}")
    found = DistilSettings(
        net_arch=net_arch, memory=teacher.memory, memory_size=size, egocentric=teacher.heading is not None
    )
    found.check()
    return found


class ImitationBuffer:
    """One role: its teacher, its student, and the latest decisions of both."""

    def __init__(self, arrays: RoleArrays, teacher: Policy, settings: DistilSettings, seed: int) -> None:
        self.arrays, self.teacher, self.settings = arrays, teacher.requires_grad_(False), settings
        torch.manual_seed(seed)
        self.student = student_of(teacher, settings)
        backend_for("cpu").prepare(self.student)
        learning = [one for name, one in self.student.named_parameters() if name != "head.log_std"]
        self.optimiser = torch.optim.Adam(learning, lr=settings.learning_rate, eps=1e-5)
        self.generator = torch.Generator().manual_seed(seed)
        rows = arrays.observation.shape[0] * arrays.observation.shape[1]
        self.rows = rows
        self._teacher_memory, self._memory = teacher.initial_memory(rows), self.student.initial_memory(rows)
        self._seen = torch.zeros(settings.n_steps, rows, teacher.shape.observation_size)
        self._heading = torch.zeros(
            settings.n_steps, rows, len(teacher.shape.heading.forward) if teacher.shape.heading else 0
        )
        self._wanted = torch.zeros(settings.n_steps, rows, teacher.head.linear.out_features)
        self._not_done, self._counts = torch.ones(settings.n_steps, rows), torch.zeros(settings.n_steps, rows)
        self._first_memory = self.student.initial_memory(rows)
        self._raw = torch.from_numpy(arrays.observation).view(rows, -1)
        self._action = torch.from_numpy(arrays.action).view(rows, -1)

    @torch.no_grad()
    def decide(self, step: int, led: float, *, deterministic: bool) -> None:
        """Run both; the teacher acts in the first rows, a fraction of `led`."""
        if step == 0:
            self._first_memory.copy_(self._memory)
        seen = self._seen[step]
        seen.copy_(self.teacher.preprocess(self._raw))
        heading = self._heading[step]
        heading.copy_(self.teacher.heading_of(self._raw))
        features, self._teacher_memory = self.teacher.features(seen, self._teacher_memory, heading)
        self._wanted[step] = self.teacher.head.linear(features)
        first = round(led * self.rows)
        by_teacher = self.teacher.head.sample(
            features[:first], deterministic=deterministic, generator=self.generator
        ).action
        features, self._memory = self.student.features(seen, self._memory, heading)
        by_student = self.student.head.sample(
            features[first:], deterministic=deterministic, generator=self.generator
        ).action
        self._action.copy_(self.student.to_env_action(torch.cat((by_teacher, by_student)), self._raw))

    @torch.no_grad()
    def store_results(self, step: int, worlds: Worlds) -> None:
        """Store which agents acted; reset the memories where an episode ended."""
        arrays = self.arrays
        self._counts[step] = torch.from_numpy(arrays.acted).view(-1).float()
        not_done = torch.from_numpy(~(arrays.terminated | arrays.truncated | worlds.ended[:, None])).view(-1)
        if step + 1 < len(self._not_done):
            self._not_done[step + 1] = not_done
        self._memory *= not_done[:, None]
        self._teacher_memory *= not_done[:, None]

    def learn(self, progress: float) -> dict[str, float]:
        """Update the student from the latest decisions."""
        settings, total, apart, count = self.settings, 0.0, 0.0, 0
        for group in self.optimiser.param_groups:
            group["lr"] = settings.learning_rate + progress * (settings.final_learning_rate - settings.learning_rate)
        for _ in range(settings.n_epochs):
            for rows in torch.randperm(self.rows, generator=self.generator).chunk(settings.n_minibatches):
                heading = self._heading[:, rows] if self.student.rotated_cells else None
                features = self.student.features_of_sequence(
                    self.student.see(self._seen[:, rows]), self._first_memory[rows], self._not_done[:, rows], heading
                )
                given, wanted = self.student.head.linear(features), self._wanted[:, rows]
                loss = imitation_loss(self.teacher, given, wanted, self._counts[:, rows])
                self.optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self.student.parameters(), settings.max_grad_norm)
                self.optimiser.step()
                total, count = total + float(loss.detach()), count + 1
                apart += float((given.detach().clamp(-1.0, 1.0) - wanted.clamp(-1.0, 1.0)).abs().mean())
        if not np.isfinite(total):
            raise GodojoError("the student's loss is not a number; choose a smaller net or another teacher")
        return {"train/loss": total / count, "train/action_distance": apart / count}


def student_of(teacher: Policy, settings: DistilSettings) -> Policy:
    """A new student with the teacher's normaliser and standard deviations."""
    shape = msgspec.structs.replace(
        teacher.shape,
        net_arch=settings.net_arch,
        memory=settings.memory,
        memory_size=settings.memory_size,
        heading=rotated_like(teacher.shape, settings.memory, settings.memory_size),
    )
    student = Policy(shape)
    student.normaliser.load_state_dict(teacher.normaliser.state_dict())
    if isinstance(teacher.head, ActionHead) and isinstance(student.head, ActionHead):
        with torch.no_grad():
            student.head.log_std.copy_(teacher.head.log_std)
    return student


def rotated_like(teacher: PolicyShape, memory: str, memory_size: int) -> Heading | None:
    """The heading of a student with this memory: the same fraction of cells rotates, the last ones.

    With the teacher's memory the pairs are the teacher's; only leaky cells rotate.
    """
    heading = teacher.heading
    if heading is None or not heading.remembered or (memory, memory_size) == (teacher.memory, teacher.memory_size):
        return heading
    count = round(len(heading.remembered) * memory_size / teacher.memory_size) if memory == "leaky" else 0
    count = min(count, memory_size // 2)
    return msgspec.structs.replace(
        heading, remembered=tuple((place, place + 1) for place in range(memory_size - 2 * count, memory_size, 2))
    )


def imitation_loss(teacher: Policy, given: Tensor, wanted: Tensor, counts: Tensor) -> Tensor:
    """Huber loss of the means, in the teacher's standard deviations; KL divergence of discrete actions."""
    if isinstance(teacher.head, ActionHead):
        numbers, choices = teacher.head.continuous_size, teacher.head.discrete_sizes
        spread = teacher.head.log_std.exp()
    else:
        numbers, choices = given.shape[-1], []
        spread = torch.ones(numbers)
    apart = functional.huber_loss(given[..., :numbers] / spread, wanted[..., :numbers] / spread, reduction="none").sum(
        -1
    )
    parts = (torch.split(one[..., numbers:], choices, -1) for one in (given, wanted))
    for ours, theirs in zip(*parts, strict=True):
        logs = ours.log_softmax(-1)
        apart = apart + functional.kl_div(logs, theirs.log_softmax(-1), reduction="none", log_target=True).sum(-1)
    return (apart * counts).sum() / counts.sum().clamp(min=1.0)


class Distillation:
    """Distils all roles of a game at once. `stop()` ends it after the current update."""

    def __init__(
        self,
        worlds: Worlds,
        teachers: Mapping[str, tuple[Policy, PolicyCard]],
        settings: Mapping[str, DistilSettings],
        seed: int = 1,
    ) -> None:
        missing = [role for role in worlds.roles if role not in teachers]
        if missing:
            raise GodojoError(f"there is no teacher for the {' and the '.join(missing)}; name a whole run")
        self.worlds = worlds
        self.buffers = {
            role: ImitationBuffer(arrays, teachers[role][0], settings[role], seed + place)
            for place, (role, arrays) in enumerate(worlds.roles.items())
        }
        self.updates, self.agent_steps = 0, 0
        # One thread per role, as in training: small networks gain nothing from more.
        self._threads = single_threaded_pool(len(self.buffers))
        self._cards = {role: card for role, (_, card) in teachers.items()}
        self._is_stopping = False

    def stop(self) -> None:
        self._is_stopping = True

    def close(self) -> None:
        self._threads.shutdown()
        self.worlds.close()

    def teach(self, budget: Budget, report: Report) -> bool:
        """Distil until the budget is spent or `stop` is called; returns whether it was spent."""
        began = time.monotonic()
        while (progress := budget.progress(time.monotonic() - began, self.agent_steps)) < 1.0:
            if self._is_stopping:
                return False
            report(progress, self.iterate(progress))
        return True

    def iterate(self, progress: float) -> dict[str, float]:
        """Collect decisions in all worlds and update."""
        settings = next(iter(self.buffers.values())).settings
        share = max(0.0, 1.0 - progress / settings.teacher_until)
        # Alternate deterministic and stochastic actions, so that the student also visits unusual states.
        deterministic = self.updates % 2 == 0
        buffers = self.buffers.values()
        for step in range(settings.n_steps):
            decide = partial(ImitationBuffer.decide, step=step, led=share, deterministic=deterministic)
            list(self._threads.map(decide, buffers))
            self.worlds.step()
            for buffer in buffers:
                buffer.store_results(step, self.worlds)
        learnt = self._threads.map(partial(ImitationBuffer.learn, progress=progress), buffers)
        figures = {
            f"{role}/{name}": value
            for role, found in zip(self.buffers, learnt, strict=True)
            for name, value in found.items()
        }
        self.updates += 1
        self.agent_steps += settings.n_steps * sum(buffer.rows for buffer in self.buffers.values())
        return figures | {"teacher_share": share}

    def students(self) -> dict[str, tuple[Policy, PolicyCard]]:
        """The current students, by role."""
        return {
            role: (
                buffer.student,
                msgspec.structs.replace(self._cards[role], shape=buffer.student.shape, agent_steps=self.agent_steps),
            )
            for role, buffer in self.buffers.items()
        }
