"""The file of a program on the portal's machine: only what everybody may reach and read is looked at.

Whatever else the portal can see is nobody's to ask about, not even whether it is there.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from scheduling.jobs.core import program_start
from scheduling.jobs.models import Application
from scheduling.jobs.ownership_models import OwnProgram

_MOST_FILE = 64 * 2**20
_MOST_LINKS = 40


class Presence(StrEnum):
    """What stands at a path."""

    FILE = "file"
    NOT_EXECUTABLE = "not executable"
    MISSING = "missing"
    #: In a folder that not everybody may enter.
    UNKNOWN = "unknown"


def own_program(application: Application) -> OwnProgram | None:
    """What somebody said of a program that they brought, also after it was published; None of any other."""
    return getattr(application, "program", None) if is_brought(application) else None


def is_brought(application: Application) -> bool:
    """Whether it is somebody's own, or was uploaded before it was published."""
    return application.owner_id is not None or program_start.UPLOADED in application.command


def program_path(application: Application) -> str:
    """The whole path of the program itself; empty for an uploaded one, or where a search path decides."""
    program = own_program(application)
    first = application.command[0] if application.command else ""
    path = program.path if program else first
    return path if path.startswith("/") and "{" not in path else ""


def content(application: Application) -> bytes:
    """Its file, uploaded or at its path; empty where it cannot be read."""
    program = own_program(application)
    if program is not None and program.content:
        return bytes(program.content)
    path = program_path(application)
    return _read(path) if path else b""


def presence(path: str) -> Presence:
    """What is at an absolute path, as far as everybody may look."""
    try:
        found = _reached(path)
    except OSError:
        return Presence.MISSING
    if found is None:
        return Presence.UNKNOWN
    if not stat.S_ISREG(found.st_mode):
        return Presence.MISSING
    return Presence.FILE if found.st_mode & 0o111 else Presence.NOT_EXECUTABLE


def _reached(path: str) -> os.stat_result | None:
    """What is at the end of a path and its links; None behind a folder that others may not enter. Raises OSError."""
    parts, at, links = deque(Path(path).parts[1:]), Path("/"), 0
    while parts:
        if not at.stat().st_mode & stat.S_IXOTH:
            return None
        part = parts.popleft()
        below = at.parent if part == ".." else at / part
        if not stat.S_ISLNK(below.lstat().st_mode):
            at = below
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError("links go round")
        target = below.readlink()
        parts.extendleft(reversed(target.parts[1:] if target.is_absolute() else target.parts))
        at = Path("/") if target.is_absolute() else at
    return at.stat()


def _read(path: str) -> bytes:
    if presence(path) not in (Presence.FILE, Presence.NOT_EXECUTABLE):
        return b""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            seen = os.fstat(descriptor)
            if stat.S_ISREG(seen.st_mode) and seen.st_mode & stat.S_IROTH and seen.st_size <= _MOST_FILE:
                return file.read(_MOST_FILE)
    return b""
