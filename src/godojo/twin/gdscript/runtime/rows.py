"""Arrays of arrays: the items of all rows, and where each row begins."""

from godojo.twin.gdscript.runtime.arrays import append, clear
from godojo.twin.gdscript.runtime.jit import jitable


@jitable
def row_end(items, starts, index):
    return starts[index + 1] if index + 1 < len(starts) else len(items)


@jitable
def insert_row(items, starts, index, row):
    """A row in front of the one at `index`."""
    begin = starts[index] if index < len(starts) else len(items)
    length = len(row)
    before = len(items)
    for i in range(length):
        append(items, row[i])
    for i in range(before - 1, begin - 1, -1):
        items[i + length] = items[i]
    for i in range(length):
        items[begin + i] = row[i]
    append(starts, begin)
    for i in range(len(starts) - 1, index, -1):
        starts[i] = starts[i - 1] + length
    starts[index] = begin


@jitable
def take_row(empty, items, starts, index):
    """Takes a row out, and returns a copy of it."""
    if index < 0:
        index += len(starts)
    begin, end = starts[index], row_end(items, starts, index)
    for i in range(begin, end):
        empty.append(items[i])
    length = end - begin
    for i in range(end, len(items)):
        items[i - length] = items[i]
    for _ in range(length):
        items.pop()
    for i in range(index + 1, len(starts)):
        starts[i - 1] = starts[i] - length
    starts.pop()
    return empty


@jitable
def clear_rows(items, starts):
    clear(items)
    clear(starts)


@jitable
def cell_index(items, starts, index, place):
    """Where an item of a row is."""
    if index < 0:
        index += len(starts)
    begin, end = starts[index], row_end(items, starts, index)
    at = begin + place if place >= 0 else end + place
    if at < begin or at >= end:
        return len(items)  # behind the end: an error of the game
    return at
