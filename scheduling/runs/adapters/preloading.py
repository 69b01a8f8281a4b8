"""The words before a program's own that load libraries into it, before those that its surroundings load."""

from __future__ import annotations

from pathlib import Path

#: A program with gcc's address sanitizer ends where a library is loaded before that one, unless it is told not to look.
_SCRIPT = (
    'ASAN_OPTIONS="verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" '
    'LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"'
)


def prefix(*libraries: Path) -> tuple[str, ...]:
    """A shell that adds `libraries` to those of the environment, and becomes the program.

    >>> prefix(Path("/a/trace.so"), Path("/a/end.so"))[-1]
    '/a/trace.so:/a/end.so'
    """
    return ("sh", "-c", _SCRIPT, ":".join(map(str, libraries)))
