"""The steps of a trace in words, as a person would repeat them."""

from collections.abc import Sequence

import numpy as np

from godojo.games.parts import ActionPart
from godojo.hunt.actions import ActionSpace
from godojo.hunt.trace import Trace, runs_of

MOST_LINES = 40


def described(trace: Trace, parts: Sequence[ActionPart], tail: int = 0) -> tuple[str, ...]:
    """`right=1 for 30 decisions`, `wait for 12 decisions`, …; in the last `tail` decisions anything can be done."""
    space = ActionSpace(parts)
    lines: list[str] = []
    for episode in trace.earlier:
        lines += [f"start with seed {episode.seed}", *_lines(episode.actions, space)]
    lines += [
        f"{'restart' if trace.restarts else 'start'} with seed {trace.seed}",
        *_lines(trace.actions[: len(trace) - tail], space),
    ]
    if tail:
        lines.append(f"try anything for {tail} decisions")
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"… and {len(lines) - MOST_LINES + 1} more; see the file of actions"]
    return tuple(lines)


def _lines(actions: np.ndarray, space: ActionSpace) -> list[str]:
    lines = []
    for start, stop in runs_of(actions):
        much = f"for {stop - start} decisions" if stop - start > 1 else "for 1 decision"
        what = ", ".join(
            f"{part.name}={_number(actions[start, where])}"
            for part, where in zip(space.parts, space.slices, strict=True)
            if (actions[start, where] != space.neutral[where]).any()
        )
        lines.append(f"{what} {much}" if what else f"wait {much}")
    return lines


def _number(values: np.ndarray) -> str:
    texts = [f"{value:.3g}" for value in values.tolist()]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
