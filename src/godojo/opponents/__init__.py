"""Scripted opponents: the protocol, and lookup by name in a game or in a user's own file."""

from godojo.opponents.base import Opponent
from godojo.opponents.choose import (
    is_scripted,
    make_opponent,
    may_need_privileged_state,
    scripted_opponents,
    yardstick,
)
from godojo.opponents.shared_role import SharedRole, shared_role

__all__ = [
    "Opponent",
    "SharedRole",
    "is_scripted",
    "make_opponent",
    "may_need_privileged_state",
    "scripted_opponents",
    "shared_role",
    "yardstick",
]
