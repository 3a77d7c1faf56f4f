"""Films of external games: a policy plays the real game over the wire while Godot's movie writer records its window."""

import struct
from collections.abc import Iterator
from pathlib import Path

import av
import msgspec
import numpy as np

from godojo.engines.godot.game_source import GameSource
from godojo.engines.godot.launch import FPS as GAME_FPS
from godojo.errors import GodojoError, command
from godojo.evaluation.external import random_players
from godojo.evaluation.held_out import judging_seed
from godojo.evaluation.players import players_of
from godojo.show.encoding import film_writer
from godojo.show.frame_renderer import check_room
from godojo.show.progress import Progress, frame_progress
from godojo.show.scratch import scratch
from godojo.show.shots import Format

MOST_SECONDS = 60.0
"""Of game time, for games whose episodes are long or never end."""
_STEP_TIMEOUT_S = 120.0
"""Without a GPU a frame may take a second."""
_MOVIE = "movie.avi"


def film_external(
    text: str, source: GameSource, path: Path, film: Format, *, episodes: int, seed: int, progress: Progress
) -> int:
    """Films `episodes` of the first agent, at most `MOST_SECONDS`; returns the number of frames."""
    with scratch(path.parent) as room:
        check_room(room, int(MOST_SECONDS * GAME_FPS), film)
        movie = room / _MOVIE
        first = _play(text, source, movie, film, episodes, seed, progress)
        every = max(GAME_FPS // film.fps, 1)
        total = max(_frames_in(movie) - first, 0) // every
        with film_writer(path, film) as writer:
            report = frame_progress(progress, "encoding", max(total, 1))
            for number, picture in enumerate(_pictures(movie, film)):
                if number >= first and (number - first) % every == 0:
                    writer.write(picture)
                    report(writer.frames)
    return writer.frames


def _play(
    text: str, source: GameSource, movie: Path, film: Format, episodes: int, seed: int, progress: Progress
) -> int:
    """Plays while the game records itself; returns the number of frames before the first decision."""
    progress("starting Godot", None)
    arguments = ["--write-movie", str(movie.absolute()), "--resolution", film.size]
    alone = msgspec.structs.replace(source, window=True, processes=1, worlds=None, speedup=None)
    with alone.open(
        seed=judging_seed(seed), usual_worlds=1, arguments=arguments, step_timeout_s=_STEP_TIMEOUT_S
    ) as worlds:
        players = random_players(worlds, seed) | dict(players_of(text, seed=seed))
        for player in players.values():
            player.begin(worlds)
        first, watched, ended, steps = _frames_in(movie), next(iter(worlds.roles.values())), 0, 0
        most = max(int(MOST_SECONDS * GAME_FPS / worlds.ticks_per_decision), 1)
        while ended < episodes and steps < most:
            for name, player in players.items():
                player.act(worlds, worlds.roles[name].action)
            worlds.step()
            if worlds.restarts:
                raise GodojoError(f"the game was lost while it was filmed: it {worlds.incidents[0].cause}; try again")
            steps += 1
            ended += int((watched.terminated | watched.truncated)[0, 0])
            progress("playing", max(ended / episodes, steps / most))
    return first


def _frames_in(movie: Path) -> int:
    """The frames of a motion JPEG AVI, also of one that is still being written."""
    try:
        with movie.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            at = file.read(4096).find(b"movi") + 4
            count = 0
            while at + 8 <= size:
                file.seek(at)
                name, length = struct.unpack("<4sI", file.read(8))
                at += 8 + length + length % 2
                count += name in (b"00db", b"00dc") and at <= size
    except OSError:
        cure = f"if drivers are missing: {command('engine install --rendering')}"
        raise GodojoError(f"Godot recorded nothing; {cure}") from None
    return count


def _pictures(movie: Path, film: Format) -> Iterator[np.ndarray]:
    """Every frame, uint8 [height, width, 3], in the film's size with borders where its shape is another."""
    try:
        with av.open(str(movie)) as file:
            for frame in file.decode(video=0):
                yield _fitted(frame, film)
    except (OSError, av.FFmpegError) as error:
        raise GodojoError(f"Godot's recording cannot be read ({error}); record it again") from None


def _fitted(frame: av.VideoFrame, film: Format) -> np.ndarray:
    scale = min(film.width / frame.width, film.height / frame.height)
    width, height = round(frame.width * scale), round(frame.height * scale)
    drawn = frame.reformat(width=width, height=height, format="rgb24").to_ndarray()
    picture = np.zeros((film.height, film.width, 3), np.uint8)
    top, left = (film.height - height) // 2, (film.width - width) // 2
    picture[top : top + height, left : left + width] = drawn
    return picture
