"""A skeleton's document as the plan that the player in C reads (gridportal/runtime/player): numbers and fixed words.

    PLAN     gridportal-plan 2 ranks N work NEAR TOUCHED REGION comms COUNT COMM... segments COUNT SEGMENT...
             schedule BODY end
    COMM     SIZE, world ranks
    SEGMENT  for each rank how many operations, and these
    OP       work SECONDS | wait COUNT SLOT... | send TO BYTES TAG SLOT | ssend as send | recv FROM BYTES TAG SLOT
             | sendrecv TO BYTES TAG FROM BYTES TAG SLOT | COLLECTIVE COMM BYTES ROOT SLOT COUNT BYTES... COUNT BYTES...
             | master SECONDS BYTES LAST GIVEN COUNT RANK... COUNT TASK... | worker as master | closing as master
    TASK     SECONDS, bytes of the result, bytes of the message that gives it
    BODY     COUNT, and as many of: run SEGMENT | loop TIMES BODY

NEAR is units of work for each cpu second where the trace was made, TOUCHED the bytes of memory that a rank touches in
each, and REGION the bytes in which it does; both 0: it touches too few to count. Slots are small numbers of the rank,
-1 for a call that blocks; ROOT is a rank of the communicator; the two lists of a collective are the bytes for each of
its ranks, and those that come from each; none is 0. The ranks of a master are its workers, those of a worker its
master.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_HEAD = "gridportal-plan 2"
_BLOCKS = -1


def plan(document: Mapping[str, Any], near: float, touched: float = 0.0, region: float = 0.0) -> str:
    """The plan of a checked document (gridportal.runtime.skeleton_check). O(size of the document)."""
    lines = [_HEAD, f"ranks {document['ranks']}", f"work {near!r} {touched!r} {region!r}"]
    comms = dict(sorted(document["comms"].items()))
    lines.append(f"comms {len(comms)}")
    lines.extend(_numbers([len(members), *members]) for members in comms.values())
    lines.append(f"segments {len(document['segments'])}")
    ranks = [_Rank(rank, comms) for rank in range(document["ranks"])]
    for segment in document["segments"]:
        for rank, ops in zip(ranks, segment["ranks"], strict=True):
            lines.extend(rank.line(ops))
    lines.append("schedule")
    lines.extend(_body(document["schedule"]))
    return "\n".join([*lines, "end", ""])


class _Rank:
    """Writes the operations of one rank; remembers which small number stands for which slot."""

    def __init__(self, rank: int, comms: Mapping[str, Sequence[int]]) -> None:
        self._rank, self._comms = rank, comms
        self._numbers = {name: number for number, name in enumerate(comms)}
        self._slots: dict[int, int] = {}

    def line(self, ops: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        played = [op for op in ops if op["op"] != "nothing"]
        yield str(len(played))
        for op in played:
            yield self._op(op)

    def _op(self, op: Mapping[str, Any]) -> str:
        kind = op["op"]
        if kind == "work":
            return f"work {float(op['seconds'])!r}"
        if kind == "wait":
            slots = dict.fromkeys(self._slot(slot) for slot in op["slots"])
            return f"wait {_numbers([len(slots), *slots])}"
        if "comm" in op:
            return f"{kind} {_numbers(self._collective(op))}"
        if "ranks" in op:
            return _farm(op, self._rank)
        ends = [op[name] for name in ("to", "bytes", "tag", "from", "from_bytes", "from_tag") if name in op]
        return f"{kind} {_numbers([*ends, self._slot(op.get('slot'))])}"

    def _collective(self, op: Mapping[str, Any]) -> list[int]:
        name, counts, coming = op["comm"], op.get("counts", ()), op.get("from_counts", ())
        root = self._comms[name].index(op["root"]) if "root" in op else 0
        head = [self._numbers[name], op["bytes"], root, self._slot(op.get("slot"))]
        return [*head, len(counts), *counts, len(coming), *coming]

    def _slot(self, slot: int | None) -> int:
        return _BLOCKS if slot is None else self._slots.setdefault(slot, len(self._slots))


def _farm(op: Mapping[str, Any], rank: int) -> str:
    ranks = op["ranks"] if rank == op["master"] else [op["master"]]
    tasks = [f"{float(seconds)!r} {back} {out}" for seconds, back, out in op.get("tasks", ())]
    head = f"{op['op']} {float(op.get('seconds', 0.0))!r} {op['bytes']} {op['last']} {op.get('given', 0)}"
    return " ".join([head, _numbers([len(ranks), *ranks]), str(len(tasks)), *tasks])


def _body(body: Sequence[Any]) -> Iterator[str]:
    yield str(len(body))
    for node in body:
        if isinstance(node, int):
            yield f"run {node}"
        else:
            yield f"loop {node['loop']}"
            yield from _body(node["body"])


def _numbers(values: Sequence[int]) -> str:
    return " ".join(map(str, values))
