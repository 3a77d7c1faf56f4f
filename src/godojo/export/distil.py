"""Distillation: a smaller student learns to do what a teacher would do, in the situations the student gets into.

Imitation alone fails where the student's own mistakes lead it to places the teacher never was. So the student plays,
after a while in all worlds, and the teacher says at every decision what it would have done (DAgger, Ross et al. 2011).
The teacher sees the same observations and keeps its own memory of them. Nothing is kept between updates: the twin makes
fresh rounds quicker than old ones could be looked up.
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
from godojo.errors import GodojoError
from godojo.export.dojo_file import MAX_LAYERS, MAX_WIDTH
from godojo.games.parts import Heading
from godojo.learn.budget import Budget
from godojo.learn.networks import ActionHead, Policy, PolicyShape
from godojo.learn.policy_file import PolicyCard
from godojo.learn.threads import single_threaded_pool

Report = Callable[[float, dict[str, float]], None]


class DistilSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a student is taught."""

    net_arch: tuple[int, ...] = (32, 32)
    """Widths of the student's layers."""
    memory: Literal["", "leaky", "gru"] = ""
    """What it remembers with: as its teacher."""
    memory_size: int = 0
    egocentric: bool = True
    """It thinks in its agent's own frame where its teacher does."""
    num_worlds: int = 256
    """Copies of the game that are played at once."""
    n_steps: int = 32
    """Decisions in each world between two updates."""
    n_epochs: int = 2
    n_minibatches: int = 4
    """Gradient steps an epoch; each takes a part of the worlds with all their decisions."""
    learning_rate: float = 4e-3
    final_learning_rate: float = 2e-4
    max_grad_norm: float = 1.0
    teacher_until: float = 0.3
    """Up to this share of the budget the teacher plays in some worlds: in all at first, then in ever fewer."""

    def check(self) -> None:
        if not 1 <= len(self.net_arch) <= MAX_LAYERS - 3 or any(not 1 <= width <= MAX_WIDTH for width in self.net_arch):
            raise GodojoError(
                f"a net is 1 to {MAX_LAYERS - 3} widths from 1 to {MAX_WIDTH}, such as 32,32;"
                f" not {','.join(str(width) for width in self.net_arch)}"
            )
        if self.memory and not 1 <= self.memory_size <= MAX_WIDTH:
            raise GodojoError(f"a memory has from 1 to {MAX_WIDTH} numbers, not {self.memory_size}")


def settings_for(teacher: PolicyShape, net_arch: tuple[int, ...], memory_size: int | None = None) -> DistilSettings:
    """A student with these layers; it remembers with as many numbers as its teacher, or as its first layer has."""
    size = 0
    if teacher.memory:
        size = min([teacher.memory_size, *net_arch[:1]]) if memory_size is None else memory_size
    elif memory_size is not None:
        raise GodojoError("the teacher remembers nothing, and neither can its student; leave --memory-size away")
    found = DistilSettings(
        net_arch=net_arch, memory=teacher.memory, memory_size=size, egocentric=teacher.heading is not None
    )
    found.check()
    return found


class ImitationBuffer:
    """One role: its teacher, its student, and what both made of the last decisions."""

    def __init__(self, arrays: RoleArrays, teacher: Policy, settings: DistilSettings, seed: int) -> None:
        self.arrays, self.teacher, self.settings = arrays, teacher.requires_grad_(False), settings
        torch.manual_seed(seed)
        self.student = student_of(teacher, settings)
        learning = [one for name, one in self.student.named_parameters() if name != "head.log_std"]
        self.optimiser = torch.optim.Adam(learning, lr=settings.learning_rate, eps=1e-5)
        self.generator = torch.Generator().manual_seed(seed)
        rows = arrays.observation.shape[0] * arrays.observation.shape[1]
        self.rows = rows
        self._teacher_memory, self._memory = teacher.begin(rows), self.student.begin(rows)
        self._seen = torch.zeros(settings.n_steps, rows, teacher.shape.observation_size)
        self._ahead = torch.zeros(settings.n_steps, rows, len(teacher.acting.forward))
        self._wanted = torch.zeros(settings.n_steps, rows, teacher.head.linear.out_features)
        self._not_done, self._counts = torch.ones(settings.n_steps, rows), torch.zeros(settings.n_steps, rows)
        self._first_memory = self.student.begin(rows)
        self._raw = torch.from_numpy(arrays.observation).view(rows, -1)
        self._action = torch.from_numpy(arrays.action).view(rows, -1)

    @torch.no_grad()
    def decide(self, step: int, led: float, *, deterministic: bool) -> None:
        """Both look; in the first rows, a share of `led`, it is done what the teacher wants."""
        if step == 0:
            self._first_memory.copy_(self._memory)
        seen = self._seen[step]
        seen.copy_(self.teacher.look(self._raw))
        ahead = self._ahead[step]
        ahead.copy_(self.teacher.ahead(self._raw))
        features, self._teacher_memory = self.teacher.features(seen, self._teacher_memory, ahead)
        self._wanted[step] = self.teacher.head.linear(features)
        first = round(led * self.rows)
        by_teacher = self.teacher.head.sample(
            features[:first], deterministic=deterministic, generator=self.generator
        ).action
        features, self._memory = self.student.features(seen, self._memory, ahead)
        by_student = self.student.head.sample(
            features[first:], deterministic=deterministic, generator=self.generator
        ).action
        self._action.copy_(self.student.for_game(torch.cat((by_teacher, by_student)), self._raw))

    @torch.no_grad()
    def take_in(self, step: int, worlds: Worlds) -> None:
        """Who took part, and where a round ended: both forget it."""
        arrays = self.arrays
        self._counts[step] = torch.from_numpy(arrays.acted).view(-1).float()
        not_done = torch.from_numpy(~(arrays.terminated | arrays.truncated | worlds.ended[:, None])).view(-1)
        if step + 1 < len(self._not_done):
            self._not_done[step + 1] = not_done
        self._memory *= not_done[:, None]
        self._teacher_memory *= not_done[:, None]

    def learn(self, progress: float) -> dict[str, float]:
        """What the student learns from the last decisions."""
        settings, total, apart, count = self.settings, 0.0, 0.0, 0
        for group in self.optimiser.param_groups:
            group["lr"] = settings.learning_rate + progress * (settings.final_learning_rate - settings.learning_rate)
        for _ in range(settings.n_epochs):
            for rows in torch.randperm(self.rows, generator=self.generator).chunk(settings.n_minibatches):
                ahead = self._ahead[:, rows] if len(self.student.turning) else None
                features = self.student.features_of_sequence(
                    self._seen[:, rows], self._first_memory[rows], self._not_done[:, rows], ahead
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
            raise GodojoError("the student's loss is not a number; take a smaller net or another teacher")
        return {"train/loss": total / count, "train/action_distance": apart / count}


def student_of(teacher: Policy, settings: DistilSettings) -> Policy:
    """A new one, which sees as its teacher does and, where lots are drawn, draws as wide."""
    shape = msgspec.structs.replace(
        teacher.shape,
        net_arch=settings.net_arch,
        memory=settings.memory,
        memory_size=settings.memory_size,
        heading=turning_like(teacher.shape, settings.memory, settings.memory_size),
    )
    student = Policy(shape)
    student.normaliser.load_state_dict(teacher.normaliser.state_dict())
    if isinstance(teacher.head, ActionHead) and isinstance(student.head, ActionHead):
        with torch.no_grad():
            student.head.log_std.copy_(teacher.head.log_std)
    return student


def turning_like(teacher: PolicyShape, memory: str, memory_size: int) -> Heading | None:
    """The heading of a student that remembers so much: the same share of it turns as with its teacher, its last cells.

    A student that remembers as much as its teacher has the very same pairs; with other than leaky cells there are none.
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
    """How far two heads' outputs are apart: numbers by the teacher's own spread (Huber's), choices by probability."""
    if isinstance(teacher.head, ActionHead):
        numbers, choices = teacher.head.numbers, teacher.head.choices
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
    """All roles of a game, taught at once. `stop()` ends it after the update under way."""

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
        self.lessons = {
            role: ImitationBuffer(arrays, teachers[role][0], settings[role], seed + place)
            for place, (role, arrays) in enumerate(worlds.roles.items())
        }
        self.updates, self.agent_steps = 0, 0
        # One thread a role, as in training: networks this small gain nothing by more.
        self._threads = single_threaded_pool(len(self.lessons))
        self._cards = {role: card for role, (_, card) in teachers.items()}
        self._is_stopping = False

    def stop(self) -> None:
        self._is_stopping = True

    def close(self) -> None:
        self._threads.shutdown()
        self.worlds.close()

    def teach(self, budget: Budget, report: Report) -> bool:
        """Until the budget is spent or `stop` is called; whether it was spent."""
        began = time.monotonic()
        while (progress := budget.progress(time.monotonic() - began, self.agent_steps)) < 1.0:
            if self._is_stopping:
                return False
            report(progress, self.iterate(progress))
        return True

    def iterate(self, progress: float) -> dict[str, float]:
        """Some decisions in all worlds, and what is learnt from them."""
        settings = next(iter(self.lessons.values())).settings
        share = max(0.0, 1.0 - progress / settings.teacher_until)
        # Every other time the best action, every other time by lot: so the student gets off the beaten track, too.
        deterministic = self.updates % 2 == 0
        lessons = self.lessons.values()
        for step in range(settings.n_steps):
            decide = partial(ImitationBuffer.decide, step=step, led=share, deterministic=deterministic)
            list(self._threads.map(decide, lessons))
            self.worlds.step()
            for lesson in lessons:
                lesson.take_in(step, self.worlds)
        learnt = self._threads.map(partial(ImitationBuffer.learn, progress=progress), lessons)
        figures = {
            f"{role}/{name}": value
            for role, found in zip(self.lessons, learnt, strict=True)
            for name, value in found.items()
        }
        self.updates += 1
        self.agent_steps += settings.n_steps * sum(lesson.rows for lesson in self.lessons.values())
        return figures | {"teacher_share": share}

    def students(self) -> dict[str, tuple[Policy, PolicyCard]]:
        """As they are now, by role."""
        return {
            role: (
                lesson.student,
                msgspec.structs.replace(self._cards[role], shape=lesson.student.shape, agent_steps=self.agent_steps),
            )
            for role, lesson in self.lessons.items()
        }
