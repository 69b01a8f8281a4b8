"""What lies in a folder of a run directory, of which nothing is trusted: as `run_directory` reads it, so this lists it.

The way down is opened part by part, and no part may be a link, so that nothing outside is ever listed. What is in a
folder is described without being opened.
"""

from __future__ import annotations

import errno
import heapq
import os
import stat
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from pathlib import Path

from gridportal.base.run_directory import Fault, RunFileError
from gridportal.base.run_files import DEPOTS

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: So many entries of a folder are shown; counted are at most MOST_COUNTED of a whole run directory.
MOST_SHOWN, MOST_COUNTED = 2000, 20_000
_MOST_PARTS, _MOST_PATH = 64, 4000
#: In the run directory itself: a key, which is nobody's to read.
_SECRET = frozenset({DEPOTS})
#: Bytes of the name that an archive gives the folder in which all lies, such as job-1234-run-1.
_TOP_FOLDER = 14


class EntryKind(StrEnum):
    """What an entry is; only files and folders are opened."""

    FOLDER = "folder"
    FILE = "file"
    LINK = "link"
    SECOND_NAME = "second name"
    SPECIAL = "special"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a folder. `size` in bytes; `modified` in Unix seconds."""

    name: str
    kind: EntryKind
    size: int
    modified: float


@dataclass(frozen=True, slots=True)
class Listing:
    """A folder: folders first, then files by name. `left_out`: how many more it has."""

    entries: tuple[Entry, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class FolderUse:
    """What all files below take, in bytes, and how many there are; `whole`: all were counted. `free`: bytes that the
    portal's user may still write on that file system. `in_tar`: bytes of the files in an archive, with their headers.
    """

    size: int
    files: int
    whole: bool
    free: int
    in_tar: int = 0


def check_path(path: str) -> str:
    """A path below the run directory, without a slash at its ends. Raises RunFileError for what leads elsewhere.

    >>> check_path("out/a.txt"), check_path("/out/")
    ('out/a.txt', 'out')
    """
    parts = path.strip("/").split("/") if path.strip("/") else []
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise RunFileError(shown_path(path), Fault.OUTSIDE)
    if len(parts) > _MOST_PARTS or len(path) > _MOST_PATH:
        raise RunFileError(shown_path(path), Fault.TOO_DEEP, f"{_MOST_PARTS} folders or {_MOST_PATH:,} letters")
    if parts and parts[0] in _SECRET:
        raise RunFileError(shown_path(path), Fault.KEY)
    return "/".join(parts)


def list_folder(directory: Path, path: str = "") -> Listing:
    """What lies in the folder `path` below the run directory. Raises RunFileError, OSError."""
    with ExitStack() as opened:
        folder = _open(directory, check_path(path), opened)
        seen = count()
        names = zip(_names(folder, is_top=not path.strip("/")), seen, strict=False)
        first = [name for name, _ in heapq.nsmallest(MOST_SHOWN, names)]
        rows = [entry for name in first if (entry := _entry(folder, name))]
    rows.sort(key=lambda entry: entry.kind is not EntryKind.FOLDER)
    return Listing(tuple(rows), max(0, next(seen) - MOST_SHOWN))


def folder_use(directory: Path) -> FolderUse:
    """What the run directory takes. Raises RunFileError, OSError."""
    size, files, in_tar, looked_at, whole = 0, 0, 0, 0, True
    with ExitStack() as opened:
        top = _open(directory, "", opened)
        room = os.fstatvfs(top)
        for path, folders, names, folder in os.fwalk(".", dir_fd=top, follow_symlinks=False):
            looked_at += len(folders) + len(names)
            if path == ".":
                names = [name for name in names if name not in _SECRET]
            for entry in filter(None, (_entry(folder, name) for name in names[:MOST_COUNTED])):
                if entry.kind is EntryKind.FILE:
                    size, files = size + entry.size, files + 1
                    in_tar += _in_tar(f"{path}/{entry.name}", entry.size)
            if looked_at > MOST_COUNTED:
                whole = False
                break
            if folders and path.count("/") >= _MOST_PARTS:  # each level takes a descriptor, and nobody reads there
                whole = False
                folders.clear()
    return FolderUse(size, files, whole, room.f_bavail * room.f_frsize, in_tar)


def _in_tar(path: str, size: int) -> int:
    """Bytes of a file in a tar: whole blocks, with one for its header, and with three where its name is long."""
    block = tarfile.BLOCKSIZE
    long_name = len(os.fsencode(path)) > tarfile.LENGTH_NAME - _TOP_FOLDER
    return -(-size // block) * block + (3 * block if long_name else block)


def paths_below(directory: Path, path: str = "") -> Iterator[tuple[str, Fault | None]]:
    """The paths below the run directory of all files in the folder `path` and in those below it, whatever they are but
    folders; no link is followed. A folder that is not gone into comes with the reason. Raises RunFileError, OSError."""
    with ExitStack() as opened:
        top = _open(directory, check_path(path), opened)
        for below, folders, names, folder in os.fwalk(".", dir_fd=top, follow_symlinks=False):
            at = "/".join(filter(None, (path.strip("/"), below.removeprefix(".").strip("/"))))
            is_deep = at.count("/") >= _MOST_PARTS  # each level takes a descriptor, and nobody reads there
            closed = {name: fault for name in folders if (fault := _why_closed(folder, name, is_deep=is_deep))}
            folders[:] = sorted(set(folders) - set(closed))
            for name in sorted({*names, *closed}):
                if at or name not in _SECRET:
                    yield f"{at}/{name}" if at else name, closed.get(name)


def _why_closed(folder: int, name: str, *, is_deep: bool) -> Fault | None:
    """Why what looks like a folder is not gone into; None where it is."""
    seen = _entry(folder, name)
    if seen and seen.kind is EntryKind.LINK:
        return Fault.LINK
    if is_deep:
        return Fault.DEEP
    return None if os.access(name, os.R_OK | os.X_OK, dir_fd=folder) else Fault.DENIED


def _open(directory: Path, path: str, opened: ExitStack) -> int:
    """A descriptor of the folder, closed with `opened`."""
    parts = [part for part in path.split("/") if part]
    at = _step(str(directory), None, opened, shown_path(path) or "The folder", Fault.NO_DIRECTORY)
    for place, part in enumerate(parts, 1):
        is_last = place == len(parts)
        at = _step(part, at, opened, shown_path(path), Fault.NOT_A_FOLDER if is_last else Fault.NO_FOLDER)
    return at


def _step(part: str, at: int | None, opened: ExitStack, path: str, no_folder: Fault) -> int:
    """The next part of the path, open; `no_folder`: what it is where it is a file."""
    try:
        descriptor = os.open(part, _FOLDER, dir_fd=at)
    except NotADirectoryError as error:  # a link, too
        seen = None if at is None else _entry(at, part)
        faults = {EntryKind.LINK: Fault.LINK, EntryKind.SPECIAL: Fault.SPECIAL}
        fault = faults.get(seen.kind) if seen and no_folder is Fault.NOT_A_FOLDER else None
        raise RunFileError(path, fault or no_folder) from error
    except FileNotFoundError as error:
        raise RunFileError(path, Fault.NO_DIRECTORY if at is None else Fault.NO_FILE) from error
    except PermissionError as error:
        raise RunFileError(path, Fault.DENIED) from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # nothing can have such a name
            raise RunFileError(path, Fault.NO_FILE) from error
        raise
    opened.callback(os.close, descriptor)
    return descriptor


def _names(folder: int, *, is_top: bool) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not (is_top and entry.name in _SECRET):
                yield entry.name


def _entry(folder: int, name: str) -> Entry | None:
    """None where it is gone by now."""
    try:
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return Entry(name, _kind(seen), seen.st_size, seen.st_mtime)


def _kind(seen: os.stat_result) -> EntryKind:
    if stat.S_ISDIR(seen.st_mode):
        return EntryKind.FOLDER
    if stat.S_ISLNK(seen.st_mode):
        return EntryKind.LINK
    if not stat.S_ISREG(seen.st_mode):
        return EntryKind.SPECIAL
    return EntryKind.SECOND_NAME if seen.st_nlink > 1 else EntryKind.FILE


def is_text(name: str) -> bool:
    """Whether the name of an entry is UTF-8, so that it can stand in an address."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown_path(path: str) -> str:
    """A path in a sentence."""
    return "".join(letter if letter.isprintable() else "?" for letter in path)[:200]
