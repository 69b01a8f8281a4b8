"""What a trace holds, as values, and the ways to walk over it. The grammar is in scheduling.profiles.core.trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, Literal

Any_ = Literal["any"]
#: MPI_ANY_SOURCE and MPI_ANY_TAG.
ANY: Final = "any"
#: Other threads that do a smaller share of the work outside MPI are not what a rank waits for.
_HELPED = 0.1


@dataclass(frozen=True, slots=True)
class Compute:
    """The program's own time between the end of the call before and this one: `n` times, `mean` s, `var` s².

    `cpu` is the mean of the calling thread's cpu seconds: the same work whatever else the machine did meanwhile.
    `rounds`: the same of each round that the outermost loop around the call has kept; empty where nobody kept any, or
    where it was next to nothing.
    """

    n: int = 0
    mean: float = 0.0
    var: float = 0.0
    cpu: float = 0.0
    rounds: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Inside:
    """The seconds that `n` executions of a call took, `mean` s each, waiting included."""

    n: int = 0
    mean: float = 0.0


@dataclass(frozen=True, slots=True)
class Touched:
    """Memory that the main thread's gaps between calls touched, by the `n` gaps that were looked at: in the mean
    `bytes` in `cpu` seconds. `region`: bytes, the mean by the cpu seconds of the gaps."""

    n: int = 0
    bytes: float = 0.0
    cpu: float = 0.0
    region: float = 0.0


@dataclass(frozen=True, slots=True)
class Call:
    """One MPI call of a rank, as often as its loops say. Sizes in bytes, ranks are those of MPI_COMM_WORLD."""

    call: str
    comm: str = "0"
    peer: int | None = None
    source: int | Any_ | None = None
    tag: int | Any_ | None = None
    recv_tag: int | Any_ | None = None
    bytes: float = 0.0
    recv_bytes: float = 0.0
    root: int | None = None
    counts: tuple[float, ...] = ()
    peers: tuple[int | None, ...] = ()
    newcomm: str | None = None
    request: int | None = None
    requests: tuple[int, ...] = ()
    compute: Compute = field(default_factory=Compute)
    seconds: Inside = field(default_factory=Inside)


@dataclass(frozen=True, slots=True)
class Loop:
    """`body`, `count` times in a row. `rounds`: the numbers from 0 of those whose cpu seconds were kept; an outermost
    loop's own."""

    count: int
    body: tuple[Node, ...]
    rounds: tuple[int, ...] = ()


Node = Call | Loop


@dataclass(frozen=True, slots=True)
class Process:
    """What one rank did from the end of MPI_Init to MPI_Finalize, which took `wall` seconds.

    `tail` is the computation after its last call. `complete` is false when it ended without MPI_Finalize, `ordered`
    when its calls repeated too little to be kept as they were: then tags and requests are those of one of the calls
    that were folded, or each kind of call stands once, in a loop; also false where several threads called MPI, whose
    calls stand one thread after the other. `threads`: the calls of each of these; empty for one. `helped`: cpu seconds
    of its other threads, `children` of processes that it started; `ready`: seconds in which it could have computed and
    others had its processor; `pace`: units of a skeleton's work for each cpu second there and then; all 0 where nobody
    counted, as `touched`, the memory that it touched. `gpu`: the library by which it reached a GPU; empty for none.
    """

    rank: int
    wall: float
    body: tuple[Node, ...]
    tail: Compute = field(default_factory=Compute)
    polls: int = 0
    complete: bool = True
    ordered: bool = True
    helped: float = 0.0
    ready: float = 0.0
    threads: tuple[int, ...] = ()
    children: float = 0.0
    gpu: str = ""
    pace: float = 0.0
    touched: Touched = field(default_factory=Touched)


@dataclass(frozen=True, slots=True)
class Trace:
    """A run of `program` on `ranks` ranks; `comms` gives the world ranks of each communicator in its own order."""

    program: str
    ranks: int
    mpi: str
    wall: float
    hosts: tuple[str, ...]
    comms: Mapping[str, tuple[int, ...]]
    processes: tuple[Process, ...]
    inter: frozenset[str] = frozenset()

    def size(self, call: Call) -> int:
        """How many ranks the communicator of `call` has."""
        return len(self.comms[call.comm])

    @property
    def calls(self) -> int:
        """All calls of all ranks."""
        return sum(times for process in self.processes for _, times in weighted(process.body))


def weighted(body: tuple[Node, ...], times: int = 1) -> Iterator[tuple[Call, int]]:
    """Each call that is written in `body`, and how often it ran: as was counted, else as its loops say.

    The two differ where a loop that ran now more, now less often was folded, whose count then is a rounded mean.

    >>> [(call.call, times) for call, times in weighted((Loop(3, (Call("MPI_Send"), Loop(2, (Call("MPI_Recv"),)))),))]
    [('MPI_Send', 3), ('MPI_Recv', 6)]
    """
    for node in body:
        if isinstance(node, Call):
            yield node, node.compute.n or times
        else:
            yield from weighted(node.body, times * node.count)


def steps(body: tuple[Node, ...]) -> int:
    """At least how often `unfolded` goes round: a loop counts although nothing is in it.

    >>> steps((Loop(3, (Call("MPI_Send"), Loop(2, ()))),))
    9
    """
    return sum(1 if isinstance(node, Call) else node.count * max(1, steps(node.body)) for node in body)


def unfolded(body: tuple[Node, ...]) -> Iterator[Call]:
    """The calls in the order in which they ran; as many as there were.

    >>> [call.call for call in unfolded((Loop(2, (Call("MPI_Send"), Call("MPI_Recv"))),))]
    ['MPI_Send', 'MPI_Recv', 'MPI_Send', 'MPI_Recv']
    """
    for node in body:
        if isinstance(node, Call):
            yield node
        else:
            for _ in range(node.count):
                yield from unfolded(node.body)


def of_main_thread(process: Process) -> tuple[Node, ...]:
    """What the thread called that began MPI, whose calls stand first.

    >>> two = Process(0, 1.0, (Call("MPI_Send"), Loop(3, (Call("MPI_Recv"),))), threads=(1, 3))
    >>> [call.call for call in unfolded(of_main_thread(two))]
    ['MPI_Send']
    """
    if not process.threads:
        return process.body
    counts = accumulate(sum(times for _, times in weighted((node,))) for node in process.body)
    return tuple(node for node, count in zip(process.body, counts, strict=True) if count <= process.threads[0])


def worked(process: Process) -> float:
    """Seconds that the threads which called MPI had of the processors outside it."""
    return process.tail.cpu * process.tail.n + sum(call.compute.cpu * times for call, times in weighted(process.body))


def computing(process: Process) -> float:
    """Seconds of wall time that the rank spent outside MPI. Of one whose threads call MPI, which wait for each other
    there, the seconds that these had of the processors."""
    if process.threads:
        return worked(process)
    return process.tail.mean * process.tail.n + sum(call.compute.mean * times for call, times in weighted(process.body))


def waiting(process: Process) -> float:
    """Seconds outside MPI in which the rank asked for no processor: it slept, or waited for files, devices or another
    program. At least so many, for all its time without a processor is left out, in MPI too. None of a rank whose other
    threads worked: it may have waited for them, and how long they had no processor nobody counts."""
    own = worked(process)
    if process.helped > _HELPED * (own + process.helped):
        return 0.0
    return max(0.0, computing(process) - own - process.ready)


def communicating(process: Process) -> float:
    """Seconds that the rank spent inside MPI, waiting included, without those for files."""
    return sum(call.seconds.mean * times for call, times in weighted(process.body) if not on_file(call.call))


def storing(process: Process) -> float:
    """Seconds that the rank spent inside MPI's calls on files."""
    return sum(call.seconds.mean * times for call, times in weighted(process.body) if on_file(call.call))


def file_bytes(process: Process) -> tuple[float, float]:
    """Bytes that the rank read from files and wrote to them through MPI, as asked for."""
    totals = {"read": 0.0, "write": 0.0}
    for call, times in weighted(process.body):
        for way in totals:
            if on_file(call.call) and way in call.call:
                totals[way] += call.bytes * times
    return totals["read"], totals["write"]


def on_file(name: str) -> bool:
    """Whether a call is one of MPI-IO.

    >>> on_file("MPI_File_write_at"), on_file("MPI_Send")
    (True, False)
    """
    return name.startswith("MPI_File_")
