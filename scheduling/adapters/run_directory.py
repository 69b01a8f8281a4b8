"""Reading a run directory: the program writes there, so nothing in it is trusted.

Only plain files that lie in the directory itself are opened: no symbolic link, no pipe, no device.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

OUTPUT = "output.log"
PROGRESS = "progress.jsonl"
EXIT = "exit.json"
SCRIPT = "script.sh"


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file from `offset`; `size` is the whole file's."""

    data: bytes
    offset: int
    size: int

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.offset + len(self.data)


@dataclass(frozen=True, slots=True)
class ExitRecord:
    """What the batch script wrote at its end; `ended_at` in Unix seconds."""

    exit_code: int
    ended_at: float | None


def read_part(directory: Path, name: str, offset: int | None, limit: int) -> Part:
    """At most `limit` bytes of a file from `offset`, or its last ones; empty when there is no such plain file."""
    with _open(directory, name) as file:
        if file is None:
            return Part(b"", 0, 0)
        size = os.fstat(file.fileno()).st_size
        start = max(0, size - limit) if offset is None else min(max(0, offset), size)
        file.seek(start)
        return Part(file.read(limit), start, size)


def exit_record(directory: Path) -> ExitRecord | None:
    """The exit record, or None while there is none that can be read."""
    part = read_part(directory, EXIT, 0, 4096)
    try:
        record = json.loads(part.data)
        ended = record.get("ended_at")
        return ExitRecord(int(record["exit_code"]), float(ended) if ended is not None else None)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None


def begun(directory: Path) -> bool:
    """Whether a run has left any trace of having been started here."""
    return any((directory / name).exists() for name in (OUTPUT, PROGRESS, EXIT))


def last_lines(directory: Path, count: int = 60, width: int = 200) -> list[str]:
    """The last lines of the log that say anything, each cut at `width`."""
    text = read_part(directory, OUTPUT, None, 8192).data.decode("utf-8", "replace")
    said = [line for line in text.splitlines() if line.strip()]
    return ["".join(c if c.isprintable() else " " for c in line)[:width] for line in said[-count:]]


def prepare(directory: Path, script: str) -> None:
    """Make the directory and its script, whole or not at all; the same again does nothing new."""
    directory.mkdir(parents=True, exist_ok=True)
    part = directory / f"{SCRIPT}.{os.getpid()}.part"
    part.write_text(script, encoding="utf-8")
    part.chmod(0o755)
    part.replace(directory / SCRIPT)


def open_plain(directory: Path, name: str) -> BinaryIO | None:
    """A plain file of the directory, open for reading; None when there is none. The caller closes it."""
    try:
        descriptor = os.open(directory / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    file = os.fdopen(descriptor, "rb")
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return file
    file.close()
    return None


@contextmanager
def _open(directory: Path, name: str) -> Iterator[BinaryIO | None]:
    file = open_plain(directory, name)
    try:
        yield file
    finally:
        if file is not None:
            file.close()
