"""Between a trace and its document (grammar: scheduling.profiles.core.trace): checked reading, and writing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any

from gridportal.base.errors import InputError
from scheduling.profiles.core.trace_nodes import ANY, Any_, Call, Compute, Inside, Loop, Node, Process, Touched, Trace

VERSION = 1
MAX_RANKS = 4096
MAX_LOOP = 10**12
MAX_SLOT = 10**7
_MAX_DEPTH = 60
#: A loop keeps at most so many rounds.
MAX_ROUNDS = 1024
#: Calls that say for each rank of their communicator how much.
_COUNTED = re.compile(r"MPI_I?(gatherv|scatterv|allgatherv|alltoall[vw]|reduce_scatter)(_init)?", re.IGNORECASE)
_NAME = re.compile(r"MPI_[A-Za-z0-9_]{1,80}")
#: Letters of a name or a command line; the recording library writes as many.
_MOST_TEXT = 4096
#: Of loops in each other, and of any figure: sums of such numbers are still numbers.
_MAX_TIMES, _MOST = 10**15, 1e15


def parse(document: Any) -> Trace:
    """The trace of a document. Raises InputError that names the entry, as processes[2].body[7].peer."""
    top = _object(document, "trace")
    if top.get("version") != VERSION:
        raise InputError("version", top.get("version"), f"{VERSION}, the version of traces that is read here")
    ranks = _whole(top.get("ranks"), "ranks", 1, MAX_RANKS)
    comms = _comms(top.get("comms"), ranks)
    processes = _list(top.get("processes"), "processes")
    if len(processes) != ranks:
        raise InputError("processes", len(processes), f"one entry for each of the {ranks} ranks")
    inter = frozenset(_known(name, "inter", comms) for name in _list(top.get("inter", []), "inter"))
    reader = _Reader(ranks, comms, inter)
    return Trace(
        program=_text(top.get("program", "")),
        ranks=ranks,
        mpi=_text(top.get("mpi", "")),
        wall=_number(top.get("wall", 0.0), "wall"),
        hosts=tuple(_text(host) for host in _list(top.get("hosts", []), "hosts")),
        comms=comms,
        inter=inter,
        processes=tuple(reader.process(raw, rank) for rank, raw in enumerate(processes)),
    )


class _Reader:
    """Reads processes whose calls name `ranks` ranks and these communicators."""

    def __init__(self, ranks: int, comms: Mapping[str, tuple[int, ...]], inter: frozenset[str]) -> None:
        self.ranks = ranks
        self.comms = comms
        self.inter = inter

    def process(self, raw: Any, rank: int) -> Process:
        where = f"processes[{rank}]"
        entry = _object(raw, where)
        if entry.get("rank") != rank:
            raise InputError(f"{where}.rank", entry.get("rank"), f"{rank}, for the processes stand in rank order")
        return Process(
            rank=rank,
            wall=_number(entry.get("wall", 0.0), f"{where}.wall"),
            body=self.body(entry.get("body"), f"{where}.body", 0),
            tail=_compute(entry.get("tail", {}), f"{where}.tail"),
            polls=_whole(entry.get("polls", 0), f"{where}.polls", 0, MAX_LOOP),
            complete=bool(entry.get("complete", True)),
            ordered=bool(entry.get("ordered", True)),
            helped=_number(entry.get("helped", 0.0), f"{where}.helped"),
            ready=_number(entry.get("ready", 0.0), f"{where}.ready"),
            pace=_number(entry.get("pace", 0.0), f"{where}.pace"),
            threads=tuple(
                _whole(calls, f"{where}.threads", 0, MAX_LOOP)
                for calls in _list(entry.get("threads", []), f"{where}.threads")
            ),
            children=_number(entry.get("children", 0.0), f"{where}.children"),
            touched=_touched(entry.get("touched", {}), f"{where}.touched"),
            gpu=_text(entry.get("gpu", "")),
        )

    def body(self, raw: Any, where: str, depth: int, times: int = 1, kept: int = 0) -> tuple[Node, ...]:
        """`kept`: how many rounds the outermost loop around it has kept."""
        if depth > _MAX_DEPTH:
            raise InputError(where, "a deeper loop", f"at most {_MAX_DEPTH} loops in each other")
        return tuple(
            self.node(node, f"{where}[{index}]", depth, times, kept) for index, node in enumerate(_list(raw, where))
        )

    def node(self, raw: Any, where: str, depth: int, times: int, kept: int) -> Node:
        entry = _object(raw, where)
        if "loop" in entry:
            count = _whole(entry["loop"], f"{where}.loop", 1, MAX_LOOP)
            if times * count > _MAX_TIMES:
                raise InputError(f"{where}.loop", count, f"loops in each other that run {_MAX_TIMES:.0e} times at most")
            rounds = _rounds(entry.get("rounds", []), count, depth, f"{where}.rounds")
            kept = kept if depth else len(rounds)
            return Loop(count, self.body(entry.get("body"), f"{where}.body", depth + 1, times * count, kept), rounds)
        name = entry.get("call")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(f"{where}.call", name, "the name of an MPI function, or a loop")
        return self.call(name, entry, where, kept)

    def call(self, name: str, entry: Mapping[str, Any], where: str, kept: int) -> Call:
        newcomm = entry.get("newcomm")
        request = entry.get("request")
        comm = _known(entry.get("comm", "0"), f"{where}.comm", self.comms)
        return Call(
            call=name,
            comm=comm,
            peer=self._rank(entry.get("peer"), f"{where}.peer"),
            source=self._source(entry.get("source"), f"{where}.source"),
            tag=_tag(entry.get("tag"), f"{where}.tag"),
            recv_tag=_tag(entry.get("recv_tag"), f"{where}.recv_tag"),
            bytes=_number(entry.get("bytes", 0), f"{where}.bytes"),
            recv_bytes=_number(entry.get("recv_bytes", 0), f"{where}.recv_bytes"),
            root=self._rank(entry.get("root"), f"{where}.root"),
            counts=self._counts(entry.get("counts", []), name, comm, f"{where}.counts"),
            peers=tuple(self._rank(p, f"{where}.peers") for p in _list(entry.get("peers", []), f"{where}.peers")),
            newcomm=None if newcomm is None else _known(newcomm, f"{where}.newcomm", self.comms),
            request=None if request is None else _whole(request, f"{where}.request", 0, MAX_SLOT),
            requests=_slots(entry.get("requests", []), f"{where}.requests"),
            compute=_compute(entry.get("compute", {}), f"{where}.compute", kept),
            seconds=_inside(entry.get("seconds", {}), f"{where}.seconds"),
        )

    def _rank(self, value: Any, where: str) -> int | None:
        return None if value is None else _whole(value, where, 0, self.ranks - 1)

    def _counts(self, value: Any, name: str, comm: str, where: str) -> tuple[float, ...]:
        """One for each rank of the communicator; among neighbours, and between two groups, others."""
        counts = tuple(_number(count, where) for count in _list(value, where))
        size = len(self.comms[comm])
        if counts and len(counts) != size and comm not in self.inter and _COUNTED.fullmatch(name):
            raise InputError(where, value, f"{size} numbers, one for each rank of the communicator {comm}")
        return counts

    def _source(self, value: Any, where: str) -> int | Any_ | None:
        return ANY if value == ANY else self._rank(value, where)


def dump(trace: Trace) -> dict[str, object]:
    """The document of a trace: parse(dump(trace)) == trace."""
    return {
        "version": VERSION,
        "program": trace.program,
        "ranks": trace.ranks,
        "mpi": trace.mpi,
        "wall": trace.wall,
        "hosts": list(trace.hosts),
        "comms": {name: list(members) for name, members in trace.comms.items()},
        "inter": sorted(trace.inter),
        "processes": [_process(process) for process in trace.processes],
    }


def _process(process: Process) -> dict[str, object]:
    return {
        "rank": process.rank,
        "wall": process.wall,
        "polls": process.polls,
        "complete": process.complete,
        "ordered": process.ordered,
        **{name: value for name in ("helped", "ready", "children", "pace", "gpu") if (value := getattr(process, name))},
        **({"threads": list(process.threads)} if process.threads else {}),
        **({"touched": _figures(process.touched)} if process.touched.n else {}),
        "body": [_node(node) for node in process.body],
        "tail": _figures(process.tail),
    }


_DEFAULT = Call("MPI_")


def _node(node: Node) -> dict[str, object]:
    if isinstance(node, Loop):
        kept = {"rounds": list(node.rounds)} if node.rounds else {}
        return {"loop": node.count, **kept, "body": [_node(inner) for inner in node.body]}
    entry: dict[str, object] = {}
    for field in fields(Call):
        value = getattr(node, field.name)
        if isinstance(value, Compute | Inside):
            entry[field.name] = _figures(value)
        elif value != getattr(_DEFAULT, field.name):
            entry[field.name] = list(value) if isinstance(value, tuple) else value
    return entry


def _figures(value: Compute | Inside | Touched) -> dict[str, float | list[float]]:
    figures = {field.name: getattr(value, field.name) for field in fields(value) if field.name != "rounds"}
    return {**figures, "rounds": list(value.rounds)} if isinstance(value, Compute) and value.rounds else figures


def _comms(raw: Any, ranks: int) -> dict[str, tuple[int, ...]]:
    entries = _object(raw, "comms")
    comms = {
        str(name): tuple(_whole(rank, f"comms.{name}", 0, ranks - 1) for rank in _list(members, f"comms.{name}"))
        for name, members in entries.items()
    }
    if comms.get("0") != tuple(range(ranks)):
        raise InputError("comms.0", list(comms.get("0", ())), f"the ranks 0 to {ranks - 1} of MPI_COMM_WORLD")
    return comms


def _known(name: Any, where: str, comms: Mapping[str, tuple[int, ...]]) -> str:
    if str(name) not in comms:
        raise InputError(where, name, f"one of the {len(comms)} communicators under comms")
    return str(name)


def _compute(raw: Any, where: str, kept: int = 0) -> Compute:
    entry = _object(raw, where)
    mean, var, cpu = (_number(entry.get(name, 0.0), f"{where}.{name}") for name in ("mean", "var", "cpu"))
    rounds = _list(entry.get("rounds", []), f"{where}.rounds")
    if len(rounds) not in (0, kept):
        raise InputError(f"{where}.rounds", f"{len(rounds)} numbers", _as_kept(kept))
    each = tuple(_number(seconds, f"{where}.rounds[{place}]") for place, seconds in enumerate(rounds))
    return Compute(_whole(entry.get("n", 0), f"{where}.n", 0, MAX_LOOP), mean, var, cpu, each)


def _as_kept(kept: int) -> str:
    return f"{kept} numbers, one for each round that its outermost loop has kept" if kept else "none: no round was kept"


def _rounds(raw: Any, count: int, depth: int, where: str) -> tuple[int, ...]:
    """The numbers of the rounds that a loop has kept."""
    numbers = _list(raw, where)
    if depth and numbers:
        raise InputError(where, f"{len(numbers)} numbers", "none: only a loop that stands in no other keeps rounds")
    if len(numbers) > MAX_ROUNDS:
        raise InputError(where, f"{len(numbers)} numbers", f"at most {MAX_ROUNDS:,} rounds")
    rounds = tuple(_whole(number, where, 0, count - 1) for number in numbers)
    if any(later <= earlier for earlier, later in pairwise(rounds)):
        raise InputError(where, numbers, "numbers of rounds, each higher than the one before")
    return rounds


def _touched(raw: Any, where: str) -> Touched:
    entry = _object(raw, where)
    figures = (_number(entry.get(name, 0.0), f"{where}.{name}") for name in ("bytes", "cpu", "region"))
    return Touched(_whole(entry.get("n", 0), f"{where}.n", 0, MAX_LOOP), *figures)


def _inside(raw: Any, where: str) -> Inside:
    entry = _object(raw, where)
    times = _whole(entry.get("n", 0), f"{where}.n", 0, MAX_LOOP)
    return Inside(times, _number(entry.get("mean", 0.0), f"{where}.mean"))


def _text(value: Any) -> str:
    """As it can be kept and shown: a database takes no null character."""
    return "".join(letter if letter.isprintable() else " " for letter in str(value)[:_MOST_TEXT])


def _slots(raw: Any, where: str) -> tuple[int, ...]:
    return tuple(_whole(slot, where, 0, MAX_SLOT) for slot in _list(raw, where))


def _tag(value: Any, where: str) -> int | Any_ | None:
    if value is None or value == ANY:
        return value  # type: ignore[no-any-return]
    return _whole(value, where, -1, 2**31 - 1)


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(where, value, "an object")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(where, value, "a list")
    return value


def _whole(value: Any, where: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(where, value, f"a whole number from {low} to {high}")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        raise InputError(where, value, f"a number from 0 to {_MOST:g}")
    return float(value)
