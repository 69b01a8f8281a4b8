"""A folder of a run directory as one tar archive, which is made while it is sent.

Nothing in it is trusted: what is no plain file with a single name, as `run_directory` reads them, is left out. The size
is known before the first byte, for a tar has no compression; a file that shrinks meanwhile ends the stream early, so
that nobody takes half an archive for a whole one.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from gridportal.base.errors import InputError
from gridportal.base.run_directory import Fault, RunFileError, open_plain
from gridportal.base.run_listing import MOST_COUNTED, check_path, plain_paths

_PIECE = 1 << 18
_BLOCK, _RECORD = tarfile.BLOCKSIZE, tarfile.RECORDSIZE
_MODE, _PROGRAM_MODE = 0o644, 0o755


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file of the archive. `path`: below the run directory; `size` in bytes; `header`: its blocks before the file."""

    path: str
    size: int
    header: bytes


@dataclass(frozen=True, slots=True)
class RunArchive:
    """What is sent. `size`: bytes of the whole archive."""

    directory: Path
    files: tuple[ArchivedFile, ...]
    size: int

    def pieces(self) -> Iterator[bytes]:
        """The archive, piece by piece. Raises RunFileError where a file is not any more what it was."""
        sent = 0
        for each in self.files:
            yield each.header
            yield from _content(self.directory, each)
            yield bytes(-each.size % _BLOCK)
            sent += len(each.header) + _padded(each.size, _BLOCK)
        yield bytes(self.size - sent)


def archive_of(directory: Path, path: str, name: str) -> RunArchive:
    """The folder `path` below the run directory; in the archive all lies in the folder `name`.

    Raises RunFileError, InputError for a folder with too many files, OSError. Cost: each file is opened once.
    """
    checked = check_path(path)
    files = list[ArchivedFile]()
    for below in plain_paths(directory, checked):
        if len(files) == MOST_COUNTED:
            least = f"a folder with at most {MOST_COUNTED:,} files; download the folders in it one by one"
            raise InputError("path", checked or "/", least)
        if file := _archived(directory, below, name):
            files.append(file)
    size = sum(len(each.header) + _padded(each.size, _BLOCK) for each in files)
    return RunArchive(directory, tuple(files), _padded(size + 2 * _BLOCK, _RECORD))


def _archived(directory: Path, path: str, name: str) -> ArchivedFile | None:
    """None for what is not read: it has gone, or is no plain file of the program's own."""
    try:
        file = open_plain(directory, path)
    except RunFileError:
        return None
    if file is None:
        return None
    with file:
        seen = os.fstat(file.fileno())
    header = tarfile.TarInfo(f"{name}/{path}")
    header.size, header.mtime = seen.st_size, int(seen.st_mtime)
    header.mode = _PROGRAM_MODE if seen.st_mode & 0o100 else _MODE
    return ArchivedFile(path, seen.st_size, header.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))


def _content(directory: Path, each: ArchivedFile) -> Iterator[bytes]:
    """As many bytes of the file as its header says; what was written since is left out."""
    with ExitStack() as opened:
        file = open_plain(directory, each.path)
        left = each.size
        if file is not None:
            opened.enter_context(file)
            while left and (piece := file.read(min(_PIECE, left))):
                left -= len(piece)
                yield piece
        if left:
            raise RunFileError(each.path, Fault.LEFT_OUT, "it got shorter while the archive was sent")


def _padded(size: int, block: int) -> int:
    """
    >>> _padded(0, 512), _padded(1, 512), _padded(512, 512)
    (0, 512, 512)
    """
    return -(-size // block) * block
