"""The folders in which the portal keeps things: made, or one sentence why not; and whether their disk has room."""

from __future__ import annotations

import os
from pathlib import Path

from gridportal.errors import InputError

_ROOM = 4 * 2**20  # bytes: with less than this free a disk counts as full


def private(folder: Path, field: str, given: Path | None = None) -> Path:
    """`folder`, made with mode 0700 where it is not there. InputError that names `field` where it cannot be used.

    `given` is what `field` says, when `folder` lies below that.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(None, "Permission denied")
    except OSError as error:
        why = "Not a directory" if isinstance(error, FileExistsError) else error.strerror
        raise InputError(field, str(given or folder), f"a folder that can be made and written to ({why})") from error
    return folder


def is_full(folder: Path) -> bool:
    """Whether the disk of `folder` has no room left for what the portal writes; False where nobody knows."""
    try:
        about = os.statvfs(folder)
    except OSError:
        return False
    return about.f_bavail * about.f_frsize < _ROOM or (about.f_files > 0 and about.f_favail == 0)
