"""`roles.json`: which roles learn; users may edit it during training."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from godojo.errors import GodojoError, unknown
from godojo.files import atomic_write

Mode = Literal["train", "frozen", "deterministic"]
"""`frozen`: plays stochastically without learning. `deterministic`: plays its most likely actions without learning."""


class RoleMap:
    """The modes in the file, reloaded when it changes. A mistake in it is reported, and the previous modes stay."""

    def __init__(self, path: Path, roles: Sequence[str], say: Callable[[str], None] = lambda _: None) -> None:
        self._path, self._roles, self._say = path, tuple(roles), say
        self._modes: dict[str, Mode] = dict.fromkeys(self._roles, "train")
        self._seen: tuple[int, int, int] | None = None

    def write(self, modes: Mapping[str, Mode]) -> None:
        """Writes the file; roles that are not named train."""
        text = msgspec.json.format(msgspec.json.encode(self._complete(modes)), indent=2)
        atomic_write(self._path, text + b"\n")

    def read(self) -> Mapping[str, Mode]:
        """The current mode of every role. Cheap: checks the file's time first."""
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self._seen:
                self._seen = stamp
                self._modes = self._complete(msgspec.json.decode(self._path.read_bytes(), type=dict[str, Mode]))
        except OSError as error:
            if self._seen != (0, 0, 0):
                self._seen = (0, 0, 0)
                self._complain(error.strerror or str(error))
        except (GodojoError, msgspec.DecodeError, UnicodeDecodeError) as error:
            self._complain(str(error))
        return self._modes

    def _complete(self, modes: Mapping[str, Mode]) -> dict[str, Mode]:
        for role in modes:
            if role not in self._roles:
                raise unknown("role", role, self._roles)
        return {role: modes.get(role, "train") for role in self._roles}

    def _complain(self, why: str) -> None:
        now = ", ".join(f"{role}: {mode}" for role, mode in self._modes.items())
        self._say(f"{self._path} is ignored ({why}); the modes stay {now}")
