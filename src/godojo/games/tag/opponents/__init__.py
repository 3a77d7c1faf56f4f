"""Tag's scripted opponents, by name."""

from godojo.games.tag.opponents.oracle import OracleOpponent
from godojo.games.tag.opponents.sighted import SightedOpponent
from godojo.games.tag.opponents.simple import RandomOpponent, WanderOpponent
from godojo.opponents.base import Opponent

OPPONENTS: dict[str, type[Opponent]] = {
    "random": RandomOpponent,
    "wander": WanderOpponent,
    "sighted": SightedOpponent,
    "oracle": OracleOpponent,
}
