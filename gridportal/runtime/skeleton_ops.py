"""A skeleton's operations as calls that are ready to be made: buffers and communicators are prepared."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from mpi4py import MPI

from gridportal.base.errors import InputError
from gridportal.runtime.task_farm import FARMING, TaskFarm, Times
from gridportal.runtime.work import Work

Step = Callable[[], object]
_HELLO = 32768
#: How often a clock is compared, and the tag of that.
_QUESTIONS = 7
_CLOCK = 17
_REDUCING = frozenset({"reduce", "allreduce", "scan", "exscan", "reduce_scatter", "reduce_scatter_block"})


@dataclass(frozen=True, slots=True)
class Compiled:
    """A rank's line of a segment: seconds of work before its first call, and all from that call on; what times of it
    count to another one."""

    work: Step
    steps: list[Step]
    times: Callable[[Times], Times]


class Buffers:
    """Memory to send from and to receive into. Receives under way at the same time have memory of their own."""

    def __init__(self) -> None:
        self._kept: dict[object, np.ndarray[Any, np.dtype[np.uint8]]] = {}

    def take(self, use: object, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """At least `size` bytes, the same memory for the same use as long as it is large enough."""
        have = self._kept.get(use)
        if have is None or have.size < size:
            have = np.ones(max(size, 8), dtype=np.uint8)  # written, for untouched memory costs less to send
            self._kept[use] = have
        return have[:size]


def _nothing() -> None:
    """For a line that begins with a call."""


def _same(times: Times) -> Times:
    """For a line that is no farm's."""
    return times


class Program:
    """This rank's lines of all segments, compiled. Collective over `comm`: makes the communicators."""

    def __init__(self, comm: MPI.Intracomm, document: Mapping[str, Any], work: Work) -> None:
        self._world, self._work = comm, work
        self._buffers = Buffers()
        self._farm = TaskFarm(comm, work)
        self._requests: dict[int, MPI.Request] = {}
        rank = comm.Get_rank()
        self._comms = {name: self._made(members) for name, members in sorted(document["comms"].items())}
        self._lines = [segment["ranks"][rank] for segment in document["segments"]]
        self.segments = [self._compiled(line) for line in self._lines]

    def connect(self) -> None:
        """Let every pair that will talk talk once, so that connections are there when the clock starts."""
        for comm in self._comms.values():
            if comm != MPI.COMM_NULL:
                size = comm.Get_size()
                comm.Alltoall(np.zeros(8 * size, dtype=np.uint8), np.zeros(8 * size, dtype=np.uint8))
        peers = {op[end] for line in self._lines for op in line for end in ("to", "from") if end in op}
        peers |= {rank for line in self._lines for op in line if op["op"] in FARMING for rank in self._farm.peers(op)}
        mutual = sorted(peers)
        hello, back = np.zeros(_HELLO, dtype=np.uint8), [np.zeros(_HELLO, dtype=np.uint8) for _ in mutual]
        waiting = [self._world.Irecv(room, peer) for room, peer in zip(back, mutual, strict=True)]
        waiting += [self._world.Isend(hello, peer) for peer in mutual]
        MPI.Request.Waitall(waiting)

    def clock(self) -> float:
        """Seconds by which this rank's clock is ahead of rank 0's, from the fastest of some questions to it."""
        comm, mine = self._world, np.zeros(1)
        if comm.Get_rank() == 0:
            for rank in range(1, comm.Get_size()):
                for _ in range(_QUESTIONS):
                    comm.Recv(mine, rank, _CLOCK)
                    comm.Send(np.array([time.perf_counter()]), rank, _CLOCK)
            return 0.0
        asked = []
        for _ in range(_QUESTIONS):
            before = time.perf_counter()
            comm.Send(mine, 0, _CLOCK)
            comm.Recv(mine, 0, _CLOCK)
            after = time.perf_counter()
            asked.append((after - before, (before + after) / 2 - mine[0]))
        return float(min(asked)[1])

    def _made(self, members: list[int]) -> Any:
        if self._world.Get_rank() not in members:
            return MPI.COMM_NULL
        group = self._world.Get_group().Incl(members)
        return self._world.Create_group(group)

    def _compiled(self, line: list[Mapping[str, Any]]) -> Compiled:
        ops = [op for op in line if op["op"] != "nothing"]
        first = next((at for at, op in enumerate(ops) if op["op"] != "work"), len(ops))
        work = [self._step(op) for op in ops[:first]]
        times = partial(self._farm.times, ops[0]) if ops and ops[0]["op"] in FARMING else _same
        return Compiled(work[0] if work else _nothing, [*work[1:], *(self._step(op) for op in ops[first:])], times)

    def _step(self, op: Mapping[str, Any]) -> Step:
        kind = op["op"]
        if kind == "work":
            return partial(self._work.do, op["seconds"])
        if kind == "wait":
            return partial(self._wait, tuple(op["slots"]))
        if kind in FARMING:
            return self._farm.step(op)
        call = self._message(kind, op) if "comm" not in op else self._collective(kind, op)
        slot = op.get("slot")
        return call if slot is None else partial(self._begin, slot, call)

    def _begin(self, slot: int, call: Callable[[], MPI.Request]) -> None:
        self._requests[slot] = call()

    def _wait(self, slots: tuple[int, ...]) -> None:
        MPI.Request.Waitall([self._requests.pop(slot) for slot in slots if slot in self._requests])

    def _out(self, size: int) -> list[Any]:
        return [self._buffers.take("out", size), MPI.BYTE]

    def _in(self, op: Mapping[str, Any], size: int) -> list[Any]:
        return [self._buffers.take(("in", op.get("slot")), size), MPI.BYTE]

    def _message(self, kind: str, op: Mapping[str, Any]) -> Callable[[], Any]:
        comm, begins = self._world, "slot" in op
        if kind == "sendrecv":
            out, into = self._out(op["bytes"]), self._in(op, op["from_bytes"])
            call = comm.Isendrecv if begins else comm.Sendrecv
            return partial(call, out, op["to"], op["tag"], into, op["from"], op["from_tag"])
        if kind == "recv":
            receive = comm.Irecv if begins else comm.Recv
            return partial(receive, self._in(op, op["from_bytes"]), op["from"], op["from_tag"])
        sends = {"send": (comm.Send, comm.Isend), "ssend": (comm.Ssend, comm.Issend)}
        if kind not in sends:
            raise InputError("op", kind, "work, send, ssend, recv, sendrecv, wait or a collective")
        return partial(sends[kind][begins], self._out(op["bytes"]), op["to"], op["tag"])

    def _collective(self, kind: str, op: Mapping[str, Any]) -> Callable[[], Any]:
        comm = self._comms[op["comm"]]
        plain = "alltoallv" if kind == "alltoallw" else kind
        name = f"I{plain}" if "slot" in op else plain.capitalize()
        call = getattr(comm, name)
        if kind == "barrier":
            return call  # type: ignore[no-any-return]
        if kind in _REDUCING:
            return self._reducing(kind, call, op, comm)
        return self._moving(kind, call, op, comm)

    def _reducing(self, kind: str, call: Callable[..., Any], op: Mapping[str, Any], comm: MPI.Intracomm) -> Step:
        """Sums of doubles; one double where the program reduced less."""
        length = max(1, op["bytes"] // 8)
        size = comm.Get_size()
        if kind == "reduce_scatter_block":
            length = max(1, length // size) * size
        out = self._buffers.take(("reduce", "out"), 8 * length).view(np.float64)
        into = self._buffers.take(("reduce", op.get("slot")), 8 * length).view(np.float64)
        if kind == "reduce":
            root = self._root(op, comm)
            return partial(call, out, into if comm.Get_rank() == root else None, MPI.SUM, root)
        if kind == "reduce_scatter":
            counts = [count // 8 for count in op.get("counts", ())] or [length] + [0] * (size - 1)
            out = self._buffers.take(("reduce", "out"), 8 * max(1, sum(counts))).view(np.float64)[: sum(counts)]
            return partial(call, out, into[: counts[comm.Get_rank()]], counts, MPI.SUM)
        if kind == "reduce_scatter_block":
            into = into[: length // size]
        return partial(call, out, into, MPI.SUM)

    def _moving(self, kind: str, call: Callable[..., Any], op: Mapping[str, Any], comm: MPI.Intracomm) -> Step:
        size, rank, bytes_ = comm.Get_size(), comm.Get_rank(), op["bytes"]
        root = self._root(op, comm)
        counts = list(op.get("counts", ()))
        if kind == "bcast":
            return partial(call, [self._buffers.take(("in", op.get("slot")), bytes_), MPI.BYTE], root)
        if kind in ("gather", "scatter"):
            whole = self._in(op, bytes_ * size) if rank == root else None
            mine = self._out(bytes_)
            return partial(call, mine, whole, root) if kind == "gather" else partial(call, whole, mine, root)
        if kind in ("gatherv", "scatterv"):
            blocks = [*self._in(op, sum(counts))[:1], counts, MPI.BYTE] if rank == root else None
            mine = self._out(bytes_)
            return partial(call, mine, blocks, root) if kind == "gatherv" else partial(call, blocks, mine, root)
        if kind == "allgather":
            return partial(call, self._out(bytes_), self._in(op, bytes_ * size))
        if kind == "allgatherv":
            return partial(call, self._out(counts[rank]), [*self._in(op, sum(counts))[:1], counts, MPI.BYTE])
        if kind == "alltoall":
            each = bytes_ // size
            return partial(call, self._out(each * size), self._in(op, each * size))
        if kind not in ("alltoallv", "alltoallw"):
            raise InputError("op", kind, "work, send, ssend, recv, sendrecv, wait or a collective")
        coming = list(op["from_counts"])
        out = [*self._out(sum(counts))[:1], counts, MPI.BYTE]
        return partial(call, out, [*self._in(op, sum(coming))[:1], coming, MPI.BYTE])

    @staticmethod
    def _root(op: Mapping[str, Any], comm: MPI.Intracomm) -> int:
        if "root" not in op:
            return 0
        world = MPI.COMM_WORLD.Get_group()
        return int(MPI.Group.Translate_ranks(world, [op["root"]], comm.Get_group())[0])
