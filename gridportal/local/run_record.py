"""What is kept of one run on disk, in a folder of its own: its order, that it began, and how it ended.

Runs are the portal's user, so any of them may damage a record, and a power cut may leave one empty: readers never wait,
and a file that cannot be read concerns its run alone.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gridportal.base import atomic_file, bounded_json, checked_numbers, file_lock, folders, run_directory
from gridportal.base.batch_system import GRACE
from gridportal.base.errors import InputError
from gridportal.base.run_directory import Fault, RunFileError, is_time
from gridportal.testbed import kernel

log = logging.getLogger(__name__)
#: Why a run ended: asked to, over its limit, or nobody knows since what watched it is gone.
CANCELLED, TIME_LIMIT, LOST = "cancelled", "time_limit", "lost"
_MOST = 2**20  # bytes of a record
_MOST_PID, _MOST_EXIT, _MOST_SIGNAL, _MOST_TICKS = 2**22, 255, 64, 2**63
#: What opening the lock says where something else has its name.
_NO_LOCK = (errno.EISDIR, errno.ELOOP, errno.ENXIO)


@dataclass(frozen=True, slots=True)
class Order:
    """What to start: `argv` in `run_dir`, its output in the file `output`, with `env` and no other variables; ended
    after `time_limit` seconds, by TERM and `grace` seconds later by KILL. `mark` is in the environment of all its
    processes."""

    argv: tuple[str, ...]
    run_dir: str
    output: str
    env: Mapping[str, str]
    mark: str
    time_limit: float | None = None
    grace: float = GRACE


@dataclass(frozen=True, slots=True)
class Begin:
    """That it began, at `started_at` in Unix seconds, and the process that watches it; all None where the record is
    damaged, which says no more than that."""

    pid: int | None = None
    start_time: int | None = None
    started_at: float | None = None

    def __post_init__(self) -> None:
        _whole("pid", self.pid, 1, _MOST_PID)
        _whole("start_time", self.start_time, 0, _MOST_TICKS)
        _time("started_at", self.started_at)


@dataclass(frozen=True, slots=True)
class End:
    """How it ended: an exit code or a signal, `cause` as above or empty, `limit` the one it ran over, in seconds;
    `reason` why it could not be started."""

    ended_at: float
    exit_code: int | None = None
    signal: int | None = None
    cause: str = ""
    reason: str = ""
    limit: float | None = None

    def __post_init__(self) -> None:
        _whole("exit_code", self.exit_code, 0, _MOST_EXIT)
        _whole("signal", self.signal, 1, _MOST_SIGNAL)
        _time("ended_at", self.ended_at)
        _time("limit", self.limit)
        if self.ended_at is None or self.cause not in ("", CANCELLED, TIME_LIMIT, LOST):
            raise InputError("cause", self.cause, "a known cause, and a time")
        if (self.cause == TIME_LIMIT) != (self.limit is not None) or not isinstance(self.reason, str):
            raise InputError("limit", self.limit, f"a limit with the cause {TIME_LIMIT} alone, and a reason in words")


class RunRecord:
    """The record of the run in `folder`. Each of its files is whole or not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def order(self) -> Order:
        """What was ordered. Raises OSError, RunFileError, ValueError, TypeError or KeyError where it cannot be read."""
        raw = run_directory.read_json(self.folder, "order.json", _MOST)
        return Order(**{**raw, "argv": tuple(raw["argv"])})

    def begin(self) -> Begin | None:
        """Its begin; None when it was never started. Raises OSError where the machine is at fault."""
        try:
            return None if (raw := self._read("begin.json")) is None else Begin(**raw)
        except (RunFileError, InputError, ValueError, TypeError) as error:
            log.warning("%s: it is not known when the run began: %s", self.folder, error)
            return Begin()

    def end(self) -> End | None:
        """Its end; None while it runs, and where nobody can read how it ended. Raises OSError as `begin`."""
        try:
            return None if (raw := self._read("end.json")) is None else End(**raw)
        except (RunFileError, InputError, ValueError, TypeError) as error:
            log.warning("%s: how the run ended is not readable: %s", self.folder, error)
            return None

    def write_order(self, order: Order) -> None:
        """Make the folder, for its owner alone, and keep what to start. Raises OSError."""
        folders.make(self.folder)
        self._write("order.json", order)

    def write_begin(self) -> None:
        """It begins, and this process watches it."""
        self._write("begin.json", Begin(os.getpid(), kernel.start_time(os.getpid()), time.time()), synced=True)

    def write_end(self, end: End) -> None:
        """It has ended. Raises OSError."""
        self._write("end.json", end, synced=True)

    def open_lock(self) -> int:
        """The lock that whoever watches the run has for as long as it lives."""
        return file_lock.open_lock(self.folder / "watched.lock")

    def is_watched(self) -> bool:
        """Whether the process that watches the run is alive. Raises OSError."""
        try:
            descriptor = self.open_lock()
        except OSError as error:
            if error.errno in _NO_LOCK:
                return False
            raise
        try:
            return file_lock.is_held(descriptor)
        finally:
            os.close(descriptor)

    def _read(self, name: str) -> dict[str, Any] | None:
        """A file's fields; None when there is no such file. Raises OSError, RunFileError, ValueError or TypeError."""
        try:
            file = run_directory.open_plain(self.folder, name)
        except RunFileError as error:
            if error.fault is Fault.NO_DIRECTORY:
                return None
            raise
        if file is None:
            return None
        with file:
            return {**bounded_json.loads(file.read(_MOST))}

    def _write(self, name: str, value: Order | Begin | End, synced: bool = False) -> None:
        atomic_file.write(self.folder / name, json.dumps(asdict(value)), mode=0o600, synced=synced)


def _whole(field: str, value: object, least: int, most: int) -> None:
    if value is not None:
        checked_numbers.whole(field, value, least, most)


def _time(field: str, value: object) -> None:
    if value is not None and not is_time(value):
        raise InputError(field, value, "a number of seconds")
