"""How all ranks learn, at the same call, that the program is to stop or to write a checkpoint.

Every few calls the ranks begin a reduction of what each has heard, and take its result a few calls later: a rank waits
only for one that is a whole stretch behind. How many calls a stretch has is rank 0's to say, and all go by the same
word: about `STRETCH` seconds, whatever a call's iteration takes. So an answer comes at the latest two stretches, or two
calls where these are longer, after the request; between the ends of stretches a call adds one to a number.

Where an iteration took `SLOW` seconds or more, ranks wait for the result in the same call and answer there: on busy
nodes one more iteration may take half a minute.

In a run that is traced every call is a vote: what repeats in the program then repeats in its trace, which folds, and
from which skeletons are built.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from mpi4py import MPI

#: Seconds between two votes, about.
STRETCH = 0.05
#: Calls of a stretch at most, and how much longer than the last one it may be: iterations may become slow at once.
MOST_CALLS = 100_000
#: Seconds of an iteration from which on each call waits for its own vote; a stretch of no calls stands for that.
SLOW = 0.5
_AT_ONCE = 0
_GROWTH = 4
#: The variable of runs that are traced.
_TRACED = "GRIDPORTAL_TRACE_DIR"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a rank has heard, or what all have together: whether to stop, and whether to write a checkpoint.

    `written`: how many checkpoints it has done with, or all of them have; -1 where that was not asked.
    """

    stop: bool = False
    checkpoint: bool = False
    written: int = -1


NOTHING = Wish()


class StopVotes:
    """The votes of the ranks of `comm`. Collective: every rank makes the same calls of `check`, in the same order, and
    `close` in the end."""

    def __init__(self, comm: MPI.Intracomm, heard: Callable[[], Wish]) -> None:
        self._comm = comm.Dup()  # the program's own messages are never mixed up with these
        self._heard = heard
        self._calls, self._due, self._stretch = 0, 1, 1
        self._mine, self._all = np.zeros(4), np.zeros(4)
        self._vote: MPI.Request | None = None
        self._began, self._before = time.perf_counter(), 0
        self._traced = _TRACED in os.environ

    def check(self) -> Wish:
        """What all agreed on, as of this call; the same on every rank."""
        self._calls += 1
        if self._calls < self._due:
            return NOTHING
        return self._exchange()

    def _exchange(self) -> Wish:
        agreed = self._result()
        heard, answering = self._heard(), agreed.stop or agreed.checkpoint
        if answering:  # what is answered now is not asked again
            heard = replace(heard, stop=False, checkpoint=False)
        self._mine[:] = heard.stop, heard.checkpoint, self._next_stretch(), -heard.written
        self._vote = self._comm.Iallreduce(self._mine, self._all, MPI.MAX)
        if self._stretch == _AT_ONCE and not answering:
            agreed = self._result()
        self._due = self._calls + max(1, self._stretch)
        return agreed

    def _result(self) -> Wish:
        """Of the vote that is under way, if one is; it says how long the next stretch is."""
        if self._vote is None:
            return NOTHING
        self._vote.Wait()
        self._vote = None
        self._stretch = int(self._all[2])
        return Wish(bool(self._all[0]), bool(self._all[1]), -int(self._all[3]))

    def _next_stretch(self) -> int:
        """What rank 0 wants; 0 on the others, who go by it."""
        now, calls = time.perf_counter(), self._calls - self._before
        each = (now - self._began) / calls
        self._began, self._before = now, self._calls
        if self._comm.Get_rank() != 0:
            return 0
        if self._traced:
            return 1
        if each >= SLOW:
            return _AT_ONCE
        wanted = STRETCH / each if each > 0 else MOST_CALLS
        return int(max(1, min(wanted, calls * _GROWTH, MOST_CALLS)))

    def close(self) -> None:
        """End the vote that is under way, without its result."""
        if self._vote is not None:
            self._vote.Wait()
            self._vote = None
        self._comm.Free()
