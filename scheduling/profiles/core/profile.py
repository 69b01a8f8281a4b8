"""The communication profile of a program: who talks to whom, how much, in which phases, and how much it computes.

Source: Pattern 2003, 2.1 and figure 2. It comes from a trace or from counters of the nodes' connections (then without
messages and phases), and is one value either way: `of_trace`, `of_counters`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from gridportal.base.errors import InputError
from gridportal.base.reasons import NOTHING, Code, Reason
from scheduling.jobs.core.patterns import MAX_WEIGHT, Pattern, check_ranks
from scheduling.profiles.core import trace as traces
from scheduling.profiles.core.profile_names import LATENCY, Recognized, recognize
from scheduling.profiles.core.profile_traffic import Floats, messages, performed, traffic
from scheduling.profiles.core.trace import Loop, Node, Process, Trace
from scheduling.profiles.core.trace_limits import limits

Source = Literal["trace", "monitoring"]
#: A pair dominates when it carries at least this share of what the heaviest pair carries...
DOMINANT_SHARE = 0.05
#: ... and at least so many bytes in each second of the run: below that no network of today is felt (EP's few sums).
DOMINANT_RATE = 1e4
#: How far below the best the slowest pair of a group may be where the bytes of all pairs are known, as a fraction:
#: about as much as two measurements of the same path differ by when others use it.
SLACK = 0.1
#: From this share of the time outside MPI on, a program that waits is said to: a skeleton, which computes, foretells
#: less than half of it.
WAITING_SHARE = 0.5
#: A program is bound by latency whose messages are of so many bytes or less on average (longer ones take more time than
#: the way there, on networks of 1 Gbit/s and 50 us), of which each rank sends so many a second, and so many in all, and
#: which is in MPI for so large a share of its time.
SHORT, LATENCY_RATE, LATENCY_MESSAGES, LATENCY_SHARE = 4096.0, 200.0, 100.0, 0.1
#: A loop is a phase of its own when it takes at least this share of the run.
PHASE_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Phase:
    """A loop of the program's top level (`repeats` > 1), or what stands between two; seconds and bytes of rank 0, of
    its main thread where several call MPI."""

    repeats: int
    calls: int
    computing: float
    communicating: float
    bytes: float


@dataclass(frozen=True, slots=True)
class CallTotal:
    """All calls of one name over all ranks; `bytes` as the ranks handed them over, `seconds` inside, waiting too."""

    call: str
    count: int
    bytes: float
    seconds: float


@dataclass(frozen=True)
class Profile:
    """`sizes` bytes and `numbers` of messages are ranks x ranks, row sends to column; `wall` seconds.

    `computing` and `communicating` are seconds summed over the ranks; None where only counters were there. `waiting`
    are those of `computing` in which the ranks asked for no processor, `storing` those in MPI's calls on files, which
    read and wrote `file_bytes`; None also where an earlier version kept none. `limits`: what the trace cannot show.
    """

    source: Source
    program: str
    ranks: int
    wall: float
    sizes: Floats
    numbers: Floats | None = None
    computing: float | None = None
    communicating: float | None = None
    phases: tuple[Phase, ...] = ()
    calls: tuple[CallTotal, ...] = ()
    waiting: float | None = None
    storing: float | None = None
    file_bytes: tuple[float, float] = (0.0, 0.0)
    limits: tuple[Reason, ...] = ()

    @cached_property
    def pairs(self) -> tuple[tuple[int, int, float], ...]:
        """Every pair that talks, (a, b, bytes both ways), heaviest first."""
        both = np.triu(self.sizes + self.sizes.T, 1)
        a, b = np.nonzero(both)
        found = [(int(i), int(j), float(both[i, j])) for i, j in zip(a, b, strict=True)]
        return tuple(sorted(found, key=lambda pair: (-pair[2], pair[:2])))

    @cached_property
    def dominant(self) -> tuple[tuple[int, int, float], ...]:
        """The pairs that matter (Pattern 2003, figure 2), heaviest first; see DOMINANT_SHARE and DOMINANT_RATE."""
        return self._heavy or self._chatty

    @cached_property
    def _heavy(self) -> tuple[tuple[int, int, float], ...]:
        """Those that dominate by their bytes."""
        if not self.pairs:
            return ()
        floor = max(DOMINANT_SHARE * self.pairs[0][2], DOMINANT_RATE * self.wall)
        return tuple(pair for pair in self.pairs if pair[2] >= floor)

    @property
    def _chatty(self) -> tuple[tuple[int, int, float], ...]:
        """Where bytes say nothing: of a program that latency binds, the pairs with most messages; their bytes, or 1."""
        if self.numbers is None or not self.bound_by_latency:
            return ()
        both = np.triu(self.numbers + self.numbers.T, 1)
        a, b = np.nonzero(both >= DOMINANT_SHARE * both.max())
        sizes = self.sizes + self.sizes.T
        found = [(int(i), int(j), max(1.0, float(sizes[i, j]))) for i, j in zip(a, b, strict=True)]
        return tuple(sorted(found, key=lambda pair: (-both[pair[:2]], pair[:2])))

    @cached_property
    def bound_by_latency(self) -> Reason:
        """That short messages take much of its time, with how many there are; none where they do not, or nobody knows.

        Of a few messages a rank waits in MPI for others, not for the network.
        """
        return bound_by_latency(self)

    @cached_property
    def recognized(self) -> Recognized:
        """The name of the graph of the dominant pairs; of a program of which bytes say nothing, what binds it."""
        if self.dominant and not self._heavy:
            return Recognized(LATENCY)
        return recognize(self.ranks, [pair[:2] for pair in self.dominant])

    @property
    def is_threaded(self) -> bool:
        """Whether threads of one rank called MPI: `computing` is then the time that these had of the processors."""
        return any(limit.code is Code.TRACE_THREADS for limit in self.limits)

    @property
    def ratio(self) -> float | None:
        """Seconds of computation for each second of communication; None also where several threads call MPI, for what
        one computes before its first call and after its last one nobody counts."""
        if self.computing is None or not self.communicating or self.is_threaded:
            return None
        return self.computing / self.communicating

    @property
    def warning(self) -> Reason:
        """Why a skeleton of this program would tell little; none where nothing speaks against it."""
        return warning(self.computing, self.waiting)

    @property
    def pattern(self) -> Pattern:
        """What the selection takes: the dominant pairs with their bytes as weights."""
        edges = sorted((a, b, min(weight, MAX_WEIGHT)) for a, b, weight in self.dominant)
        return Pattern("discovered", self.ranks, tuple(edges))


def warning(computing: float | None, waiting: float | None) -> Reason:
    """That a program waits for most of its `computing` seconds outside MPI; none where it does not, or nobody knows.

    >>> warning(10.0, 9.0).facts, warning(10.0, 1.0) == NOTHING, warning(None, None) == NOTHING
    ({'share': 0.9}, True, True)
    """
    share = waiting / computing if waiting and computing else 0.0
    return Reason.of(Code.PROGRAM_WAITS, share=share) if share >= WAITING_SHARE else NOTHING


def bound_by_latency(profile: Profile) -> Reason:
    """See Profile.bound_by_latency."""
    if profile.numbers is None or profile.communicating is None or profile.computing is None or not profile.wall:
        return NOTHING
    messages = float(profile.numbers.sum())
    size = float(profile.sizes.sum()) / messages if messages else 0.0
    share = profile.communicating / (profile.communicating + profile.computing or 1.0)
    of_each = messages / profile.ranks
    rate = of_each / profile.wall
    if size > SHORT or share < LATENCY_SHARE or rate < LATENCY_RATE or of_each < LATENCY_MESSAGES:
        return NOTHING
    return Reason.of(Code.BOUND_BY_LATENCY, share=share, rate=rate, size=size)


def of_trace(trace: Trace) -> Profile:
    """The profile of a traced run."""
    sizes, numbers = traffic(trace)
    return Profile(
        source="trace",
        program=trace.program,
        ranks=trace.ranks,
        wall=trace.wall,
        sizes=sizes,
        numbers=numbers,
        computing=sum(traces.computing(process) for process in trace.processes),
        communicating=sum(traces.communicating(process) for process in trace.processes),
        waiting=sum(traces.waiting(process) for process in trace.processes),
        storing=sum(traces.storing(process) for process in trace.processes),
        file_bytes=_file_bytes(trace),
        limits=limits(trace),
        phases=_phases(trace),
        calls=_totals(trace),
    )


def of_counters(program: str, sizes: Floats, wall: float) -> Profile:
    """The profile of a run of which only the bytes between its nodes are known; `sizes` (ranks, ranks)."""
    return Profile("monitoring", program, len(sizes), wall, np.asarray(sizes, dtype=np.float64))


def apart(one: Profile, other: Profile) -> float:
    """The share of bytes that two profiles of one program see between different pairs: 0 the same, 1 no pair alike."""
    a, b = (_by_pair(profile) for profile in (one, other))
    total = max(a.sum(), b.sum())
    return float(np.abs(a - b).sum() / total) if total else 0.0


def _by_pair(profile: Profile) -> Floats:
    return np.triu(profile.sizes + profile.sizes.T, 1)


def _file_bytes(trace: Trace) -> tuple[float, float]:
    of_ranks = [traces.file_bytes(process) for process in trace.processes]
    return sum(read for read, _ in of_ranks), sum(written for _, written in of_ranks)


def _totals(trace: Trace) -> tuple[CallTotal, ...]:
    found: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for process in trace.processes:
        for call, times in traces.weighted(process.body):
            total = found[call.call]
            total[0] += times
            total[1] += call.bytes * times
            total[2] += call.seconds.mean * times
    totals = [CallTotal(name, int(count), size, seconds) for name, (count, size, seconds) in found.items()]
    return tuple(sorted(totals, key=lambda total: -total.seconds))


def _phases(trace: Trace) -> tuple[Phase, ...]:
    """The top level of rank 0's main thread: each loop of weight, and what is before, between and after."""
    process = trace.processes[0]
    found: list[Phase] = []
    between: list[Node] = []
    for node in traces.of_main_thread(process):
        phase = _phase(trace, process, (node,))
        if isinstance(node, Loop) and phase.computing + phase.communicating >= PHASE_SHARE * process.wall:
            found += [_phase(trace, process, tuple(between))] if between else []
            found.append(phase)
            between = []
        else:
            between.append(node)
    return (*found, _phase(trace, process, tuple(between))) if between else tuple(found)


def _phase(trace: Trace, process: Process, body: tuple[Node, ...]) -> Phase:
    part = Process(process.rank, process.wall, body, threads=process.threads)
    only = body[0] if len(body) == 1 else None
    sent = sum(
        size * times
        for call, times in performed(part)
        for source, _, size in messages(trace, process.rank, call)
        if source == process.rank
    )
    return Phase(
        repeats=only.count if isinstance(only, Loop) else 1,
        calls=sum(times for _, times in traces.weighted(body)),
        computing=traces.computing(part),
        communicating=traces.communicating(part),
        bytes=sent,
    )


def document(profile: Profile) -> dict[str, Any]:
    """The profile as JSON: read by `parse`, drawn by pages, sent by the API."""
    order = profile.recognized.order
    return {
        "source": profile.source,
        "program": profile.program,
        "ranks": profile.ranks,
        "wall": profile.wall,
        "bytes": [[float(value) for value in row] for row in profile.sizes],
        "messages": None if profile.numbers is None else [[float(value) for value in row] for row in profile.numbers],
        "computing": profile.computing,
        "communicating": profile.communicating,
        "waiting": profile.waiting,
        "storing": profile.storing,
        "file_bytes": list(profile.file_bytes),
        "limits": [reason.document() for reason in profile.limits],
        "bound_by_latency": profile.bound_by_latency.document(),
        "ratio": profile.ratio,
        "phases": [{name: getattr(phase, name) for name in Phase.__slots__} for phase in profile.phases],
        "calls": [{name: getattr(total, name) for name in CallTotal.__slots__} for total in profile.calls],
        "dominant": [{"ranks": [a, b], "bytes": weight} for a, b, weight in profile.dominant],
        "pattern": {"name": profile.recognized.name, "order": list(order) or None},
    }


def parse(raw: Any) -> Profile:
    """The profile of a document of ours. Raises InputError for one that is damaged."""
    if not isinstance(raw, Mapping):
        raise InputError("profile", raw, "an object")
    ranks = raw.get("ranks")
    check_ranks(ranks)  # type: ignore[arg-type]  # it checks the type
    numbers = raw.get("messages")
    try:
        return Profile(
            source="monitoring" if raw.get("source") == "monitoring" else "trace",
            program=str(raw.get("program", "")),
            ranks=int(raw["ranks"]),
            wall=float(raw.get("wall", 0.0)),
            sizes=_matrix(raw.get("bytes"), int(raw["ranks"]), "bytes"),
            numbers=None if numbers is None else _matrix(numbers, int(raw["ranks"]), "messages"),
            computing=raw.get("computing"),
            communicating=raw.get("communicating"),
            waiting=raw.get("waiting"),
            storing=raw.get("storing"),
            file_bytes=_two(raw.get("file_bytes")),
            limits=tuple(Reason.read(one) for one in raw.get("limits", ())),
            phases=tuple(Phase(**phase) for phase in raw.get("phases", ())),
            calls=tuple(CallTotal(**total) for total in raw.get("calls", ())),
        )
    except (TypeError, ValueError) as error:
        raise InputError("profile", "a damaged document", f"one that was made here ({error})") from error


def _two(raw: Sequence[float] | None) -> tuple[float, float]:
    read, written = raw or (0.0, 0.0)
    return float(read), float(written)


def _matrix(raw: Sequence[Sequence[float]] | None, ranks: int, name: str) -> Floats:
    found = np.array(raw, dtype=np.float64)
    if found.shape != (ranks, ranks) or not np.isfinite(found).all() or (found < 0).any():
        raise InputError(f"profile.{name}", f"a table of {found.shape}", f"{ranks} rows of {ranks} numbers from 0")
    return found
