"""Landing's options on both engines: settings, and when rounds are truncated."""

from godojo.errors import GodojoError
from godojo.games.landing.settings import LandingSettings


def checked_options(settings: LandingSettings | None = None, truncate_after: int = 0) -> tuple[LandingSettings, int]:
    """With defaults filled in; `truncate_after` is in decisions, 0: never."""
    if settings is not None and not isinstance(settings, LandingSettings):
        raise GodojoError(f"settings must be LandingSettings, not {type(settings).__name__}")
    if truncate_after < 0:
        raise GodojoError(f"truncate_after must be 0 (never) or more, not {truncate_after}")
    return settings or LandingSettings.defaults(), truncate_after
