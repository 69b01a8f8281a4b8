"""How all ranks learn, at the same call, that the program is to stop or to write a checkpoint.

Every few calls the ranks begin a reduction of what each has heard, and take its result a few calls later: a rank waits
only for one that is a whole stretch behind. How many calls a stretch has is rank 0's to say, and all go by the same
word: about `STRETCH` seconds, whatever a call's iteration takes. So an answer comes at the latest two stretches, or two
calls where these are longer, after the request; between the ends of stretches a call adds one to a number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

#: Seconds between two votes, about.
STRETCH = 0.05
#: Calls of a stretch at most, and how much longer than the last one it may be: iterations may become slow at once.
MOST_CALLS = 100_000
_GROWTH = 4


@dataclass(frozen=True, slots=True)
class Wish:
    """What a rank has heard, or what all have together: whether to stop, and whether to write a checkpoint."""

    stop: bool = False
    checkpoint: bool = False


NOTHING = Wish()


class StopVotes:
    """The votes of the ranks of `comm`. Collective: every rank makes the same calls of `check`, in the same order, and
    `close` in the end."""

    def __init__(self, comm: MPI.Intracomm, heard: Callable[[], Wish]) -> None:
        self._comm = comm.Dup()  # the program's own messages are never mixed up with these
        self._heard = heard
        self._calls, self._due, self._stretch = 0, 1, 1
        self._mine, self._all = np.zeros(3), np.zeros(3)
        self._vote: MPI.Request | None = None
        self._began = time.perf_counter()

    def check(self) -> Wish:
        """What all agreed on, as of this call; the same on every rank."""
        self._calls += 1
        if self._calls < self._due:
            return NOTHING
        return self._exchange()

    def _exchange(self) -> Wish:
        agreed = NOTHING
        if self._vote is not None:
            self._vote.Wait()
            self._stretch = int(self._all[2])
            agreed = Wish(bool(self._all[0]), bool(self._all[1]))
        heard = self._heard() if agreed == NOTHING else NOTHING  # what is answered now is not asked again
        self._mine[:] = heard.stop, heard.checkpoint, self._next_stretch()
        self._vote = self._comm.Iallreduce(self._mine, self._all, MPI.MAX)
        self._due = self._calls + self._stretch
        return agreed

    def _next_stretch(self) -> int:
        """What rank 0 wants; 0 on the others, who go by it."""
        now = time.perf_counter()
        each = (now - self._began) / self._stretch
        self._began = now
        if self._comm.Get_rank() != 0:
            return 0
        wanted = STRETCH / each if each > 0 else MOST_CALLS
        return int(max(1, min(wanted, self._stretch * _GROWTH, MOST_CALLS)))

    def close(self) -> None:
        """End the vote that is under way, without its result."""
        if self._vote is not None:
            self._vote.Wait()
            self._vote = None
        self._comm.Free()
