"""Landing: a spacecraft with a main engine, attitude jets and a tank, to be set down softly on a pad among hills."""

from godojo.games.landing.settings import LandingSettings

__all__ = ["LandingSettings"]
