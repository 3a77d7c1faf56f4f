"""Scripted opponents for both roles of tag, and users' own: whom policies are judged against."""

from godojo.opponents.base import Opponent
from godojo.opponents.choose import OPPONENTS, make_opponent, may_need_privileged_state

__all__ = ["OPPONENTS", "Opponent", "make_opponent", "may_need_privileged_state"]
