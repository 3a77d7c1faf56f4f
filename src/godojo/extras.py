"""Optional packages: whether one is installed, and how this user installs it."""

import importlib
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from godojo.errors import GodojoError, command

MODULES = {"cuda": "numba_cuda", "ray": "ray", "rllib": "ray.rllib", "sb3": "stable_baselines3", "twin": "gdtoolkit"}
"""The module that each extra of pyproject.toml installs."""
_NEEDED = {"rllib": ("ray", "tree", "pyarrow")}
"""The modules whose presence shows it, where it is not that one alone: every Ray has the code of RLlib."""
_INSTALL_TIMEOUT_S = 1800.0


def is_installed(extra: str) -> bool:
    needed = _NEEDED.get(extra, (MODULES[extra],))
    return all(importlib.util.find_spec(name) is not None for name in needed)


def require(extra: str, say: Callable[[str], None]) -> None:
    """Installs a missing extra if `dojo.py` started us; otherwise raises GodojoError."""
    if is_installed(extra):
        return
    launcher = _launcher()
    if launcher is None or "GODOJO_LAUNCHED_AS" not in os.environ:
        raise missing(extra)
    say(f"{MODULES[extra]} is not installed yet: installing it, once")
    words = [sys.executable, str(launcher), "install", extra]
    try:
        status = subprocess.run(words, stdin=subprocess.DEVNULL, timeout=_INSTALL_TIMEOUT_S, check=False).returncode
    except subprocess.TimeoutExpired:
        raise GodojoError(f"{command(f'install {extra}')} took more than {_INSTALL_TIMEOUT_S:.0f} s") from None
    importlib.invalidate_caches()
    if status or not is_installed(extra):
        raise GodojoError(f"{MODULES[extra]} could not be installed; try: {command(f'install {extra}')}")


def missing(extra: str) -> GodojoError:
    """The error for a missing extra, with the command that installs it."""
    launcher = _launcher()
    if launcher is None:
        words = " ".join(f'"{requirement}"' for requirement in _requirements(extra))
        cure = f"{sys.executable} -m pip install {words}"
    elif "GODOJO_LAUNCHED_AS" in os.environ:
        cure = command(f"install {extra}")
    else:
        cure = f"python3 {launcher} install {extra}"
    return GodojoError(f"{MODULES[extra]} is not installed; install it with: {cure}")


def _launcher() -> Path | None:
    """The `dojo.py` that created this environment, if any."""
    try:
        place = json.loads((Path(sys.prefix) / "godojo-setup.json").read_text(encoding="utf-8"))["place"]
        path = Path(place) / "dojo.py"
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return path if path.is_file() else None


def _requirements(extra: str) -> list[str]:
    found = importlib.metadata.requires("godojo") or []
    return [line.partition(";")[0].strip() for line in found if f"extra == '{extra}'" in line.replace('"', "'")]
