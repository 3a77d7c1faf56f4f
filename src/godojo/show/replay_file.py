"""Replays on disk: JSON lines for one round (`trajectories/ep_*.jsonl`), an `.npz` for many.

docs/replays.md describes both. Everything is hashed: lines are read up to the last whole frame of a file that was cut
off, and a file in which something was changed is refused. Packed files of old versions (`.rounds`) are read as well.
"""

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from godojo.errors import GodojoError
from godojo.files import TRAILER, Damaged, atomic_write
from godojo.formats import REPLAY, ROUNDS
from godojo.games.base import game_named
from godojo.show.replay import FIRST_TEAM, Header, Outcome, Replay, States, replay_spec

SUFFIX, PACKED_SUFFIX, OLD_SUFFIX = ".jsonl", ".npz", ".rounds"
SUFFIXES = SUFFIX, PACKED_SUFFIX, OLD_SUFFIX
MAX_BYTES = 256 * 2**20
MAX_TICK = 10**7
DECIMALS = 4
HEADERS = "rounds.json"
"""The member of a packed file with the headers and outcomes of its rounds."""
_DTYPES = {
    "tick": "<i4",
    **dict.fromkeys(("position_m", "velocity_mps", "heading_rad"), "<f4"),
    **dict.fromkeys(("grounded", "active"), "?"),
    "team": "u1",
    "decision_frame": "<i4",
    **dict.fromkeys(("action", "terms"), "<f4"),
    "sight_m": "<f2",  # centimetres are enough
    "sight_kind": "u1",
}
"""The arrays of a round in a packed file."""
_NOT_JSON = msgspec.DecodeError, UnicodeDecodeError, RecursionError
_SENSELESS = (zlib.error, msgspec.DecodeError, LookupError, TypeError, ValueError, RecursionError, MemoryError)
_HASH = "sha256"
_LINE_HASH, _LINE_END, _LINE_DIGITS = f',"{_HASH}":"'.encode(), b'"}', 16
"""A line ends with the first digits of the hash of all bytes up to them."""

Numbers = list[float]


class _Line(msgspec.Struct, omit_defaults=True):
    """The agents' states, at a decision also what they do; or, in the last line, the outcome."""

    tick: Annotated[int, msgspec.Meta(ge=0, le=MAX_TICK)] | None = None
    agents: list[Numbers] | None = None
    """x, y, z, velocity x, y, z, heading, grounded, active, team."""
    actions: list[Numbers] | None = None
    rewards: list[Numbers] | None = None
    """By term."""
    sight_m: list[Numbers] | None = None
    sight: list[list[Annotated[int, msgspec.Meta(ge=0, le=255)]]] | None = None
    outcome: Outcome | None = None


class _LineHashes:
    """The hashes of a replay's lines, one after the other."""

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
    lines = [msgspec.json.encode(_header_tree(replay.header))]
    flags = [getattr(replay, name)[..., None] for name in States._fields[2:]]
    rows = _rounded(np.concatenate([replay.position_m, replay.velocity_mps, *flags], axis=-1))
    actions, terms, sight_m = _rounded(replay.action), _rounded(replay.terms), _rounded(replay.sight_m, 2)
    kinds = replay.sight_kind.tolist()
    at = {int(frame): decision for decision, frame in enumerate(replay.decision_frame)}
    for frame, tick in enumerate(replay.tick.tolist()):
        line = _Line(tick, rows[frame])
        decision = at.get(frame)
        if decision is not None:
            line.actions, line.rewards = actions[decision], terms[decision]
            line.sight_m, line.sight = sight_m[decision], kinds[decision]
        lines.append(msgspec.json.encode(line))
    if replay.outcome is not None:
        lines.append(msgspec.json.encode(_Line(outcome=replay.outcome)))
    hashes = _LineHashes()
    return b"".join(hashes.close(line) + b"\n" for line in lines)


def _header_tree(header: Header) -> dict[str, Any]:
    return {"format": REPLAY.tag, **msgspec.to_builtins(header)}


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
    try:
        tree = msgspec.json.decode(lines[0], type=dict[str, Any])
    except _NOT_JSON:
        raise GodojoError(f"{source} is no replay, or its first line is damaged; record it again") from None
    if REPLAY.is_hashed(REPLAY.version_of(tree.get("format", ""), source)) or _HASH in tree:
        lines = _whole_lines(lines, source)
    header, version = _header(tree, source)
    frames: list[_Line] = []
    outcome = None
    with suppress(*_NOT_JSON):  # a line that was cut off
        for line in lines[1:]:
            frame = msgspec.json.decode(line, type=_Line)
            if frame.outcome is not None:
                outcome = frame.outcome if len(frame.outcome.scores) == header.agents else None
                break
            frames.append(frame)
    if not frames:
        raise GodojoError(f"{source}: no whole frame is left in this replay; record it again")
    at = [place for place, frame in enumerate(frames) if frame.actions is not None]
    taken = [frames[place] for place in at]
    try:
        states = np.array([frame.agents for frame in frames], np.float32)
        arrays = {
            "tick": np.array([frame.tick for frame in frames], np.int32),
            "position_m": states[..., 0:3],
            "velocity_mps": states[..., 3:6],
            **{name: states[..., place] for place, name in enumerate(States._fields[2:], 6)},
            "decision_frame": np.array(at, np.int32),
            "action": np.array([frame.actions for frame in taken], np.float32),
            "terms": np.array([frame.rewards for frame in taken], np.float32),
            "sight_m": np.array([frame.sight_m for frame in taken], np.float32),
            "sight_kind": np.array([frame.sight for frame in taken]),
        }
        return _replay(header, outcome, arrays, version)
    except _SENSELESS as error:
        raise GodojoError(f"{source} is damaged ({error}); record it again") from None


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise GodojoError(f"{path}: longer than {MAX_BYTES >> 20} MiB, which no replay is")
        return path.read_bytes()
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None


def _header(tree: dict[str, Any], source: str) -> tuple[Header, int]:
    """A header of any version, and which; what old ones lack is filled in by the game."""
    version = REPLAY.version_of(tree.get("format", ""), source)
    try:
        REPLAY.migrate(tree, version)
        game = str(tree["game"])
        settings = game_named(game).settings.from_values(msgspec.convert(tree["settings"], dict[str, Any]), source)
        spec = replay_spec(game)
        layout = spec.layout(settings, tree["arena"])
        known = {"layout": layout, "teams": spec.teams, "round_s": spec.round_s(settings)}
        header = msgspec.convert({**msgspec.to_builtins(known), **tree, "settings": None}, Header)
    except (msgspec.ValidationError, LookupError, TypeError, RecursionError) as error:
        raise GodojoError(f"{source} does not fit this Godojo ({error}): update Godojo, or record it again") from None
    except GodojoError as error:
        text = str(error)
        raise GodojoError(text if text.startswith(source) else f"{source}: {text}; record it again") from None
    return msgspec.structs.replace(header, settings=settings), version


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


def write_rounds(path: Path, replays: Iterable[Replay]) -> None:
    """Many rounds in one packed file, about a fifth of the lines' size.

    It is a plain `.npz`: `numpy.load` reads the arrays of round 0 as `0/position_m` and so on.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, np.ndarray] = {}
    headers = []
    for number, replay in enumerate(replays):
        arrays |= {f"{number}/{name}": np.asarray(getattr(replay, name), kind) for name, kind in _DTYPES.items()}
        headers.append({"header": _header_tree(replay.header), "outcome": replay.outcome})
    made = io.BytesIO()
    np.savez_compressed(made, **arrays)  # type: ignore[arg-type]  # arrays are no flags
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as members:
        text = msgspec.json.encode({"format": ROUNDS.tag, "rounds": headers})
        members.writestr(zipfile.ZipInfo(HEADERS), text, zipfile.ZIP_DEFLATED)
        members.comment = b" " * TRAILER.size  # the file's hash takes its place
    atomic_write(path, TRAILER.close(made.getvalue()[: -TRAILER.size]))


def read_rounds(path: Path) -> list[Replay]:
    """All rounds of a packed file, in order; GodojoError where it was changed or cut off."""
    content = _content(path)
    if content.startswith(f"{ROUNDS.name}/".encode()):
        return _old_rounds(content, path)
    try:
        if TRAILER.check(content) is None:
            raise Damaged("its hash is missing: no file of rounds, or cut off")
        with zipfile.ZipFile(io.BytesIO(content)) as members:
            if sum(member.file_size for member in members.infolist()) > MAX_BYTES:
                raise Damaged(f"unpacked it is larger than {MAX_BYTES >> 20} MiB")
            tree = msgspec.json.decode(members.read(HEADERS), type=dict[str, Any])
            ROUNDS.version_of(tree["format"], path)
            return [_member_round(members, number, one, path) for number, one in enumerate(tree["rounds"])]
    except Damaged as error:
        raise GodojoError(f"{path} is damaged ({error}); record it again") from None
    except (zipfile.BadZipFile, EOFError, *_SENSELESS) as error:
        raise GodojoError(f"{path}: a round in it makes no sense ({error}); record it again") from None


def _member_round(members: zipfile.ZipFile, number: int, record: dict[str, Any], path: Path) -> Replay:
    arrays = {}
    for name in _DTYPES:
        with members.open(f"{number}/{name}.npy") as member:
            arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
    header, version = _header(record["header"], str(path))
    return _replay(header, msgspec.convert(record["outcome"], Outcome | None), arrays, version)


def _old_rounds(content: bytes, path: Path) -> list[Replay]:
    """Versions 1 and 2: compressed MessagePack records, each with its length and its hash."""
    tag, _, rest = content.partition(b"\n")
    is_hashed = ROUNDS.is_hashed(ROUNDS.version_of(tag[:40].decode(errors="replace"), path))
    replays: list[Replay] = []
    try:
        if is_hashed:  # lengths and hashes are in a table in front of all records
            end = 4 + 36 * int.from_bytes(rest[:4], "little")
            entries, rest = list(struct.iter_unpack("<I32s", rest[4:end])), rest[end + 32 :]
        while entries if is_hashed else len(rest) >= 8:  # otherwise in front of each
            length, digest = entries.pop(0) if is_hashed else struct.unpack_from("<II", rest)
            rest = rest if is_hashed else rest[8:]
            body, rest = rest[:length], rest[length:]
            if (hashlib.sha256(body).digest() if is_hashed else zlib.crc32(body)) != digest:
                raise ValueError("its hash does not match")
            replays.append(_old_round(body, str(path)))
    except (struct.error, *_SENSELESS) as error:
        raise GodojoError(f"{path} is damaged in round {len(replays) + 1} ({error}); record it again") from None
    return replays


def _old_round(body: bytes, source: str) -> Replay:
    record = msgspec.msgpack.decode(zlib.decompressobj().decompress(body, MAX_BYTES), type=dict[str, Any])
    header, version = _header(record["header"], source)
    arrays = {}
    for name, (kind, shape, numbers) in record["arrays"].items():
        if np.dtype(kind).kind not in "iufb":
            raise ValueError(f"numbers of kind {kind!r}")
        arrays["team" if name == "chases" else name] = np.frombuffer(numbers, np.dtype(kind)).reshape(shape)
    return _replay(header, msgspec.convert(record["outcome"], Outcome | None), arrays, version)


def _replay(header: Header, outcome: Outcome | None, arrays: Mapping[str, np.ndarray], version: int) -> Replay:
    """A replay of arrays that fit each other; ValueError where they do not."""
    found = dict(arrays)
    if version < 3:
        found["team"] = found["team"] == 0  # it was whether the agent chases, and those who chase are the first team
    frames, decisions, agents = len(found["tick"]), len(found["decision_frame"]), header.agents
    seen = (decisions, agents, header.spec.rays(header.settings).shape[1])
    shapes: dict[str, Sequence[int]] = {
        "tick": (frames,),
        "decision_frame": (decisions,),
        **dict.fromkeys(("position_m", "velocity_mps"), (frames, agents, 3)),
        **dict.fromkeys(("heading_rad", "grounded", "active", "team"), (frames, agents)),
        "action": (decisions, agents, found["action"].shape[-1]),
        "terms": (decisions, agents, len(header.reward_terms)),
        "sight_m": seen,
        "sight_kind": seen,
    }
    for name, shape in shapes.items():
        array = found[name]
        if array.shape != tuple(shape) or array.dtype.kind not in "iufb":
            raise ValueError(f"{name} is {array.shape}, not {shape}")
        if not np.isfinite(array).all() or (array.size and np.abs(array.astype(np.float64)).max() > MAX_TICK):
            raise ValueError(f"{name} has senseless numbers")
        kind = np.dtype(_DTYPES[name]).newbyteorder("=")
        found[name] = array > 0.5 if kind.kind == "b" else array.astype(np.float32 if kind.kind == "f" else kind)
    at = found["decision_frame"]
    if not decisions or (np.diff(found["tick"]) <= 0).any() or not 0 <= at.min() <= at.max() < frames:
        raise ValueError("frames are out of order")
    if max(int(found["team"].max()), int(found["sight_kind"].max(initial=0)) - FIRST_TEAM) >= len(header.teams):
        raise ValueError(f"there are {len(header.teams)} teams")
    return Replay(header=header, outcome=outcome, **found)


def is_replay(path: Path) -> bool:
    """Whether a path names replays and not a run."""
    return path.suffix in SUFFIXES or (path.is_dir() and not (path / "config.json").exists())


def read_any(path: Path) -> list[Replay]:
    """The rounds of a file of any form, or of all files of a folder."""
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
        if not files:
            raise GodojoError(f"{path} holds no replay (*{SUFFIX} or *{PACKED_SUFFIX}); `godojo replay RUN` makes some")
        return [replay for file in files for replay in read_any(file)]
    return [read_replay(path)] if path.suffix == SUFFIX else read_rounds(path)
