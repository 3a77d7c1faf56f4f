"""`python3 dojo.py test`: the engine, every check, every test, and one honest summary line.

With arguments it hands them to pytest and runs nothing else: `python3 dojo.py test tests/test_processes.py -k ends`.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path

from godojo.cli.console import progress_report, speak_plainly
from godojo.engines.godot.find import find
from godojo.engines.godot.install import install
from godojo.errors import GodojoError
from tests.browser import chromium

PYTHON = sys.executable
TOOLS = Path(PYTHON).parent
GDSCRIPT = ["godot"]
CHECKS: dict[str, list[str | Path]] = {
    "format": [TOOLS / "ruff", "format", "--check", "."],
    "lint": [TOOLS / "ruff", "check", "."],
    "types": [TOOLS / "mypy"],
    "imports": [TOOLS / "lint-imports"],
    "gdformat": [TOOLS / "gdformat", "--check", *GDSCRIPT],
    "gdlint": [TOOLS / "gdlint", *GDSCRIPT],
}
CHECK_TIMEOUT_S = 600
TESTS_TIMEOUT_S = 3600
BROWSER_TIMEOUT_S = 600


def main(arguments: list[str]) -> int:
    speak_plainly()
    begun = time.monotonic()
    engine, no_engine = prepare_engine()
    prepare_browser()
    if arguments:
        failed_for_lack = bool(no_engine and os.environ.get("CI"))
        return subprocess.call([PYTHON, "-m", "pytest", *arguments]) or int(failed_for_lack)
    failed = [name for name, words in CHECKS.items() if not passes(name, words)]
    counts, tests_ended_well = run_tests()
    took_s = time.monotonic() - begun
    missing_engine = f" WITHOUT the engine's tests: {no_engine}" if no_engine else f" on Godot {engine}"
    good = not failed and tests_ended_well and not (no_engine and os.environ.get("CI"))
    parts = [
        f"{len(CHECKS) - len(failed)} of {len(CHECKS)} checks passed"
        + (f" ({', '.join(failed)} failed)" if failed else ""),
        f"{counts['passed']} tests passed, {counts['failed']} failed, {counts['skipped']} skipped{missing_engine}",
        f"{took_s // 60:.0f} min {took_s % 60:.0f} s",
    ]
    print(f"\n{'PASSED' if good else 'FAILED'}: {'; '.join(parts)}")
    return 0 if good else 1


def prepare_engine() -> tuple[str, str]:
    """The engine's version, or why there is none. What is there counts, even if nothing could be installed."""
    try:
        if not os.environ.get("GODOT_BIN"):
            with progress_report() as report:
                install(rendering=True, report=report)
    except GodojoError as error:
        print(f"the engine cannot be installed: {error}")
    else:
        prepare_template()
    try:
        return find().version, ""
    except GodojoError as error:
        return "", str(error)


def prepare_browser() -> None:
    """Chromium, in which pages are tested; without it those tests are skipped, and say so."""
    if chromium() or not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    print("installing chromium on this system (you are root)", flush=True)
    for words in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        try:
            subprocess.run(
                ["apt-get", *words],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                capture_output=True,
                timeout=BROWSER_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            print(f"apt-get {words[0]} did not end within {BROWSER_TIMEOUT_S} s")


def prepare_template() -> None:
    """What the tests of exported games need; they are skipped, with the reason, where it cannot be had."""
    try:
        if not os.environ.get("GODOT_BIN"):
            with progress_report() as report:
                install(templates=True, report=report)
    except GodojoError as error:
        print(f"exported games cannot be tested: {error}")


def passes(name: str, words: list[str | Path]) -> bool:
    begun = time.monotonic()
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=CHECK_TIMEOUT_S)
        is_good, said = done.returncode == 0, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        is_good, said = False, f"did not end within {CHECK_TIMEOUT_S} s"
    print(f"{'✓' if is_good else '✗'} {name:<10} {time.monotonic() - begun:5.1f} s", flush=True)
    if not is_good:
        print(said)
    return is_good


def run_tests() -> tuple[dict[str, int], bool]:
    """How many tests passed, failed and were skipped, and whether pytest was content."""
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder) / "tests.xml"
        try:
            code = subprocess.call(
                [PYTHON, "-m", "pytest", "--durations=25", f"--junitxml={listing}"], timeout=TESTS_TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            code = 1
            print(f"the tests did not end within {TESTS_TIMEOUT_S} s")
        if not listing.exists():
            return {"passed": 0, "failed": 0, "skipped": 0}, False
        total, failed, skipped = 0, 0, 0
        for suite in ET.parse(listing).getroot().iter("testsuite"):
            total += int(suite.attrib["tests"])
            failed += int(suite.attrib["failures"]) + int(suite.attrib["errors"])
            skipped += int(suite.attrib["skipped"])
    return {"passed": total - failed - skipped, "failed": failed, "skipped": skipped}, code == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
