"""A scripted tester of the game `menu`, to record demonstrations of:

python3 dojo.py play menu --policy examples/menu_tester.py:MenuTester --rounds 50 --demo tester.jsonl
python3 dojo.py train menu --demos tester.jsonl
"""

import numpy as np

from godojo.engines.base import Worlds
from godojo.opponents import Opponent

SLOTS = 5
VISIBLE, ENABLED, FOCUSED, LEFT, VALUE, DX, DY, OPEN, BACK, SAVE, TOGGLE, SLIDER = range(12)
TRIGGER, GRIP, DRAGGING, ELEMENTS = 5, 6, 7, 11


class MenuTester(Opponent):
    """Uses the first element that is left to test, else Save, else Back. It needs no memory."""

    keeps = ()

    def begin(self, worlds: Worlds) -> None:
        pass

    def act(self, worlds: Worlds, out: np.ndarray) -> None:
        seen = worlds.roles[self.role].observation
        out[...] = np.apply_along_axis(decision, -1, seen)


def decision(seen: np.ndarray) -> np.ndarray:
    """Turning to the right and up, trigger and grip, for one observation."""
    if seen[DRAGGING]:
        return np.zeros(4, np.float32)
    elements = seen[ELEMENTS:].reshape(SLOTS, -1)
    usable = (elements[:, VISIBLE] > 0) & (elements[:, ENABLED] > 0)
    left = usable & (elements[:, LEFT] > 0) & (elements[:, BACK] < 1)
    order = np.where(left, elements[:, SAVE], np.where(usable & (elements[:, BACK] > 0), 2.0, 3.0))
    chosen = elements[np.argmin(order)]
    if not chosen[FOCUSED]:
        return np.array([*np.clip(5.0 * chosen[[DX, DY]], -1, 1), 0, 0], np.float32)
    if chosen[SLIDER]:
        return np.array([1 if chosen[VALUE] < 0.9 else -1, 0, 0, not seen[GRIP]], np.float32)
    return np.array([0, 0, not seen[TRIGGER], 0], np.float32)
