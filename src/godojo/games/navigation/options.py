"""Navigation's options on both engines: settings, courses, and when rounds are truncated."""

from collections.abc import Sequence

import msgspec

from godojo.errors import GodojoError
from godojo.games.navigation.courses import Course, check_course, hand_made_courses
from godojo.games.navigation.settings import NavigationSettings


class NavigationOptions(msgspec.Struct, frozen=True):
    """Options of both engines, checked."""

    settings: NavigationSettings
    courses: tuple[Course, ...]
    truncate_after: int
    """Decisions after which a round is truncated; 0: never."""

    @property
    def arena_names(self) -> tuple[str, ...]:
        return tuple(course.name for course in self.courses)


def checked_options(
    *,
    settings: NavigationSettings | None = None,
    courses: Sequence[Course | str] | None = None,
    truncate_after: int = 0,
) -> NavigationOptions:
    """With defaults filled in; GodojoError names what cannot be played."""
    if settings is not None and not isinstance(settings, NavigationSettings):
        raise GodojoError(f"settings must be NavigationSettings, not {type(settings).__name__}")
    if truncate_after < 0:
        raise GodojoError(f"truncate_after must be 0 (never) or more, not {truncate_after}")
    hand_made = hand_made_courses()
    chosen = list(hand_made) if courses is None else list(courses)
    found = []
    for course in chosen:
        if isinstance(course, str):
            if course not in hand_made:
                raise GodojoError(f"there is no course {course!r}; there is: {', '.join(hand_made)}")
            course = hand_made[course]
        check_course(course, getattr(course, "name", "course"))
        found.append(course)
    if not found:
        raise GodojoError("there must be at least one course")
    return NavigationOptions(settings or NavigationSettings.defaults(), tuple(found), int(truncate_after))
