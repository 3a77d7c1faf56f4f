"""Formats of the files that users keep: a version each, and what turns older versions into today's.

To rename a field, to drop one or to give it another meaning, append a function to its format's migrations. The version
goes up by itself, files of every older version are read as if they had been written today, and newer ones are refused.
A new field needs no migration where its default does what was done before.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any

from godojo.errors import GodojoError

Tree = dict[str, Any]
Migration = Callable[[Tree], None]
"""Changes what a file holds, in place, from one version to the next."""


class NewerVersion(GodojoError):
    """A file of a version that this Godojo does not know yet."""


class Format:
    """A kind of file. Version N + 1 is what the first N migrations make of version 1."""

    def __init__(self, name: str, *migrations: Migration, hashed_since: int = 2) -> None:
        self.name, self.migrations, self._hashed_since = name, migrations, hashed_since

    @property
    def version(self) -> int:
        """The one that is written today."""
        return len(self.migrations) + 1

    @property
    def tag(self) -> str:
        """What a file of today says that it is."""
        return f"{self.name}/{self.version}"

    def version_of(self, tag: object, source: object) -> int:
        """The version that a file's tag names; refuses newer ones and other kinds of files. No tag is version 1."""
        if tag is None:
            return 1
        name, _, number = str(tag)[:80].partition("/")
        if name != self.name or not number.isdecimal() or int(number) < 1:
            raise GodojoError(f"{source} is no {self.name} file: its format is {str(tag)[:80]!r}, not {self.tag!r}")
        self.refuse_newer(int(number), source)
        return int(number)

    def refuse_newer(self, version: int, source: object) -> None:
        if version > self.version:
            raise NewerVersion(
                f"{source} was written by a newer Godojo ({self.name}/{version}; this one reads up to "
                f"{self.tag}): update Godojo"
            )

    def is_hashed(self, version: int) -> bool:
        """Whether files of this version carry a hash, so that one without is damaged."""
        return version >= self._hashed_since

    def migrate(self, tree: Tree, version: int) -> Tree:
        """What a file of this version holds, as one of today would hold it; the tree is changed."""
        for migration in self.migrations[version - 1 :]:
            migration(tree)
        return tree


def rename(branch: Any, **names: str) -> None:
    """For migrations: gives fields of a branch new names, `rename(tree["learner_settings"], hidden="net_arch")`."""
    if isinstance(branch, dict):
        for old, new in names.items():
            if old in branch:
                branch[new] = branch.pop(old)


def renamed_settings(game: str, values: Tree) -> Tree:
    """A game's settings in today's words; like columns, they go by names that are never used again."""
    found = copy.deepcopy(values)
    for (section, old), (target, new) in SETTINGS.get(game, {}).items():
        branch = found.get(section)
        if isinstance(branch, dict) and old in branch:
            found.setdefault(target, {})[new] = branch.pop(old)
    return found


def renamed_columns(columns: list[str], names: Mapping[str, str] | None = None) -> list[str]:
    """A table's columns in today's words: tables have no version, so a name that was given up is never used again."""
    names = COLUMNS if names is None else names
    return [_renamed(column, names) for column in columns]


def _renamed(column: str, names: Mapping[str, str]) -> str:
    for old, new in names.items():
        if column == old or column.endswith(f"_{old}"):  # `seeker_entropy` is the seeker's `entropy`
            return column.removesuffix(old) + new
    return column


def _hash_added(tree: Tree) -> None:
    """From here on files of this kind carry a hash; nothing in them changes."""


def _run_2(tree: Tree) -> None:
    settings = tree.get("learner_settings")
    if tree.get("learner") == "ppo" and isinstance(settings, dict):
        settings.setdefault("turning", 0)  # before cells could turn, none did


RUN = Format("godojo-run", _run_2)
"""`config.json`."""
POLICY = Format("godojo-policy", _hash_added)
"""`policy_ROLE.pt`: `card` (with `shape` and `settings`) and `weights`."""
CHECKPOINT = Format("godojo-checkpoint", _hash_added)
"""`checkpoints/step_*.pt`: `state` is what the learner saved."""
CHECKPOINTS = Format("godojo-checkpoints", _hash_added)
"""`checkpoints/index.json`."""
SNAPSHOTS = Format("godojo-snapshots", _hash_added)
"""`snapshots/snapshots.json`."""
ENVIRONMENT = Format("godojo-environment", _hash_added)
LEAGUE = Format("godojo-league", _hash_added)
FRAMES = Format("godojo-frames", _hash_added)
"""`frames.json`, with the hashes of the frames beside it."""
REPLAY = Format("godojo-replay", _hash_added)
"""The first line of `ep_*.jsonl`, and the header of each round in `*.rounds`."""
ROUNDS = Format("godojo-rounds", _hash_added)
"""The first bytes of `*.rounds`."""
DOJO = Format("dojo", hashed_since=1)
"""The header of `*.dojo`. The addon reads it too: a version more is one more in `dojo_policy_reader.gd`."""
ONNX = Format("godojo-onnx", _hash_added)
"""The same header in the metadata of `*.onnx`."""
SETTINGS: dict[str, dict[tuple[str, str], tuple[str, str]]] = {}
"""Settings of games that were renamed, whichever file they are in, by section and name:
`{"tag": {("motion", "coyote_s"): ("jump", "late_s")}}`."""
COLUMNS: dict[str, str] = {}
"""Columns of `metrics.csv` and `updates.csv` that were renamed: the old name, without its role, and the new one."""
