"""Which processes of this node want a processor, and which of them belong to a run of the portal.

The load average will not do: where several nodes share one machine it counts them together, and it lags by a minute.
Counted are runnable threads, smoothed over a few seconds; the available processor is then 1/(1+load), with the load
per processor (Selection 1999, 3.1). Processes whose environment names a run's directory are that run's own load, all
else is that of others (3.3).
"""

from __future__ import annotations

import math
import os

from gridportal.base.run_files import RUN_DIR_VARIABLE

PLACE = ("GRIDPORTAL_GRID", "GRIDPORTAL_NODE")
SMOOTHING = 2.0  # seconds
SCOPES = ("machine", "network", "marked")
_TRUSTED = 3.0  # seconds that a process of another node is not looked at again
_MOST_THREADS = 256
_MOST_RUNS = 64
_MOST_BYTES = 128 * 1024  # of an environment
_FADED = 0.005


class Census:
    """Counts the runnable threads of this node, in all and by run.

    `scope`: "machine" counts all processes, "network" those in this process's network namespace, "marked" those whose
    environment says the same Grid and node as ours. `ignore`: processes that do not count, beside this one.
    """

    def __init__(self, scope: str = "machine", ignore: tuple[int, ...] = ()) -> None:
        self._scope = scope
        self._ignore = {os.getpid(), *ignore}
        self._space = _space("self")
        self._place = _marks("self", PLACE)
        self._elsewhere: dict[int, float] = {}
        self._runs: dict[tuple[int, str], str] = {}
        self.load = 0.0
        self.runnable = 0
        self.by_run: dict[str, float] = {}
        self.members: dict[int, str] = {}

    def look(self, now: float, elapsed: float) -> None:
        """Look once; `now` is any clock that runs evenly, `elapsed` seconds have passed since the last look."""
        counts: dict[str, int] = {}
        members, alive = {}, {}
        self.runnable = 0
        for pid in self._own(now):
            fields = _stat(pid)
            if fields is None:
                continue
            identity = (pid, fields[19])
            run = self._runs.get(identity)
            if run is None:
                run = _run(pid)
            alive[identity] = run
            if run:
                members[pid] = run
            if running := _runnable(pid, fields):
                self.runnable += running
                counts[run] = counts.get(run, 0) + running
        self._runs, self.members = alive, members
        self._smooth(counts, elapsed)

    def _smooth(self, counts: dict[str, int], elapsed: float) -> None:
        weight = 1 - math.exp(-elapsed / SMOOTHING)
        self.load += (self.runnable - self.load) * weight
        runs = {*self.by_run, *self.members.values()}
        smoothed = {run: self.by_run.get(run, 0.0) for run in runs}
        smoothed = {run: old + (counts.get(run, 0) - old) * weight for run, old in smoothed.items()}
        living = set(self.members.values())
        kept = [run for run, load in smoothed.items() if run in living or load > _FADED]
        self.by_run = {run: smoothed[run] for run in kept[:_MOST_RUNS]}

    def _own(self, now: float) -> list[int]:
        """The processes of this node; those of others are remembered for a moment, since looking takes time."""
        if self._scope == "machine":
            return [pid for pid in _pids() if pid not in self._ignore]
        self._elsewhere = {pid: until for pid, until in self._elsewhere.items() if until > now}
        own = []
        for pid in _pids():
            if pid in self._ignore or pid in self._elsewhere:
                continue
            if self._here(pid):
                own.append(pid)
            else:
                self._elsewhere[pid] = now + _TRUSTED
        return own

    def _here(self, pid: int) -> bool:
        if self._scope == "network":
            return _space(pid) == self._space
        return _marks(pid, PLACE) == self._place


def _run(pid: int) -> str:
    """The directory of the run that a process belongs to; "" for none."""
    return _marks(pid, (RUN_DIR_VARIABLE,)).get(RUN_DIR_VARIABLE, "")[:300]


def _marks(pid: int | str, names: tuple[str, ...]) -> dict[str, str]:
    """Some of the variables that a process started with; none when it is gone or not ours to read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            raw = b"\0" + file.read(_MOST_BYTES)
    except OSError:
        return {}
    found = {}
    for name in names:
        _, there, rest = raw.partition(b"\0" + name.encode() + b"=")
        if there:
            found[name] = os.fsdecode(rest.partition(b"\0")[0])
    return found


def _runnable(pid: int, fields: list[str]) -> int:
    """How many threads of a process run or wait for a processor; `fields` as `_stat` gives them."""
    threads = int(fields[17])
    if threads <= 1:
        return int(fields[0] == "R")
    try:
        names = os.listdir(f"/proc/{pid}/task")[:_MOST_THREADS]
    except OSError:
        return 0
    states = (_stat(f"{pid}/task/{name}") for name in names)
    return sum(state is not None and state[0] == "R" for state in states)


def _stat(pid: int | str) -> list[str] | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].decode("ascii").split()
    except OSError:
        return None


def _space(pid: int | str) -> int:
    try:
        return os.stat(f"/proc/{pid}/ns/net").st_ino
    except OSError:
        return 0


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]
