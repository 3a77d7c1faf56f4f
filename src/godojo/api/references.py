"""Names of runs, snapshots, policy files and opponents, checked before torch and the kernels load."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from godojo.errors import GodojoError, option, unknown
from godojo.evaluation.reference_set import check_reference, is_reference
from godojo.games.base import GAMES
from godojo.runs.folder import CONFIG, LATEST, RunFolder, open_run
from godojo.runs.names import split_reference

_FILES = (".pt", ".dojo", ".onnx", ".zip", ".jsonl", ".npz", ".rounds")


def reference(source: Any) -> str:
    """The text that names a `Run`, a path or a text."""
    path = getattr(source, "path", source)
    return str(path.absolute()) if isinstance(path, Path) else str(path)


def is_file(text: str) -> bool:
    """Whether the text names a file or a folder of files, not a run."""
    path = Path(text).expanduser()
    return path.suffix in _FILES or (path.is_dir() and not (path / CONFIG).is_file())


def resolved(text: str, say: Callable[[str], None] = lambda _: None) -> str:
    """`RUN`, `RUN@SNAPSHOT` or a file; `latest` and games become their latest run. Rejects what does not exist."""
    if is_file(text):
        return text
    name, snapshot = split_reference(text)
    run = open_run(name, say)
    if snapshot is not None:
        for role in run.config.roles:
            run.policy(role, snapshot)
    if name not in (LATEST, run.config.game):
        return text
    return run.name if snapshot is None else f"{run.name}@{snapshot}"


def check_opponents(policy: str, opponents: Sequence[str]) -> None:
    """Reject opponents of a run's policies that do not exist; policy files are checked when they are loaded."""
    if is_file(policy):
        return
    config = RunFolder.open(split_reference(policy)[0]).config
    if not opponents or config.game not in GAMES:
        return
    if len(config.roles) == 1 and not GAMES[config.game].shared_score:
        raise GodojoError(f"{policy} plays alone: there is nobody to play against; remove {option('opponents')}")
    for text in opponents:
        name = text.removeprefix("scripted:")
        if text == "itself" or ".py" in text or is_file(text):
            continue
        if is_reference(text):
            check_reference(text, config.game)
            continue
        from godojo.opponents import is_scripted, scripted_opponents  # loads the compiler, but not torch

        scripted = scripted_opponents(config.game)
        if is_scripted(name, config.game):
            continue
        if name != text:
            raise unknown("opponent", name, scripted)
        try:
            resolved(text)
        except GodojoError as error:
            if "/" in text or "@" in text:
                raise
            raise GodojoError(f"{error} (or a scripted opponent: {', '.join(scripted)})") from None


def named_players(texts: Sequence[str]) -> dict[str, str]:
    """Players by role, from a command line's `ROLE=PLAYER`."""
    named = {}
    for text in texts:
        role, found, player = text.partition("=")
        if not (found and role and player):
            raise GodojoError(f"{option('player')} {text!r}: write it as ROLE=PLAYER, such as {role or 'ROLE'}=RUN@10s")
        named[role.strip()] = player.strip()
    return named
