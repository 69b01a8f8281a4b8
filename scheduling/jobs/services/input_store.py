"""Where the content of input files lies: HOME/inputs, a file for each content, named by its SHA-256."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
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


def digest_of(chunks: Iterable[bytes]) -> str:
    """The hash by which a content is kept."""
    hashed = hashlib.sha256()
    for chunk in chunks:
        hashed.update(chunk)
    return hashed.hexdigest()


def keep(chunks: Iterable[bytes]) -> tuple[str, int]:
    """Write a content down, whole or not at all; its hash and its size in bytes. The same twice is kept once. Raises
    OSError."""
    folder().mkdir(mode=0o700, parents=True, exist_ok=True)
    part = folder() / f"{secrets.token_hex(16)}{_PART}"
    hashed, size = hashlib.sha256(), 0
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "wb") as file:
            for chunk in chunks:
                hashed.update(chunk)
                size += file.write(chunk)
        digest = hashed.hexdigest()
        path_of(digest).parent.mkdir(mode=0o700, exist_ok=True)
        part.rename(path_of(digest))
    finally:
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
    return digest, size


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
