"""`updates.csv`, one row per update, and the same metrics for TensorBoard."""

import csv
import math
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from godojo.errors import GodojoError
from godojo.files import atomic_write
from godojo.runs.tables import append, cannot_write, columns_of, csv_row, open_table, sync

_FIRST = ["update", "agent_steps", "seconds"]


class UpdateLog:
    """The metrics of every update, by tag: `time/fps`, or `seeker/train/approx_kl` for one role's.

    Tags are the columns of the table. TensorBoard gets a sub-run for each role with the tags that Stable-Baselines3
    uses (`train/approx_kl`); a single role has them in the run itself.
    """

    def __init__(
        self,
        table: Path,
        tensorboard: Path,
        update: int | None = None,
        agent_steps: int = 0,
        say: Callable[[str], None] = lambda _: None,
        *,
        roles: Sequence[str] = (),
    ) -> None:
        """Starts anew, or continues after an `update` at `agent_steps` and drops what was written after it."""
        self._table, self._say = table, say
        self._columns = list(_FIRST)
        if update is not None and table.exists():
            self._columns = _header(table)
        self._file = open_table(table, self._columns, update, say)
        purge_step = None if update is None else agent_steps + 1
        shared = EventFile(tensorboard, purge_step)
        several = len(roles) > 1
        self._of_roles = {role: EventFile(tensorboard / role, purge_step) if several else shared for role in roles}
        self._events = list(dict.fromkeys([shared, *self._of_roles.values()]))

    def write(self, update: int, agent_steps: int, seconds: float, figures: Mapping[str, float]) -> None:
        """Adds an update. A new metric gets a column, empty in earlier rows."""
        new = [name for name in figures if name not in self._columns]
        if new:
            self._add_columns(new)
        texts = [str(update), str(agent_steps), f"{seconds:.2f}"]
        texts += [f"{figures[name]:.6g}" if name in figures else "" for name in self._columns[len(_FIRST) :]]
        append(self._file, self._table, csv_row(texts))
        curves: dict[EventFile, dict[str, float]] = {events: {} for events in self._events}
        for name, value in figures.items():
            role, _, tag = name.partition("/")
            if role in self._of_roles:
                curves[self._of_roles[role]][tag] = value
            else:
                curves[self._events[0]][name] = value
        for events, values in curves.items():
            if values:
                events.write(agent_steps, values)

    def sync(self) -> None:
        sync(self._file, self._table)
        for events in self._events:
            events.sync()

    def close(self) -> None:
        self._file.close()
        for events in self._events:
            events.close()

    def _add_columns(self, names: list[str]) -> None:
        try:
            with self._table.open(encoding="utf-8", newline="") as file:
                old = list(csv.reader(file))[1:]
            last = int(old[-1][0]) if old else 0
        except (OSError, ValueError, IndexError, csv.Error) as error:
            raise GodojoError(f"{self._table} is damaged ({error}); move it away to continue") from None
        self._columns += names
        rows = [csv_row(self._columns), *(csv_row(row + [""] * (len(self._columns) - len(row))) for row in old)]
        self._file.close()
        atomic_write(self._table, b"".join(rows))
        self._file = open_table(self._table, self._columns, last, self._say)


class EventFile:
    """A TensorBoard event file, written synchronously: TensorBoard's own writer has a thread that hides a full disk."""

    def __init__(self, folder: Path, purge_step: int | None) -> None:
        """`purge_step`: TensorBoard ignores older files in the folder from this step on."""
        host = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in socket.gethostname())
        self._path = folder / f"events.out.tfevents.{time.time_ns() // 1000:016d}.{host}.{os.getpid()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: BinaryIO = self._path.open("xb", buffering=0)
        except OSError as error:
            raise cannot_write(self._path, error) from None
        self._writer = RecordWriter(self._file)
        self._add(Event(wall_time=time.time(), file_version="brain.Event:2"))
        if purge_step is not None:
            started = SessionLog(status=SessionLog.START)
            self._add(Event(wall_time=time.time(), step=purge_step, session_log=started))

    def write(self, step: int, figures: Mapping[str, float]) -> None:
        values = [
            Summary.Value(tag=name, simple_value=value) for name, value in figures.items() if math.isfinite(value)
        ]
        self._add(Event(wall_time=time.time(), step=step, summary=Summary(value=values)))

    def sync(self) -> None:
        sync(self._file, self._path)

    def close(self) -> None:
        self._file.close()

    def _add(self, event: Event) -> None:
        try:
            self._writer.write(event.SerializeToString())
        except OSError as error:
            raise cannot_write(self._path, error) from None


def _header(table: Path) -> list[str]:
    try:
        with table.open("rb") as file:
            header = columns_of(file.readline(), table)
    except OSError as error:
        raise GodojoError(f"{table} cannot be read ({error.strerror}); move it away to continue") from None
    if header[: len(_FIRST)] != _FIRST:
        raise GodojoError(f"{table} has no updates; move it away to continue")
    return header
