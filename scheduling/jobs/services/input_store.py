"""Where the content of input files lies: HOME/inputs, a file for each content, named by its SHA-256."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

_PART = ".part"
_PRIVATE = 0o600


def folder() -> Path:
    """The folder of them all."""
    return Path(settings.PORTAL.home) / "inputs"


def path_of(digest: str) -> Path:
    """Where the content with this hash lies, or would."""
    return folder() / digest[:2] / digest


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """A content that is written down and not kept yet, with its hash and its size in bytes."""

    path: Path
    digest: str
    size: int

    def keep(self) -> None:
        """Keep it by its hash. The same twice is kept once."""
        path_of(self.digest).parent.mkdir(mode=0o700, exist_ok=True)
        self.path.rename(path_of(self.digest))

    def discard(self) -> None:
        """Let go of it, unless it is kept."""
        self.path.unlink(missing_ok=True)


def write(chunks: Iterable[bytes]) -> WrittenPart:
    """Write a content down, whole or not at all, and hash it meanwhile. Raises OSError."""
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    part = folder() / f"{secrets.token_hex(16)}{_PART}"
    hashed, size = hashlib.sha256(), 0
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "wb") as file:
            for chunk in chunks:
                hashed.update(chunk)
                size += file.write(chunk)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return WrittenPart(part, hashed.hexdigest(), size)


def forget_unneeded(needed: Callable[[list[str]], set[str]], older_than: float) -> int:
    """Remove contents that nobody needs and parts that were never whole, where they are older than so many seconds; how
    many. `needed`: which of some hashes are needed."""
    before = time.time() - older_than
    old = [path for path in _all() if _modified(path) < before]
    kept = needed([path.name for path in old])
    gone = [path for path in old if path.name not in kept]
    for path in gone:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
    return len(gone)


def _all() -> Iterator[Path]:
    for each in folder().glob("*"):
        if each.is_dir():
            yield from each.iterdir()
        elif each.name.endswith(_PART):
            yield each


def _modified(path: Path) -> float:
    """When it was written; now for one that is gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()
