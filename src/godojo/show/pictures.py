"""The pictures of README and gallery: an animation, stills of the film, the cameras, and the charts of a run."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from godojo.files import atomic_write
from godojo.show import charts, style
from godojo.show.curves import RunTables
from godojo.show.frame_renderer import Drawing, Scene, arrived, drawing, frames_in
from godojo.show.progress import Progress
from godojo.show.replay import Replay
from godojo.show.scratch import scratch
from godojo.show.shots import PRESETS, Format, Shot, steadily
from godojo.show.storyboard import Story

CLIP = Format(560, 316, 15)
CLIP_MOST_BYTES = 2 * 2**20
STILL = PRESETS["720p30"]
LEAD_FRAMES = 12
"""Drawn before a still, so that dust and springs are in motion."""
QUALITY = 88
MOMENTS = {"title": 0.5, "together": 0.62, "end": 0.8}
"""How far into a scene its still is taken; elsewhere shortly after the middle."""
MOMENT = 0.58


def make_pictures(story: Story, folder: Path, *, fine: bool = False, progress: Progress) -> list[Path]:
    """Draws and writes all of them, in place of those that are there."""
    folder.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    with scratch(folder) as frames, drawing(frames, STILL, fine=fine) as crew:
        scenes = replace(story, film=STILL).scenes()
        moving = _clip_scene(replace(story, film=CLIP).scenes())
        total = len(scenes) + 4
        made.append(_clip(crew, frames, moving, folder / "clip.webp"))
        for place, scene in enumerate(scenes):
            progress("drawing pictures", (place + 1) / total)
            if scene.name != "title":
                made.append(_still(crew, frames, scene, folder / f"film-{scene.name}.jpg"))
        replay = story.rounds[-1][story.chosen()]
        for place, (name, camera, film) in enumerate(
            (
                ("follow", "follow", STILL),
                ("side", "side", STILL),
                ("portrait", "overview", PRESETS["portrait-720p30"]),
            )
        ):
            progress("drawing pictures", (len(scenes) + 1 + place) / total)
            made.append(_camera(crew, frames, replay, camera, film, folder / f"camera-{name}.jpg"))
    return [*made, _chart(story, folder / "learning.png")]


def _clip_scene(scenes: Sequence[Scene]) -> Scene:
    """The first highlight; without one, the last stage."""
    names = [scene.name for scene in scenes]
    highlight = names.index("together") + 1
    return scenes[highlight if names[highlight] != "end" else highlight - 2]


def _clip(crew: Drawing, frames: Path, scene: Scene, path: Path) -> Path:
    """A scene as an animated WebP that stays below `CLIP_MOST_BYTES`."""
    pictures = [Image.fromarray(picture) for picture in _painted(crew, frames, scene, range(scene.frames))]
    for quality in (80, 65, 50, 35, 20):
        content = io.BytesIO()
        pictures[0].save(
            content,
            "WEBP",
            save_all=True,
            append_images=pictures[1:],
            duration=round(1000 / scene.format.fps),
            loop=0,
            quality=quality,
            method=4,
        )
        if content.tell() <= CLIP_MOST_BYTES:
            break
    atomic_write(path, content.getvalue())
    return path


def _still(crew: Drawing, frames: Path, scene: Scene, path: Path) -> Path:
    moment = round(MOMENTS.get(scene.name, MOMENT) * (scene.frames - 1))
    wanted = range(max(moment - LEAD_FRAMES, 0), moment + 1)
    return _written(_painted(crew, frames, scene, wanted)[-1], path)


def _camera(crew: Drawing, frames: Path, replay: Replay, camera: str, film: Format, path: Path) -> Path:
    """The middle of a round, through a camera."""
    middle_s = replay.seconds * 0.6
    shot = Shot(replay, steadily(middle_s - LEAD_FRAMES / film.fps, middle_s, film.fps), camera=camera)
    piece = arrived(crew.draw([shot], "camera", lambda _: None, film))
    return _written(list(frames_in(frames / piece.file, piece.frames))[-1], path)


def _painted(crew: Drawing, frames: Path, scene: Scene, wanted: range) -> list[np.ndarray]:
    """Some frames of a scene, as the film has them."""
    drawn: list[list[np.ndarray]] = []
    if scene.shots:
        shots = [replace(shot, seconds=shot.seconds[wanted.start : wanted.stop]) for shot in scene.shots]
        piece = arrived(crew.draw(shots, "scene", lambda _: None, scene.format))
        everything = list(frames_in(frames / piece.file, piece.frames))
        drawn = [everything[place * len(wanted) : (place + 1) * len(wanted)] for place in range(len(shots))]
    return [scene.paint(frame, [each[place] for each in drawn]) for place, frame in enumerate(wanted)]


def _written(picture: np.ndarray, path: Path) -> Path:
    content = io.BytesIO()
    Image.fromarray(picture).save(content, "JPEG", quality=QUALITY, subsampling=0, optimize=True)
    atomic_write(path, content.getvalue())
    return path


def _chart(story: Story, path: Path) -> Path:
    """The whole training in four panels."""
    with style.look():
        made: Figure = charts.learning(RunTables(story.run))
        content = io.BytesIO()
        made.savefig(content, format="png")
    atomic_write(path, content.getvalue())
    return path
