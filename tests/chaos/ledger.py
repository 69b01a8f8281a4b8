"""What really ran, told by the programs themselves: each notes its start and its end outside the portal.

The ledger's script is the launcher of every application, so that whoever starts a job's script a second time is seen.
Lines are appended by one write each, and times are the machine's seconds since it booted, which no wrong clock moves.
"""

from __future__ import annotations

import re
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
    "$(readlink /proc/self/ns/pid)" "$2" >> @LEDGER@/lines
}
# The lock is inherited by the program: as long as one process of an attempt lives, another one finds it taken.
exec 9>> "@LEDGER@/locks/${key%%-run-*}"
flock -n 9 || note overlap -
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
    """The ledger's folder: its script, its program and its lines. Everybody may write there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.launcher, self.program = folder / "launcher.sh", folder / "program.sh"
        self.lines = folder / "lines"

    def make(self) -> None:
        """The files, before anything runs."""
        (self.folder / "locks").mkdir(parents=True)
        for folder in (self.folder, self.folder / "locks"):
            folder.chmod(0o1777)
        self.launcher.write_text(_SCRIPT.replace("@LEDGER@", str(self.folder)), encoding="utf-8")
        self.program.write_text(_PROGRAM, encoding="utf-8")
        self.lines.touch()
        self.lines.chmod(0o666)

    def read(self) -> list[Attempt]:
        """All attempts until now."""
        return attempts(self.lines.read_text(encoding="utf-8").splitlines())
