"""Dictionaries of twins against Python's, under random insertions, removals, copies and questions."""

# mypy: ignore-errors
# Compiled code is checked by Numba.

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from godojo.twin.gdscript.runtime import (
    Vector2i,
    assign_map,
    clear_map,
    erase_key,
    float_array,
    has_key,
    int_array,
    set_key,
    size,
    value_or,
    vector2i_array,
)

SET, ERASE, ASK, CLEAR, COPY = range(5)
SHARES = [0.6, 0.15, 0.23, 0.01, 0.01]
NOTHING = -1.0


def play_numbers(commands: np.ndarray, slot_count: int) -> Any:
    keys, values, slots = float_array(), float_array(), int_array()
    other_keys, other_values, other_slots = float_array(), float_array(), int_array()
    for _ in range(slot_count):
        slots.append(0)
        other_slots.append(0)
    found = np.zeros(len(commands))
    for step in range(len(commands)):
        what, key = commands[step, 0], commands[step, 1] * 0.5
        if what == SET:
            set_key(keys, values, slots, key, float(step))
        elif what == ERASE:
            erase_key(keys, values, slots, key)
        elif what == CLEAR:
            clear_map(keys, values, slots)
        elif what == COPY:
            assign_map(other_keys, other_values, other_slots, keys, values)
            assign_map(keys, values, slots, other_keys, other_values)
        found[step] = value_or(keys, values, slots, key, NOTHING) + 0.25 * has_key(keys, slots, key)
    return found, size(keys)


def play_cells(commands: np.ndarray, slot_count: int) -> Any:
    """As `play_numbers`, by cells of a map."""
    keys, values, slots = vector2i_array(), float_array(), int_array()
    for _ in range(slot_count):
        slots.append(0)
    found = np.zeros(len(commands))
    for step in range(len(commands)):
        what, key = commands[step, 0], Vector2i(commands[step, 1] % 7 - 3, commands[step, 1] // 7)
        if what == SET:
            set_key(keys, values, slots, key, float(step))
        elif what == ERASE:
            erase_key(keys, values, slots, key)
        elif what == CLEAR:
            clear_map(keys, values, slots)
        found[step] = value_or(keys, values, slots, key, NOTHING) + 0.25 * has_key(keys, slots, key)
    return found, size(keys)


def play_in_python(commands: np.ndarray) -> tuple[list[float], int]:
    held: dict[int, float] = {}
    found = []
    for step, (what, key) in enumerate(commands.tolist()):
        if what == SET:
            held[key] = float(step)
        elif what == ERASE:
            held.pop(key, None)
        elif what == CLEAR:
            held.clear()
        found.append(held.get(key, NOTHING) + 0.25 * (key in held))
    return found, len(held)


@pytest.mark.parametrize("play", [play_numbers, play_cells])
@pytest.mark.parametrize("compiled", [False, True])
def test_dictionaries_hold_what_they_are_given(play: Callable[..., Any], compiled: bool) -> None:
    chance = np.random.default_rng(2)
    commands = np.stack([chance.choice(5, 3000, p=SHARES), chance.integers(0, 100, 3000)], axis=1)
    wanted, count = play_in_python(commands)
    found, length = (numba.njit(play) if compiled else play)(commands, 257)
    assert found.tolist() == wanted
    assert length == count
    assert count > 20
