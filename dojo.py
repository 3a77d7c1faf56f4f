#!/usr/bin/env python3
"""Godojo's launcher: prepares everything once, then hands over to the command line.

    python3 dojo.py VERB ...         the same as `godojo VERB ...`, set up first
    python3 dojo.py run FILE.py ...  your own script, with Godojo installed
    python3 dojo.py install EXTRA    an optional package, such as sb3 (Stable-Baselines3)
    python3 dojo.py test             also the development tools and the engine, then every check and test

It needs nothing but Python. Everything is installed into `.venv`; delete that folder to start afresh.
The syntax is kept plain enough for an old Python to read as far as the sentence that says it is too old.
"""

import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

OLDEST, NEWEST = (3, 11), (3, 13)
ROOT = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(ROOT, ".venv")
STAMP = os.path.join(VENV, "godojo-setup.json")
LOCK = os.path.join(ROOT, ".venv.lock")
LOG = os.path.join(ROOT, ".venv.log")
LOCK_DEADLINE_S = 1800
PINNED_FILES = ("pyproject.toml", "constraints.txt")
DISK_FULL = "the disk is full; Godojo needs about 2 GB in %s: free some and run this again" % ROOT


class SetupError(Exception):
    """Why the set-up failed and how to fix it, in one line."""


def main(words):
    try:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what we started is ended with us
        use_supported_python(words)
        verb, rest = "".join(words[:1]), words[1:]
        prepare(wanted_extras(verb, rest))
    except SetupError as error:
        sys.stderr.write("dojo.py: %s\n" % error)
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\ndojo.py: stopped; run the same command again to go on\n")
        return 130
    if verb == "install":
        say("installed: %s" % ", ".join(rest))
        return 0
    if verb == "run":
        return hand_over(rest)
    return hand_over(["-m", "tests"] + rest if verb == "test" else ["-m", "godojo"] + words)


def wanted_extras(verb, words):
    """What a verb of ours needs besides the package; a mistake is refused before anything is installed."""
    if verb == "run" and not words:
        raise SetupError("run takes a script of yours: python3 dojo.py run FILE.py")
    if verb == "run" and not os.path.isfile(words[0]):
        raise SetupError("there is no script %s to run" % words[0])
    if verb == "install":
        known = sorted(optional_packages())
        for name in words or [""]:
            if name not in known:
                raise SetupError("there is no extra %r; there is: %s" % (name, ", ".join(known)))
        return words
    return ["dev"] if verb == "test" else []


def optional_packages():
    """The extras of pyproject.toml by name, each a list of requirements."""
    import tomllib  # not at the top: a Python too old to have it must get as far as being told so

    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        extras = tomllib.load(file)["project"].get("optional-dependencies", {})
    return {
        name: [one for line in lines for one in (extras[line[7:-1]] if line.startswith("godojo[") else [line])]
        for name, lines in extras.items()
    }


def use_supported_python(words):
    """Continues under another Python of this machine when this one does not fit."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        other = shutil.which("python3.%d" % minor) if hasattr(shutil, "which") else None
        if other and subprocess.call([other, "-c", ""], stderr=subprocess.DEVNULL) == 0:
            replace_process([other, os.path.abspath(__file__)] + words)
    raise SetupError(
        "Python %d.%d to %d.%d is needed and this is %d.%d; install one (for example python3.%d) and run this again"
        % (OLDEST + NEWEST + tuple(sys.version_info[:2]) + (NEWEST[1],))
    )


def prepare(extras):
    """Makes `.venv` hold the package and the extras, unless it already does."""
    if is_ready(extras):
        return
    with OneAtATime() as lock:
        if is_ready(extras):  # another dojo.py did it while we waited
            return
        try:
            add_or_make(extras, lock)
        except EnvironmentError as error:
            if error.errno == errno.ENOSPC:
                raise SetupError(DISK_FULL)
            raise SetupError("cannot write to %s (%s); make it writable and run this again" % (ROOT, error))


def add_or_make(extras, lock):
    stamp = read_stamp()
    every = sorted(set(extras) | set(stamp.get("extras", [])))
    if is_ready([]):  # only extras are missing: whatever becomes of them, what is there goes on working
        more = sorted(set(every) - set(stamp.get("extras", [])))
        packages = [package for extra in more for package in optional_packages()[extra]]
        say("installing %s" % ", ".join(more))
        if packages:
            install(packages, lock)
        write_stamp(every)
        return
    is_new = stamp.get("place") != ROOT or stamp.get("python") != os.path.realpath(venv_python())
    try:
        if is_new:
            make_venv(lock)
        else:
            os.remove(STAMP)  # from here on the folder counts as half-made until the new stamp is written
        say("installing Godojo%s; the first time takes a few minutes" % (" and its tools" if every else ""))
        install(["--editable", ROOT + ("[%s]" % ",".join(every) if every else "")], lock)
        write_stamp(every)
    except (SetupError, EnvironmentError) as error:
        if str(error) == DISK_FULL or getattr(error, "errno", None) == errno.ENOSPC:
            shutil.rmtree(VENV, ignore_errors=True)
        raise
    if is_new:
        scripts = os.path.join(".venv", "Scripts" if os.name == "nt" else "bin")
        activate = ("" if os.name == "nt" else "source ") + os.path.join(scripts, "activate")
        say("ready; the command is also %s, or `godojo` after: %s" % (os.path.join(scripts, "godojo"), activate))


def is_ready(extras):
    stamp = read_stamp()
    return (
        stamp.get("place") == ROOT
        and stamp.get("pins") == hash_of_pins()
        and set(extras) <= set(stamp.get("extras", []))
        and stamp.get("python") == os.path.realpath(venv_python())
        and os.path.exists(venv_python())
    )


def make_venv(lock):
    say("creating .venv with Python %d.%d" % sys.version_info[:2])
    shutil.rmtree(VENV, ignore_errors=True)
    made = subprocess.run([sys.executable, "-m", "venv", VENV], capture_output=True, text=True, **keeping(lock))
    if made.returncode == 0:
        return
    reason = made.stdout + made.stderr
    if is_disk_full(reason):
        raise SetupError(DISK_FULL)
    shutil.rmtree(VENV, ignore_errors=True)
    if "ensurepip" in reason or "No module named venv" in reason:
        raise SetupError(
            "this Python has no venv module; install it (on Debian or Ubuntu: sudo apt install python3.%d-venv)"
            " and run this again" % sys.version_info[1]
        )
    raise SetupError("cannot create %s: %s" % (VENV, last_line(reason)))


def keeping(lock):
    """Lets a program hold the lock too: should we be killed, nobody else begins before it has ended."""
    return {} if os.name == "nt" else {"pass_fds": [lock.fileno()]}


def install(packages, lock):
    """Installs packages at the pinned versions, showing what it is doing."""
    import pathlib  # not at the top: a Python too old to have it must get as far as being told so

    constraints = os.path.join(ROOT, "constraints.txt")
    command = [venv_python(), "-m", "pip", "install", "--progress-bar", "off", "--constraint", constraints]
    # The variable makes the pins hold for build tools too, which --constraint alone does not. Pip splits it at spaces,
    # so it is given as an address.
    address = pathlib.Path(constraints).as_uri()
    env = dict(os.environ, PIP_CONSTRAINT=address, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    with open(LOG, "w", encoding="utf-8") as log, Progress() as progress:
        pip = subprocess.Popen(
            command + packages,
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **keeping(lock),
        )  # fmt: skip
        try:
            for line in pip.stdout:
                log.write(line)
                progress.show(line)
            code = pip.wait()
        finally:
            if pip.poll() is None:
                pip.kill()
                pip.wait()
    if code:
        raise SetupError(why_pip_failed())


def why_pip_failed():
    with open(LOG, encoding="utf-8", errors="replace") as log:
        text = log.read()
    if is_disk_full(text):
        return DISK_FULL
    if "NewConnectionError" in text or "ConnectTimeout" in text or "(from versions: none)" in text:
        return (
            "the package index cannot be reached, or has nothing for this system; check the network (or proxy, or %s)"
            % (os.path.basename(LOG))
        )
    errors = [line for line in text.splitlines() if line.startswith("ERROR")]
    return "pip failed: %s (all of it in %s)" % (errors[-1] if errors else last_line(text), os.path.basename(LOG))


def is_disk_full(output):
    """Whether that is why a step failed; not every tool says so."""
    return "No space left" in output or shutil.disk_usage(ROOT).free < 20e6


def hash_of_pins():
    digest = hashlib.sha256()
    for name in PINNED_FILES:
        with open(os.path.join(ROOT, name), "rb") as file:
            digest.update(file.read().replace(b"\r\n", b"\n"))
    return digest.hexdigest()


def read_stamp():
    try:
        with open(STAMP, encoding="utf-8") as file:
            stamp = json.load(file)
    except (EnvironmentError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(extras):
    with open(STAMP + ".new", "w", encoding="utf-8") as file:
        python = os.path.realpath(venv_python())  # if it changes, the packages made for the old one do not fit
        json.dump({"pins": hash_of_pins(), "place": ROOT, "extras": extras, "python": python}, file)
    os.replace(STAMP + ".new", STAMP)


def venv_python():
    return os.path.join(VENV, "Scripts", "python.exe") if os.name == "nt" else os.path.join(VENV, "bin", "python")


def hand_over(arguments):
    os.environ["GODOJO_LAUNCHED_AS"] = "python3 dojo.py"  # so that hints name the command the user typed
    if arguments[:2] == ["-m", "tests"]:
        os.chdir(ROOT)
    return replace_process([venv_python()] + arguments)


def replace_process(command):
    """Becomes the command, so that signals and the exit status are its own; Windows has no exec worth the name."""
    sys.stdout.flush()
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


def say(sentence):
    sys.stderr.write("dojo.py: %s\n" % sentence)
    sys.stderr.flush()


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no output"


class Progress:
    """One line that changes on a terminal, a few plain lines elsewhere, from what pip prints."""

    def __init__(self):
        self.live = sys.stderr.isatty()
        self.begun = time.time()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.live:
            sys.stderr.write("\r\033[K")

    def show(self, line):
        words = line.split()
        if len(words) < 2 or words[0] not in ("Collecting", "Downloading", "Building", "Installing"):
            return
        if words[0] == "Installing" and words[1] == "collected":
            words = ["Installing", "%d packages" % len(line.split(","))]
        elif words[0] == "Installing":
            return
        if self.live:
            step = "%s %s" % (words[0].lower(), words[1].rsplit("/", 1)[-1])
            sys.stderr.write("\r\033[K  %3d s  %s" % (time.time() - self.begun, step[:60]))
        elif words[0] == "Installing" or words[1].startswith("torch"):
            sys.stderr.write("  %3d s  %s %s\n" % (time.time() - self.begun, words[0].lower(), words[1]))
        sys.stderr.flush()


class OneAtATime:
    """A lock on the set-up that the system itself lets go of when its holder dies."""

    def __enter__(self):
        try:
            self.file = open(LOCK, "a+")
        except EnvironmentError as error:
            raise SetupError("cannot write to %s (%s); make it writable and run this again" % (ROOT, error.strerror))
        deadline = time.time() + LOCK_DEADLINE_S
        told = False
        while not self.try_lock():
            if time.time() > deadline:
                raise SetupError("another set-up in %s does not end; end it and run this again" % ROOT)
            if not told:
                say("another set-up is under way here; waiting for it")
                told = True
            time.sleep(0.2)
        return self.file

    def __exit__(self, *_):
        self.file.close()

    def try_lock(self):
        try:
            if os.name == "nt":
                import msvcrt

                self.file.seek(0)
                msvcrt.locking(self.file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (IOError, OSError) as error:
            if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise SetupError("cannot lock %s (%s); is this a file system without locks?" % (LOCK, error))
            return False
        return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
