"""A task farm of a skeleton, as Python plays it: the master gives the next task to whoever comes first.

A task's number is the tag of the message that gives it, from 1; 0 lets a worker go. What the player in C does stands in
gridportal/runtime/player/farm.c.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI

from gridportal.runtime.work import Work

FARMING = frozenset({"master", "worker", "closing"})
_RESULT = _LET_GO = 0

#: Of an execution: when a rank came to its first call and was through, its work before that call, and in all.
Times = tuple[float, float, float, float]


class TaskFarm:
    """One rank's part of the farms of a skeleton."""

    def __init__(self, comm: MPI.Intracomm, work: Work) -> None:
        self._comm, self._work = comm, work
        self._handed = self._last_work = self._stopped = 0.0

    def step(self, op: Mapping[str, Any]) -> Callable[[], object]:
        """The operation as a call that is ready to be made."""
        back = max([op["bytes"], *(back for _, back, _ in op.get("tasks", ()))])
        out = max([op["last"], *(out for _, _, out in op.get("tasks", ()))])
        room = np.ones(max(back, out, 8), dtype=np.uint8)
        if op["op"] == "worker":
            return partial(self._works, op, room)
        if op["op"] == "master":
            return partial(self._gives, op, room)
        return partial(self._closes, op, room)

    def peers(self, op: Mapping[str, Any]) -> list[int]:
        """With whom this rank talks."""
        return list(op["ranks"]) if self._comm.Get_rank() == op["master"] else [op["master"]]

    def _gives(self, op: Mapping[str, Any], room: np.ndarray[Any, Any]) -> None:
        tasks = op["tasks"]
        for given in range(op["given"]):
            worker = self._next_worker(room)
            self._work.do(op["seconds"])
            number = given % len(tasks)
            self._comm.Send(room[: tasks[number][2]], worker, 1 + number)

    def _next_worker(self, room: np.ndarray[Any, Any]) -> int:
        status = MPI.Status()
        self._comm.Recv(room, MPI.ANY_SOURCE, _RESULT, status)
        return status.Get_source()

    def _works(self, op: Mapping[str, Any], room: np.ndarray[Any, Any]) -> None:
        """Until the master lets it go."""
        status, size = MPI.Status(), op["bytes"]
        self._work.do(op["seconds"])
        self._last_work, self._handed = 0.0, time.perf_counter()
        while True:
            self._comm.Send(room[:size], op["master"], _RESULT)
            self._comm.Recv(room, op["master"], MPI.ANY_TAG, status)
            got, before = time.perf_counter(), self._work.seconds
            if status.Get_tag() == _LET_GO:
                break
            seconds, size, _ = op["tasks"][status.Get_tag() - 1]
            self._work.do(seconds)
            self._handed, self._last_work = got, self._work.seconds - before
        self._stopped = time.perf_counter()

    def _closes(self, op: Mapping[str, Any], room: np.ndarray[Any, Any]) -> None:
        """A worker is through when its part is."""
        if self._comm.Get_rank() == op["master"]:
            for _ in op["ranks"]:
                self._comm.Send(room[: op["last"]], self._next_worker(room), _LET_GO)

    def times(self, op: Mapping[str, Any], seen: Times) -> Times:
        """The times of an execution: what a worker did after its last task was given to it counts to the closing."""
        arrived, _, first, worked = seen
        if op["op"] == "worker":
            return arrived, self._handed, first, worked - self._last_work
        if op["op"] == "closing" and self._comm.Get_rank() != op["master"]:
            return self._handed + self._last_work, self._stopped, self._last_work, self._last_work
        return seen
