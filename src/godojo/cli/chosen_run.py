"""The run that a command is about: found, checked, and named aloud where it is the latest one."""

from pathlib import Path

from godojo.cli.console import note
from godojo.runs.folder import CONFIG, LATEST, RunFolder
from godojo.runs.names import split_reference

_FILES = (".pt", ".dojo", ".onnx", ".jsonl", ".npz", ".rounds")


def open_run(name: str) -> RunFolder:
    """A run by its id or path, or the latest one."""
    run = RunFolder.open(name)
    if name == LATEST:
        note(f"using the latest run: {run.name}")
    return run


def chosen_run(text: str) -> str:
    """`RUN`, `RUN@SNAPSHOT` or a file, as a user typed it, with `latest` replaced by the run that it stands for.

    A run or a snapshot that does not exist is refused here, before anything slow is loaded.
    """
    path = Path(text).expanduser()
    if path.suffix in _FILES or (path.is_dir() and not (path / CONFIG).is_file()):
        return text
    name, snapshot = split_reference(text)
    run = open_run(name)
    if snapshot is not None:
        for role in run.config.roles:
            run.policy(role, snapshot)
    if name != LATEST:
        return text
    return run.name if snapshot is None else f"{run.name}@{snapshot}"
