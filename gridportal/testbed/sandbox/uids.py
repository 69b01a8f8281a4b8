"""Numbers for users that no account of this machine has."""

from __future__ import annotations

import grp
import hashlib
import pwd
from pathlib import Path

_FILES = ("/etc/subuid", "/etc/subgid")
# What systemd, SSSD and shadow give to nobody: between SSSD's domains and the numbers of foreign file systems.
_FIRST, _EACH, _RANGES = 2_001_000_000, 2**16, 2_200


def range_of(name: str) -> int:
    """Where the numbers of the Grid `name` (its state directory) begin: each has 65,536 of its own, by a hash.

    >>> range_of("/srv/one/grid") - range_of("/srv/two/grid") != 0
    True
    """
    return _FIRST + _EACH * (int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % _RANGES)


def next_free(number: int, files: tuple[str, ...] = _FILES) -> int:
    """The first of `number` and those after it that is no user's and no group's, nor given to one for containers."""
    ranges = [each for file in files for each in _ranges(file)]
    while True:
        last = max((last for first, last in ranges if first <= number <= last), default=None)
        if last is None and not _has_name(number):
            return number
        number = (number if last is None else last) + 1


def _has_name(number: int) -> bool:
    for look_up in (pwd.getpwuid, grp.getgrgid):
        try:
            look_up(number)
        except KeyError:
            continue
        return True
    return False


def _ranges(file: str) -> list[tuple[int, int]]:
    """First and last of each line NAME:FIRST:COUNT (subuid(5))."""
    found = []
    text = Path(file).read_text(encoding="utf-8", errors="replace") if Path(file).exists() else ""
    for line in text.splitlines():
        _, first, count = (*line.split(":"), "", "")[:3]
        if first.isdecimal() and count.isdecimal():
            found.append((int(first), int(first) + int(count) - 1))
    return found
