"""Draws the pictures of README and gallery from a run: an animation, stills of the film, the cameras, and its charts.

python3 dojo.py run scripts/make_pictures.py RUN
"""

import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from godojo.cli.console import progress_report, say
from godojo.files import atomic_write
from godojo.show import charts, style
from godojo.show.curves import RunTables
from godojo.show.film import other_modes, story_of
from godojo.show.frame_renderer import Scene, drawing, painted, plain_scene
from godojo.show.policies_to_show import run_to_show
from godojo.show.progress import Progress
from godojo.show.scratch import scratch
from godojo.show.shots import PRESETS, Format, Shot, steadily
from godojo.show.storyboard import Story

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
CLIP = Format(560, 316, 15)
CLIP_MAX_BYTES = 2 * 2**20
STILL = PRESETS["720p30"]
LEAD_FRAMES = 12
"""Drawn before a still, so that dust and springs are in motion."""
QUALITY = 88
MOMENTS = {"opening": 0.5, "end": 0.8}
"""How far into a scene its still is taken; elsewhere shortly after the middle."""
CAMERAS = (("follow", STILL), ("side", STILL), ("overview", STILL), ("tracking", PRESETS["portrait-720p30"]))


def main(run: str) -> None:
    with progress_report() as shown:
        folder = run_to_show(run, "film")
        story = story_of(folder, STILL, clips=other_modes(folder), progress=shown.progress)
        _draw(story, shown.progress)


def _draw(story: Story, progress: Progress) -> None:
    scenes = [replace(story, film=CLIP).scenes()[0]]
    names = ["clip.webp"]
    for name, scene in stills(story).items():
        scenes.append(_still(scene))
        names.append(f"film-{name}.jpg")
    moment = story.scenes()[0].shots[0]
    for camera, film in CAMERAS:
        until = moment.seconds[moment.frames // 2]
        moments = steadily(until - LEAD_FRAMES / film.fps, until, film.fps)
        scenes.append(plain_scene(Shot(moment.replay, moments, camera), film))
        names.append(f"camera-{'portrait' if camera == 'tracking' else camera}.jpg")
    drawn: list[list[np.ndarray]] = [[] for _ in scenes]
    with scratch(FOLDER) as frames, drawing(frames) as crew:
        for scene, picture in painted(crew, frames, scenes, progress):
            drawn[scenes.index(scene)].append(picture)
    for name, pictures in zip(names, drawn, strict=True):
        atomic_write(FOLDER / name, _clip(pictures) if name == "clip.webp" else _jpeg(pictures[-1]))
    content = io.BytesIO()
    with style.look():
        charts.learning(RunTables(story.run)).savefig(content, format="png")
    atomic_write(FOLDER / "learning.png", content.getvalue())
    say(f"{FOLDER}: {', '.join(names)}, learning.png")


def stills(story: Story) -> dict[str, Scene]:
    """Every scene by the name of its picture: a role's first and last stage are `before` and `after`."""
    found: dict[str, Scene] = {}
    for scene in story.scenes():
        _, _, role = scene.name.rpartition("-")
        if not scene.name.startswith("stage-"):
            found[scene.name] = scene
        elif f"{role}-before" not in found:
            found[f"{role}-before"] = scene
        else:
            found[f"{role}-after"] = scene
    return found


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


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["latest"]))
