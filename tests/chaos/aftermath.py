"""What is left when all is over: processes, mounts, control groups, sockets, a sound database, quiet descriptors."""

from __future__ import annotations

import os
import shutil
import sqlite3
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gridportal.testbed import cgroups
from gridportal.testbed.state import State
from tests.chaos import parts, world
from tests.chaos.verdict import Violation

_GONE_WITHIN = 15.0  # seconds after the supervisor's end
_STRAY_BYTE = "invalid frontend message"
_SAMPLE_EVERY = 5.0
_LONG_LIVING = ("supervisor", "web", "web-child", "worker", "worker-child", "beat", "grid")
#: Descriptors by which a process may grow: pools fill up, and files are open now and then.
_MAY_GROW = 25
_FEWEST_SAMPLES = 24


def left_behind(mounts_before: set[str]) -> list[Violation]:
    """Everything of the portal that outlived it."""
    found = [("no process is left", process.command[:160]) for process in _processes()]
    found += [("no mount is left", place) for place in sorted(world.mounts() - mounts_before)]
    states = (State(world.HOME / "grid"), State(world.SLURM))
    found += [("no control group is left", str(group)) for state in states for group in cgroups.existing(state)]
    found += [("no socket is left", str(path)) for path in _sockets()]
    found += [("no shared memory is left", str(path)) for path in sorted(Path("/dev/shm").iterdir())]
    return [Violation(None, rule, what) for rule, what in found]


def database(*, postgres: bool) -> list[Violation]:
    """Whether SQLite's file is whole, and no client sent PostgreSQL what is no message."""
    if postgres:
        return [Violation(None, "no stray bytes", line) for line in _lines("database") if _STRAY_BYTE in line]
    link = sqlite3.connect(world.HOME / "gridportal.sqlite3")
    try:
        said = [row[0] for row in link.execute("PRAGMA integrity_check")]
    finally:
        link.close()
    return [] if said == ["ok"] else [Violation(None, "SQLite's file is whole", "; ".join(said[:5]))]


def keep(folder: Path) -> None:
    """Copy logs, runs and the ledger to where they can be studied."""
    for name in ("log", "runs"):
        path = world.HOME / name
        if path.exists():
            shutil.copytree(path, folder / name, ignore_dangling_symlinks=True, dirs_exist_ok=True)
    for path in (
        *world.LEDGER.glob("lines"),
        *world.HOME.glob("grid/gridd.log"),
        *world.HOME.glob("gridportal.sqlite3*"),
    ):
        shutil.copy(path, folder)


class Descriptors(threading.Thread):
    """Counts the open files of the processes that live long."""

    def __init__(self) -> None:
        super().__init__(name="descriptors", daemon=True)
        self._counts: dict[tuple[str, int], list[int]] = defaultdict(list)
        self._over = threading.Event()

    def run(self) -> None:
        """Look every few seconds."""
        while not self._over.wait(_SAMPLE_EVERY):
            for process in parts.everybody():
                count = parts.descriptors(process.pid) if process.part in _LONG_LIVING else None
                if count:
                    self._counts[process.part, process.pid].append(count)

    def stop(self) -> None:
        """Look no more."""
        self._over.set()

    def peaks(self) -> dict[str, int]:
        """The most that a process of each part had open."""
        found: dict[str, int] = {}
        for (part, _), counts in self._counts.items():
            found[part] = max(found.get(part, 0), *counts)
        return found

    def violations(self) -> list[Violation]:
        """Processes whose count went up and stayed there."""
        return [Violation(None, "descriptors do not grow", words) for words in growing(self._counts)]


def growing(counts: Mapping[tuple[str, int], Sequence[int]]) -> Iterator[str]:
    """Those that had more open in their last third of life than in their second, by the median.

    >>> list(growing({("web", 7): [30] * 40, ("beat", 8): list(range(10, 200, 5))}))
    ['beat 8 had 97 files open in the middle of its life, and 167 at the end.']
    """
    for (part, pid), all_counts in counts.items():
        if len(all_counts) < _FEWEST_SAMPLES:
            continue
        third = len(all_counts) // 3
        middle, last = (int(statistics.median(each)) for each in (all_counts[third : 2 * third], all_counts[-third:]))
        if last > middle + _MAY_GROW:
            yield f"{part} {pid} had {middle} files open in the middle of its life, and {last} at the end."


def _processes() -> list[parts.Process]:
    until = time.monotonic() + _GONE_WITHIN
    while (left := _others()) and time.monotonic() < until:
        time.sleep(0.3)
    return left


def _others() -> list[parts.Process]:
    """Everybody but this process and those that started it."""
    return [process for process in parts.everybody() if process.pid not in (1, os.getpid())]


def _sockets() -> list[Path]:
    places = (world.HOME, Path("/tmp"), world.SLURM)
    return sorted(path for place in places for path in place.rglob("*") if path.is_socket())


def _lines(name: str) -> list[str]:
    path = world.HOME / "log" / f"{name}.log"
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
