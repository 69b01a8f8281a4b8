"""How much memory the processes of each run have, as the kernel counts it."""

from __future__ import annotations

import os
from collections.abc import Mapping

_PAGE = os.sysconf("SC_PAGE_SIZE")


def by_run(members: Mapping[int, str]) -> dict[str, int]:
    """Bytes of each run: what each of its processes has for itself, and once the largest part that one of them shares.

    Ranks of a node share their program, and messages of MPI: to count that for each of them would count it twice.
    """
    own: dict[str, int] = {}
    shared: dict[str, int] = {}
    for pid, run in members.items():
        resident, common = _pages(pid)
        own[run] = own.get(run, 0) + max(0, resident - common)
        shared[run] = max(shared.get(run, 0), common)
    return {run: (own[run] + shared[run]) * _PAGE for run in own}


def _pages(pid: int) -> tuple[int, int]:
    """Those in memory, and those of them that others may have too; none of a process that is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            fields = file.read().split()
        return int(fields[1]), int(fields[2])
    except (OSError, IndexError, ValueError):
        return 0, 0
