"""Draws the pictures of README and gallery from a run: an animation, stills of the film, the cameras, and its charts.

python3 dojo.py run scripts/make_pictures.py RUN       (pictures of navigation begin with navigation-)
python3 dojo.py run scripts/make_pictures.py arenas    (generated arenas of tag from above; needs no run)
"""

import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from godojo.api.replays import Replays
from godojo.cli.console import progress_report, say
from godojo.files import atomic_write
from godojo.games.tag import Arena, generate_arena
from godojo.games.tag.sim.generation import KINDS
from godojo.show import charts, style
from godojo.show.colours import BACKDROP, BLOCKS, EYES, FLOOR, INK
from godojo.show.curves import RunTables
from godojo.show.film import other_modes, story_of
from godojo.show.frame_renderer import Scene, drawing, painted, plain_scene
from godojo.show.policies_to_show import PoliciesToShow, run_to_show
from godojo.show.progress import Progress
from godojo.show.replay import replay_spec
from godojo.show.scratch import scratch
from godojo.show.shots import PRESETS, Format, Shot, is_alone, steadily
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
PATHS = 12
"""Rounds whose paths are drawn from above."""
TILE_PX, LABEL_PX, ARENAS_PER_KIND, ARENAS_PER_ROW = 200, 22, 2, 6


def main(run: str) -> None:
    if run == "arenas":
        atomic_write(FOLDER / "generated-arenas.png", _arenas())
        say(f"{FOLDER}: generated-arenas.png")
        return
    with progress_report() as shown:
        folder = run_to_show(run, "film")
        story = story_of(folder, STILL, clips=other_modes(folder), progress=shown.progress)
        _draw(story, shown.progress)


def _draw(story: Story, progress: Progress) -> None:
    game = story.run.config.game
    prefix = "" if game == "tag" else f"{game}-"
    scenes = [replace(story, film=CLIP).scenes()[0]]
    names = [f"{prefix}clip.webp"]
    for name, scene in stills(story).items():
        scenes.append(_still(scene))
        names.append(f"{prefix}film-{name.replace(' ', '-')}.jpg")
    moment = story.scenes()[0].shots[0]
    for camera, film in cameras(game):
        until = moment.replay.seconds / 2 if is_alone(moment.replay) else moment.seconds[moment.frames // 2]
        moments = steadily(until - LEAD_FRAMES / film.fps, until, film.fps)
        scenes.append(plain_scene(Shot(moment.replay, moments, camera), film))
        names.append(f"{prefix}camera-{'portrait' if film.height > film.width else camera}.jpg")
    drawn: list[list[np.ndarray]] = [[] for _ in scenes]
    with scratch(FOLDER) as frames, drawing(frames) as crew:
        for scene, picture in painted(crew, frames, scenes, progress):
            drawn[scenes.index(scene)].append(picture)
    for name, pictures in zip(names, drawn, strict=True):
        atomic_write(FOLDER / name, _clip(pictures) if name.endswith(".webp") else _jpeg(pictures[-1]))
    names.append(f"{prefix}learning.png")
    content = io.BytesIO()
    with style.look():
        charts.learning(RunTables(story.run)).savefig(content, format="png")
    atomic_write(FOLDER / names[-1], content.getvalue())
    if replay_spec(game).tracks is not None:
        names.append(f"{prefix}paths.png")
        lineup = PoliciesToShow.of(str(story.run.path.absolute()), verb="film")
        Replays(FOLDER, lineup.record(PATHS, arenas=lineup.arenas(None))).draw_map(FOLDER / names[-1])
    say(f"{FOLDER}: {', '.join(names)}")


def cameras(game: str) -> Sequence[tuple[str, Format]]:
    """Those that the game has, and the usual one in portrait."""
    own = replay_spec(game).cameras
    return CAMERAS if not own else [*((camera, STILL) for camera in own), (own[0], PRESETS["portrait-720p30"])]


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


def _arenas() -> bytes:
    """The first generated arenas of each kind, seen from above."""
    chosen: dict[str, list[Arena]] = {kind: [] for kind in KINDS}
    seed = 0
    while any(len(some) < ARENAS_PER_KIND for some in chosen.values()):
        arena = generate_arena(seed)
        chosen[arena.title.split()[1]].append(arena)
        seed += 1
    arenas = [arena for some in chosen.values() for arena in some[:ARENAS_PER_KIND]]
    rows = -(-len(arenas) // ARENAS_PER_ROW)
    sheet = Image.new("RGB", (ARENAS_PER_ROW * TILE_PX, rows * (TILE_PX + LABEL_PX)), BACKDROP)
    for place, arena in enumerate(arenas):
        row, column = divmod(place, ARENAS_PER_ROW)
        sheet.paste(_arena(arena), (column * TILE_PX, row * (TILE_PX + LABEL_PX)))
    content = io.BytesIO()
    sheet.quantize(64).save(content, "PNG", optimize=True)
    return content.getvalue()


def _arena(arena: Arena) -> Image.Image:
    """Heights are written on boxes that are not tall; spawn areas are rings."""
    tile = Image.new("RGB", (TILE_PX, TILE_PX + LABEL_PX), BACKDROP)
    pen = ImageDraw.Draw(tile, "RGBA")
    scale, middle = (TILE_PX - 16) / max(arena.size_m), TILE_PX / 2

    def rectangle(x: float, z: float, wide: float, deep: float) -> list[float]:
        x, z, wide, deep = (scale * value for value in (x, z, wide / 2, deep / 2))
        return [middle + x - wide, middle + z - deep, middle + x + wide, middle + z + deep]

    pen.rectangle(rectangle(0, 0, *arena.size_m), FLOOR, EYES)
    for area in arena.spawns:
        x, _, z = area.position_m
        pen.ellipse(rectangle(x, z, max(area.size_m[0], 0.6), max(area.size_m[1], 0.6)), None, INK)
    for box in sorted(arena.boxes, key=lambda box: box.high[1]):
        (x, _, z), (wide, _, deep) = box.position_m, box.size_m
        pen.rectangle(rectangle(x, z, wide, deep), BLOCKS[box.kind] + ("a0" if box.low[1] > 0 else ""), INK)
        if box.high[1] < 2.0 and min(wide, deep) > 1.0:
            pen.text(
                (middle + x * scale, middle + z * scale), f"{box.high[1]:.1f}", INK, ImageFont.load_default(9), "mm"
            )
    wide, deep = arena.size_m
    label = f"{arena.title.split()[1]}  {wide:.0f} x {deep:.0f} m"
    pen.text((middle, TILE_PX + LABEL_PX / 2), label, EYES, ImageFont.load_default(13), "mm")
    return tile


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["latest"]))
