"""The run that a command is about; the latest one is named on stderr."""

from godojo.api import references
from godojo.cli.console import note
from godojo.runs import folder
from godojo.runs.folder import RunFolder


def open_run(name: str) -> RunFolder:
    """A run by its id or path, or the latest one."""
    return folder.open_run(name, note)


def chosen_run(text: str) -> str:
    """`RUN`, `RUN@SNAPSHOT` or a file, with `latest` replaced by its run; refuses what does not exist."""
    return references.resolved(text, note)
