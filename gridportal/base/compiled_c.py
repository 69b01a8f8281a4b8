"""Small C sources of ours, compiled when they are first needed and kept in this user's cache.

What is kept was built by the same compiler from the same text on the same kind of machine, in a folder that nobody else
can write to.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from gridportal.base import atomic_file
from gridportal.base import processes as shell

_COMPILERS = ("cc", "gcc", "clang")
_COMPILING = 60.0


def put(target: Path, sources: Sequence[Path], flags: Sequence[str]) -> None:
    """Lay the program or library that `sources` make into `target`, mode 0755; compiled anew where it cannot be kept.

    Raises OSError without a compiler, ShellError with the compiler's last words.
    """
    compiler = _compiler()
    try:
        content = _built(compiler, sources, flags, target.suffix, ()).read_bytes()
    except OSError:  # no folder that is ours alone
        content = _compiled(compiler, sources, flags)
    atomic_file.write(target, content, mode=0o755)


def kept(sources: Sequence[Path], headers: Sequence[Path], flags: Sequence[str], suffix: str) -> Path:
    """The file in the cache; without a compiler one that another compiler made of the same text.

    Raises OSError where there is neither or no folder that only this user can write to, ShellError with the compiler's
    last words.
    """
    try:
        compiler = _compiler()
    except OSError:
        name = _name(sources, flags, headers)
        found = next((path for path in _folder().glob(f"{name}-*{suffix}") if _is_ours(path)), None)
        if found is None:
            raise
        return found
    return _built(compiler, sources, flags, suffix, headers)


def _compiler() -> Path:
    for name in _COMPILERS:
        if place := shutil.which(name):
            return Path(place)
    raise OSError("there is no C compiler (cc)")


def _built(compiler: Path, sources: Sequence[Path], flags: Sequence[str], suffix: str, headers: Sequence[Path]) -> Path:
    """The kept file; others may make it at the same time. Raises OSError, ShellError."""
    place = _folder() / f"{_name(sources, flags, headers)}-{_identity(compiler)}{suffix}"
    if not place.exists():
        atomic_file.write(place, _compiled(compiler, sources, flags), mode=0o700)
    if not _is_ours(place):
        raise OSError(f"others may write to {place}")
    return place


def _compiled(compiler: Path, sources: Sequence[Path], flags: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, "made")
        shell.run([str(compiler), *flags, "-o", str(made), *map(str, sources)], timeout=_COMPILING)
        return made.read_bytes()


def _name(sources: Sequence[Path], flags: Sequence[str], headers: Sequence[Path]) -> str:
    """By the text, what is asked of the compiler, and the kind of machine."""
    asked = " ".join((platform.machine(), platform.system(), *flags))
    return f"{sources[0].stem}-{_digest(asked.encode(), *(path.read_bytes() for path in (*sources, *headers)))}"


def _identity(compiler: Path) -> str:
    """Another one after an update, and on another system that shares this user's home."""
    real = compiler.resolve()
    seen = real.stat()
    return _digest(f"{real} {seen.st_size} {seen.st_mtime_ns}".encode())


def _digest(*texts: bytes) -> str:
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:16]


def _folder() -> Path:
    """A folder that only this user can write to. Raises OSError."""
    for folder in filter(Path.is_absolute, _places()):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            continue  # a home that is not there, or may not be written
        if _is_ours(folder) and os.access(folder, os.W_OK):
            return folder
    raise OSError("there is no folder for what is compiled")


def _places() -> Iterator[Path]:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    yield Path(base, "gridportal")
    yield Path(tempfile.gettempdir(), f"gridportal-{os.geteuid()}")


def _is_ours(path: Path) -> bool:
    """Whether nobody else can have put something there."""
    seen = path.lstat()
    return seen.st_uid == os.geteuid() and not stat.S_ISLNK(seen.st_mode) and not seen.st_mode & 0o022
