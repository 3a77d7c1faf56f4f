"""Independent pieces of work, such as matches: one after the other, or as Ray tasks."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from godojo.cluster.start import AUTO, LOCAL, RAY, check_form, resolve
from godojo.extras import require

Result = TypeVar("Result")


def run_tasks(
    calls: Sequence[Callable[[], Result]],
    address: str | None = None,
    *,
    say: Callable[[str], None] = lambda _: None,
    done: Callable[[int], None] = lambda _: None,
) -> list[Result]:
    """The results of all calls, in order. `done` is called with the number of those that are finished.

    `address` as `godojo.train(ray=...)` takes it; None runs them here.
    """
    if address is None:
        results = []
        for call in calls:
            results.append(call())
            done(len(results))
        return results
    if address not in (AUTO, LOCAL):
        check_form(address)
    require(RAY, say)
    found = resolve(address, say)
    from godojo.cluster.ray_transport import run_tasks_on_ray

    return run_tasks_on_ray(calls, found, done)
