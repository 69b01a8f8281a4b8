"""What is kept of one run on disk, in a folder of its own: its order, that it began, and how it ended."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gridportal.base import atomic_file, bounded_json, file_lock
from gridportal.testbed import kernel

#: Why a run ended: asked to, over its limit, or nobody knows since what watched it is gone.
CANCELLED, TIME_LIMIT, LOST = "cancelled", "time_limit", "lost"


@dataclass(frozen=True, slots=True)
class Order:
    """What to start: `argv` in `run_dir`, its output in the file `output`, with `env` and no other variables; ended
    after `time_limit` seconds. `mark` is in the environment of all its processes."""

    argv: tuple[str, ...]
    run_dir: str
    output: str
    env: Mapping[str, str]
    mark: str
    time_limit: float | None = None


@dataclass(frozen=True, slots=True)
class Begin:
    """That it began, at `started_at` in Unix seconds, and the process that watches it."""

    pid: int
    start_time: int | None
    started_at: float


@dataclass(frozen=True, slots=True)
class End:
    """How it ended: an exit code or a signal, `cause` as above or empty, `reason` why it could not be started."""

    ended_at: float
    exit_code: int | None = None
    signal: int | None = None
    cause: str = ""
    reason: str = ""


class RunRecord:
    """The record of the run in `folder`. Each of its files is whole or not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def order(self) -> Order:
        """What was ordered. Raises OSError, ValueError, TypeError or KeyError where it cannot be read."""
        raw = bounded_json.loads((self.folder / "order.json").read_text(encoding="utf-8"))
        return Order(**{**raw, "argv": tuple(raw["argv"])})

    def begin(self) -> Begin | None:
        """Its begin; None when it was never started."""
        raw = self._read("begin.json")
        return Begin(**raw) if raw else None

    def end(self) -> End | None:
        """Its end; None while it runs."""
        raw = self._read("end.json")
        return End(**raw) if raw else None

    def write_order(self, order: Order) -> None:
        """Make the folder, for its owner alone, and keep what to start. Raises OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._write("order.json", order)

    def write_begin(self) -> None:
        """It begins, and this process watches it."""
        self._write("begin.json", Begin(os.getpid(), kernel.start_time(os.getpid()), time.time()))

    def write_end(self, end: End) -> None:
        """It has ended."""
        self._write("end.json", end)

    def open_lock(self) -> int:
        """The lock that whoever watches the run has for as long as it lives."""
        return file_lock.open_lock(self.folder / "watched.lock")

    def is_watched(self) -> bool:
        """Whether the process that watches the run is alive."""
        descriptor = self.open_lock()
        try:
            return file_lock.is_held(descriptor)
        finally:
            os.close(descriptor)

    def _read(self, name: str) -> dict[str, Any]:
        try:
            found = bounded_json.loads((self.folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, name: str, value: Order | Begin | End) -> None:
        atomic_file.write(self.folder / name, json.dumps(asdict(value)), mode=0o600)
