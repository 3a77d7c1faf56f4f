"""Navigation: one walker with a VR rig on a course of obstacles, stairs, gaps and marks to reach, in comfort."""

from godojo.games.navigation.courses import Course, hand_made_courses, read_course
from godojo.games.navigation.settings import NavigationSettings

__all__ = ["Course", "NavigationSettings", "hand_made_courses", "read_course"]
