"""Skeletons that say all there is to say, and the MPIs that are here to play them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from scheduling.skeletons.adapters.skeleton_runs import Player

BESIDE = Path(sys.executable).parent
MPICH = str(BESIDE / "mpicc")
#: By compiler of C: what starts its programs.
LAUNCHERS = {
    MPICH: (str(BESIDE / "mpiexec"), "-n", "{ranks}"),
    "mpicc.openmpi": ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "{ranks}"),
}
RANKS = 3
_EVERYBODY = range(RANKS)


def player(mpicc: str, cache: Path) -> Player:
    """The player of this MPI; skips where it is not here."""
    for program in (mpicc, LAUNCHERS[mpicc][0], "gcc"):
        if not shutil.which(program):
            pytest.skip(f"not installed here: {program}")
    return Player(mpicc, LAUNCHERS[mpicc], cache=cache)


def document(lines: list[list[dict[str, Any]]], schedule: list[Any], times: int = 10) -> dict[str, Any]:
    """A skeleton of one segment, in which each rank has a line."""
    ranks = len(lines)
    return {
        "version": 1,
        "program": "everything",
        "ranks": ranks,
        "expected": 0.1,
        "rate": 1e5,
        "application": {"seconds": 1.0, "work": [0.01] * ranks, "unseen": [0.0] * ranks},
        "comms": {"0": list(range(ranks)), "1": [ranks - 1, 0]},
        "segments": [{"times": times, "part": 1.0, "inside": [0.1] * ranks, "ranks": lines}],
        "schedule": schedule,
    }


def collectives(rank: int) -> list[dict[str, Any]]:
    """Each kind, blocking and begun; those with a root from rank 1, which the small communicator has not."""
    whole: dict[str, Any] = {"comm": "0", "bytes": 48}
    counts, coming = [8, 16, 24], [8 * (rank + 1)] * RANKS
    kinds: dict[str, dict[str, Any]] = {
        "barrier": {},
        "bcast": {"root": 1},
        "gather": {"root": 1},
        "gatherv": {"root": 1, "bytes": counts[rank], "counts": counts},
        "scatter": {"root": 1},
        "scatterv": {"root": 1, "bytes": counts[rank], "counts": counts},
        "allgather": {},
        "allgatherv": {"counts": counts},
        "alltoall": {},
        "alltoallv": {"counts": counts, "from_counts": coming},
        "alltoallw": {"counts": counts, "from_counts": coming},
        "reduce": {"root": 1},
        "allreduce": {},
        "reduce_scatter": {"counts": counts},
        "reduce_scatter_block": {},
        "scan": {},
        "exscan": {},
    }
    blocking = [{"op": kind, **whole, **facts} for kind, facts in kinds.items()]
    begun = [{**op, "slot": slot} for slot, op in enumerate(blocking)]
    small = [{"op": "allreduce", "comm": "1", "bytes": 8}] if rank != 1 else []
    return [*blocking, *begun, {"op": "wait", "slots": list(range(len(begun)))}, *small]


def messages(rank: int) -> list[dict[str, Any]]:
    """Around the ring, small and beyond the eager limit, in each way that a message is sent."""
    right, left = (rank + 1) % RANKS, (rank - 1) % RANKS
    sent: list[dict[str, Any]] = []
    for size in (0, 100, 200_000):
        to, source = {"to": right, "bytes": size, "tag": 5}, {"from": left, "from_bytes": size, "from_tag": 5}
        receive = {"op": "recv", **source, "slot": 10**17}
        sent.append({"op": "sendrecv", **to, **source})
        sent.append({"op": "sendrecv", **to, **source, "slot": 4})
        sent.append({"op": "wait", "slots": [4, 9]})
        for kind in ("send", "ssend"):
            sent += [receive, {"op": kind, **to}, {"op": "wait", "slots": [10**17]}]
            sent += [receive, {"op": kind, **to, "slot": 1}, {"op": "wait", "slots": [1, 10**17]}]
        if rank:
            sent.append({"op": "recv", **source})
        sent.append({"op": "send", **to})
        if not rank:
            sent.append({"op": "recv", **source})
    return sent


def everything() -> dict[str, Any]:
    """All operations there are, three times."""
    lines = [[{"op": "work", "seconds": 1e-4}, {"op": "nothing"}, *messages(r), *collectives(r)] for r in _EVERYBODY]
    return document(lines, [{"loop": 1, "body": [{"loop": 2, "body": [0]}]}, 0])


def farm(tasks: list[list[float]], given: int) -> dict[str, Any]:
    """A skeleton of a master and two workers, with a tenth of the tasks of its program."""
    whole = {"master": 0, "ranks": [1, 2], "last": 4, "bytes": 100_000}
    head = {**whole, "given": given, "seconds": 0.0, "tasks": tasks}
    of = document([[{"op": "master", **head}], *[[{"op": "worker", **head, "bytes": 8}]] * 2], [0, 1], times=1)
    closing = {"times": 1, "part": 1.0, "inside": [0.0] * RANKS, "ranks": [[{"op": "closing", **whole}]] * RANKS}
    of["segments"][0]["part"] = 0.1
    of["segments"].append(closing)
    of["comms"] = {}
    return of
