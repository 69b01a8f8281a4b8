"""One rank's calls as the operations that a skeleton knows: what a trace writes in many ways, once.

Persistent requests become the send or receive that they start, tests become the wait that they were, probes and the
bookkeeping of communicators go. Computation before a call that goes is counted to the next one that stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gridportal.base.errors import ImpossibleError
from scheduling.profiles.core.trace import ANY, Call, Process, Trace, on_file
from scheduling.skeletons.core.skeleton import stand_ins
from scheduling.skeletons.core.skeleton.kept_rounds import NO_ROUND, RoundChoice, executed

Source = int | str | None

#: Calls that leave the order of messages as it is: nothing of them has to happen again.
_NOTHING = frozenset(
    {
        "MPI_Probe",
        "MPI_Iprobe",
        "MPI_Mprobe",
        "MPI_Improbe",
        "MPI_Cancel",
        "MPI_Request_free",
        "MPI_Request_get_status",
        "MPI_Comm_free",
        "MPI_Comm_disconnect",
        "MPI_Comm_create_group",
        "MPI_Pready",
        "MPI_Pready_range",
        "MPI_Pready_list",
        "MPI_Parrived",
        "MPI_Buffer_detach",
    }
)
_SENDS = {"Send": "send", "Bsend": "send", "Rsend": "send", "Ssend": "ssend", "Psend": "send"}
_RECEIVES = {"Recv": "recv", "Mrecv": "recv", "Precv": "recv"}
COLLECTIVES = frozenset(
    {
        "barrier",
        "bcast",
        "gather",
        "gatherv",
        "scatter",
        "scatterv",
        "allgather",
        "allgatherv",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "reduce",
        "allreduce",
        "reduce_scatter",
        "reduce_scatter_block",
        "scan",
        "exscan",
    }
)
#: Where messages between two groups match: each group knows their communicator by the ranks of the other.
_BETWEEN = "between"
#: Every rank says for each rank how much.
_COUNTED = frozenset({"allgatherv", "alltoallv", "alltoallw"})
_MAKING = frozenset({"dup", "dup_with_info", "idup", "split", "split_type", "create"})


@dataclass(frozen=True, slots=True)
class Op:
    """One operation. Ranks are those of MPI_COMM_WORLD, sizes bytes.

    kind: send, ssend, recv, sendrecv, wait, or a collective by its name; `starts` is true when it only begins, under
    the number `slot`, what a wait on `slots` ends. `anybody`: whoever came first was received from.
    """

    kind: str
    comm: str = "0"
    peer: int | None = None
    tag: int | str | None = None
    bytes: int = 0
    source: Source = None
    recv_tag: int | str | None = None
    recv_bytes: int = 0
    root: int | None = None
    counts: tuple[int, ...] = ()
    starts: bool = False
    slot: int | None = None
    slots: tuple[int, ...] = ()
    anybody: bool = False

    @property
    def sends(self) -> bool:
        """Whether it puts a message on its way."""
        return self.kind in ("send", "ssend", "sendrecv") and self.peer is not None

    @property
    def receives(self) -> bool:
        """Whether it takes a message."""
        return self.kind in ("recv", "sendrecv") and self.source is not None


@dataclass(frozen=True, slots=True)
class Event:
    """An operation when it ran: the cpu seconds of work before it, and the wall seconds of that work and of itself.

    `round`: which kept round of its rank the work is of; the wall seconds stay means.
    """

    op: Op
    work: float
    working: float
    inside: float
    round: int = NO_ROUND


def events(
    trace: Trace, process: Process, exchanged: stand_ins.Exchanges, choice: RoundChoice | None = None
) -> Iterator[Event]:
    """What the rank did, in order; `exchanged` in windows. Each execution has its mean of work, or with a `choice` that
    of a round. Raises ImpossibleError for what no skeleton can repeat."""
    if process.threads:
        raise ImpossibleError(
            f"{len(process.threads)} threads of rank {process.rank} called MPI, and in which order is not known; a "
            "skeleton needs the order."
        )
    if not process.ordered:
        raise ImpossibleError(
            f"The trace of rank {process.rank} keeps no order, because its calls repeated too little; a skeleton needs "
            "the order: trace a run with fewer iterations."
        )
    reader = _Reader(trace, process.rank, exchanged)
    work = working = waiting = 0.0
    for call, seconds, number in executed(process.body, choice):
        work += seconds
        working += call.compute.mean
        if on_file(call.call):
            working += call.seconds.mean
        else:
            waiting += call.seconds.mean
        for op in reader.ops(call):
            yield Event(op, work, working, waiting, number)
            work = working = waiting = 0.0


class _Reader:
    """Remembers which slots hold persistent requests, how many fences each window had, and whether the last probe was
    for a message from anybody."""

    def __init__(self, trace: Trace, rank: int, exchanged: stand_ins.Exchanges) -> None:
        self._trace, self._rank = trace, rank
        self._persistent: dict[int, Op] = {}
        self._exchanged = exchanged
        self._fences: Counter[str] = Counter()
        self._probed_anybody = False

    def ops(self, call: Call) -> Iterator[Op]:
        name = call.call.removeprefix("MPI_")
        if name.endswith("robe"):
            self._probed_anybody = is_any(call.source)
        if call.call in _NOTHING or name.startswith("Type_") or self._is_exchanged(call):
            return
        if name.startswith(("Win_", "File_")):
            yield from self._stand_in(call)
        elif name in ("Start", "Startall"):
            yield from map(self._started, call.requests)
        elif name.startswith(("Wait", "Test")):
            if call.requests:
                yield Op("wait", slots=call.requests)
        elif name.endswith("_init"):
            self._persistent[_slot(call)] = replace(self._op(name.removesuffix("_init"), call), starts=True)
        else:
            op = self._op(name, call)
            if op.kind != "nothing":
                yield op

    def _is_exchanged(self, call: Call) -> bool:
        """Whether it is a one-sided transfer, which the next fence plays."""
        if not stand_ins.is_transfer(call.call):
            return False
        if call.comm not in self._exchanged:
            raise stand_ins.refusal(call)
        return True

    def _stand_in(self, call: Call) -> Iterator[Op]:
        if on_file(call.call):
            if stand_ins.holds_together(call.call):
                yield Op("barrier", call.comm)
        elif stand_ins.is_fence(call):
            yield self._at_fence(call.comm)

    def _at_fence(self, window: str) -> Op:
        number = self._fences[window]
        self._fences[window] += 1
        counts = stand_ins.at_fence(self._exchanged[window], number, self._rank, self._trace.comms[window])
        return Op("alltoallv", window, bytes=sum(counts), counts=counts) if counts else Op("barrier", window)

    def _started(self, slot: int) -> Op:
        if slot not in self._persistent:
            raise ImpossibleError(f"The trace starts the request {slot}, which nothing made; trace the program anew.")
        return self._persistent[slot]

    def _op(self, name: str, call: Call) -> Op:
        starts = name.startswith("I") and name[1:2].islower() and not name.startswith("Intercomm")
        plain = name[1:].capitalize() if starts else name
        slot = call.request
        comm = _BETWEEN if call.comm in self._trace.inter else call.comm
        if plain in _SENDS and call.call != "MPI_Isendrecv":
            return Op(
                _SENDS[plain],
                comm,
                peer=call.peer,
                tag=call.tag,
                bytes=round(call.bytes),
                starts=starts,
                slot=slot,
            )
        if plain in _RECEIVES:
            anybody = self._probed_anybody or is_any(call.source)
            self._probed_anybody = False
            return Op("recv", comm, source=call.source, recv_tag=call.tag, starts=starts, slot=slot, anybody=anybody)
        if plain in ("Sendrecv", "Sendrecv_replace"):
            return Op(
                "sendrecv",
                comm,
                peer=call.peer,
                tag=call.tag,
                bytes=round(call.bytes),
                source=call.source,
                recv_tag=call.recv_tag,
                starts=starts,
                slot=slot,
            )
        return self._collective(plain.lower(), call, starts)

    def _collective(self, name: str, call: Call, starts: bool) -> Op:
        if call.comm in self._trace.inter:
            raise ImpossibleError(f"A skeleton cannot repeat {call.call} between two groups of ranks.")
        if name.startswith(("comm_", "cart_", "graph_", "dist_graph_", "intercomm_")):
            return self._making(name, call)
        if name.startswith("neighbor_"):
            counts = stand_ins.to_neighbours(call, self._trace.comms[call.comm])
            return Op("alltoallv", call.comm, bytes=sum(counts), counts=counts, starts=starts, slot=call.request)
        if name not in COLLECTIVES:
            raise ImpossibleError(f"A skeleton cannot repeat {call.call}; it knows messages and collectives.")
        self._check(name, call)
        counts = tuple(round(count) for count in call.counts)
        return Op(
            name, call.comm, bytes=round(call.bytes), root=call.root, counts=counts, starts=starts, slot=call.request
        )

    def _check(self, name: str, call: Call) -> None:
        members = self._trace.comms[call.comm]
        if self._rank not in members or (call.root is not None and call.root not in members):
            outside = call.root if self._rank in members else self._rank
            raise ImpossibleError(
                f"The trace has {call.call} in communicator {call.comm} with rank {outside}, which is not in it; trace "
                "the program anew."
            )
        everywhere, at_root = name in _COUNTED, name in ("gatherv", "scatterv") and call.root in (None, self._rank)
        if len(call.counts) != len(members) and (everywhere or at_root or (name == "reduce_scatter" and call.counts)):
            raise ImpossibleError(
                f"The trace has {call.call} with {len(call.counts)} counts among {len(members)} ranks; trace the "
                "program anew."
            )

    @staticmethod
    def _making(name: str, call: Call) -> Op:
        """Making a communicator holds its ranks together as a barrier does; the skeleton makes its own at the start."""
        if name.removeprefix("comm_") in _MAKING or name.startswith("cart_"):
            return Op("barrier", call.comm)
        return Op("nothing")


def _slot(call: Call) -> int:
    if call.request is None:
        raise ImpossibleError(f"The trace has {call.call} without its request; trace the program anew.")
    return call.request


def is_any(value: object) -> bool:
    """Whether a source or tag is the wildcard."""
    return value == ANY
