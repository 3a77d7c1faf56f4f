"""JSON files with a format version and a hash of their text."""

from pathlib import Path
from typing import Any, TypeVar

import msgspec

from godojo.errors import GodojoError
from godojo.files import Damaged, Seal, atomic_write
from godojo.formats import Format, NewerVersion, Tree

MAX_BYTES = 64 * 2**20
_HASH = "sha256"
_SEAL = Seal(f',\n  "{_HASH}": "'.encode(), b'"\n}\n')

Kind = TypeVar("Kind")


class DamagedDocument(GodojoError):
    """A JSON file is damaged."""


def document_bytes(form: Format, fields: Any, *, is_long: bool = False) -> bytes:
    """A struct or a mapping as a file: format first, hash last. In a long one records have a line each."""
    tree = {"format": form.tag, **msgspec.to_builtins(fields)}
    text = _lines(tree) if is_long else msgspec.json.format(msgspec.json.encode(tree), indent=2)
    return _SEAL.close(text.removesuffix(b"\n}"))


def _lines(tree: dict[str, Any]) -> bytes:
    fields = []
    for name, value in tree.items():
        text = msgspec.json.encode(value)
        if isinstance(value, list) and any(isinstance(item, dict) for item in value):
            text = b"[\n" + b",\n".join(map(msgspec.json.encode, value)) + b"\n]"
        fields.append(msgspec.json.encode(name) + b": " + text)
    return b"{\n" + b",\n".join(fields) + b"\n}"


def write_document(path: Path, form: Format, fields: Any) -> None:
    atomic_write(path, document_bytes(form, fields))


def read_document(path: Path, form: Format, kind: type[Kind], cure: str, *, old_list: str = "") -> Kind:
    """Reads a file, migrated to the current version.

    Raises GodojoError, with the file and what to do (`cure`), or FileNotFoundError. `old_list` is the field for the
    list that version 1 was.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise GodojoError(f"{path} cannot be read ({error.strerror})") from None
    tree = _checked(path, content, form, cure, old_list)
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise DamagedDocument(f"{path} does not fit this Godojo ({error}): update Godojo, or {cure}") from None


def _checked(path: Path, content: bytes, form: Format, cure: str, old_list: str) -> Tree:
    if len(content) > MAX_BYTES:
        raise DamagedDocument(f"{path} has more than {MAX_BYTES:,} bytes; {cure}")
    try:
        tree = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DamagedDocument(f"{path} is damaged ({error}); {cure}") from None
    if old_list and isinstance(tree, list):
        tree = {old_list: tree}
    if not isinstance(tree, dict):
        raise DamagedDocument(f"{path} is damaged (not a JSON object); {cure}")
    try:
        version = form.version_of(tree.pop("format", None), path)
        is_accepted = tree.pop(_HASH, None) == ""
        if _SEAL.check(content) is None and form.is_hashed(version) and not is_accepted:
            raise Damaged("its hash is missing")
    except NewerVersion:
        raise
    except (Damaged, GodojoError):
        raise DamagedDocument(
            f'{path} is damaged or was edited: it does not match its {_HASH}; {cure}, or set its "{_HASH}" to "" to '
            "accept it"
        ) from None
    return form.migrate(tree, version)
