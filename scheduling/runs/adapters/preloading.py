"""The words before a program's own that load libraries into it, before those that its surroundings load."""

from __future__ import annotations

from pathlib import Path

_SCRIPT = 'LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}" exec "$@"'


def prefix(*libraries: Path) -> tuple[str, ...]:
    """A shell that adds `libraries` to those of the environment, and becomes the program.

    >>> prefix(Path("/a/trace.so"), Path("/a/end.so"))[-1]
    '/a/trace.so:/a/end.so'
    """
    return ("sh", "-c", _SCRIPT, ":".join(map(str, libraries)))
