"""A skeleton as the JSON document that gridportal.runtime.skeleton runs.

    SKELETON {"version": 1, "program", "ranks", "mpi", "target": s, "expected": s, "rate": units/s, "player": RATES,
              "application": {"seconds": s, "communicating": s in MPI and "working": s outside of it, means over the
              ranks, "work": [cpu s of each rank], "unseen": [s in MPI of each rank that no segment here stands for]},
              "comms": {ID: [world ranks]}, "segments": [SEGMENT], "schedule": [index | {"loop": n, "body": [...]}]}
    SEGMENT  {"times": executions in the application, "part": bytes here / bytes there, "inside": [recorded s in MPI of
              each rank], "ranks": [[OP]]}
    OP       {"op": "work", "seconds"} | {"op": "wait", "slots"}
             | {"op": "send" | "ssend" | "recv" | "sendrecv", "to", "bytes", "tag", "from", "from_bytes", "from_tag"}
             | {"op": collective, "comm", "bytes", "root", "counts", "from_counts"}, with "slot" where it only begins
             | {"op": "master" | "worker", "master", "ranks": [workers], "given": tasks, "last": bytes, "seconds",
                "bytes", "tasks": [[seconds, bytes back, bytes out]]}
             | {"op": "closing", "master", "ranks", "last", "bytes"}

A farm is two segments: until the master has given all tasks, `tasks` in turn, and until it has let all workers go.
"farmed" in "application", which may be left out, is the part of "work" that was done in farms.

`rate` says how much of the work of gridportal.runtime.work one cpu second is where the trace was made; `player` says it
of the player in C, and may be left out: {"near": units/s, "touched": bytes/s, "region": bytes}. The last two, which
stand together or not at all, say that a rank touches `touched` bytes of memory in each cpu second, in `region` bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from scheduling.skeletons.core.skeleton.build import Skeleton
from scheduling.skeletons.core.skeleton.folding import Repeat, Tree
from scheduling.skeletons.core.skeleton.kinds import Segment
from scheduling.skeletons.core.skeleton.ops import Op
from scheduling.skeletons.core.skeleton.task_farm import FARM, shortened

VERSION = 1
EXCHANGES = ("alltoallv", "alltoallw")
#: Messages are not made smaller than this, so that they stay messages that the bandwidth and not the latency delays.
_LEAST_BYTES = 16384


def document(skeleton: Skeleton, *, rate: float, player: Mapping[str, float] | None = None) -> dict[str, object]:
    """The document of `skeleton`; `rate` as gridportal.runtime.work.measured_rate tells it, `player` as the player in C
    that its program's MPI has: what the trace itself says of the time when it was made goes before it."""
    numbers: dict[int, list[int]] = {}
    used: list[dict[str, object]] = []
    for kind in sorted(skeleton.scaled.runs):
        entries = _entries(skeleton.segments[kind], skeleton.scaled.part[kind], skeleton.comms)
        numbers[kind] = list(range(len(used), len(used) + len(entries)))
        used += entries
    return {
        "version": VERSION,
        "program": skeleton.program,
        "ranks": skeleton.ranks,
        "mpi": skeleton.mpi,
        "target": skeleton.target,
        "expected": skeleton.expected,
        "rate": rate,
        **_player(skeleton, player or {}),
        "application": {
            "seconds": skeleton.seconds,
            "communicating": fmean(skeleton.inside),
            "working": fmean(skeleton.working),
            "work": list(skeleton.work),
            "unseen": _unseen(skeleton),
            **_farmed(skeleton),
        },
        "comms": _comms(skeleton),
        "segments": used,
        "schedule": _schedule(skeleton.scaled.schedule, numbers),
    }


def _player(skeleton: Skeleton, rates: Mapping[str, float]) -> dict[str, object]:
    known = {**rates, **({"near": skeleton.pace} if skeleton.pace else {})}
    if known and skeleton.touched is not None:
        known |= {"touched": skeleton.touched.rate, "region": skeleton.touched.region}
    return {"player": known} if known else {}


def _unseen(skeleton: Skeleton) -> list[float]:
    seen = [skeleton.segments[kind] for kind in skeleton.scaled.runs]
    return [
        max(0.0, inside - sum(segment.times * segment.inside[rank] for segment in seen))
        for rank, inside in enumerate(skeleton.inside)
    ]


def _farmed(skeleton: Skeleton) -> dict[str, list[float]]:
    farms = [segment for kind in skeleton.scaled.runs if (segment := skeleton.segments[kind]).farm is not None]
    if not farms:
        return {}
    return {"farmed": [sum(farm.times * sum(farm.work[rank]) for farm in farms) for rank in range(skeleton.ranks)]}


def _comms(skeleton: Skeleton) -> dict[str, list[int]]:
    used = {
        op.comm
        for kind in skeleton.scaled.runs
        for line in skeleton.segments[kind].ops
        for op in line
        if not _is_message(op) and op.comm != FARM
    }
    return {name: list(skeleton.comms[name]) for name in sorted(used)}


def _schedule(tree: Tree, numbers: Mapping[int, Sequence[int]]) -> list[Any]:
    schedule: list[Any] = []
    for node in tree:
        if isinstance(node, Repeat):
            schedule.append({"loop": node.count, "body": _schedule(node.body, numbers)})
        else:
            schedule.extend(numbers[node])
    return schedule


def _entries(segment: Segment, part: float, comms: Mapping[str, Sequence[int]]) -> list[dict[str, object]]:
    """A segment of the document, or two for a farm."""
    if segment.farm is None:
        return [_segment(segment, part, comms)]
    short, farm = shortened(segment.farm, part), segment.farm
    ranks = range(len(segment.ops))
    active = {farm.master, *farm.workers}
    first = [[short.op(rank, _bytes)] if rank in active else [] for rank in ranks]
    last = [[short.closing()] if rank in active else [] for rank in ranks]
    return [
        {"times": segment.times, "part": short.part, "inside": segment.inside, "ranks": first},
        {"times": segment.times, "part": short.size, "inside": [0.0 for _ in ranks], "ranks": last},
    ]


def _segment(segment: Segment, part: float, comms: Mapping[str, Sequence[int]]) -> dict[str, object]:
    lines = [_line(ops, work, part) for ops, work in zip(segment.ops, segment.work, strict=True)]
    _tell_what_comes(lines, comms)
    whole = sum(op.bytes for line in segment.ops for op in line)
    here = sum(_bytes(op.bytes, part) for line in segment.ops for op in line)
    return {
        "times": segment.times,
        "part": here / whole if whole else 1.0,
        "inside": segment.inside,
        "ranks": lines,
    }


def _line(ops: tuple[Op, ...], work: list[float], part: float) -> list[dict[str, object]]:
    line: list[dict[str, object]] = []
    for op, seconds in zip(ops, work, strict=True):
        if seconds > 0:
            line.append({"op": "work", "seconds": seconds * part})
        entry = _message(op, part) if _is_message(op) else _other(op, part)
        if entry:
            line.append(entry)
    return line


def _tell_what_comes(lines: list[list[dict[str, object]]], comms: Mapping[str, Sequence[int]]) -> None:
    """Each exchange gets the bytes that come from each rank; the k-th of a communicator is the same on all ranks."""
    for comm, members in comms.items():
        of_comm = [[op for op in lines[rank] if op["op"] in EXCHANGES and op["comm"] == comm] for rank in members]
        for together in zip(*of_comm, strict=True):
            for place, op in enumerate(together):
                op["from_counts"] = [other["counts"][place] for other in together]


def _is_message(op: Op) -> bool:
    return op.kind in ("send", "ssend", "recv", "sendrecv", "wait")


def _message(op: Op, part: float) -> dict[str, object]:
    """Nothing for a message to or from nobody, and for a wait on nothing."""
    if op.kind == "wait":
        return {"op": "wait", "slots": list(op.slots)} if op.slots else {}
    entry: dict[str, object] = {}
    if op.peer is not None:
        entry |= {"to": op.peer, "bytes": _bytes(op.bytes, part), "tag": op.tag}
    if op.source is not None:
        entry |= {"from": op.source, "from_bytes": _bytes(op.recv_bytes, part), "from_tag": op.recv_tag}
    if op.starts:
        entry["slot"] = op.slot
    if op.peer is None and op.source is None:
        return entry and {"op": "nothing", **entry}
    kind = op.kind if op.kind != "sendrecv" or len(entry) >= 6 else "send" if op.peer is not None else "recv"
    return {"op": kind, **entry}


def _other(op: Op, part: float) -> dict[str, object]:
    counts = [_bytes(count, part) for count in op.counts]
    entry: dict[str, object] = {"op": op.kind, "comm": op.comm, "bytes": _bytes(op.bytes, part)}
    if op.root is not None:
        entry["root"] = op.root
    if counts:
        entry["counts"] = counts
    if op.starts:
        entry["slot"] = op.slot
    return entry


def _bytes(size: int, part: float) -> int:
    if part >= 1.0 or size <= _LEAST_BYTES:
        return size
    return max(_LEAST_BYTES, round(size * part))
