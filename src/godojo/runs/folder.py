"""A run's folder: making one, finding one, and what lies where in it."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock
import msgspec

from godojo.documents import read_document, write_document
from godojo.errors import GodojoError, command, known
from godojo.files import atomic_write, sweep
from godojo.formats import ENVIRONMENT
from godojo.runs.config import Environment, Environments, RunConfig
from godojo.runs.names import checked_name, runs_root
from godojo.runs.readme import readme
from godojo.runs.role_map import RoleMap
from godojo.runs.snapshots import SnapshotStore, policy_file

if TYPE_CHECKING:
    from godojo.runs.checkpoints import CheckpointStore

CONFIG = "config.json"
"""A folder that has it is a run."""
LATEST = "latest"
_LOCK = ".lock"

Say = Callable[[str], None]


def _say_nothing(_: str) -> None:
    """For callers who do not listen."""


class RunFolder:
    """One training, on disk."""

    def __init__(self, path: Path, config: RunConfig) -> None:
        self.path = path
        self.config = config

    @classmethod
    def create(
        cls,
        config: RunConfig,
        run_id: str | None = None,
        *,
        root: Path | None = None,
        force: bool = False,
        say: Say = _say_nothing,
    ) -> "RunFolder":
        """A new run. One of that name is refused, or with `force` deleted, if it is a run and nobody trains it."""
        root = runs_root() if root is None else root
        taken = _checked(run_id) if run_id is not None else _unused_id(root, config.game)
        path = root / taken
        if cls.is_taken(path, force=force):
            _delete(path, say)
        staged = root / f".{taken}.{secrets.token_hex(4)}.new"
        try:
            staged.mkdir(parents=True)
            run = cls(staged, config)
            atomic_write(staged / CONFIG, config.to_json())
            atomic_write(staged / "README.md", readme(_named(path), config))
            run.role_map().write({})
            staged.rename(path)
        except OSError as error:
            if path.exists():
                raise _exists(path) from None
            raise GodojoError(f"{path} cannot be made ({error.strerror})") from None
        finally:
            shutil.rmtree(staged, ignore_errors=True)
        return cls(path, config)

    @staticmethod
    def is_taken(path: Path, *, force: bool = False) -> bool:
        """Whether a new run's folder is there already; unless that is to be replaced, it is an error."""
        is_there = path.is_symlink() or path.exists()
        if is_there and not force:
            raise _exists(path)
        if is_there:
            _check_is_run(path)
        return is_there

    @classmethod
    def check_id(cls, run_id: str, *, force: bool = False) -> None:
        """Refuses an id that `create` would refuse, before anything is started for it."""
        cls.is_taken(runs_root() / _checked(run_id), force=force)

    @classmethod
    def open(cls, run: str | Path | None = None, *, root: Path | None = None) -> "RunFolder":
        """A run by its id or its path; the one trained last for None or `latest`."""
        root = runs_root() if root is None else root
        if run is None or run == LATEST:
            runs = [path for path in _runs(root) if _is_usable(path)]
            if not runs:
                raise GodojoError(f"there is no run with a saved policy in {root} yet; {command('train')} makes one")
            path = max(runs, key=_last_written)
        elif isinstance(run, Path) or "/" in run or os.sep in run or run.startswith(("~", ".")):
            path = Path(run).expanduser()
            if not (path / CONFIG).is_file():
                raise GodojoError(f"{run} is no run: there is no {CONFIG} in it")
        else:
            path = root / _checked(run)
            if not (path / CONFIG).is_file():
                raise GodojoError(
                    f"there is no run {run!r} in {root}; {known(run, sorted(p.name for p in _runs(root)))}"
                )
        return cls(path, RunConfig.read(path / CONFIG))

    def remove_if_unused(self) -> None:
        """Deletes the run unless a policy was saved in it."""
        if self.path.is_dir() and not _is_usable(self.path):
            with suppress(GodojoError):  # why nothing was saved matters more than what is left
                _delete(self.path, _say_nothing)

    @property
    def run_id(self) -> str:
        return self.path.resolve().name

    @property
    def name(self) -> str:
        """How commands name the run."""
        return _named(self.path)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """The right to write, for one process at a time; gone when that ends, however it ends."""
        with _locked(self.path):
            for folder in (self.path, self.path / "checkpoints", self.path / "snapshots"):
                sweep(folder)
            yield

    @property
    def metrics(self) -> Path:
        """One row an episode."""
        return self.path / "metrics.csv"

    @property
    def updates(self) -> Path:
        """One row an update."""
        return self.path / "updates.csv"

    @property
    def tensorboard(self) -> Path:
        return self.path / "tensorboard"

    def checkpoints(self, say: Say = _say_nothing) -> "CheckpointStore":
        from godojo.runs.checkpoints import CheckpointStore  # loads torch

        return CheckpointStore(self.path / "checkpoints", say)

    def snapshots(self, say: Say = _say_nothing) -> SnapshotStore:
        return SnapshotStore(self.path / "snapshots", say)

    def role_map(self, say: Say = _say_nothing) -> RoleMap:
        return RoleMap(self.path / "roles.json", self.config.roles, say)

    def save_policy(self, role: str, content: bytes) -> None:
        """Replaces the role's newest policy by what is in a policy file."""
        atomic_write(self.path / policy_file(self._role(role)), content)

    def policy(self, role: str, snapshot: str | None = None) -> Path:
        """Where the role's newest policy lies, or that of a snapshot."""
        if snapshot is not None:
            return self.snapshots().policy(snapshot, self._role(role))
        path = self.path / policy_file(self._role(role))
        if not path.is_file():
            raise GodojoError(f"run {self.run_id} has no policy of the {role} yet; train it longer")
        return path

    def save_ratings(self, ratings: Any) -> None:
        """Replaces `ratings.json`."""
        atomic_write(self.path / "ratings.json", msgspec.json.format(msgspec.json.encode(ratings), indent=2) + b"\n")

    def add_environment(self, environment: Environment) -> None:
        """Notes a stretch of training."""
        stretches = [*self.environments(), environment]
        write_document(self.path / "environment.json", ENVIRONMENT, {"stretches": stretches})

    def environments(self) -> list[Environment]:
        """Where and with what each stretch of training ran, the first one first."""
        path = self.path / "environment.json"
        try:
            return read_document(path, ENVIRONMENT, Environments, "delete it to go on", old_list="stretches").stretches
        except FileNotFoundError:
            return []

    def _role(self, role: str) -> str:
        if role not in self.config.roles:
            raise GodojoError(f"there is no role {role!r} in run {self.run_id}; {known(role, self.config.roles)}")
        return checked_name("role", role)


def _checked(run_id: str) -> str:
    if run_id == LATEST:
        raise GodojoError(f"{LATEST!r} stands for the run trained last; give the run another id")
    return checked_name("run", run_id)


def _unused_id(root: Path, game: str) -> str:
    letters = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "-" for letter in game)
    base = f"{letters[:40]}-{datetime.now():%Y%m%d-%H%M%S}"
    run_id, number = base, 2
    while (root / run_id).exists():
        run_id, number = f"{base}-{number}", number + 1
    return run_id


def _runs(root: Path) -> list[Path]:
    return [path.parent for path in root.glob(f"*/{CONFIG}") if not path.parent.name.startswith(".")]


def _is_usable(run: Path) -> bool:
    """Whether a policy was saved in it: something to evaluate, to watch, to ship and to resume."""
    return any(run.glob(policy_file("*")))


def _last_written(run: Path) -> float:
    times = [0.0]
    for name in (CONFIG, "updates.csv", "metrics.csv"):
        with suppress(OSError):
            times.append((run / name).stat().st_mtime)
    return max(times)


def _named(path: Path) -> str:
    """Its id, where that is enough to find it again."""
    return path.name if path.parent.resolve() == runs_root().resolve() else str(path)


def _exists(path: Path) -> GodojoError:
    if not (path / CONFIG).is_file():
        return GodojoError(f"{path} is there and is no run; take another --run-id")
    name = _named(path)
    if not _is_usable(path):
        return GodojoError(f"run {name} exists, without a policy: replace it with --force, or take another --run-id")
    return GodojoError(
        f"run {name} exists: go on with --resume {name}, replace it with --force, or take another --run-id"
    )


def _check_is_run(path: Path) -> None:
    if path.is_symlink() or not (path / CONFIG).is_file():
        raise GodojoError(f"{path} is no run, so --force does not delete it; take another --run-id")


def _delete(path: Path, say: Say) -> None:
    _check_is_run(path)
    with _locked(path):
        pass
    doomed = path.parent / f".{path.name}.{secrets.token_hex(4)}.old"
    try:
        path.rename(doomed)  # at once, so that a kill leaves no half of a run
        shutil.rmtree(doomed)
    except OSError as error:
        raise GodojoError(f"{path} cannot be deleted ({error.strerror})") from None
    say(f"deleted the run that was in {path}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = filelock.FileLock(path / _LOCK)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise GodojoError(
            f"run {path.name} is being trained by another process; stop that, or take another --run-id"
        ) from None
    except (OSError, NotImplementedError) as error:
        raise GodojoError(f"{path / _LOCK} cannot be locked ({error})") from None
    try:
        yield
    finally:
        lock.release()
