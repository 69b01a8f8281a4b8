"""What the kernel tells of this node: memory, disk, and the byte counters of its network interfaces."""

from __future__ import annotations

import os
import time

_SMOOTHED = 0.5  # the weight of the last second in a rate
_MOST = 64  # interfaces


def memory(text: str | None = None) -> tuple[int, int]:
    """(free for programs, total) in bytes, from /proc/meminfo.

    >>> memory("MemTotal: 100 kB\\nMemFree: 10 kB\\nMemAvailable: 40 kB\\n")
    (40960, 102400)
    """
    content = _read("/proc/meminfo") if text is None else text
    kilobytes = {line.partition(":")[0]: int(line.split()[1]) for line in content.splitlines() if ":" in line}
    return kilobytes.get("MemAvailable", kilobytes["MemFree"]) * 1024, kilobytes["MemTotal"] * 1024


def disk(folder: str) -> tuple[int, int]:
    """(free for ordinary users, total) in bytes of the file system that `folder` is on."""
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize, about.f_blocks * about.f_frsize


def counters(text: str | None = None) -> dict[str, tuple[int, int]]:
    """Bytes (sent, received) of each interface but the loopback and those that are down, from /proc/net/dev of this
    network namespace.

    >>> counters("a\\nb\\n  eth0: 7 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\\n    lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\\n")
    {'eth0': (9, 7)}
    """
    found: dict[str, tuple[int, int]] = {}
    for line in (_read("/proc/net/dev") if text is None else text).splitlines()[2:]:
        name, _, rest = line.partition(":")
        numbers = rest.split()
        if len(numbers) > 8 and len(found) < _MOST and _in_use(name.strip()):
            found[name.strip()] = (int(numbers[8]), int(numbers[0]))
    return found


class Interfaces:
    """Counters, and the rates that they rise with, smoothed over a few looks."""

    def __init__(self) -> None:
        self._at = time.monotonic()
        self._last = counters()
        self._rates: dict[str, tuple[float, float]] = {}

    def look(self) -> None:
        """Look again. A counter that fell has begun anew, and tells no rate this time."""
        now, new = time.monotonic(), counters()
        elapsed = now - self._at
        if elapsed <= 0:
            return
        rates = {}
        for name, (sent, received) in new.items():
            before = self._last.get(name)
            if before and sent >= before[0] and received >= before[1]:
                fresh = ((sent - before[0]) * 8 / elapsed, (received - before[1]) * 8 / elapsed)
                old = self._rates.get(name, fresh)
                rates[name] = (_mixed(old[0], fresh[0]), _mixed(old[1], fresh[1]))
        self._at, self._last, self._rates = now, new, rates

    def view(self) -> dict[str, list[float]]:
        """By interface: bytes sent and received, bit/s sent and received (those only once they are known)."""
        return {name: [*counts, *self._rates.get(name, ())] for name, counts in counters().items()}


def _in_use(name: str) -> bool:
    if name == "lo":
        return False
    try:
        return _read(f"/sys/class/net/{name}/operstate").strip() != "down"
    except OSError:
        return True  # no /sys of this namespace to ask


def _mixed(old: float, new: float) -> float:
    return round(old + (new - old) * _SMOOTHED, 1)


def _read(path: str) -> str:
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()
