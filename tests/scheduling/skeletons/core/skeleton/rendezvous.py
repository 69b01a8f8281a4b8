"""Runs a skeleton's document in the strictest MPI there may be: a blocking send waits until it is received."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def unrolled(document: dict[str, Any], rank: int) -> list[dict[str, Any]]:
    """The operations of a rank in their order."""

    def body(nodes: list[Any]) -> Iterator[dict[str, Any]]:
        for node in nodes:
            if isinstance(node, int):
                yield from document["segments"][node]["ranks"][rank]
            else:
                for _ in range(node["loop"]):
                    yield from body(node["body"])

    return list(body(document["schedule"]))


def stuck(document: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """The operations that wait for ever; none when the skeleton ends and every message was received."""
    return _Machine(document).run()


class _Machine:
    def __init__(self, document: dict[str, Any]) -> None:
        self.comms = document["comms"]
        self.lines = [unrolled(document, rank) for rank in range(document["ranks"])]
        self.at = [0] * len(self.lines)
        self.posted: list[dict[str, Any]] = []  # sends and receives that wait for their partner
        self.slots: list[dict[int, dict[str, Any]]] = [{} for _ in self.lines]
        self.turn: list[dict[str, int]] = [{} for _ in self.lines]
        self.state: dict[tuple[int, int], dict[str, Any]] = {}
        self.come: dict[tuple[str, int], int] = {}

    def run(self) -> list[tuple[int, dict[str, Any]]]:
        moved = True
        while moved:
            moved = sum(self._rank(rank) for rank in range(len(self.lines))) > 0
        left = [
            (rank, line[at]) for rank, (line, at) in enumerate(zip(self.lines, self.at, strict=True)) if at < len(line)
        ]
        return left + [(half["rank"], half) for half in self.posted]

    def _rank(self, rank: int) -> bool:
        moved = False
        while self.at[rank] < len(self.lines[rank]) and self._step(rank, self.lines[rank][self.at[rank]]):
            self.at[rank] += 1
            moved = True
        return moved

    def _step(self, rank: int, op: dict[str, Any]) -> bool:
        if op["op"] in ("work", "nothing"):
            return True
        if op["op"] == "wait":
            return all(self._over(self.slots[rank][slot]) for slot in op["slots"] if slot in self.slots[rank])
        key = (rank, self.at[rank])
        if key not in self.state:
            self.state[key] = self._begin(rank, op)
        state = self.state[key]
        if "slot" in op:
            self.slots[rank][op["slot"]] = state
            return True
        return self._over(state)

    def _begin(self, rank: int, op: dict[str, Any]) -> dict[str, Any]:
        if "ranks" in op:
            op = {"comm": f"farm {op['master']} {op['op'] == 'closing'}", "members": [op["master"], *op["ranks"]]}
            self.comms[op["comm"]] = op["members"]
        if "comm" in op:
            turn = self.turn[rank].get(op["comm"], 0)
            self.turn[rank][op["comm"]] = turn + 1
            self.come[op["comm"], turn] = self.come.get((op["comm"], turn), 0) + 1
            return {"gathering": (op["comm"], turn)}
        halves = []
        if "to" in op:
            halves.append(self._post(rank, ("send", rank, op["to"], op["tag"], op["bytes"])))
        if "from" in op:
            halves.append(self._post(rank, ("recv", op["from"], rank, op["from_tag"], op["from_bytes"])))
        return {"halves": halves}

    def _post(self, rank: int, what: tuple[Any, ...]) -> dict[str, Any]:
        half = {"rank": rank, "what": what, "met": False}
        for other in self.posted:
            if other["what"][0] != what[0] and other["what"][1:4] == what[1:4]:
                assert other["what"][4] == what[4], "a message and its receive differ in size"
                other["met"] = half["met"] = True
                self.posted.remove(other)
                return half
        self.posted.append(half)
        return half

    def _over(self, state: dict[str, Any]) -> bool:
        if "gathering" in state:
            return self.come[state["gathering"]] == len(self.comms[state["gathering"][0]])
        return all(half["met"] for half in state["halves"])
