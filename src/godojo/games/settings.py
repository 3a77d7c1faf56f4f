"""The base of all games' settings: defaults beside the Godot game, limits, overrides by path, checks."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import msgspec

from godojo.errors import GodojoError, known
from godojo.formats import renamed_settings
from godojo.resources import godot_sources
from godojo.validation import converted

TICK_S = 1.0 / 60.0
MAX_BYTES = 65536
"""Longest file of an arena or a course."""
T = TypeVar("T")


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the settings."""


class GameSettings(Section, frozen=True):
    """Every number of a game, typed and checked; a game's subclass has its sections as fields."""

    folder: ClassVar[str]
    """Folder of the Godot game, with `settings.json` (the defaults) and `settings_limits.json`."""
    ticks_per_second: ClassVar[int] = 60
    """Physics ticks of the Godot game; its scenes set another number themselves."""

    @classmethod
    def defaults(cls) -> Self:
        return cls.from_json((godot_sources() / cls.folder / "settings.json").read_bytes())

    @classmethod
    def from_json(cls, text: bytes | str) -> Self:
        """Checked in full; GodojoError names the setting and the reason."""
        try:
            settings = converted(whole_numbers(msgspec.json.decode(text)), cls)
        except (msgspec.DecodeError, RecursionError) as error:
            raise GodojoError(f"settings: {error}") from None
        settings.check()
        return settings

    @classmethod
    def from_values(cls, values: dict[str, Any], source: object = "") -> Self:
        """From a file's values (`source` names it); missing settings take their defaults."""
        try:
            return cls.from_json(msgspec.json.encode(cls.with_defaults(values)))
        except GodojoError as error:
            if not source:
                raise
            raise GodojoError(
                f"{source} does not fit this Godojo ({error}): update Godojo, or use the version that wrote it"
            ) from None

    @classmethod
    def with_defaults(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Values under today's names, with defaults for missing ones."""
        game = cls.folder.rpartition("/")[2]
        return _filled(renamed_settings(game, values), msgspec.to_builtins(cls.defaults()))

    def to_json(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2)

    def override(self, **values: object) -> Self:
        """A copy with some values changed, each named by its path: `override(**{"motion.gravity_mps2": 20})`."""
        tree = msgspec.to_builtins(self)
        for path, value in values.items():
            *sections, name = path.split(".")
            branch = tree
            for section in sections:
                branch = branch.get(section, {}) if isinstance(branch, dict) else {}
            if not isinstance(branch, dict) or name not in branch:
                raise GodojoError(f"there is no setting {path!r}; {known(path, flatten(msgspec.to_builtins(self)))}")
            branch[name] = value
        return type(self).from_json(msgspec.json.encode(tree))

    def override_texts(self, texts: list[str]) -> Self:
        """The same from texts, as on a command line: `motion.gravity_mps2=20`."""
        values: dict[str, object] = {}
        for text in texts:
            path, found, word = text.partition("=")
            if not found:
                raise GodojoError(f"{text!r} is no setting; write it as motion.gravity_mps2=20")
            try:
                values[path.strip()] = msgspec.json.decode(word)
            except msgspec.DecodeError:
                values[path.strip()] = word.strip()
        return self.override(**values)

    def check(self) -> None:
        """Refuses settings that cannot be played; games add checks that limits cannot express."""
        text = (godot_sources() / self.folder / "settings_limits.json").read_bytes()
        tree = msgspec.to_builtins(self)
        for path, (least, *_, most) in msgspec.json.decode(text, type=dict[str, list[Any]]).items():
            if isinstance(least, str):
                continue  # the allowed texts, which are part of the field's type
            for value in _values_at(tree, path.split(".")):
                if not math.isfinite(value) or not least <= value <= most:
                    raise GodojoError(f"{path} must be from {least} to {most}, not {value}")


def _filled(values: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    found = {**defaults, **values}
    for name, default in defaults.items():
        if isinstance(default, dict) and isinstance(found[name], dict):
            found[name] = _filled(found[name], default)
    return found


def _values_at(tree: Any, path: list[str]) -> Iterator[Any]:
    """One value, or that of each item where the path passes a list."""
    if isinstance(tree, list | tuple):
        for item in tree:
            yield from _values_at(item, path)
    elif path:
        yield from _values_at(tree[path[0]], path[1:])
    else:
        yield tree


def whole_numbers(tree: Any) -> Any:
    """The same with 2.0 written as 2: JSON and Godot do not distinguish them."""
    if isinstance(tree, dict):
        return {name: whole_numbers(value) for name, value in tree.items()}
    if isinstance(tree, list):
        return [whole_numbers(value) for value in tree]
    return int(tree) if isinstance(tree, float) and tree.is_integer() else tree


def read_json(path: Path, kind: type[T]) -> T:
    """A small file, such as an arena's, as `kind`; GodojoError names the file and the reason."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise GodojoError(f"{path}: longer than {MAX_BYTES} bytes")
        return msgspec.convert(whole_numbers(msgspec.json.decode(path.read_bytes())), kind)
    except OSError as error:
        raise GodojoError(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise GodojoError(f"{path}: {error}") from None


def ticks_in(seconds: float) -> int:
    """Rounded as by Godot's `roundi`: halves up."""
    return math.floor(seconds / TICK_S + 0.5)


def flatten(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Every value by its path."""
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        path = f"{prefix}{name}"
        flat |= flatten(value, f"{path}.") if isinstance(value, dict) else {path: value}
    return flat
