"""Contacts that bodies with `contact_monitor` report: which have begun, which have ended."""

from typing import Any

from godojo.twin.physics.jit import call, inline
from godojo.twin.physics.space import (
    ANNOUNCED_COUNT,
    MEETING_COUNT,
    MOST_REPORTS,
    MOVES,
    TOO_MANY,
    Space,
)

# A report in `Space.scratch`: the other body, its shape, the own shape, the depth.
_SIZE = 4
_OTHER, _THEIRS, _MINE, _DEPTH = range(_SIZE)


@call
def _add(room: Any, count: int, most: int, other: int, theirs: int, mine: int, depth: Any) -> int:
    """Adds a report; the least deep one makes room when there are as many as the body wants."""
    place = count
    if count == most:
        place = 0
        for index in range(1, count):
            if room[index * _SIZE + _DEPTH] < room[place * _SIZE + _DEPTH]:
                place = index
        if not room[place * _SIZE + _DEPTH] < depth:
            return count
        count -= 1
    start = place * _SIZE
    room[start + _OTHER], room[start + _THEIRS], room[start + _MINE], room[start + _DEPTH] = other, theirs, mine, depth
    return count + 1


@call
def _list_reports(space: Space, body: int, linked: int) -> int:
    """The contacts of a body in the step, in the order in which they were solved."""
    most, count = min(space.bodies[body].reports, MOST_REPORTS), 0
    for number in range(linked):
        manifold = space.manifolds[space.order[number]]
        if not manifold.collided or not (manifold.one == body or manifold.two == body):
            continue
        is_first = manifold.one == body
        other = manifold.two if is_first else manifold.one
        mine = manifold.shape_one if is_first else manifold.shape_two
        theirs = manifold.shape_two if is_first else manifold.shape_one
        for place in range(manifold.count):
            depth = manifold.contacts[place].depth
            if depth > 0:
                count = _add(space.scratch, count, most, other, theirs, mine, depth)
    return count


@inline
def _knows(space: Space, body: int, other: int) -> bool:
    found = False
    for place in range(space.counts[MEETING_COUNT]):
        meeting = space.meetings[place]
        found |= meeting.body == body and meeting.other == other
    return found


@call
def _announce(space: Space, body: int, other: int, entered: int) -> None:
    count = space.counts[ANNOUNCED_COUNT]
    if count == space.announced.shape[0]:
        space.counts[TOO_MANY] = 1
        return
    event = space.announced[count]
    event.area, event.other, event.entered = body, other, entered
    space.counts[ANNOUNCED_COUNT] = count + 1


@call
def _compare(space: Space, body: int, count: int) -> None:
    """Contacts that have ended first, then those that have begun."""
    meetings, room = space.meetings, space.scratch
    place = 0
    while place < space.counts[MEETING_COUNT]:
        meeting = meetings[place]
        lasts = meeting.body != body
        for index in range(count):
            start = index * _SIZE
            lasts |= (
                meeting.other == room[start + _OTHER]
                and meeting.other_shape == room[start + _THEIRS]
                and meeting.shape == room[start + _MINE]
            )
        if lasts:
            place += 1
            continue
        other = meeting.other
        space.counts[MEETING_COUNT] -= 1
        for later in range(place, space.counts[MEETING_COUNT]):
            meetings[later] = meetings[later + 1]
        if not _knows(space, body, other):
            _announce(space, body, other, 0)
    for index in range(count):
        start = index * _SIZE
        other, theirs, mine = int(room[start + _OTHER]), int(room[start + _THEIRS]), int(room[start + _MINE])
        is_known = False
        for number in range(space.counts[MEETING_COUNT]):
            meeting = meetings[number]
            is_same = meeting.body == body and meeting.other == other
            is_known |= is_same and meeting.other_shape == theirs and meeting.shape == mine
        if is_known:
            continue
        if not _knows(space, body, other):
            _announce(space, body, other, 1)
        if space.counts[MEETING_COUNT] == meetings.shape[0]:
            space.counts[TOO_MANY] = 1
            return
        meeting = meetings[space.counts[MEETING_COUNT]]
        meeting.body, meeting.other, meeting.shape, meeting.other_shape = body, other, mine, theirs
        space.counts[MEETING_COUNT] += 1


@call
def report_contacts(space: Space, sorted_at: int, movers: int, linked: int) -> None:
    """Compares the contacts of a step with those that bodies know of; what has begun to move first comes first."""
    for place in range(sorted_at + movers - 1, sorted_at - 1, -1):
        body = space.order[place]
        if space.bodies[body].reports > 0 and space.bodies[body].traits & MOVES:
            _compare(space, body, _list_reports(space, body, linked))
