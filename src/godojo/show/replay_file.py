"""Replays on disk: JSON lines for one round (`trajectories/ep_*.jsonl`), a packed file for many (`*.rounds`).

docs/replays.md has both forms. A file that was cut off or damaged is read up to its last whole frame, or round.
"""

import math
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from godojo.errors import GodojoError
from godojo.files import write_whole
from godojo.games.tag.arenas import check_arena
from godojo.show.replay import FORMAT, Header, Outcome, Replay, header_dict

ROUNDS_FORMAT = b"godojo-rounds/1\n"
SUFFIX, ROUNDS_SUFFIX = ".jsonl", ".rounds"
MAX_BYTES = 256 * 2**20
MAX_TICK = 10**7
DECIMALS = 4

_FRAME_ARRAYS = ("position_m", "velocity_mps", "heading_rad", "grounded", "active", "chases")
_DECISION_ARRAYS = ("action", "terms", "sight_m", "sight_kind")
_PACKED = {"sight_m": "<f2", "position_m": "<f4", "velocity_mps": "<f4", "heading_rad": "<f4"}
"""Numbers that are kept with fewer bits, or in a set order of bytes; centimetres do for what eyes tell."""

Numbers = list[float]


class _Frame(msgspec.Struct, omit_defaults=True):
    """A line of the file: how everybody stands, and at a decision also what they do."""

    tick: Annotated[int, msgspec.Meta(ge=0, le=MAX_TICK)]
    agents: list[Numbers]
    """x, y, z, velocity x, y, z, heading, grounded, active, chases."""
    actions: list[Numbers] | None = None
    rewards: list[Numbers] | None = None
    """By term."""
    sight_m: list[Numbers] | None = None
    sight: list[list[Annotated[int, msgspec.Meta(ge=0, le=3)]]] | None = None


class _End(msgspec.Struct, forbid_unknown_fields=True):
    outcome: Outcome


class _Format(msgspec.Struct):
    format: str


def write_replay(path: Path, replay: Replay) -> None:
    """One round as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, to_lines(replay))


def to_lines(replay: Replay) -> bytes:
    """Header, frames, outcome: a line each."""
    lines = [msgspec.json.encode(header_dict(replay.header))]
    flags = [getattr(replay, name)[..., None] for name in ("heading_rad", "grounded", "active", "chases")]
    states = np.concatenate([replay.position_m, replay.velocity_mps, *flags], axis=-1)
    rows = _rounded(states)
    actions, terms, sight_m = _rounded(replay.action), _rounded(replay.terms), _rounded(replay.sight_m, 2)
    kinds = replay.sight_kind.tolist()
    at = {int(frame): decision for decision, frame in enumerate(replay.decision_frame)}
    for frame, tick in enumerate(replay.tick.tolist()):
        line = _Frame(tick, rows[frame])
        decision = at.get(frame)
        if decision is not None:
            line.actions, line.rewards = actions[decision], terms[decision]
            line.sight_m, line.sight = sight_m[decision], kinds[decision]
        lines.append(msgspec.json.encode(line))
    if replay.outcome is not None:
        lines.append(msgspec.json.encode(_End(replay.outcome)))
    return b"\n".join(lines) + b"\n"


def _rounded(array: np.ndarray, decimals: int = DECIMALS) -> Any:
    """Lists of numbers, whole ones without a point."""
    return _whole(np.round(array.astype(np.float64), decimals).tolist())


def _whole(tree: Any) -> Any:
    if isinstance(tree, list):
        return [_whole(each) for each in tree]
    return int(tree) if tree == int(tree) else tree


def read_replay(path: Path) -> Replay:
    """A round from its file, up to the last whole frame; GodojoError where there is none, or it is a newer format."""
    return from_lines(_content(path), str(path))


def from_lines(content: bytes, source: str = "replay") -> Replay:
    lines = content.split(b"\n")
    header = _header(lines[0], source)
    frames: list[_Frame] = []
    outcome = None
    decoder = msgspec.json.Decoder(_Frame)
    for line in lines[1:]:
        try:
            frame = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            outcome = _outcome(line, header)
            break
        if not _fits(frame, header, frames):
            break
        frames.append(frame)
    if not frames:
        raise GodojoError(f"{source}: no whole frame is left in this replay; record it again")
    return _replay(header, frames, outcome)


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise GodojoError(f"{path}: longer than {MAX_BYTES >> 20} MiB, which no replay is")
        return path.read_bytes()
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None


def _header(line: bytes, source: str) -> Header:
    try:
        said = msgspec.json.decode(line, type=_Format).format
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise GodojoError(f"{source} is no replay, or its first line is damaged; record it again") from None
    if said != FORMAT:
        _refuse(said, source)
    try:
        header = msgspec.json.decode(line, type=Header)
        header.settings.check()
        check_arena(header.arena, header.settings, source)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise GodojoError(
            f"{source}: its first line is damaged or of another Godojo ({error}); record it again"
        ) from None
    if header.agents != header.settings.agent_count:
        raise GodojoError(f"{source}: its first line is damaged (roles of {header.agents} agents); record it again")
    return header


def _refuse(said: str, source: str) -> None:
    name, _, version = said[:40].partition("/")
    if name == FORMAT.partition("/")[0] and version.isdigit():
        raise GodojoError(
            f"{source} was written by a newer Godojo ({name}/{version}; this one reads {FORMAT}): update Godojo"
        )
    raise GodojoError(f"{source} is no replay: its format is {said[:40]!r}, not {FORMAT!r}")


def _outcome(line: bytes, header: Header) -> Outcome | None:
    try:
        outcome = msgspec.json.decode(line, type=_End).outcome
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return outcome if len(outcome.scores) == header.agents else None


def _fits(frame: _Frame, header: Header, before: Sequence[_Frame]) -> bool:
    """Whether a frame is whole: of this game, later than the one before, with no number that is none."""
    if before and frame.tick <= before[-1].tick:
        return False
    agents, rays = header.agents, header.settings.ray_count
    parts = frame.actions, frame.rewards, frame.sight_m, frame.sight
    widths = 3, len(header.reward_terms), rays, rays
    if not before and frame.actions is None:
        return False
    if any((part is None) != (frame.actions is None) for part in parts):
        return False
    tables = [(frame.agents, 10), *((part, width) for part, width in zip(parts, widths, strict=True) if part)]
    return all(
        len(rows) == agents
        and all(len(row) == width and all(map(math.isfinite, row)) and max(map(abs, row)) < 1e6 for row in rows)
        for rows, width in tables
    )


def _replay(header: Header, frames: Sequence[_Frame], outcome: Outcome | None) -> Replay:
    states = np.array([frame.agents for frame in frames], np.float32)
    at = [place for place, frame in enumerate(frames) if frame.actions is not None]
    return Replay(
        header=header,
        tick=np.array([frame.tick for frame in frames], np.int32),
        position_m=states[..., 0:3],
        velocity_mps=states[..., 3:6],
        heading_rad=states[..., 6],
        grounded=states[..., 7] > 0.5,
        active=states[..., 8] > 0.5,
        chases=states[..., 9] > 0.5,
        decision_frame=np.array(at, np.int32),
        action=np.array([frames[place].actions for place in at], np.float32),
        terms=np.array([frames[place].rewards for place in at], np.float32),
        sight_m=np.array([frames[place].sight_m for place in at], np.float32),
        sight_kind=np.array([frames[place].sight for place in at], np.uint8),
        outcome=outcome,
    )


def write_rounds(path: Path, replays: Iterable[Replay]) -> None:
    """Many rounds in one packed file, about a fifth of the lines' size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, ROUNDS_FORMAT + b"".join(_packed(replay) for replay in replays))


def _packed(replay: Replay) -> bytes:
    """Length, checksum, and a compressed record."""
    arrays = {}
    for name in ("tick", "decision_frame", *_FRAME_ARRAYS, *_DECISION_ARRAYS):
        array = getattr(replay, name)
        array = np.ascontiguousarray(array, np.dtype(_PACKED.get(name, array.dtype.newbyteorder("<"))))
        arrays[name] = (array.dtype.str, array.shape, array.tobytes())
    record = {"header": header_dict(replay.header), "arrays": arrays, "outcome": replay.outcome}
    body = zlib.compress(msgspec.msgpack.encode(record), 6)
    return len(body).to_bytes(4, "little") + zlib.crc32(body).to_bytes(4, "little") + body


def read_rounds(path: Path) -> list[Replay]:
    """All whole rounds of a packed file, in order; GodojoError where there is none."""
    content = _content(path)
    if not content.startswith(ROUNDS_FORMAT):
        said = content[:40].partition(b"\n")[0].decode(errors="replace")
        if said.startswith("godojo-rounds/"):
            raise GodojoError(f"{path} was written by a newer Godojo ({said}): update Godojo")
        raise GodojoError(f"{path} is no file of rounds")
    replays, at = [], len(ROUNDS_FORMAT)
    while at + 8 <= len(content):
        length, checksum = (int.from_bytes(content[at + place : at + place + 4], "little") for place in (0, 4))
        body = content[at + 8 : at + 8 + length]
        if len(body) < length or zlib.crc32(body) != checksum:
            break
        replays.append(_unpacked(body, str(path)))
        at += 8 + length
    if not replays:
        raise GodojoError(f"{path}: no whole round is left in this file; record it again")
    return replays


def _unpacked(body: bytes, source: str) -> Replay:
    # The checksum fits, so this is as somebody wrote it; what they wrote may still be nonsense.
    try:
        unpack = zlib.decompressobj()
        record = msgspec.msgpack.decode(unpack.decompress(body, MAX_BYTES))
        header = _header(msgspec.json.encode(record["header"]), source)
        arrays = {name: _array(*record["arrays"][name]) for name in ("tick", "decision_frame", *_FRAME_ARRAYS)}
        arrays |= {name: _array(*record["arrays"][name]) for name in _DECISION_ARRAYS}
        outcome = msgspec.convert(record["outcome"], Outcome | None)
        replay = Replay(header=header, outcome=outcome, **arrays)
        _check_shapes(replay)
    except (zlib.error, msgspec.DecodeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise GodojoError(f"{source}: a round in it makes no sense ({error}); record it again") from None
    return replay


def _array(kind: str, shape: Sequence[int], content: bytes) -> np.ndarray:
    dtype = np.dtype(kind)
    if dtype.kind not in "iufb":
        raise ValueError(f"numbers of kind {kind!r}")
    array = np.frombuffer(content, dtype).reshape(shape)
    return array.astype(np.float32) if dtype.kind == "f" else array


def _check_shapes(replay: Replay) -> None:
    header, frames, decisions = replay.header, len(replay.tick), len(replay.decision_frame)
    agents, rays = header.agents, header.settings.ray_count
    wanted: dict[str, tuple[int, ...]] = {
        "tick": (frames,),
        "decision_frame": (decisions,),
        "position_m": (frames, agents, 3),
        "velocity_mps": (frames, agents, 3),
        **dict.fromkeys(("heading_rad", "grounded", "active", "chases"), (frames, agents)),
        "action": (decisions, agents, 3),
        "terms": (decisions, agents, len(header.reward_terms)),
        "sight_m": (decisions, agents, rays),
        "sight_kind": (decisions, agents, rays),
    }
    for name, shape in wanted.items():
        found = getattr(replay, name)
        if found.shape != shape or not np.isfinite(found).all():
            raise ValueError(f"{name} is {found.shape}, not {shape}")
    at = replay.decision_frame
    if not frames or (np.diff(replay.tick) <= 0).any() or (decisions and not 0 <= at.min() <= at.max() < frames):
        raise ValueError("frames are out of order")


def read_any(path: Path) -> list[Replay]:
    """The rounds of a file of either form, or of all files of a folder."""
    if path.is_dir():
        files = sorted([*path.glob(f"*{SUFFIX}"), *path.glob(f"*{ROUNDS_SUFFIX}")])
        if not files:
            raise GodojoError(f"{path} holds no replay (*{SUFFIX} or *{ROUNDS_SUFFIX}); `godojo replay RUN` makes some")
        return [replay for file in files for replay in read_any(file)]
    return read_rounds(path) if path.suffix == ROUNDS_SUFFIX else [read_replay(path)]
