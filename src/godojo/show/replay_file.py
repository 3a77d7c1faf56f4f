"""Replays on disk: JSON lines for one round (`trajectories/ep_*.jsonl`), a packed file for many (`*.rounds`).

docs/replays.md has both forms. Everything in them is hashed: a file that was cut off is read up to its last whole
frame, or round, and one in which something was changed is refused.
"""

import hashlib
import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from godojo.errors import GodojoError
from godojo.files import atomic_write
from godojo.formats import REPLAY, ROUNDS
from godojo.games.tag.arenas import check_arena
from godojo.games.tag.settings import TagSettings
from godojo.show.replay import Header, Outcome, Replay, header_dict

SUFFIX, ROUNDS_SUFFIX = ".jsonl", ".rounds"
MAX_BYTES = 256 * 2**20
MAX_TICK = 10**7
DECIMALS = 4

_FRAME_ARRAYS = ("position_m", "velocity_mps", "heading_rad", "grounded", "active", "chases")
_DECISION_ARRAYS = ("action", "terms", "sight_m", "sight_kind")
_PACKED = {"sight_m": "<f2", "position_m": "<f4", "velocity_mps": "<f4", "heading_rad": "<f4"}
"""Numbers that are kept with fewer bits, or in a set order of bytes; centimetres do for what eyes tell."""

Numbers = list[float]

_HASH = "sha256"
_LINE_HASH, _LINE_END = f',"{_HASH}":"'.encode(), b'"}'
_LINE_DIGITS = 16
"""Of the hash of a line and of all lines above it."""
_ENTRY = struct.Struct("<I32s")
"""Of the table at the start of a file of rounds: a round's length, and its SHA-256."""


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


class _End(msgspec.Struct):
    outcome: Outcome


class _LineHashes:
    """The hashes of a replay's lines, one after the other: each is of all bytes up to it."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def close(self, line: bytes) -> bytes:
        """A JSON object with its hash as the last key."""
        body = line.removesuffix(b"}")
        return body + self._tail(body)

    def check(self, line: bytes) -> bool:
        """Whether this is the next line, as it was written."""
        size, before = len(_LINE_HASH) + _LINE_DIGITS + len(_LINE_END), self._hash.copy()
        is_next = self._tail(line[:-size]) == line[-size:]
        if not is_next:
            self._hash = before
        return is_next

    def _tail(self, body: bytes) -> bytes:
        self._hash.update(body)
        return _LINE_HASH + self._hash.hexdigest()[:_LINE_DIGITS].encode() + _LINE_END


def write_replay(path: Path, replay: Replay) -> None:
    """One round as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, to_lines(replay))


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
    hashes = _LineHashes()
    return b"".join(hashes.close(line) + b"\n" for line in lines)


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
    header, version = _first_line(lines[0], source)
    if REPLAY.is_hashed(version):
        lines = _whole_lines(lines, source)
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


def _first_line(line: bytes, source: str) -> tuple[Header, int]:
    """The header of a round, and the version of the file."""
    try:
        tree = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        tree = None
    if not isinstance(tree, dict):
        raise GodojoError(f"{source} is no replay, or its first line is damaged; record it again")
    version = REPLAY.version_of(tree.get("format", ""), source)
    if (REPLAY.is_hashed(version) or _HASH in tree) and not _LineHashes().check(line):
        raise GodojoError(f"{source} is damaged in line 1; record it again")
    return _header(tree, source), version


def _header(tree: dict[str, Any], source: str) -> Header:
    """What the first line says, of any version."""
    version = REPLAY.version_of(tree.get("format", ""), source)
    try:
        REPLAY.migrate(tree, version)
        settings = TagSettings.from_values(msgspec.convert(tree["settings"], dict[str, Any]), source)
        header = msgspec.convert({**tree, "settings": msgspec.to_builtins(settings)}, Header)
        check_arena(header.arena, header.settings, source)
    except (msgspec.ValidationError, LookupError, TypeError, RecursionError) as error:
        raise GodojoError(f"{source} does not fit this Godojo ({error}): update Godojo, or record it again") from None
    if header.agents != header.settings.agent_count:
        raise GodojoError(f"{source}: its first line is damaged (roles of {header.agents} agents); record it again")
    return header


def _whole_lines(lines: list[bytes], source: str) -> list[bytes]:
    """All lines but one that was cut off; refuses a file in which one was changed."""
    *whole, rest = lines
    hashes = _LineHashes()
    for number, line in enumerate(whole, 1):
        if not hashes.check(line):
            raise GodojoError(f"{source} is damaged in line {number}; record it again")
    if hashes.check(rest):
        return lines
    if hashes.check(rest[:-1]):
        raise GodojoError(f"{source} is damaged in its last byte; record it again")
    return whole


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
    bodies = [_packed(replay) for replay in replays]
    table = f"{ROUNDS.tag}\n".encode() + len(bodies).to_bytes(4, "little")
    table += b"".join(_ENTRY.pack(len(body), hashlib.sha256(body).digest()) for body in bodies)
    atomic_write(path, table + hashlib.sha256(table).digest() + b"".join(bodies))


def _packed(replay: Replay) -> bytes:
    """A compressed record."""
    arrays = {}
    for name in ("tick", "decision_frame", *_FRAME_ARRAYS, *_DECISION_ARRAYS):
        array = getattr(replay, name)
        array = np.ascontiguousarray(array, np.dtype(_PACKED.get(name, array.dtype.newbyteorder("<"))))
        arrays[name] = (array.dtype.str, array.shape, array.tobytes())
    record = {"header": header_dict(replay.header), "arrays": arrays, "outcome": replay.outcome}
    return zlib.compress(msgspec.msgpack.encode(record), 6)


def read_rounds(path: Path) -> list[Replay]:
    """All whole rounds of a packed file, in order; GodojoError where there is none, or one was changed."""
    content = _content(path)
    said, line_break, _ = content[:40].partition(b"\n")
    if not line_break or not said.startswith(f"{ROUNDS.name}/".encode()):
        raise GodojoError(f"{path} is no file of rounds, or damaged in its first bytes; record it again")
    version, at = ROUNDS.version_of(said.decode(errors="replace"), path), len(said) + 1
    bodies = _bodies(content, at, path) if ROUNDS.is_hashed(version) else _bodies_1(content, at)
    if not bodies:
        raise GodojoError(f"{path}: no whole round is left in this file; record it again")
    return [_unpacked(body, str(path)) for body in bodies]


def _bodies(content: bytes, at: int, path: Path) -> list[bytes]:
    """The records by the table in front of them; where the file is cut off, those that are whole."""
    count = int.from_bytes(content[at : at + 4], "little")
    end = at + 4 + count * _ENTRY.size
    if len(content) < end + 32:
        return []
    if hashlib.sha256(content[:end]).digest() != content[end : end + 32]:
        raise GodojoError(f"{path} is damaged in its table of rounds; record it again")
    bodies: list[bytes] = []
    start = end + 32
    for number, (length, digest) in enumerate(_ENTRY.iter_unpack(content[at + 4 : end]), 1):
        body = content[start : start + length]
        if len(body) < length:
            return bodies
        if hashlib.sha256(body).digest() != digest:
            raise GodojoError(f"{path} is damaged in round {number} of {count}; record it again")
        bodies.append(body)
        start += length
    if len(content) > start:
        raise GodojoError(f"{path} is damaged: it is longer than its rounds; record it again")
    return bodies


def _bodies_1(content: bytes, at: int) -> list[bytes]:
    """The records of version 1: each behind its length and its CRC-32; those before the first damage."""
    bodies = []
    while at + 8 <= len(content):
        length, checksum = struct.unpack_from("<II", content, at)
        body = content[at + 8 : at + 8 + length]
        if len(body) < length or zlib.crc32(body) != checksum:
            break
        bodies.append(body)
        at += 8 + length
    return bodies


def _unpacked(body: bytes, source: str) -> Replay:
    # The checksum fits, so this is as somebody wrote it; what they wrote may still be nonsense.
    try:
        unpack = zlib.decompressobj()
        record = msgspec.msgpack.decode(unpack.decompress(body, MAX_BYTES))
        header = _header(record["header"], source)
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
