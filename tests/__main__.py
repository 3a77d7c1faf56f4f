"""`python3 dojo.py test`: the engine, every check, every test, and one honest summary line.

python3 dojo.py test                             checks and tests, in parallel
python3 dojo.py test --nightly                   the same with every long test at full length
python3 dojo.py test tests/test_find.py -k order only pytest, with these arguments
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from godojo.cli.console import configure_output, progress_report
from godojo.engines.godot.find import find
from godojo.engines.godot.install import install
from godojo.errors import GodojoError
from tests.browser import chromium
from tests.nightly import VARIABLE

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
    "docs": [TOOLS / "mkdocs", "build", "--strict", "--quiet"],
}
WORKERS = max(3, min(os.cpu_count() or 3, 4))
"""One more than two cores: many tests wait for processes."""
# A file's tests share fixtures and one engine process, so files are what is handed out, in the order of conftest.py.
PARALLEL = ["--numprocesses", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder"]
CHECK_TIMEOUT_S = 600
COMPILE_TIMEOUT_S = 600
TESTS_TIMEOUT_S = 3600
NIGHTLY_TIMEOUT_S = 4 * 3600
BROWSER_TIMEOUT_S = 600


def main(arguments: list[str]) -> int:
    configure_output()
    begun = time.monotonic()
    nightly = "--nightly" in arguments
    arguments = [word for word in arguments if word != "--nightly"]
    os.environ[VARIABLE] = "1" if nightly else "0"
    os.environ.pop("GODOJO_LAUNCHED_AS", None)  # hints read the same however the tests are started
    engine, no_engine = prepare_engine()
    prepare_browser()
    if arguments:
        failed_for_lack = bool(no_engine and os.environ.get("CI"))
        return subprocess.call([PYTHON, "-m", "pytest", *arguments]) or int(failed_for_lack)
    with ThreadPoolExecutor(len(CHECKS)) as pool:  # beside the tests, which leave a core idle now and then
        checks = {name: pool.submit(complaints, name, words) for name, words in CHECKS.items()}
        compile_kernels()
        counts, tests_ended_well = run_tests(NIGHTLY_TIMEOUT_S if nightly else TESTS_TIMEOUT_S)
        failed = [name for name, check in checks.items() if check.result()]
    for name in failed:
        print(f"\n{name} failed:\n{checks[name].result()}")
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


def complaints(name: str, words: list[str | Path]) -> str:
    """What a check complains about; nothing when it passed. Its line comes at once, its complaints after the tests."""
    begun = time.monotonic()
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=CHECK_TIMEOUT_S)
        said = (done.stdout + done.stderr or f"exit status {done.returncode}") if done.returncode else ""
    except subprocess.TimeoutExpired:
        said = f"did not end within {CHECK_TIMEOUT_S} s"
    print(f"\n{'✗' if said else '✓'} {name:<10} {time.monotonic() - begun:5.1f} s", flush=True)
    return said


def compile_kernels() -> None:
    """Once, before every worker would; takes seconds where nothing has changed. If it fails, tests will say why."""
    with suppress(subprocess.TimeoutExpired):
        subprocess.run([PYTHON, "-m", "tests.compile_kernels"], capture_output=True, timeout=COMPILE_TIMEOUT_S)


def run_tests(timeout_s: float) -> tuple[dict[str, int], bool]:
    """How many tests passed, failed and were skipped, and whether pytest was content."""
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder) / "tests.xml"
        words = [PYTHON, "-m", "pytest", *PARALLEL, "--durations=25", f"--junitxml={listing}"]
        # Workers and checks share the cores: threads that wait for their team must not spin.
        env = {**os.environ, "OMP_WAIT_POLICY": "passive"}
        try:
            code = subprocess.call(words, env=env, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            code = 1
            print(f"the tests did not end within {timeout_s:.0f} s")
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
