"""`godojo doctor`: checks the installation and prints a fix for whatever is missing."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import socket
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer
from rich.markup import escape

import godojo
from godojo.cli.console import out, print_json
from godojo.engines.godot.display import XVFB_CURE, has_screen, has_virtual_screen
from godojo.engines.godot.find import find
from godojo.engines.godot.paths import data_folder, read_installed
from godojo.engines.godot.templates import has_templates, templates_folder
from godojo.errors import GodojoError, command
from godojo.processes import finish

PORTS = {8765: "training and serving", 11008: "godot_rl games", 8080: "the HTTP interface"}
_REINSTALL = "install it again: delete .venv, then python3 dojo.py doctor"
_NEEDED_GB = 2.0
_PROBE_TIMEOUT_S = 60.0


class Finding(msgspec.Struct, frozen=True):
    """One check."""

    name: str
    state: Literal["good", "note", "bad"]
    """`note` is a limitation; `bad` makes the exit status 1."""
    detail: str
    cure: str = ""


def doctor(
    deep: Annotated[
        bool, typer.Option("--deep", help="Also load torch and numba (takes seconds), for device and threads.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Check the installation, with a fix for each problem. Exits with status 1 if something is missing."""
    findings = examine(deep=deep)
    healthy = all(finding.state != "bad" for finding in findings)
    if as_json:
        print_json({"healthy": healthy, "findings": findings})
    else:
        marks = {"good": "[green]✓[/]", "note": "[yellow]![/]", "bad": "[red]✗[/]"}
        for finding in findings:
            out.print(f"{marks[finding.state]} {finding.name:<10} {escape(finding.detail)}")
            if finding.cure:
                out.print(f"             [dim]→ {escape(finding.cure)}[/]")
        out.print("[green]Ready.[/]" if healthy else "[red]Something is missing: see the lines with ✗.[/]")
    raise typer.Exit(0 if healthy else 1)


def examine(*, deep: bool = False) -> list[Finding]:
    """All findings. Checks run in parallel: some load libraries or start programs."""
    libraries = (torch, numba) if deep else (partial(package, "torch"), partial(package, "numba"))
    checks: list[Callable[[], Finding]] = [python, *libraries, engine, rendering, templates, disk]
    with ThreadPoolExecutor(len(checks)) as workers:
        return [*workers.map(lambda check: check(), checks), *(port(number) for number in PORTS)]


def python() -> Finding:
    return Finding("python", "good", f"{platform.python_version()}, godojo {godojo.__version__}, {sys.prefix}")


def package(name: str) -> Finding:
    """Whether a package is installed, without loading it."""
    if importlib.util.find_spec(name) is None:
        return Finding(name, "bad", "not installed", _REINSTALL)
    try:
        return Finding(name, "good", importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, "bad", "installed incompletely", _REINSTALL)


def torch() -> Finding:
    device = "'cuda' if torch.cuda.is_available() else 'cpu'"
    probe = f"import torch; print(torch.__version__, '|', {device}, '|', torch.get_num_threads())"
    version, device, threads = _ask_python(probe, fields=3)
    if not version:
        return Finding("torch", "bad", device, _REINSTALL)
    return Finding("torch", "good", f"{version} on {device}, {threads} threads")


def numba() -> Finding:
    version, threads = _ask_python(
        "import numba; print(numba.__version__, '|', numba.config.NUMBA_NUM_THREADS)", fields=2
    )
    if not version:
        return Finding("numba", "bad", threads, _REINSTALL)
    return Finding("numba", "good", f"{version}, {threads} threads")


def engine() -> Finding:
    try:
        found = find()
    except GodojoError as error:
        reason, _, cure = str(error).partition("; ")
        return Finding("godot", "bad", reason, cure)
    return Finding("godot", "good", f"{found.version} ({found.source}: {found.program})")


def rendering() -> Finding:
    if not has_screen() and not has_virtual_screen():
        cure = f"{command('engine install --rendering')} (or: {XVFB_CURE})"
        return Finding("rendering", "note", "no display and no Xvfb: training works, films do not", cure)
    screen = "your display" if has_screen() else "a virtual display (Xvfb)"
    try:
        installed = read_installed()
    except GodojoError as error:
        return Finding("rendering", "note", str(error))
    if installed and installed.origin == "debian" and not installed.rendering and not os.environ.get("GODOT_BIN"):
        return Finding("rendering", "note", f"{screen}, but no drivers", command("engine install --rendering"))
    return Finding("rendering", "good", screen)


def templates() -> Finding:
    try:
        found = find()
    except GodojoError:
        return Finding("templates", "note", "no Godot to export games with", command("engine install --templates"))
    if has_templates(found):
        return Finding("templates", "good", f"games can be exported ({templates_folder(found)})")
    cure = command("engine install --templates")
    if found.source != "installed":
        cure = "in that Godot: Editor, Manage Export Templates"
    return Finding("templates", "note", "no export templates: training works, exporting games does not", cure)


def disk() -> Finding:
    place = next(folder for folder in (data_folder(), *data_folder().parents) if folder.exists())
    free_gb = shutil.disk_usage(place).free / 1e9
    if free_gb < _NEEDED_GB:
        return Finding(
            "disk", "bad", f"{free_gb:.1f} GB free at {place}", f"free {_NEEDED_GB:.0f} GB, or set GODOJO_HOME"
        )
    return Finding("disk", "good", f"{free_gb:.0f} GB free at {place}")


def port(number: int) -> Finding:
    name = f"port {number}"
    with socket.socket() as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except OSError as error:
            detail = f"cannot be used for {PORTS[number]} ({error.strerror})"
            return Finding(name, "note", detail, "end the program that uses it, or choose another port")
    return Finding(name, "good", f"free, for {PORTS[number]}")


def _ask_python(probe: str, fields: int) -> tuple[str, ...]:
    """What the probe prints, split at bars; on failure an empty string and the reason."""
    done = finish([Path(sys.executable), "-c", probe], timeout_s=_PROBE_TIMEOUT_S)
    words = [word.strip() for word in done.output.strip().splitlines()[-1:] for word in word.split("|")]
    if done.code or len(words) != fields:
        return ("", (words or ["no answer"])[0], *[""] * (fields - 2))
    return tuple(words)
