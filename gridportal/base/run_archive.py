"""A folder of a run directory as one tar archive, which is made while it is sent.

Nothing in it is trusted: what is no plain file with a single name, as `run_directory` reads them, is left out. The size
is known before the first byte, for a tar has no compression; what is missing of a file that shrinks or goes meanwhile
is filled up with zeros. The last file, NOTE, tells what was left out and which files are not whole.
"""

from __future__ import annotations

import os
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from gridportal.base.errors import InputError
from gridportal.base.run_directory import Fault, RunFileError, open_plain
from gridportal.base.run_listing import MOST_COUNTED, FolderUse, check_path, paths_below, shown_path

#: The name of the last file; with underscores before it where the run has a file of that name.
NOTE = "NOT-WHOLE.txt"
_PIECE = 1 << 18
_BLOCK, _RECORD = tarfile.BLOCKSIZE, tarfile.RECORDSIZE
_MODE, _PROGRAM_MODE = 0o644, 0o755
_NOTE_ROOM = 16 * _BLOCK  # bytes, which are known before anything is sent
_LAST_ROOM = 64  # of these for the line that counts what found no room


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file of the archive. `path`: below the run directory; `size` in bytes; `header`: its blocks before the file."""

    path: str
    size: int
    header: bytes


@dataclass(frozen=True, slots=True)
class RunArchive:
    """What is sent. `left_out`: a line for each path that is not in it; `note`: the header of the file that says so;
    `size`: bytes of the whole archive."""

    directory: Path
    files: tuple[ArchivedFile, ...]
    left_out: tuple[str, ...]
    note: bytes
    size: int

    def pieces(self) -> Iterator[bytes]:
        """The archive, piece by piece, always of the size that was told."""
        sent = len(self.note) + _NOTE_ROOM
        broken = list[str]()
        for each in self.files:
            yield each.header
            yield from _content(self.directory, each, broken)
            yield bytes(-each.size % _BLOCK)
            sent += len(each.header) + _padded(each.size, _BLOCK)
        yield self.note
        yield _note(broken, self.left_out)
        yield bytes(self.size - sent)


def archive_of(directory: Path, path: str, name: str) -> RunArchive:
    """The folder `path` below the run directory; in the archive all lies in the folder `name`.

    Raises RunFileError, InputError for a folder with too many files, OSError. Cost: each file is opened once.
    """
    checked = check_path(path)
    files, left_out = list[ArchivedFile](), list[str]()
    for below, fault in paths_below(directory, checked):
        if len(files) + len(left_out) == MOST_COUNTED:
            least = f"a folder with at most {MOST_COUNTED:,} files; download the folders in it one by one"
            raise InputError("path", checked or "/", least)
        found = fault or _archived(directory, below, name)
        if isinstance(found, ArchivedFile):
            files.append(found)
        elif found:
            left_out.append(f"LEFT OUT: {shown_path(below)}: {found.sentence.removeprefix('is ')}")
    note = _header(f"{name}/{_note_name(files)}", _NOTE_ROOM, time.time(), _MODE)
    size = sum(len(each.header) + _padded(each.size, _BLOCK) for each in files) + len(note) + _NOTE_ROOM
    return RunArchive(directory, tuple(files), tuple(left_out), note, _padded(size + 2 * _BLOCK, _RECORD))


def expected_size(use: FolderUse) -> int:
    """Bytes of the archive of a whole run directory, without opening its files: a little more or less than it has."""
    return _padded(use.in_tar + _BLOCK + _NOTE_ROOM + 2 * _BLOCK, _RECORD)


def _archived(directory: Path, path: str, name: str) -> ArchivedFile | Fault | None:
    """Why it is not read, or None where it has gone."""
    try:
        file = open_plain(directory, path)
    except RunFileError as error:
        return error.fault
    if file is None:
        return None
    with file:
        seen = os.fstat(file.fileno())
    mode = _PROGRAM_MODE if seen.st_mode & 0o100 else _MODE
    return ArchivedFile(path, seen.st_size, _header(f"{name}/{path}", seen.st_size, seen.st_mtime, mode))


def _header(path: str, size: int, modified: float, mode: int) -> bytes:
    header = tarfile.TarInfo(path)
    header.size, header.mtime, header.mode = size, int(modified), mode
    return header.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")


def _content(directory: Path, each: ArchivedFile, broken: list[str]) -> Iterator[bytes]:
    """As many bytes as the file's header says: what was written since is left out, what is missing is zeros, and
    `broken` gets a line."""
    left, why = each.size, "it got shorter while the archive was sent"
    with ExitStack() as opened:
        try:
            file = open_plain(directory, each.path)
            if file is None:
                why = "it went away while the archive was sent"
            else:
                opened.enter_context(file)
                while left and (piece := file.read(min(_PIECE, left))):
                    left -= len(piece)
                    yield piece
        except RunFileError as error:
            why = error.fault.sentence
        except OSError as error:
            why = error.strerror or "it could not be read"
    if left:
        broken.append(f"NOT WHOLE: {shown_path(each.path)}: {each.size - left:,} of {each.size:,} bytes; {why}")
    while left:
        left -= (count := min(_PIECE, left))
        yield bytes(count)


def _note(broken: Sequence[str], left_out: Sequence[str]) -> bytes:
    """The text of the last file, cut to its room and filled up with empty lines."""
    first = "These files are not whole: zeros stand for what is missing." if broken else "All files are whole."
    lines = [first, *broken, *left_out]
    text = b""
    for place, line in enumerate(lines):
        encoded = f"{line}\n".encode("utf-8", "replace")
        if len(text) + len(encoded) > _NOTE_ROOM - _LAST_ROOM:
            text += f"And {len(lines) - place:,} more.\n".encode()
            break
        text += encoded
    return text.ljust(_NOTE_ROOM, b"\n")


def _note_name(files: Sequence[ArchivedFile]) -> str:
    taken, name = {each.path for each in files}, NOTE
    while name in taken:
        name = f"_{name}"
    return name


def _padded(size: int, block: int) -> int:
    """
    >>> _padded(0, 512), _padded(1, 512), _padded(512, 512)
    (0, 512, 512)
    """
    return -(-size // block) * block
