"""The one reader of what programs leave in a run directory, of which nothing is trusted; `run_files` names the files.

A program may put anything under any name, and change it while it is read. So only plain files with a single name that
lie in the directory itself are opened: no link (neither the directory nor a folder in it), no pipe, no device. Opening
never waits, and what is read has a bound. The portal, the Grid's daemon and the command line read by this alone.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO, TypeGuard

from gridportal.base import atomic_file, bounded_json
from gridportal.base.errors import GridPortalError
from gridportal.base.run_files import EXIT, LATEST, OUTPUT, PROGRESS, SCRIPT

MAX_RECORD = 4096
_MOST_EXIT = 255
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Fault(Enum):
    """Why a run, or a file that it left, cannot be read.

    `sentence` continues one that begins with the file's name. `lasts`: looking again finds the same. `stays`: what
    is lost by it does not come back, even when the file can be read again.
    """

    NO_DIRECTORY = ("cannot be read, for the run directory is gone or was replaced",)
    NO_FOLDER = ("cannot be read, for its folder is a link or no directory",)
    NO_FILE = ("is not there (any more)",)
    NOT_A_FOLDER = ("is a file, not a folder: ask for it with /file in place of /archive or /files",)
    OUTSIDE = ("is no path below the run's folder",)
    TOO_DEEP = ("is a path with more than {detail}",)
    DEEP = ("lies too deep, below more folders than are read",)
    KEY = ("is a key of the run, which nobody may read",)
    LINK = ("is a link, and links are not followed",)
    SECOND_NAME = ("has a second name (a hard link), so that it may be anybody's file",)
    DIRECTORY = ("is a directory, not a plain file",)
    SPECIAL = ("is a pipe, socket or device, not a plain file",)
    DENIED = ("may not be read by the portal",)
    LEASED = ("is held back by the program (a lease)", False)
    TOO_LARGE = ("is larger than {detail} bytes",)
    NO_JSON = ("cannot be read: {detail}",)
    BAD_VALUE = ("holds {detail}",)
    BAD_LINE = ("has a line that is {detail}", True, True)
    BEHIND = ("is still being read", False)
    LEFT_OUT = ("was not read whole: {detail}", True, True)
    REFUSED = ("was not taken over: {detail}", False)
    MACHINE = ("could not be followed: {detail}", False)
    UNEXPECTED = ("could not be followed: {detail}",)

    def __init__(self, sentence: str, lasts: bool = True, stays: bool = False) -> None:
        self.sentence, self.lasts, self.stays = sentence, lasts, stays


class RunFileError(GridPortalError):
    """A file of a run directory that is not read; a program's doing, not the machine's (that is an OSError)."""

    def __init__(self, file: str, fault: Fault, detail: object = "") -> None:
        self.file, self.fault, self.detail = file, fault, str(detail)
        super().__init__(f"{file} {fault.sentence.format(detail=self.detail.rstrip('.'))}.")

    def as_document(self) -> dict[str, str]:
        """What a database keeps of it."""
        return {"file": self.file, "fault": self.fault.name, "detail": self.detail}

    @classmethod
    def from_document(cls, document: Mapping[str, str]) -> RunFileError:
        """The error that `as_document` wrote down."""
        return cls(document["file"], Fault[document["fault"]], document["detail"])


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
    """What the batch script, or whoever else, wrote into exit.json; `ended_at` in Unix seconds."""

    exit_code: int
    ended_at: float | None


def open_plain(directory: Path, name: str) -> BinaryIO | None:
    """A plain file, open for reading; None when there is none of that name. The caller closes it.

    `name` may lead through folders. Raises RunFileError.
    """
    descriptor = _descriptor(directory, name)
    if descriptor is None:
        return None
    try:
        if fault := _fault_of(os.fstat(descriptor)):
            raise RunFileError(name, fault)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_part(directory: Path, name: str, offset: int | None, limit: int) -> Part:
    """At most `limit` bytes of a file from `offset`, or its last ones; empty when there is none.

    Raises RunFileError.
    """
    with _opened(directory, name) as file:
        if file is None:
            return Part(b"", 0, 0)
        size = os.fstat(file.fileno()).st_size
        start = max(0, size - limit) if offset is None else min(max(0, offset), size)
        file.seek(start)
        return Part(file.read(limit), start, size)


def read_json(directory: Path, name: str, limit: int) -> Any:
    """The value of a JSON file of at most `limit` bytes; None when there is no such file, or nothing in it.

    Raises RunFileError.
    """
    return read_json_text(directory, name, limit)[0]


def read_json_text(directory: Path, name: str, limit: int) -> tuple[Any, bytes]:
    """The same, and its text. Raises RunFileError."""
    part = read_part(directory, name, 0, limit)
    if part.size > limit:
        raise RunFileError(name, Fault.TOO_LARGE, limit)
    if not part.data:
        return None, part.data
    try:
        return bounded_json.loads(part.data), part.data
    except bounded_json.UnreadableError as error:
        raise RunFileError(name, Fault.NO_JSON, error) from error


def exit_record(directory: Path) -> ExitRecord | None:
    """The exit record, or None while there is none. Raises RunFileError."""
    record = read_json(directory, EXIT, MAX_RECORD)
    if record is None:
        return None
    if not isinstance(record, dict):
        raise RunFileError(EXIT, Fault.BAD_VALUE, "no exit record")
    code, ended = record.get("exit_code"), record.get("ended_at")
    if not isinstance(code, int) or isinstance(code, bool) or not 0 <= code <= _MOST_EXIT:
        raise RunFileError(EXIT, Fault.BAD_VALUE, f"no exit_code from 0 to {_MOST_EXIT}")
    if ended is not None and not is_time(ended):
        raise RunFileError(EXIT, Fault.BAD_VALUE, "an ended_at that is no time")
    return ExitRecord(code, None if ended is None else float(ended))


def is_time(value: object) -> TypeGuard[float]:
    """Whether a value is Unix seconds of a time before LATEST."""
    return is_seconds(value, LATEST)


def is_seconds(value: object, most: float) -> TypeGuard[float]:
    """Whether a value is a finite number of seconds from 0 to `most`.

    >>> is_seconds(1.5, 10), is_seconds(-1, 10), is_seconds(float("nan"), 10), is_seconds(True, 10)
    (True, False, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


def begun(directory: Path) -> bool:
    """Whether a run has left any trace of having been started here."""
    return any(os.path.lexists(directory / name) for name in (OUTPUT, PROGRESS, EXIT))


def first_fault(directory: Path) -> RunFileError | None:
    """The first of the files that every run has which cannot be read as what it ought to be."""
    try:
        for name in (OUTPUT, PROGRESS):
            with _opened(directory, name):
                pass
        exit_record(directory)
    except RunFileError as error:
        return error
    return None


def last_lines(directory: Path, count: int = 60, width: int = 200, size: int = 8192) -> list[str]:
    """The last lines that say anything, of the last `size` bytes of the log, each cut at `width`; none when it cannot
    be read."""
    try:
        text = read_part(directory, OUTPUT, None, size).data.decode("utf-8", "replace")
    except RunFileError:
        return []
    lines = [line for line in text.splitlines() if line.strip()]
    return ["".join(c if c.isprintable() else " " for c in line)[:width] for line in lines[-count:]]


def prepare(directory: Path, script: str) -> None:
    """Make the directory and its script, whole or not at all; the same again does nothing new."""
    directory.mkdir(parents=True, exist_ok=True)
    write(directory, SCRIPT, script, 0o755)


def write(directory: Path, name: str, content: str | bytes, mode: int = 0o644) -> None:
    """Write a file whole or not at all, into a directory that may belong to somebody who means harm.

    No link is followed, neither one with the file's name nor one in place of the directory. Raises OSError.
    """
    folder = os.open(directory, _FOLDER)
    try:
        atomic_file.write_in(folder, name, content, mode=mode)
    finally:
        os.close(folder)


def copy(directory: Path, name: str, source: Path, mode: int = 0o644) -> None:
    """Copy a file of the portal's there, as `write` does with a text. Raises OSError."""
    folder = os.open(directory, _FOLDER)
    try:
        atomic_file.copy_in(folder, name, source, mode=mode)
    finally:
        os.close(folder)


def remove(directory: Path, name: str) -> None:
    """Take a file away, if it is there, from a directory that may belong to somebody who means harm. Raises OSError."""
    folder = os.open(directory, _FOLDER)
    try:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(folder)


def _descriptor(directory: Path, name: str) -> int | None:
    *folders, last = name.split("/")
    with ExitStack() as opened:
        at = _folder(str(directory), None, RunFileError(name, Fault.NO_DIRECTORY), opened)
        try:
            for folder in folders:
                at = _folder(folder, at, RunFileError(name, Fault.NO_FOLDER), opened)
            return os.open(last, _FILE, dir_fd=at)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:  # no file can have such a name
                return None
            raise _from_system(name, error) from error


def _folder(name: str, at: int | None, fault: RunFileError, opened: ExitStack) -> int:
    """A descriptor of the folder `name` in the folder `at`, closed with `opened`."""
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=at)
    except NotADirectoryError as error:  # a link, too
        raise fault from error
    except FileNotFoundError as error:
        if at is not None:
            raise  # a folder that a program need not make
        raise fault from error
    opened.callback(os.close, descriptor)
    return descriptor


def _from_system(name: str, error: OSError) -> Exception:
    """What the system says, as a fault of the file; the error itself where the machine is at fault."""
    faults = {
        errno.ELOOP: Fault.LINK,
        errno.EACCES: Fault.DENIED,
        errno.EPERM: Fault.DENIED,
        errno.ENXIO: Fault.SPECIAL,
        errno.ENODEV: Fault.SPECIAL,
        errno.EAGAIN: Fault.LEASED,
    }
    fault = faults.get(error.errno or 0)
    return RunFileError(name, fault) if fault else error


def _fault_of(found: os.stat_result) -> Fault | None:
    if stat.S_ISDIR(found.st_mode):
        return Fault.DIRECTORY
    if not stat.S_ISREG(found.st_mode):
        return Fault.SPECIAL
    return Fault.SECOND_NAME if found.st_nlink > 1 else None


@contextmanager
def _opened(directory: Path, name: str) -> Iterator[BinaryIO | None]:
    file = open_plain(directory, name)
    try:
        yield file
    finally:
        if file is not None:
            file.close()
