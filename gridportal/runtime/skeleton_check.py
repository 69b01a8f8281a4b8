"""Whether a skeleton's document can be run: people may have changed it, and a rank that stumbles holds up the others.

The grammar is in scheduling.skeletons.core.skeleton.document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gridportal.base.errors import InputError

#: Executions of segments; more are no short program, and each is remembered.
MOST_RUNS = 5_000_000
_MOST, _MOST_RANKS, _MOST_DEPTH = 1e18, 4096, 60
_MOST_TAG = 2**31 - 1
_LEAST_PART = 1e-12  # divided by
#: `far` stands in skeletons of before, and counts no more.
_WORK = frozenset({"near", "touched", "region", "far"})
_FARMING = frozenset({"master", "worker", "closing"})
_MOST_FARMED, _MOST_TASKS = 2**31 - 1, 32_000  # a task's number is the tag of its message
_COUNTED = frozenset({"allgatherv", "alltoallv", "alltoallw"})
_AT_ROOT = frozenset({"gatherv", "scatterv"})
_COLLECTIVES = (
    _COUNTED
    | _AT_ROOT
    | {
        "barrier",
        "bcast",
        "gather",
        "scatter",
        "allgather",
        "alltoall",
        "reduce",
        "allreduce",
        "reduce_scatter",
        "reduce_scatter_block",
        "scan",
        "exscan",
    }
)
_SENDING = ("to", "bytes", "tag")
_RECEIVING = ("from", "from_bytes", "from_tag")
_ENDS = {"send": _SENDING, "ssend": _SENDING, "recv": _RECEIVING, "sendrecv": (*_SENDING, *_RECEIVING)}


def runnable(document: Any) -> Mapping[str, Any]:
    """`document`, a skeleton of version 1. Raises InputError that names the entry. O(size of the document)."""
    ranks = _whole(document.get("ranks"), "skeleton ranks", 1, _MOST_RANKS)
    if not isinstance(document.get("program"), str):
        raise InputError("skeleton program", document.get("program"), "the name of a program")
    if not _figure(document.get("rate"), "skeleton rate") > 0:
        raise InputError("skeleton rate", document["rate"], "a number above 0")
    _check_rates(document.get("player", {}))
    application = document.get("application")
    for name in ("work", "unseen"):
        figures = application.get(name) if isinstance(application, dict) else None
        _figures(figures, f"skeleton application.{name}", ranks)
    _figures(application.get("farmed", [0] * ranks), "skeleton application.farmed", ranks)
    comms = _comms(document.get("comms"), ranks)
    segments = _list(document.get("segments"), "skeleton segments")
    for index, segment in enumerate(segments):
        _check_segment(segment, f"skeleton segments[{index}]", ranks, comms)
    _runs(document.get("schedule"), len(segments), "skeleton schedule")
    return document  # type: ignore[no-any-return]


def _check_rates(rates: Any) -> None:
    if not isinstance(rates, dict) or (rates and "near" not in rates) or not rates.keys() <= _WORK:
        raise InputError("skeleton player", rates, "an object with near, and with touched and region if they are known")
    for name, rate in rates.items():
        if not _figure(rate, f"skeleton player.{name}") > 0:
            raise InputError(f"skeleton player.{name}", rate, "a number above 0")


def _comms(raw: Any, ranks: int) -> dict[str, list[int]]:
    if not isinstance(raw, dict):
        raise InputError("skeleton comms", raw, "an object of communicators")
    for name, members in raw.items():
        where = f"skeleton comms.{name}"
        for member in _list(members, where):
            _whole(member, where, 0, ranks - 1)
        if not members or len(set(members)) < len(members):
            raise InputError(where, members, "ranks, each of them once")
    return raw


def _check_segment(segment: Any, where: str, ranks: int, comms: Mapping[str, Sequence[int]]) -> None:
    if not isinstance(segment, dict):
        raise InputError(where, segment, "a segment")
    _figure(segment.get("times"), f"{where}.times")
    if _figure(segment.get("part"), f"{where}.part") < _LEAST_PART:
        raise InputError(f"{where}.part", segment["part"], f"a number from {_LEAST_PART:g}")
    _figures(segment.get("inside"), f"{where}.inside", ranks)
    lines = _list(segment.get("ranks"), f"{where}.ranks")
    if len(lines) != ranks:
        raise InputError(f"{where}.ranks", lines, f"a line for each of the {ranks} ranks")
    for rank, line in enumerate(lines):
        for index, op in enumerate(_list(line, f"{where}.ranks[{rank}]")):
            _check_op(op, f"{where}.ranks[{rank}][{index}]", rank, ranks, comms)


def _check_op(op: Any, where: str, rank: int, ranks: int, comms: Mapping[str, Sequence[int]]) -> None:
    kind = op.get("op") if isinstance(op, dict) else None
    if "slot" in (op if kind else ()):
        _whole(op["slot"], f"{where}.slot", 0, _MOST)
    if kind == "work":
        _figure(op.get("seconds"), f"{where}.seconds")
    elif kind == "wait":
        for slot in _list(op.get("slots"), f"{where}.slots"):
            _whole(slot, f"{where}.slots", 0, _MOST)
    elif isinstance(kind, str) and kind in _ENDS:
        _check_message(op, where, ranks, _ENDS[kind])
    elif isinstance(kind, str) and kind in _COLLECTIVES:
        _check_collective(op, where, rank, comms)
    elif isinstance(kind, str) and kind in _FARMING:
        _check_farm(op, where, rank, ranks)
    elif kind != "nothing":
        raise InputError(
            where, op, "work, send, ssend, recv, sendrecv, wait, a collective, or master, worker or closing"
        )


def _check_farm(op: Mapping[str, Any], where: str, rank: int, ranks: int) -> None:
    master = _whole(op.get("master"), f"{where}.master", 0, ranks - 1)
    workers = [_whole(worker, f"{where}.ranks", 0, ranks - 1) for worker in _list(op.get("ranks"), f"{where}.ranks")]
    if len(workers) < 2 or len({master, *workers}) != len(workers) + 1:
        raise InputError(f"{where}.ranks", workers, "two ranks or more, each of them once, and not the master")
    if rank not in {master, *workers} or (op["op"] != "closing" and (op["op"] == "master") != (rank == master)):
        raise InputError(where, op["op"], f"what rank {rank} is in this farm")
    for name in ("last", "bytes"):
        _whole(op.get(name), f"{where}.{name}", 0, _MOST_FARMED)
    if op["op"] != "closing":
        _check_tasks(op, where)


def _check_tasks(op: Mapping[str, Any], where: str) -> None:
    _figure(op.get("seconds"), f"{where}.seconds")
    _whole(op.get("given"), f"{where}.given", 0, MOST_RUNS)
    tasks = _list(op.get("tasks"), f"{where}.tasks")
    if not 1 <= len(tasks) <= _MOST_TASKS:
        raise InputError(f"{where}.tasks", f"{len(tasks)} tasks", f"1 to {_MOST_TASKS:,}")
    for task in tasks:
        _figures(task, f"{where}.tasks", 3, "seconds, bytes back and bytes out")
        for size in task[1:]:
            _whole(size, f"{where}.tasks", 0, _MOST_FARMED)


def _check_message(op: Mapping[str, Any], where: str, ranks: int, names: Sequence[str]) -> None:
    """What its kind has not may not be there either: who is waited for is told by the entries."""
    most = {"to": ranks - 1, "from": ranks - 1, "tag": _MOST_TAG, "from_tag": _MOST_TAG}
    for name in (*_SENDING, *_RECEIVING):
        if name in names:
            _whole(op.get(name), f"{where}.{name}", 0, most.get(name, _MOST))
        elif name in op:
            raise InputError(f"{where}.{name}", op[name], f"nothing in a {op['op']}")


def _check_collective(op: Mapping[str, Any], where: str, rank: int, comms: Mapping[str, Sequence[int]]) -> None:
    name, kind = op.get("comm"), op["op"]
    members = comms.get(name, ()) if isinstance(name, str) else ()
    if rank not in members:
        raise InputError(f"{where}.comm", name, f"a communicator that rank {rank} is in")
    _whole(op.get("bytes"), f"{where}.bytes", 0, _MOST)
    root = op.get("root", members[0])
    if isinstance(root, bool) or root not in members:
        raise InputError(f"{where}.root", root, "a rank of its communicator")
    needed = kind in _COUNTED or (kind in _AT_ROOT and root == rank)
    for counts in ("counts", "from_counts"):
        if counts in op or (needed and (counts == "counts" or kind.startswith("alltoall"))):
            for count in _list(op.get(counts), f"{where}.{counts}"):
                _whole(count, f"{where}.{counts}", 0, _MOST)
            if len(op[counts]) != len(members):
                raise InputError(f"{where}.{counts}", op[counts], f"{len(members)} numbers, one for each rank")


def _runs(body: Any, segments: int, where: str, depth: int = 0) -> int:
    """How often segments run in it, loops with nothing in them counted too."""
    if depth > _MOST_DEPTH:
        raise InputError(where, "a deeper loop", f"at most {_MOST_DEPTH} loops in each other")
    runs = 0
    for index, node in enumerate(_list(body, where)):
        place = f"{where}[{index}]"
        if isinstance(node, dict):
            times = _whole(node.get("loop"), f"{place}.loop", 1, MOST_RUNS)
            runs += times * max(1, _runs(node.get("body"), segments, f"{place}.body", depth + 1))
        else:
            _whole(node, place, 0, segments - 1)
            runs += 1
    if runs > MOST_RUNS:
        raise InputError(where, f"{runs:,} runs of segments", f"at most {MOST_RUNS:,}")
    return runs


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(where, value, "a list")
    return value


def _figures(value: Any, where: str, number: int, of: str = "one for each rank") -> None:
    for figure in _list(value, where):
        _figure(figure, where)
    if len(value) != number:
        raise InputError(where, value, f"{number} numbers, {of}")


def _figure(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        raise InputError(where, value, f"a number from 0 to {_MOST:g}")
    return value


def _whole(value: Any, where: str, low: int, high: float) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(where, value, f"a whole number from {low} to {high:g}")
    return value
