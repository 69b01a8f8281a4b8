"""Write a file aside, then rename it: readers see the old file or the new one, whole, and never a half of either.

The new file gets a name that nobody can foresee, and is never opened through a link. What has the final name by then is
replaced, a link too: the file that it points to stays as it is. Nothing is left behind where writing fails. A name is
all that is whole: after a power cut the content of the last seconds may be gone, unless the file is `synced`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BY_UMASK = 0o666


def write(path: Path, content: str | bytes, *, mode: int | None = None, synced: bool = False) -> None:
    """Write `content` (text as UTF-8) to `path`, whose folder is there and may be reached through links.

    `mode` are the permissions that the file has whatever the umask; without it the umask decides. `synced`: the content
    is on the disk before the file has its name. Raises OSError.
    """
    folder = os.open(path.parent, _FOLDER)
    try:
        write_in(folder, path.name, content, mode=mode, synced=synced)
    finally:
        os.close(folder)


def write_in(folder: int, name: str, content: str | bytes, *, mode: int | None = None, synced: bool = False) -> None:
    """The same in a folder that is open already (a descriptor), for who must know which folder it is."""

    def fill(file: BinaryIO) -> None:
        file.write(content.encode() if isinstance(content, str) else content)
        if synced:
            file.flush()
            os.fsync(file.fileno())

    _write_in(folder, name, fill, mode)


def copy_in(folder: int, name: str, source: Path, *, mode: int) -> None:
    """The same with the content of a file, of any size."""
    with source.open("rb") as content:
        _write_in(folder, name, lambda file: shutil.copyfileobj(content, file), mode)


def _write_in(folder: int, name: str, fill: Callable[[BinaryIO], object], mode: int | None) -> None:
    part = f".{os.urandom(16).hex()}.part"
    descriptor = os.open(part, _NEW, _BY_UMASK if mode is None else mode & 0o700, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            fill(file)
            if mode is not None:
                file.flush()
                os.fchmod(file.fileno(), mode)
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part, dir_fd=folder)
        raise
