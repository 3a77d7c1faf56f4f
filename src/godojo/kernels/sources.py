"""The files kernels are made of: those with kernels, and what these import or read, whose constants are compiled in."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

_COMPILER = b"from godojo.kernels.compile import "
_HAS_KERNELS = re.compile(rb"^" + re.escape(_COMPILER) + rb"(?!is_compiled$)", re.M)
_IMPORT = re.compile(rb"^from godojo(\.[\w.]+)? import (\([^)]*\)|.*)", re.M)
_NAME = re.compile(rb"\w+")


def kernel_sources(package: Path) -> dict[Path, bytes]:
    """The modules and their contents, found among all of the package in a few milliseconds."""
    texts = {path: path.read_bytes() for path in package.rglob("*.py")}
    waiting = [path for path, text in texts.items() if _COMPILER in text and _HAS_KERNELS.search(text)]
    found: dict[Path, bytes] = {}
    while waiting:
        path = waiting.pop()
        if path in found or path not in texts:
            continue
        found[path] = texts[path]
        for module, names in _IMPORT.findall(texts[path]):
            place = package.joinpath(*module.decode().split("."))
            waiting += [place.with_suffix(".py"), place / "__init__.py"]
            waiting += [place / f"{name.decode()}.py" for name in _NAME.findall(names)]
    return found


def sources_hash(package: Path, project: Path, games: Iterable[Path] = ()) -> str:
    """Changes with any file that kernels are made of, the observations that the Godot project declares among them.

    Numba itself notices only changes of the outermost kernel's file. `games` are folders of games outside the package:
    of those with kernels, every file counts.
    """
    digest = hashlib.sha256()
    for _, text in sorted(kernel_sources(package).items()):
        digest.update(text)
    for path in sorted(project.glob("games/*/observation.json")):
        digest.update(path.read_bytes())
    for game in sorted(path for folder in games for path in folder.glob("*/")):
        texts = [path.read_bytes() for path in sorted(game.rglob("*.py"))]
        if any(_HAS_KERNELS.search(text) for text in texts):
            digest.update(b"".join(texts))
    return digest.hexdigest()[:16]
