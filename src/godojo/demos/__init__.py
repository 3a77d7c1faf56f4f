"""Demonstrations: recorded play of people, scripts and policies, to imitate."""

from godojo.demos.file import DemoEpisode, DemoRole, Demos, read_demos
from godojo.demos.recorder import DemoRecorder, DemoWriter

__all__ = ["DemoEpisode", "DemoRecorder", "DemoRole", "DemoWriter", "Demos", "read_demos"]
