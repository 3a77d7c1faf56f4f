"""Distillation: a smaller network that imitates a run's policies."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from godojo.api.references import reference, resolved
from godojo.errors import GodojoError, option
from godojo.games.base import HELD_OUT_SEED
from godojo.learn.budget import Budget
from godojo.training.args import check_budget

if TYPE_CHECKING:
    from godojo.export.distilled_run import DistilledRun


def distilled_run(
    source: Any,
    net_arch: Sequence[int] = (32, 32),
    *,
    memory_size: int | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    run_id: str | None = None,
    force: bool = False,
    seed: int = 1,
    typed: Sequence[str] = (),
    say: Callable[[str], None],
) -> "DistilledRun":
    """A distillation that is ready to start; see `Run.distil`."""
    check_budget(minutes, steps)
    if not 0 <= seed < HELD_OUT_SEED:
        raise GodojoError(f"{option('seed')} must be from 0 to {HELD_OUT_SEED - 1}, not {seed}")
    text = resolved(reference(source))
    from godojo.export.distilled_run import DistilledRun  # loads torch and the kernels

    return DistilledRun(
        text,
        tuple(net_arch),
        Budget(agent_steps=steps) if steps is not None else Budget(minutes=1.0 if minutes is None else minutes),
        memory_size=memory_size,
        run_id=run_id,
        force=force,
        seed=seed,
        typed=typed,
        say=say,
    )
