"""The pictures of README and gallery: an animation, stills of the film, the cameras, and the charts of a run."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from godojo.files import atomic_write
from godojo.show import charts, style
from godojo.show.curves import RunTables
from godojo.show.frame_renderer import Scene, drawing, painted, plain_scene
from godojo.show.progress import Progress
from godojo.show.scratch import scratch
from godojo.show.shots import PRESETS, Format, Shot, steadily
from godojo.show.storyboard import Story

CLIP = Format(560, 316, 15)
CLIP_MAX_BYTES = 2 * 2**20
STILL = PRESETS["720p30"]
LEAD_FRAMES = 12
"""Drawn before a still, so that dust and springs are in motion."""
QUALITY = 88
MOMENTS = {"together": 0.62, "end": 0.8}
"""How far into a scene its still is taken; elsewhere shortly after the middle."""
CAMERAS = (("follow", STILL), ("side", STILL), ("overview", PRESETS["portrait-720p30"]))


def make_pictures(story: Story, folder: Path, *, fine: bool = False, progress: Progress) -> list[Path]:
    """Draws and writes all of them, in place of those that are there."""
    scenes = [clip_scene(replace(story, film=CLIP).scenes())]
    scenes += [_still(scene) for scene in replace(story, film=STILL).scenes() if scene.name != "title"]
    names = ["clip.webp", *(f"film-{scene.name}.jpg" for scene in scenes[1:])]
    replay = story.rounds[-1][story.chosen()]
    for camera, film in CAMERAS:
        middle_s = replay.seconds * 0.6
        moments = steadily(middle_s - LEAD_FRAMES / film.fps, middle_s, film.fps)
        scenes.append(plain_scene(Shot(replay, moments, camera), film))
        names.append(f"camera-{'portrait' if camera == 'overview' else camera}.jpg")
    drawn: list[list[np.ndarray]] = [[] for _ in scenes]
    with scratch(folder) as frames, drawing(frames, STILL, fine=fine) as crew:
        for scene, picture in painted(crew, frames, scenes, progress):
            drawn[scenes.index(scene)].append(picture)
    for name, pictures in zip(names, drawn, strict=True):
        atomic_write(folder / name, _clip(pictures) if name == "clip.webp" else _jpeg(pictures[-1]))
    content = io.BytesIO()
    with style.look():
        charts.learning(RunTables(story.run)).savefig(content, format="png")
    atomic_write(folder / "learning.png", content.getvalue())
    return [folder / name for name in (*names, "learning.png")]


def clip_scene(scenes: Sequence[Scene]) -> Scene:
    """The first highlight; without one, the last stage."""
    names = [scene.name for scene in scenes]
    highlight = names.index("together") + 1
    return scenes[highlight if names[highlight] != "end" else highlight - 2]


def _still(scene: Scene) -> Scene:
    moment = round(MOMENTS.get(scene.name, 0.58) * (scene.frames - 1))
    return scene.part(range(max(moment - LEAD_FRAMES, 0), moment + 1))


def _clip(pictures: Sequence[np.ndarray]) -> bytes:
    """An animated WebP of at most `CLIP_MAX_BYTES`, as good as they allow."""
    first, *rest = (Image.fromarray(picture) for picture in pictures)
    for quality in (80, 65, 50, 35, 20):
        content = io.BytesIO()
        duration_ms = round(1000 / CLIP.fps)
        first.save(
            content, "WEBP", save_all=True, append_images=rest, duration=duration_ms, loop=0, quality=quality, method=4
        )
        if content.tell() <= CLIP_MAX_BYTES:
            break
    return content.getvalue()


def _jpeg(picture: np.ndarray) -> bytes:
    content = io.BytesIO()
    Image.fromarray(picture).save(content, "JPEG", quality=QUALITY, subsampling=0, optimize=True)
    return content.getvalue()
