"""The file of demonstrations: JSON lines, a header and then one line for each finished episode of an agent.

| line | fields |
|---|---|
| header | `format`, `game`, `player`, `ticks_per_decision`, `roles`: `name`, and parts of `observation` and `action` |
| episode | `role`, `end` (`terminated`, `truncated`), `steps`, `reward` (the sum), `observation`, `action` |

`observation` (steps by numbers) and `action` are little-endian float32 in base64. Observations are those that the agent
acted upon. `sha256` is the last field of every line: the hash of the line's bytes before it. A line is written when its
episode ends, so a killed recording keeps every finished episode; a last line without its line feed is ignored.
"""

import base64
import binascii
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from godojo.engines.base import RoleArrays, Worlds
from godojo.errors import GodojoError
from godojo.files import Damaged, Seal
from godojo.formats import DEMO
from godojo.games.parts import ActionPart, ObservationPart, action_size

MAX_BYTES = 2**31
AGAIN = "record it again"
_SEAL = Seal(b',"sha256":"', b'"}')


class DemoRole(msgspec.Struct, frozen=True):
    """The spaces of one role."""

    name: str
    observation: tuple[ObservationPart, ...]
    action: tuple[ActionPart, ...]

    @classmethod
    def of(cls, role: RoleArrays) -> "DemoRole":
        return cls(role.name, role.observation_parts, role.action_parts)

    @property
    def observation_size(self) -> int:
        return sum(part.size for part in self.observation)

    def difference(self, role: RoleArrays) -> str:
        """How it differs from a role of the game; empty if it does not."""
        for kind, ours, theirs in (
            ("observes", _spaces(self.observation), _spaces(role.observation_parts)),
            ("acts by", _spaces(self.action), _spaces(role.action_parts)),
        ):
            if ours != theirs:
                return f"its {self.name} {kind} {ours}, and the game's {kind} {theirs}"
        return ""


class DemoHeader(msgspec.Struct, frozen=True):
    """The first line."""

    game: str
    roles: tuple[DemoRole, ...]
    player: str = ""
    """Who played: `human`, or the name of a script or policy."""
    ticks_per_decision: int = 0
    """0: unknown."""


class DemoLine(msgspec.Struct, frozen=True):
    """One episode of one agent, as it is written."""

    role: str
    end: Literal["terminated", "truncated"]
    steps: int
    reward: float
    observation: str
    action: str

    @classmethod
    def of(cls, episode: "DemoEpisode") -> "DemoLine":
        seen, done = (
            base64.b64encode(np.ascontiguousarray(rows, "<f4").tobytes()).decode()
            for rows in (episode.observation, episode.action)
        )
        return cls(episode.role, episode.end, len(episode.action), episode.reward, seen, done)


class DemoEpisode(NamedTuple):
    """T decisions of one agent."""

    role: str
    observation: np.ndarray
    """float32 [T, D]: what each action was the answer to."""
    action: np.ndarray
    """float32 [T, A]: as the game takes them; a discrete action is its index."""
    end: Literal["terminated", "truncated"] = "terminated"
    reward: float = 0.0
    """Summed over the episode."""


class Demos(NamedTuple):
    """All episodes of a file."""

    path: Path
    header: DemoHeader
    episodes: list[DemoEpisode]
    is_cut: bool = False
    """Whether the last line is incomplete, as after a kill."""

    @property
    def steps(self) -> int:
        return sum(len(episode.action) for episode in self.episodes)

    def for_game(self, worlds: Worlds) -> dict[str, list[DemoEpisode]]:
        """The episodes of each role, once they are found to fit the game's spaces."""
        header = self.header
        if worlds.game and header.game not in ("", worlds.game):
            raise GodojoError(f"{self.path} has demonstrations of {header.game}, not of {worlds.game}")
        found: dict[str, list[DemoEpisode]] = {}
        for role in header.roles:
            episodes = [episode for episode in self.episodes if episode.role == role.name]
            if role.name not in worlds.roles or not episodes:
                continue
            if difference := role.difference(worlds.roles[role.name]):
                raise GodojoError(f"{self.path} does not fit this game: {difference}; {AGAIN} in this game")
            found[role.name] = episodes
        if not found:
            roles = ", ".join(role.name for role in header.roles)
            raise GodojoError(f"{self.path} has demonstrations of {roles}; the game's roles: {', '.join(worlds.roles)}")
        return found


def read_demos(path: str | Path) -> Demos:
    """Read and check a file of demonstrations, Godojo's own.

    Args:
        path: The file that was recorded.

    Returns:
        Its finished episodes, and the spaces of the roles that they are of.

    Raises:
        GodojoError: The file is missing, of another format, damaged, or has no finished episode.
    """
    path = Path(path).expanduser()
    first, *lines = read_whole(path).split(b"\n")
    header = _header(path, first)
    roles = {role.name: role for role in header.roles}
    is_cut = bool(lines.pop()) if lines else True
    episodes = []
    for number, line in enumerate(lines, start=2):
        try:
            _check_seal(line)
            episodes.append(_episode(msgspec.json.decode(line, type=DemoLine), roles))
        except (Damaged, msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            raise GodojoError(f"{path}, line {number}: {error}; remove the line, or {AGAIN}") from None
    if not episodes:
        raise GodojoError(f"{path} has no finished episode; play one to its end")
    return Demos(path, header, episodes, is_cut)


def line_bytes(line: DemoLine | dict[str, Any]) -> bytes:
    """A line of the file, with its hash."""
    return _SEAL.close(msgspec.json.encode(line).removesuffix(b"}")) + b"\n"


def check_rows(observation: np.ndarray, action: np.ndarray, role: DemoRole) -> np.ndarray:
    """The actions, clipped as games clip them; ValueError if a number cannot be imitated."""
    if not len(action):
        raise ValueError("an episode without an action")
    for name, rows in (("observation", observation), ("action", action)):
        if not np.isfinite(rows).all():
            step, number = np.argwhere(~np.isfinite(rows))[0]
            raise ValueError(f"{name} {number} in step {step} is {rows[step, number]}, not a number")
    action, at = action.copy(), 0
    for part in role.action:
        values = action[:, at : at + part.width]
        if part.kind == "continuous":
            np.clip(values, -1.0, 1.0, out=values)
        elif (wrong := values[(values != np.round(values)) | (values < 0) | (values >= part.size)]).size:
            raise ValueError(f"action {part.name} is {wrong[0]:g}, not a choice from 0 to {part.size - 1}")
        at += part.width
    return action


def read_whole(path: Path) -> bytes:
    """A file of demonstrations, unless it is too large."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise GodojoError(f"{path} has more than {MAX_BYTES:,} bytes; give several smaller files")
        return path.read_bytes()
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None


def _header(path: Path, line: bytes) -> DemoHeader:
    try:
        tree: Any = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        tree = None
    if not isinstance(tree, dict) or "format" not in tree:
        raise GodojoError(f"{path} is no file of demonstrations: its first line is no header of {DEMO.tag}")
    version = DEMO.version_of(tree.pop("format"), path)
    try:
        _check_seal(line)
        return msgspec.convert(DEMO.migrate(tree, version), DemoHeader)
    except (Damaged, msgspec.ValidationError) as error:
        raise GodojoError(f"{path} is damaged ({error}); {AGAIN}") from None


def _episode(line: DemoLine, roles: dict[str, DemoRole]) -> DemoEpisode:
    if line.role not in roles:
        raise ValueError(f"role {line.role[:64]!r} is not in the header")
    role = roles[line.role]
    observation = _rows(line.observation, line.steps, role.observation_size, "observation")
    action = _rows(line.action, line.steps, action_size(role.action), "action")
    return DemoEpisode(line.role, observation, check_rows(observation, action, role), line.end, line.reward)


def _rows(text: str, steps: int, width: int, name: str) -> np.ndarray:
    try:
        content = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(f"its {name} is no base64 ({error})") from None
    if steps < 1 or len(content) != 4 * steps * width:
        raise ValueError(f"its {name} has {len(content)} bytes, not {steps} steps of {width} float32 numbers")
    return np.frombuffer(content, "<f4").astype(np.float32).reshape(steps, width)


def _check_seal(line: bytes) -> None:
    if _SEAL.check(line) is None:
        raise Damaged("its sha256 is missing")


def _spaces(parts: tuple[ObservationPart, ...] | tuple[ActionPart, ...]) -> str:
    """Names and sizes, for comparison and for people."""
    return ", ".join(
        f"{part.name} ({part.size} choices)"
        if isinstance(part, ActionPart) and part.kind == "discrete"
        else f"{part.name} ({' x '.join(map(str, part.shape)) if isinstance(part, ObservationPart) else part.size})"
        for part in parts
    )
