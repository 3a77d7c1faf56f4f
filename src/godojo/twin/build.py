"""Builds the twin of a user's project: snapshot, program, worlds; and keeps it beside the kernels' cache.

A built twin is a folder: `snapshot.json` (the live scene), a Python module (the scripts, to be read) and `build.json`
(what it was built from, and how it compares with the real engine). A change to any file of the project invalidates it.
"""

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from godojo.documents import DamagedDocument, read_document, write_document
from godojo.engines.base import Worlds
from godojo.errors import GodojoError
from godojo.formats import TWIN_BUILD, NewerVersion
from godojo.twin import gate
from godojo.twin.changing import TwinStopped, as_built, compile_game, with_room_for
from godojo.twin.gate import Parity
from godojo.twin.gdscript.program import Program
from godojo.twin.scene.export import snapshot_from
from godojo.twin.scene.probed import probed
from godojo.twin.scene.snapshot import Snapshot, read_snapshot, write_snapshot

if TYPE_CHECKING:
    from godojo.twin.world.worlds import TwinWorlds

SNAPSHOT, RECORD = "snapshot.json", "build.json"
_SKIPPED = (".import", ".uid", ".md", ".txt", ".onnx", ".zip")
_SHOWN_REFUSALS = 3
_REHEARSAL, _REHEARSED = 100, 4
"""Decisions that a new twin plays at random, and in how many copies of the scene."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_TELLING = re.compile(r"No implementation|Unknown attribute|Cannot|Undecided|NameError|Untyped|Invalid|cannot|Can't")
_GENERATED = re.compile(r'([\w-]+\.py"?, line \d+)')
Say = Callable[[str], None]


class Refusal(msgspec.Struct, frozen=True):
    """Something in a script that the compiler does not understand, or leaves out."""

    path: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path.removeprefix('res://')}:{self.line}: {self.reason}" if self.path else self.reason


class TwinRefused(GodojoError):
    """A project that cannot become a twin."""

    def __init__(self, project: Path, refusals: Iterable[Refusal]) -> None:
        self.refusals = list(refusals)
        shown = "; ".join(map(str, self.refusals[:_SHOWN_REFUSALS]))
        more = len(self.refusals) - _SHOWN_REFUSALS
        super().__init__(f"{project.name} has no twin: {shown}" + (f"; and {more} more" if more > 0 else ""))


class BuildRecord(msgspec.Struct):
    """What a twin was built from, and what came of it."""

    project: str
    scene: str | None
    action_repeat: int | None
    sources: str
    """A hash of all files of the project, the engine's version and Godojo's own sources."""
    module: str = ""
    """The file with the generated Python."""
    seconds: float = 0.0
    nodes: tuple[int, int] = (0, 0)
    """Nodes that the twin knows or may ignore, and all nodes."""
    lines: tuple[int, int] = (0, 0)
    """Lines of reachable code that are compiled, and all of them."""
    left_out: list[Refusal] = []
    refusals: list[Refusal] = []
    parity: Parity | None = None


@dataclass
class BuiltTwin:
    """A project as a twin."""

    project: Path
    scene: str | None
    folder: Path
    snapshot: Snapshot
    program: Program
    record: BuildRecord

    @property
    def source(self) -> Path:
        """The generated Python."""
        return self.folder / self.record.module

    @property
    def parity(self) -> Parity | None:
        """How it compares with the real engine; None if that was not measured."""
        return self.record.parity

    @property
    def worlds_each(self) -> int:
        """Worlds of the contract that one copy of the scene holds."""
        return int(self.snapshot.ready["worlds"])

    def record_program(self) -> None:
        """Notes what was compiled."""
        self.record.lines = self.program.understood
        self.record.refusals = [Refusal(*one) for one in self.program.refusals]
        self.record.left_out = [Refusal(*one) for one in self.program.left_out]

    def record_module(self, path: Path) -> None:
        """Notes the file of the generated Python; those of earlier builds are gone."""
        self.record.module = path.name
        for stale in self.folder.glob("*.py"):
            if stale.name != path.name:
                stale.unlink(missing_ok=True)

    def worlds(self, num_scenes: int = 1, seed: int | None = None) -> "TwinWorlds":
        """Copies of the scene, compiled and ready for their first step."""
        from godojo.twin.world.worlds import TwinWorlds

        try:
            worlds = TwinWorlds(self.snapshot, self.program, num_scenes * self.worlds_each, self.folder)
            worlds.reset(self.snapshot.seed if seed is None else seed)
        except GodojoError:
            raise
        except Exception as error:
            raise _failed(self.project, error) from error
        return worlds


def twins_folder() -> Path:
    """Where twins are kept."""
    from godojo.kernels.compile import CACHE_FOLDER

    return CACHE_FOLDER.parent.parent / "twins"


def build_twin(
    project: str | Path,
    scene: str | None = None,
    *,
    action_repeat: int | None = None,
    say: Say | None = None,
    anew: bool = False,
) -> BuiltTwin:
    """Build the twin of a Godot project, or take the one that was built from the same files.

    Raises `TwinRefused`, with file, line and reason, for a project that cannot become one.

    Args:
        project: A folder with a project.godot.
        scene: The training scene; the project's main scene by default.
        action_repeat: Physics ticks between two decisions; the scene's own by default.
        say: Called with a line about each step.
        anew: Build even if an up-to-date twin exists.
    """
    place = Path(project).expanduser().absolute()
    tell = say or (lambda _: None)
    begun = time.monotonic()
    with probed(place, scene, action_repeat=action_repeat) as game:
        sources = _sources_of(place)
        folder = twins_folder() / _key(place, scene, action_repeat)
        known = None if anew else _known(place, scene, folder, sources)
        if known is not None:
            return known
        tell(f"reading {scene or 'the main scene'} in the real engine")
        snapshot = snapshot_from(game)
    if not snapshot.agents:
        raise GodojoError(f"{place} has no agents in {snapshot.scene}: name its training scene")
    tell(f"compiling the scripts of {len(snapshot.nodes)} nodes")
    found, program = _compiled(place, snapshot)
    record = BuildRecord(str(place), scene, action_repeat, sources)
    record.nodes = _nodes_known(snapshot)
    built = BuiltTwin(place, scene, folder, found, program, record)
    while True:
        built.record_program()
        _keep(built)
        if record.refusals:
            raise TwinRefused(place, record.refusals)
        tell("compiling the twin")
        try:
            worlds = built.worlds(_REHEARSED)
            _rehearse(place, worlds)
            worlds.check_room()
        except TwinStopped as stopped:
            _make_room(built, snapshot, stopped, tell)
            continue
        built.record_module(worlds.path)
        record.seconds = time.monotonic() - begun
        _keep(built)
        return built


def check_twin(
    built: BuiltTwin,
    *,
    seeds: int = gate.SEEDS,
    seconds: float = gate.SECONDS,
    policies: Mapping[str, gate.Actor] | None = None,
    say: Say | None = None,
) -> Parity:
    """Play the same seeded rounds in the real engine and in the twin; the result of random play is kept with the twin.

    A policy plays in the real engine, and the twin gets the same actions.

    Args:
        built: What `build_twin` returned.
        seeds: Rounds of play, each in a process of its own.
        seconds: Seconds of play with each seed.
        policies: By role, what `godojo.load_policy` returned; other roles act at random.
        say: Called with a line about each step.
    """
    tell = say or (lambda _: None)
    pairs = []
    with probed(built.project, built.scene, action_repeat=built.record.action_repeat) as game:
        for seed in range(1, seeds + 1):
            tell(f"comparing {seconds:g} s of play with the real engine ({seed} of {seeds})")
            godot = gate.record_godot(game, built.snapshot, seed, seconds, policies)
            pairs.append((godot, _followed(built, godot, tell)))
    found = gate.compare(pairs)
    if not policies:
        built.record.parity = found
        _keep(built)
    return found


def _followed(built: BuiltTwin, godot: gate.Recording, tell: Say) -> gate.Recording:
    """What the twin plays by the actions of a recording; it gets more room where it needs it."""
    fresh = godot.snapshot
    while True:
        begun = as_built(built.snapshot, fresh, _reader(built.project))
        if _beginning(begun) != _beginning(built.snapshot):
            reason = "its scene begins differently each time: seed its random numbers, or read no clock"
            raise TwinRefused(built.project, [Refusal("", 0, reason)])
        try:
            # Worlds whose snapshot has the seed begin exactly with it; with another seed they begin anew.
            worlds = replace(built, snapshot=begun).worlds()
            found = _played(built.project, worlds, godot)
            worlds.check_room()
        except TwinStopped as stopped:
            _make_room(built, fresh, stopped, tell)
            continue
        built.record_module(worlds.path)
        return found


def _make_room(built: BuiltTwin, fresh: Snapshot, stopped: TwinStopped, tell: Say) -> None:
    """Compiles a twin that has stopped with room for what its game makes; raises why it stopped if that is no help."""
    try:
        built.snapshot, built.program = with_room_for(built.snapshot, fresh, _reader(built.project), stopped)
    except GodojoError:
        raise
    except Exception as error:
        raise _failed(built.project, error) from error
    built.record_program()
    if built.record.refusals:
        _keep(built)
        raise TwinRefused(built.project, built.record.refusals)
    if stopped.is_array:
        tell(f"the game's arrays grow: room for {built.snapshot.array_room} items in each")
        return
    slots = ", ".join(f"{one.slots} of {one.name}" for one in built.snapshot.pools or () if one.slots > 1)
    tell(f"the game makes nodes while it runs: room for {slots or 'what it frees'}")


def stored_record(
    project: str | Path, scene: str | None = None, action_repeat: int | None = None
) -> BuildRecord | None:
    """What is known of a project's twin, whatever has changed since; None if it was never built."""
    place = Path(project).expanduser().absolute()
    return _read_record(twins_folder() / _key(place, scene, action_repeat))


def _beginning(snapshot: Snapshot) -> list[Any]:
    """What a game begins with, apart from what is only seen."""
    bodies = set(snapshot.bodies)
    return [
        (node.path, node.members, node.properties.get("transform") if node.index in bodies else None)
        for node in snapshot.nodes
        if node.index != snapshot.sync
    ]


def _known(place: Path, scene: str | None, folder: Path, sources: str) -> BuiltTwin | None:
    """A twin that was built from the same files; raises what it was refused for."""
    record = _read_record(folder)
    if record is None or record.sources != sources:
        return None
    if record.refusals:
        raise TwinRefused(place, record.refusals)
    if not (folder / record.module).is_file():
        return None  # a build that was interrupted
    try:
        snapshot = read_snapshot(folder / SNAPSHOT)
    except GodojoError:
        return None
    snapshot, program = _compiled(place, snapshot)
    return None if program.refusals else BuiltTwin(place, scene, folder, snapshot, program, record)


def _read_record(folder: Path) -> BuildRecord | None:
    try:
        return read_document(folder / RECORD, TWIN_BUILD, BuildRecord, "build the twin anew")
    except (FileNotFoundError, DamagedDocument, NewerVersion):
        return None


def _keep(built: BuiltTwin) -> None:
    try:
        built.folder.mkdir(parents=True, exist_ok=True)
        write_snapshot(built.folder / SNAPSHOT, built.snapshot)
        write_document(built.folder / RECORD, TWIN_BUILD, built.record)
    except OSError as error:
        raise GodojoError(f"cannot write to {built.folder} ({error.strerror}); make it writable") from None


def _compiled(project: Path, snapshot: Snapshot) -> tuple[Snapshot, Program]:
    try:
        return compile_game(snapshot, _reader(project))
    except GodojoError:
        raise
    except Exception as error:
        raise _failed(project, error) from error


def _rehearse(project: Path, worlds: Worlds) -> None:
    """Compiles all that a step needs, and plays at random for a while: a twin that soon stops shall do so here."""
    try:
        actions = gate.random_actions(worlds.roles, _REHEARSAL, seed=0)
        for decision in range(_REHEARSAL):
            for name, role in worlds.roles.items():
                role.action[...] = actions[name][decision]
            worlds.step()
    except GodojoError:
        raise
    except Exception as error:
        raise _failed(project, error) from error


def _played(project: Path, worlds: Worlds, godot: gate.Recording) -> gate.Recording:
    try:
        return gate.play_twin(worlds, godot)
    except GodojoError:
        raise
    except Exception as error:
        raise _failed(project, error) from error


def _failed(project: Path, error: Exception) -> GodojoError:
    """Whatever generated code raises is our mistake, and one line for the user."""
    lines = [line.strip() for line in _COLOURS.sub("", str(error)).splitlines() if line.strip()]
    told = next((line for line in lines if _TELLING.match(line)), lines[0] if lines else "")
    place = next((found[1] for found in map(_GENERATED.search, lines) if found), "")
    reason = f"{type(error).__name__}: {told}" + (f", {place}" if place else "")
    return TwinRefused(project, [Refusal("", 0, f"its twin cannot be compiled, which is a bug of Godojo ({reason})")])


def _reader(project: Path) -> Callable[[str], str]:
    def read(path: str) -> str:
        file = project / path.removeprefix("res://")
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise GodojoError(f"{file} cannot be read ({error})") from None

    return read


def _nodes_known(snapshot: Snapshot) -> tuple[int, int]:
    from godojo.twin.world.classes import BASES

    known = sum(node.native_class in BASES or node.native_class == "Node" for node in snapshot.nodes)
    return known, len(snapshot.nodes)


def _key(project: Path, scene: str | None, action_repeat: int | None) -> str:
    digest = hashlib.sha256(f"{project}\0{scene}\0{action_repeat}".encode()).hexdigest()[:12]
    name = "".join(letter if letter.isalnum() else "-" for letter in project.name)[:40]
    return f"{name}-{digest}"


def _sources_of(project: Path) -> str:
    """A hash of all that a twin depends on."""
    from godojo.engines.godot.find import find
    from godojo.kernels.compile import CACHE_FOLDER

    digest = hashlib.sha256(f"{find().version}\0{CACHE_FOLDER.name}\n".encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    for path in sorted(project.rglob("*")):
        inside = path.relative_to(project)
        if inside.parts[0] == ".godot" or ".git" in inside.parts or path.suffix in _SKIPPED or not path.is_file():
            continue
        try:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise GodojoError(f"{path} cannot be read ({error.strerror})") from None
        digest.update(f"{inside.as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def report_lines(record: BuildRecord) -> list[str]:
    """What is understood of a project, and what is not, for people."""
    lines = [f"{one}" for one in record.refusals]
    lines += [f"left out: {one}" for one in record.left_out]
    for what, (known, all_of) in (("nodes", record.nodes), ("lines of reachable code", record.lines)):
        lines.append(f"{known:,} of {all_of:,} {what} understood ({known / max(all_of, 1):.0%})")
    return lines


def as_json(record: BuildRecord) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(record)
    return found


def parity_as_json(found: Parity) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(found)
    return shown
