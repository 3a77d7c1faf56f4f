"""`roles.json`: who learns and who does not, to be edited while training runs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from godojo.errors import GodojoError, known
from godojo.files import atomic_write

Mode = Literal["train", "frozen", "deterministic"]
"""`frozen`: plays stochastically without learning. `deterministic`: plays its most likely actions without learning."""
MODES: tuple[Mode, ...] = ("train", "frozen", "deterministic")


class RoleMap:
    """What the file says, read anew when it has changed. Something wrong in it is told, and the old map stays."""

    def __init__(self, path: Path, roles: Sequence[str], say: Callable[[str], None] = lambda _: None) -> None:
        self._path, self._roles, self._say = path, tuple(roles), say
        self._modes: dict[str, Mode] = dict.fromkeys(self._roles, "train")
        self._seen: tuple[int, int, int] | None = None

    def write(self, modes: Mapping[str, Mode]) -> None:
        """Writes the file; roles that are not named train."""
        unknown = next((role for role in modes if role not in self._roles), None)
        if unknown is not None:
            raise GodojoError(f"there is no role {unknown!r}; {known(unknown, self._roles)}")
        whole = {role: modes.get(role, "train") for role in self._roles}
        atomic_write(self._path, msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n")

    def read(self) -> Mapping[str, Mode]:
        """How every role is to be treated now. Cheap: looks at the file's time first."""
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self._seen:
                self._seen = stamp
                self._modes = self._parse(self._path.read_bytes())
        except OSError as error:
            if self._seen != (0, 0, 0):
                self._seen = (0, 0, 0)
                self._complain(error.strerror or str(error))
        except (GodojoError, msgspec.DecodeError, UnicodeDecodeError) as error:
            self._complain(str(error))
        return self._modes

    def _parse(self, text: bytes) -> dict[str, Mode]:
        found = msgspec.json.decode(text, type=dict[str, Mode])
        for role in found:
            if role not in self._roles:
                raise GodojoError(f"there is no role {role!r}; {known(role, self._roles)}")
        return {role: found.get(role, "train") for role in self._roles}

    def _complain(self, why: str) -> None:
        now = ", ".join(f"{role}: {mode}" for role, mode in self._modes.items())
        self._say(f"{self._path} is not heeded ({why}); it stays at {now}")
