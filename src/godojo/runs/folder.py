"""A run's folder: creates and finds runs, and knows where each file is."""

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
from godojo.errors import GodojoError, command, known, option
from godojo.files import atomic_write, make_folder, sweep
from godojo.formats import ENVIRONMENT
from godojo.games.base import GAMES, SCENE_GAMES
from godojo.runs.config import SCENE_LOOP, Environment, Environments, RunConfig
from godojo.runs.names import checked_name, runs_root
from godojo.runs.readme import readme
from godojo.runs.role_map import FileMode, RoleMap
from godojo.runs.snapshots import SnapshotStore, find_policy, policies_in, policy_file

if TYPE_CHECKING:
    from godojo.runs.checkpoints import CheckpointStore

NON_FINITE = "non_finite.json"
CONFIG = "config.json"
"""A folder that has it is a run."""
LATEST = "latest"
_LOCK = ".lock"
_REPLACED = ".replaced"
"""Ends the name of a run that `force` has set aside, until the new one has saved a policy."""

Say = Callable[[str], None]


class RunFolder:
    """One training, on disk."""

    def __init__(self, path: Path, config: RunConfig, replaced: filelock.BaseFileLock | None = None) -> None:
        """`replaced` is held while the run that this one replaces may still be restored."""
        self.path = path
        self.config = config
        self._replaced = replaced

    @classmethod
    def create(
        cls,
        config: RunConfig,
        run_id: str | None = None,
        *,
        root: Path | None = None,
        force: bool = False,
        say: Say = lambda _: None,
    ) -> "RunFolder":
        """A new run. A run of that name is refused; with `force` it is replaced, unless it is being trained.

        The replaced run is deleted when the new one first saves a policy, and restored if it never does.
        """
        root = runs_root() if root is None else root
        taken = _checked(run_id) if run_id is not None else _unused_id(root, config.game)
        path = root / taken
        replaced = _set_aside(path, say) if cls.is_taken(path, force=force) else None
        staged = root / f".{taken}.{secrets.token_hex(4)}.new"
        try:
            staged.mkdir(parents=True)
            run = cls(staged, config)
            atomic_write(staged / CONFIG, config.to_json())
            atomic_write(staged / "README.md", readme(_named(path), config))
            run.role_map().write({})
            staged.rename(path)
        except OSError as error:
            if replaced is not None:
                replaced.release()
                _settle(root)
            if path.exists():
                raise _exists(path) from None
            raise GodojoError(f"{path} cannot be created ({error.strerror})") from None
        finally:
            shutil.rmtree(staged, ignore_errors=True)
        return cls(path, config, replaced)

    @staticmethod
    def is_taken(path: Path, *, force: bool = False) -> bool:
        """Whether the folder of a new run exists; an error unless it is a run to be replaced."""
        _settle(path.parent)
        is_there = path.is_symlink() or path.exists()
        if is_there and not force:
            raise _exists(path)
        if is_there:
            _check_is_run(path)
        return is_there

    @classmethod
    def check_id(cls, run_id: str, *, force: bool = False) -> None:
        """Refuses an id that `create` would refuse."""
        cls.is_taken(runs_root() / _checked(run_id), force=force)

    @classmethod
    def open(cls, run: str | Path | None = None, *, root: Path | None = None) -> "RunFolder":
        """A run by its id or its path; the latest one for None or `latest`, the latest of a game for its name."""
        root = runs_root() if root is None else root
        _settle(root)
        if run is None or run == LATEST:
            path = _latest(root)
        elif (run in GAMES or run in SCENE_GAMES) and not (root / run / CONFIG).is_file():
            path = _latest(root, str(run))
        elif isinstance(run, Path) or "/" in run or os.sep in run or run.startswith(("~", ".")):
            path = Path(run).expanduser()
            if not (path / CONFIG).is_file():
                raise GodojoError(f"{run} is no run: there is no {CONFIG} in it")
        else:
            path = root / _checked(run)
            if not (path / CONFIG).is_file():
                names = sorted(path.name for path in _runs(root))
                raise GodojoError(f"there is no run {run!r} in {root}; {known(run, names)}")
        return cls(path, RunConfig.read(path / CONFIG))

    def remove_if_unused(self) -> None:
        """Deletes the run unless a policy was saved in it, and restores the run that it was to replace."""
        if self.path.is_dir() and not _is_usable(self.path):
            with suppress(GodojoError):  # why nothing was saved matters more than what is left
                _delete(self.path)
        self._settle_replaced()

    def non_finite(self) -> dict[str, int]:
        """Observations and rewards of its games that were not finite and were replaced, by node and field."""
        try:
            return msgspec.json.decode((self.path / NON_FINITE).read_bytes(), type=dict[str, int])
        except (OSError, msgspec.DecodeError):
            return {}

    @property
    def run_id(self) -> str:
        return self.path.resolve().name

    @property
    def name(self) -> str:
        """The name that commands take."""
        return _named(self.path)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lets one process at a time write; the lock ends with the process."""
        with _locked(self.path):
            for folder in (self.path, *(self.path / name for name in ("checkpoints", "best_models", "snapshots"))):
                sweep(folder)
            yield

    @property
    def metrics(self) -> Path:
        """One row per episode."""
        return self.path / "metrics.csv"

    @property
    def updates(self) -> Path:
        """One row per update."""
        return self.path / "updates.csv"

    def tensorboard(self) -> Path:
        """Where a session's event files go: for Stable-Baselines3 a new `logs/PPO_N` each, as it does itself."""
        if not self.config.is_sb3:
            return self.path / "tensorboard"
        prefix = f"{self.config.sb3_name}_"
        numbers = (path.name.removeprefix(prefix) for path in (self.path / "logs").glob(f"{prefix}*"))
        return self.path / "logs" / f"{prefix}{max((int(one) for one in numbers if one.isdecimal()), default=0) + 1}"

    def checkpoints(self, say: Say = lambda _: None) -> "CheckpointStore":
        from godojo.runs.checkpoints import CheckpointStore  # loads torch

        return CheckpointStore(self.path / "checkpoints", say)

    def snapshots(self, say: Say = lambda _: None) -> SnapshotStore:
        return SnapshotStore(self.path / "snapshots", say)

    def role_map(self, say: Say = lambda _: None) -> RoleMap:
        default: FileMode = "scene" if SCENE_LOOP in self.config.more else "train"
        return RoleMap(self.path / "roles.json", self.config.roles, say, default)

    def numbered_policies(self, role: str) -> dict[int, Path]:
        """Copies of a role's policy, `checkpoints/ROLE_EPOCH.pt`, by epoch."""
        name = self._role(role)
        found = {file.stem.removeprefix(f"{name}_"): file for file in (self.path / "checkpoints").glob(f"{name}_*.pt")}
        numbers = sorted(int(number) for number in found if number.isdecimal())
        return {number: found[str(number)] for number in numbers if str(number) in found}

    def save_numbered(self, role: str, epoch: int, content: bytes) -> None:
        """Keeps a copy of a role's policy under its name and this number, as in `seeker_1000.pt`."""
        atomic_write(make_folder(self.path / "checkpoints") / f"{self._role(role)}_{epoch}.pt", content)

    def cut_back_numbered(self, epoch: int) -> None:
        """Deletes copies from later epochs: the resumed training makes them again."""
        for role in self.config.roles:
            for number, file in self.numbered_policies(role).items():
                if number > epoch:
                    file.unlink(missing_ok=True)

    def save_policy(self, role: str, content: bytes) -> None:
        """Replaces the role's newest policy."""
        atomic_write(self.path / policy_file(self._role(role)), content)
        self._settle_replaced()

    def policy(self, role: str, snapshot: str | None = None) -> Path:
        """The file of the role's newest policy, or of a snapshot's."""
        if snapshot is not None:
            return self.snapshots().policy(snapshot, self._role(role))
        path = find_policy(self.path, self._role(role))
        if not path.is_file():
            raise GodojoError(f"run {self.run_id} has no policy of the {role} yet; train longer")
        return path

    def save_ratings(self, ratings: Any) -> None:
        atomic_write(self.path / "ratings.json", msgspec.json.format(msgspec.json.encode(ratings), indent=2) + b"\n")

    def add_environment(self, environment: Environment) -> None:
        stretches = [*self.environments(), environment]
        write_document(self.path / "environment.json", ENVIRONMENT, {"stretches": stretches})

    def environments(self) -> list[Environment]:
        """The machine and versions of each stretch of training, in order."""
        path = self.path / "environment.json"
        try:
            found = read_document(path, ENVIRONMENT, Environments, "delete it to continue", old_list="stretches")
        except FileNotFoundError:
            return []
        return found.stretches

    def _settle_replaced(self) -> None:
        if self._replaced is not None:
            self._replaced.release()
            self._replaced = None
            _settle(self.path.parent)

    def _role(self, role: str) -> str:
        if role not in self.config.roles:
            raise GodojoError(f"there is no role {role!r} in run {self.run_id}; {known(role, self.config.roles)}")
        return checked_name("role", role)


def open_run(name: str, say: Say) -> RunFolder:
    """A run by its id or path; says which one is the latest, or a game's latest."""
    run = RunFolder.open(name)
    if name in (LATEST, run.config.game) and name != run.name:
        say(f"using the latest run{'' if name == LATEST else f' of {name}'}: {run.name}")
    return run


def run_around(file: Path) -> RunFolder | None:
    """The run in whose folder a file is, if any."""
    return next((RunFolder.open(folder) for folder in file.absolute().parents if (folder / CONFIG).is_file()), None)


def _checked(run_id: str) -> str:
    if run_id == LATEST:
        raise GodojoError(f"{LATEST!r} stands for the latest run; choose another {option('run_id')}")
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
    """Whether a policy was saved in it."""
    return bool(policies_in(run))


def _latest(root: Path, game: str = "") -> Path:
    """The run that was last written to among those with a policy; with a game, among those of the game."""
    runs = [path for path in _runs(root) if _is_usable(path) and (not game or _game_of(path) == game)]
    if not runs:
        train = command(f"train {game}".strip())
        raise GodojoError(
            f"there is no run {f'of {game} ' if game else ''}with a saved policy in {root} yet; {train} makes one"
        )
    return max(runs, key=_last_written)


def _game_of(run: Path) -> str:
    with suppress(GodojoError):  # damaged, or of a newer version
        return RunConfig.read(run / CONFIG).game
    return ""


def _last_written(run: Path) -> float:
    times = [0.0]
    for name in (CONFIG, "updates.csv", "metrics.csv"):
        with suppress(OSError):
            times.append((run / name).stat().st_mtime)
    return max(times)


def _named(path: Path) -> str:
    """The run's id if it is among the user's runs, or else its path."""
    return path.name if path.parent.resolve() == runs_root().resolve() else str(path)


def _exists(path: Path) -> GodojoError:
    other = f"choose another {option('run_id')}"
    if not (path / CONFIG).is_file():
        return GodojoError(f"{path} exists and is no run; {other}")
    name, replace = _named(path), f"replace it with {option('force', True)}"
    if not _is_usable(path):
        return GodojoError(f"run {name} exists, without a policy: {replace}, or {other}")
    return GodojoError(f"run {name} exists: continue it with {option('resume', name)}, {replace}, or {other}")


def _check_is_run(path: Path) -> None:
    if path.is_symlink() or not (path / CONFIG).is_file():
        raise GodojoError(
            f"{path} is no run, so {option('force', True)} does not replace it; choose another {option('run_id')}"
        )


def _delete(path: Path) -> None:
    _check_is_run(path)
    with _locked(path):
        pass
    doomed = path.parent / f".{path.name}.{secrets.token_hex(4)}.old"
    try:
        path.rename(doomed)  # at once, so that a kill leaves no half of a run
        shutil.rmtree(doomed)
    except OSError as error:
        raise GodojoError(f"{path} cannot be deleted ({error.strerror})") from None


def _set_aside(path: Path, say: Say) -> filelock.BaseFileLock:
    """Makes room for a new run of the same name; the old one can be restored while its lock is held."""
    lock = _acquired(path)
    try:
        path.rename(path.parent / f".{path.name}.{secrets.token_hex(4)}{_REPLACED}")
    except OSError as error:
        lock.release()
        raise GodojoError(f"{path} cannot be replaced ({error.strerror})") from None
    say(f"replacing the run in {path}; it is deleted when the new one is first saved")
    return lock


def _settle(root: Path) -> None:
    """Deletes runs that were set aside if their successor has a policy; restores the others, as after a kill."""
    for old in root.glob(f".*{_REPLACED}"):
        path = root / old.name[1:].rsplit(".", 2)[0]
        with suppress(GodojoError, OSError), _locked(old):  # the process that set it aside holds the lock
            if _is_usable(path):
                shutil.rmtree(old)
                continue
            if path.exists():
                _delete(path)
            old.rename(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = _acquired(path)
    try:
        yield
    finally:
        lock.release()


def _acquired(path: Path) -> filelock.BaseFileLock:
    lock = filelock.FileLock(path / _LOCK)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise GodojoError(
            f"run {path.name} is being trained by another process; stop that, or choose another {option('run_id')}"
        ) from None
    except (OSError, NotImplementedError) as error:
        raise GodojoError(f"{path / _LOCK} cannot be locked ({error})") from None
    return lock
