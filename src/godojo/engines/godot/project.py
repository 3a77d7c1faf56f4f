"""The Godot project: its folder, its import cache, and running the engine on it."""

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import filelock

import godojo
from godojo.engines.godot.find import Engine
from godojo.engines.godot.paths import data_folder
from godojo.errors import GodojoError
from godojo.processes import Finished, finish
from godojo.resources import godot_sources

_IMPORT_TIMEOUT_S = 300.0
_LOCK_TIMEOUT_S = 600.0
_STAMP = ".godot/godojo_import"
_STARVED = "Jolt Physics job system exceeded the maximum number of jobs"
"""Its worker threads got no time on a busy machine; Jolt waits for them and continues."""
_PROBLEM = re.compile(r"^\s*(SCRIPT ERROR|USER ERROR|USER WARNING|ERROR|WARNING|Parse Error)\b", re.MULTILINE)


def project_folder() -> Path:
    """The checkout's project, or a private copy of the wheel's (the engine writes its cache beside it)."""
    shipped = godot_sources()
    if not shipped.is_relative_to(Path(godojo.__file__).parent):
        return shipped
    copy = data_folder() / "projects" / f"{godojo.__version__}-{_fingerprint(shipped)[:12]}"
    if not copy.exists():
        with _locked(copy.with_name(f"{copy.name}.lock")):
            if not copy.exists():
                fresh = copy.with_name(f"{copy.name}.new")
                shutil.rmtree(fresh, ignore_errors=True)
                shutil.copytree(shipped, fresh)
                fresh.replace(copy)
    return copy


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(path, timeout=_LOCK_TIMEOUT_S):
            yield
    except filelock.Timeout:
        raise GodojoError(f"another Godojo uses {path}; end it and try again") from None
    except OSError as error:
        raise GodojoError(f"cannot write to {path.parent} ({error.strerror}); make it writable") from None


def game_scenes() -> dict[str, str]:
    """Every game of the project and the scene that plays it: `games/tag/tag.tscn` is the game tag."""
    scenes = sorted(project_folder().glob("games/*/*.tscn"))
    return {path.stem: f"res://games/{path.stem}/{path.name}" for path in scenes if path.stem == path.parent.name}


def prepared_project(engine: Engine, folder: Path | None = None, *, strict: bool = False) -> Path:
    """The project's folder (Godojo's own by default), imported: without that the engine knows no class names.

    With `strict`, as in tests, any complaint of the engine's is a failure; a user may play all the same.
    """
    folder = folder or project_folder()
    wanted = f"{engine.version} {_fingerprint(folder)}"
    if _read(folder / _STAMP) == wanted:
        return folder
    with _locked(folder / ".godot" / "godojo_import.lock"):
        if _read(folder / _STAMP) == wanted:
            return folder
        done = finish([engine.program, "--headless", "--path", folder, "--import"], timeout_s=_IMPORT_TIMEOUT_S)
        problems = problem_lines(done.output)
        is_imported = (folder / ".godot/global_script_class_cache.cfg").is_file()
        if done.timed_out or done.code or not is_imported or (strict and problems):
            reason = "; ".join(problems[:3]) or f"exit status {done.code}"
            raise GodojoError(f"Godot could not import the project in {folder}: {reason}")
        # The import itself writes .uid and .import files, so the fingerprint is taken again.
        (folder / _STAMP).write_text(f"{engine.version} {_fingerprint(folder)}", encoding="utf-8")
    return folder


def run_project(
    engine: Engine,
    words: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    folder: Path | None = None,
    strict: bool = False,
) -> Finished:
    """Runs the engine on the project with these words until it ends or the deadline passes."""
    place = prepared_project(engine, folder, strict=strict)
    return finish([engine.program, "--path", place, *words], timeout_s=timeout_s, env=env)


def problem_lines(output: str) -> list[str]:
    """Every line in which the engine reports an error or a warning; not what it says when it is short of processor."""
    lines = [line.strip() for line in output.splitlines() if _PROBLEM.match(line)]
    return [line for line in lines if _STARVED not in line]


def _fingerprint(folder: Path) -> str:
    """Changes when a file of the project is added, removed or edited."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if inside.parts[0] != ".godot" and path.is_file() and "__pycache__" not in inside.parts:
            digest.update(f"{inside}\0{path.stat().st_size}\0{path.stat().st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None
