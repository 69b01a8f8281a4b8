"""What really ran, told by the programs themselves: each notes its start and its end outside the portal.

The ledger's script is the launcher of every application, so that whoever starts a job's script a second time is seen.
Lines go through a pipe, each by one write, since a job sees every file read-only but those of its own run. Times are
the machine's seconds since it booted, which no wrong clock moves.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_KEY = re.compile(r"job-(\d+)-(run|try)-.+")
_SCRIPT = """\
#!/bin/sh
# usage: launcher.sh PROGRAM [ARGUMENT...]
key=${GRIDPORTAL_RUN_DIR##*/}
read -r attempt < /proc/sys/kernel/random/uuid
note() {
  read -r up rest < /proc/uptime
  printf '%s %s %s %s %s %s %s\\n' "$1" "$key" "$attempt" "$up" "${SLURM_RESTART_COUNT:-0}" \\
    "$(readlink /proc/self/ns/pid)" "$2" > "@LEDGER@/pipe"
}
# The lock is inherited by the program: as long as one process of an attempt lives, another one finds it taken.
lock="@LEDGER@/locks/${key%%-run-*}"
if [ -r "$lock" ]; then
  exec 9< "$lock"
  flock -n 9 || note overlap -
fi
note start -
"$@"
code=$?
note end "$code"
exit "$code"
"""
_PROGRAM = """\
#!/bin/sh
# usage: program.sh SECONDS MODE RANK
case "$2" in
  fail) sleep "$1"; exit 3 ;;
  deaf) trap '' TERM; sleep "$1" ;;
  crash) sleep "$1"; kill -SEGV $$ ;;
  *) sleep "$1" ;;
esac
"""
_MARK = "mark "
#: How the program may end, by what it is asked for.
MODES = ("end", "fail", "deaf", "crash")


@dataclass(slots=True)
class Attempt:
    """One start of a run's program. `ended` is None when it did not get to its own end; times in seconds of uptime."""

    id: str
    key: str
    job: int
    is_trial: bool
    restart: int
    began: float
    ended: float | None = None
    code: int | None = None
    overlaps: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether the program ran to its end and said that all is well."""
        return self.code == 0


def attempts(lines: Iterable[str]) -> list[Attempt]:
    """The attempts that the lines tell of, oldest first. A line that nobody could have written is a ValueError.

    >>> one, = attempts(["start job-7-run-1-ab u1 10.00 0 pid:[4] -", "end job-7-run-1-ab u1 12.50 0 pid:[4] 0"])
    >>> one.job, one.is_complete, one.ended
    (7, True, 12.5)
    """
    found: dict[str, Attempt] = {}
    overlapping = set()
    for line in lines:
        word, key, name, at, restart, _, code = line.split()
        if word == "overlap":
            overlapping.add(name)
        elif word == "start":
            found[name] = _begun(key, name, float(at), int(restart))
        else:
            found[name].ended, found[name].code = float(at), int(code)
    for name in overlapping:
        found[name].overlaps = True
    return list(found.values())


def _begun(key: str, name: str, at: float, restart: int) -> Attempt:
    match = _KEY.fullmatch(key)
    if match is None:
        raise ValueError(f"The ledger names {key!r}, which is no run of a job.")
    return Attempt(name, key, int(match[1]), match[2] == "try", restart, at)


class Ledger:
    """The ledger's folder: its script, its program, the pipe into which they write, and the lines that came out."""

    def __init__(self, folder: Path, most_jobs: int = 10_000) -> None:
        self.folder, self._most_jobs = folder, most_jobs
        self.launcher, self.program = folder / "launcher.sh", folder / "program.sh"
        self.lines, self._pipe = folder / "lines", folder / "pipe"
        self._marks: set[str] = set()

    def make(self) -> None:
        """The files, before anything runs; from now on lines are collected."""
        (self.folder / "locks").mkdir(parents=True)
        for number in range(1, self._most_jobs + 1):
            (self.folder / "locks" / f"job-{number}").touch()
        self.launcher.write_text(_SCRIPT.replace("@LEDGER@", str(self.folder)), encoding="utf-8")
        self.program.write_text(_PROGRAM, encoding="utf-8")
        self.lines.touch()
        os.mkfifo(self._pipe)
        for path in (*self.folder.glob("*"), self.folder):
            path.chmod(0o666 if path == self._pipe else 0o755)
        threading.Thread(target=self._collect, name="ledger", daemon=True).start()

    def read(self, seconds: float = 30.0) -> list[Attempt]:
        """All attempts until now: a mark of our own has gone through the pipe behind their lines."""
        mark, until = os.urandom(8).hex(), time.monotonic() + seconds
        self._pipe.write_text(f"{_MARK}{mark}\n", encoding="ascii")
        while mark not in self._marks:
            if time.monotonic() > until:
                raise TimeoutError("Nobody reads the ledger's pipe.")
            time.sleep(0.02)
        return attempts(self.lines.read_text(encoding="utf-8").splitlines())

    def _collect(self) -> None:
        """For ever; opened for both ways, so that the pipe has a reader and no end."""
        with os.fdopen(os.open(self._pipe, os.O_RDWR), "r", encoding="utf-8") as pipe:
            for line in pipe:
                if line.startswith(_MARK):
                    self._marks.add(line.removeprefix(_MARK).strip())
                    continue
                with self.lines.open("a", encoding="utf-8") as lines:
                    lines.write(line)
