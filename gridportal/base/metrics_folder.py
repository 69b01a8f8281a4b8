"""Where the web server's processes keep their counts, for prometheus_client to find before it is imported."""

from __future__ import annotations

import re
import socket
from pathlib import Path

from gridportal.base import folders

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_FILE = re.compile(r"[a-z]+_(\d+)\.db")


def of(home: Path) -> Path:
    """The folder of this host: process numbers of another one mean nothing here."""
    return home / "metrics" / (re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname()) or "host")


def prepare(folder: Path) -> None:
    """Make it, and remove what processes left that have ended."""
    folders.make(folder)
    for path in folder.iterdir():
        match = _FILE.fullmatch(path.name)
        if match and not Path(f"/proc/{match.group(1)}").exists():
            path.unlink(missing_ok=True)
