"""The file from which a program with a restart of its own goes on: the newest one that is whole.

The job's user owns the folder, so nothing in it is trusted: links are not followed, what is no plain file does not
count, and nobody looks at more entries than there can be.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

#: Entries of folders that are looked at, at most.
MOST_ENTRIES = 100_000
#: A file that has less than this part of the one before was cut off while it was written.
_WHOLE = 0.5
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class FileHealth(StrEnum):
    """Whether a program can go on from a file. The database column holds these words."""

    WHOLE = "whole"
    EMPTY = "empty"
    CUT_OFF = "cut off"  # it has less than half of the one before


class TooManyEntriesError(OSError):
    """The folder has more entries than anybody looks at."""


@dataclass(frozen=True, slots=True)
class RestartFile:
    """`path`: absolute. `size` in bytes, `written_at` in Unix seconds."""

    path: str
    size: int
    written_at: float

    @property
    def name(self) -> str:
        """Its name alone."""
        return self.path.rpartition("/")[2]


def newest(folder: Path, pattern: str) -> RestartFile | None:
    """The newest file below `folder` that matches `pattern` and is whole; None where there is none.

    One that is empty, or has less than half of the one before, is passed over: it was cut off. Where the newest are of
    one time, that of the last name counts. Raises OSError; O(entries of the folders that the pattern names).
    """
    return next((file for file, health in judged(matching(folder, pattern)) if health is FileHealth.WHOLE), None)


def judged(files: Iterable[RestartFile]) -> Iterator[tuple[RestartFile, FileHealth]]:
    """Each with what is to be thought of it, the newest first.

    >>> files = [RestartFile("/c/melt.1", 900, 1.0), RestartFile("/c/melt.2", 80, 2.0)]
    >>> [(file.name, health.value) for file, health in judged(files)]
    [('melt.2', 'cut off'), ('melt.1', 'whole')]
    """
    found = sorted(files, key=lambda file: (file.written_at, file.path), reverse=True)
    sizes = [file.size for file in found[1:]]
    for file, before in zip(found, [*sizes, 0], strict=False):
        whole = FileHealth.WHOLE if file.size >= _WHOLE * before else FileHealth.CUT_OFF
        yield file, whole if file.size else FileHealth.EMPTY


def matching(folder: Path, pattern: str) -> list[RestartFile]:
    """All files below `folder` that match, in no order. Raises OSError."""
    try:
        opened = os.open(folder, _FOLDER)
    except FileNotFoundError:
        return []
    budget = [MOST_ENTRIES]
    return list(_matching(opened, str(folder), pattern.split("/"), budget))


def _matching(folder: int, path: str, parts: Sequence[str], budget: list[int]) -> Iterator[RestartFile]:
    """In an open folder, which is closed then: whatever becomes of its name meanwhile."""
    try:
        for name, about in _entries(folder, parts[0], budget):
            if len(parts) == 1 and stat.S_ISREG(about.st_mode):
                yield RestartFile(f"{path}/{name}", about.st_size, about.st_mtime)
            elif len(parts) > 1 and stat.S_ISDIR(about.st_mode):
                below = os.open(name, _FOLDER, dir_fd=folder)
                yield from _matching(below, f"{path}/{name}", parts[1:], budget)
    finally:
        os.close(folder)


def _entries(folder: int, pattern: str, budget: list[int]) -> Iterator[tuple[str, os.stat_result]]:
    """Those with a name that matches and can be told to a program; what goes away meanwhile is none."""
    with os.scandir(folder) as entries:
        for entry in entries:
            budget[0] -= 1
            if budget[0] < 0:
                raise TooManyEntriesError(f"There are more than {MOST_ENTRIES} entries to look at")
            if fnmatchcase(entry.name, pattern) and entry.name.isprintable():
                with contextlib.suppress(FileNotFoundError):
                    yield entry.name, os.stat(entry.name, dir_fd=folder, follow_symlinks=False)
