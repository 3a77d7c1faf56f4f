"""Tag's scripted opponents, by name."""

from godojo.games.tag.opponents.family import ORACLE_FAMILY, SIGHTED_FAMILY
from godojo.games.tag.opponents.oracle import OracleOpponent
from godojo.games.tag.opponents.sighted import SightedOpponent
from godojo.games.tag.opponents.simple import RandomOpponent, WanderOpponent
from godojo.opponents.base import Opponent

# The last that plays by sight is the yardstick.
OPPONENTS: dict[str, type[Opponent]] = {
    "random": RandomOpponent,
    "wander": WanderOpponent,
    **SIGHTED_FAMILY,
    "sighted": SightedOpponent,
    **ORACLE_FAMILY,
    "oracle": OracleOpponent,
}
