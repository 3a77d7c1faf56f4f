"""Distillation into a run folder, which can be evaluated, exported and trained further like any other."""

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import torch

from godojo.engines.make import GAMES, make_vec
from godojo.errors import GodojoError, command
from godojo.evaluation.evaluation import default_opponents, judge
from godojo.evaluation.held_out import game_settings
from godojo.evaluation.intervals import Difference, Proportion
from godojo.evaluation.players import policies_of
from godojo.export.distil import Distillation, settings_for
from godojo.export.dojo_file import dojo_bytes
from godojo.export.ship import Progress, gdscript_us, has_rivals, weight_count
from godojo.files import atomic_write
from godojo.learn.budget import Budget
from godojo.learn.networks import Policy
from godojo.learn.policy_file import PolicyCard, policy_bytes
from godojo.runs.config import CONTINUED_BY, Environment, RunConfig
from godojo.runs.folder import RunFolder
from godojo.runs.names import split_reference
from godojo.runs.updates import UpdateLog

LEARNER = "distil"
REPORT = "distil.json"
SAVED_EVERY_S = 10.0
_TIMED_DECISIONS = 200


class Figures(msgspec.Struct, frozen=True):
    """Size and speed of a policy."""

    net_arch: tuple[int, ...]
    memory_size: int
    weights: int
    dojo_bytes: int
    torch_us: float
    """One decision of one agent on this machine; the median of many."""
    gdscript_us: float
    """Matrix products of one decision, estimated by the time of a 4 x 4 block."""


class Price(msgspec.Struct, frozen=True):
    """The win rates of teacher and student against an opponent."""

    role: str
    opponent: str
    teacher: Proportion
    student: Proportion
    difference: Difference
    """The student's less the teacher's."""


class DistilReport(msgspec.Struct, frozen=True):
    """The results of a distillation."""

    teacher: str
    rounds: int
    sizes: dict[str, tuple[Figures, Figures]]
    """By role: the teacher's and the student's."""
    prices: list[Price]


class DistilledRun:
    """One distillation in a run folder."""

    def __init__(
        self,
        teacher: str,
        net_arch: tuple[int, ...],
        budget: Budget,
        *,
        memory_size: int | None = None,
        run_id: str | None = None,
        force: bool = False,
        seed: int = 1,
        typed: Sequence[str] = (),
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        # Before the new run exists, which would be the latest one.
        self.teacher, self._teacher_path = _resolved(teacher)
        self.budget, self.teachers = budget, policies_of(self._teacher_path)
        card = next(iter(self.teachers.values()))[1]
        if card.game not in GAMES:
            raise GodojoError(f"{card.game} has no twin to practise in; there is one of: {', '.join(GAMES)}")
        settings = {
            role: settings_for(policy.shape, net_arch, memory_size) for role, (policy, _) in self.teachers.items()
        }
        game = game_settings(card.game, card.settings)
        first = next(iter(settings.values()))
        options = {"settings": game, **GAMES[card.game].training_options(game)}
        self.worlds = make_vec(card.game, num_worlds=first.num_worlds, seed=seed, **options)
        self.distillation = Distillation(self.worlds, self.teachers, settings, seed)
        config = RunConfig(
            game=card.game,
            engine="sim",
            roles=tuple(self.worlds.roles),
            learner=LEARNER,
            learner_settings=msgspec.to_builtins(first),
            game_settings=msgspec.to_builtins(game),
            seed=seed,
            budget=budget.as_config(),
            command=tuple(typed),
            more={"teacher": self.teacher, CONTINUED_BY: "sac" if card.shape.squashed else "ppo"},
        )
        self.run = RunFolder.create(config, run_id, force=force, say=say)
        atomic_write(self.run.path / "README.md", _readme(self.run, self.teacher))
        self.run.add_environment(Environment.here())

    def teach(self, progress: Progress) -> bool:
        """Distil until the budget is spent or it is stopped; saves the students either way."""
        taught = self.distillation
        updates = UpdateLog(self.run.updates, self.run.tensorboard(), roles=self.run.config.roles)
        began = saved = time.monotonic()

        def report(share: float, figures: dict[str, float]) -> None:
            nonlocal saved
            updates.write(taught.updates, taught.agent_steps, time.monotonic() - began, figures)
            progress("the students practise", share)
            if time.monotonic() - saved > SAVED_EVERY_S:
                saved = time.monotonic()
                self.save()

        try:
            with self.run.lock():
                is_spent = taught.teach(self.budget, report)
                files = self.save()
                if is_spent:
                    self.run.snapshots().save("final", files, taught.agent_steps, time.monotonic() - began)
        finally:
            updates.close()
            taught.close()
        return is_spent

    def save(self) -> dict[str, bytes]:
        """Save the current students."""
        files = {role: policy_bytes(*student) for role, student in self.distillation.students().items()}
        for role, content in files.items():
            self.run.save_policy(role, content)
        return files

    def report(self, rounds: int = 500, progress: Progress | None = None) -> DistilReport:
        """Sizes, speeds and, with rounds to play, win rates; also written to `distil.json`."""
        students = policies_of(str(self.run.path))
        can_compare = rounds > 0 and has_rivals(next(iter(students.values()))[1])
        found = DistilReport(
            teacher=self.teacher,
            rounds=rounds,
            sizes={role: (figures(*self.teachers[role]), figures(*students[role])) for role in students},
            prices=_prices(self.run.config.game, self._teacher_path, str(self.run.path), rounds, progress)
            if can_compare
            else [],
        )
        atomic_write(self.run.path / REPORT, msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
        return found


def figures(policy: Policy, card: PolicyCard) -> Figures:
    return Figures(
        net_arch=policy.shape.net_arch,
        memory_size=policy.memory_size,
        weights=weight_count(policy.shape),
        dojo_bytes=len(dojo_bytes(policy, card)),
        torch_us=_torch_us(policy),
        gdscript_us=gdscript_us(policy.shape),
    )


@torch.no_grad()
def _torch_us(policy: Policy) -> float:
    raw, memory = torch.zeros(1, policy.shape.observation_size), policy.initial_memory(1)
    times = []
    for _ in range(_TIMED_DECISIONS):
        began = time.perf_counter()
        features, memory = policy.features(policy.preprocess(raw), memory, policy.heading_of(raw))
        policy.to_env_action(policy.head.sample(features, deterministic=True).action, raw)
        times.append(time.perf_counter() - began)
    return 1e6 * statistics.median(times)


def _prices(game: str, teacher: str, student: str, rounds: int, progress: Progress | None) -> list[Price]:
    """Teacher and student play the same rounds against the same scripted opponents."""
    opponents = default_opponents(game, 1)

    def reported(who: str) -> Progress:
        return lambda what, share: None if progress is None else progress(f"{who}: {what}", share)

    before = judge(teacher, opponents, rounds=rounds, progress=reported("teacher"))
    after = judge(student, opponents, rounds=rounds, progress=reported("student"))
    prices = []
    for old, new in zip(before.verdicts, after.verdicts, strict=True):
        if old.wins is not None and new.wins is not None:
            prices.append(Price(old.role, old.opponent, old.wins, new.wins, Difference.of(new.wins, old.wins)))
    return prices


def _resolved(text: str) -> tuple[str, str]:
    """The teacher's name, and a path that stays valid when other runs are created."""
    if text.endswith(".pt"):
        return Path(text).name, text
    name, snapshot = split_reference(text)
    run = RunFolder.open(name)
    at = f"@{snapshot}" if snapshot else ""
    return f"{run.run_id}{at}", f"{run.path.absolute()}{at}"


def _readme(run: RunFolder, teacher: str) -> bytes:
    text = f"""# {run.config.game}, distilled from {teacher}

| file | contents |
|---|---|
| `policy_ROLE.pt` | the student of each role |
| `{REPORT}` | sizes, speeds and win rates beside the teacher's |
| `updates.csv`, `tensorboard/` | one row per update: the imitation loss |
| `snapshots/` | the students at the end |
| `config.json`, `environment.json` | the game, all settings, the seed, the command; versions and the machine |

## Next

```
{command(f"eval {run.name}")}
{command(f"export {run.name}")}
{command(f"train {run.config.game} --init-from {run.name}")}
```
"""
    return text.encode()
