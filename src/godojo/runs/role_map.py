"""`roles.json`: which roles learn; users may edit it during training."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec

from godojo.errors import GodojoError, unknown
from godojo.files import atomic_write

Mode = Literal["train", "frozen", "deterministic"]
"""`frozen`: plays stochastically without learning. `deterministic`: plays its most likely actions without learning."""
FileMode = Literal["train", "frozen", "deterministic", "scene"]
"""`scene`: what the scene's training loop wants; `train` if the scene has none."""


class RoleMap:
    """The modes in the file, reloaded when it changes. A mistake in it is reported, and the previous modes stay."""

    def __init__(
        self,
        path: Path,
        roles: Sequence[str],
        say: Callable[[str], None] = lambda _: None,
        default: FileMode = "train",
    ) -> None:
        """`default` is the mode of roles that the file does not name."""
        self._path, self._roles, self._say, self._default = path, tuple(roles), say, default
        self._modes: dict[str, FileMode] = dict.fromkeys(self._roles, default)
        self._seen: tuple[int, int, int] | None = None

    def write(self, modes: Mapping[str, FileMode]) -> None:
        """Writes the file; roles that are not named have the default mode."""
        for mode in modes.values():
            if mode not in get_args(FileMode):
                raise unknown("mode", mode, get_args(FileMode))
        text = msgspec.json.format(msgspec.json.encode(self._complete(modes)), indent=2)
        atomic_write(self._path, text + b"\n")

    def modes(self, deterministic: Mapping[str, bool]) -> dict[str, Mode]:
        """The current mode of every role, where `deterministic` is what the scene wants, by role."""
        return {
            role: mode if mode != "scene" else "deterministic" if deterministic.get(role) else "train"
            for role, mode in self.read().items()
        }

    def read(self) -> Mapping[str, FileMode]:
        """The mode of every role as in the file. Cheap: checks the file's time first."""
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self._seen:
                self._seen = stamp
                self._modes = self._complete(msgspec.json.decode(self._path.read_bytes(), type=dict[str, FileMode]))
        except OSError as error:
            if self._seen != (0, 0, 0):
                self._seen = (0, 0, 0)
                self._complain(error.strerror or str(error))
        except (GodojoError, msgspec.DecodeError, UnicodeDecodeError) as error:
            self._complain(str(error))
        return self._modes

    def _complete(self, modes: Mapping[str, FileMode]) -> dict[str, FileMode]:
        for role in modes:
            if role not in self._roles:
                raise unknown("role", role, self._roles)
        return {role: modes.get(role, self._default) for role in self._roles}

    def _complain(self, why: str) -> None:
        now = ", ".join(f"{role}: {mode}" for role, mode in self._modes.items())
        self._say(f"{self._path} is ignored ({why}); the modes stay {now}")
