"""Folders for Unix sockets, whose paths may only be short."""

from __future__ import annotations

import tempfile
from pathlib import Path

_SOCKET_LIMIT = 100  # bytes of a Unix socket's path, a little under the kernel's 108


def socket_folder(wanted: Path, name: str) -> tuple[Path, bool]:
    """`wanted`, or a new private folder when `wanted/name` is too long for a socket; whether it is such a one."""
    if len(str(wanted / name).encode()) <= _SOCKET_LIMIT:
        return wanted, False
    return Path(tempfile.mkdtemp(prefix="gp-")), True
