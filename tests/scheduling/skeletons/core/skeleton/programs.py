"""Traces of small programs, written by hand as the recording library would write them."""

from __future__ import annotations

from typing import Any

Body = list[dict[str, Any]]
WORK = 0.001


def trace(bodies: list[Body], comms: dict[str, list[int]] | None = None) -> dict[str, Any]:
    """The trace document of one body per rank."""
    ranks = len(bodies)
    return {
        "version": 1,
        "program": "small",
        "ranks": ranks,
        "mpi": "none",
        "wall": 1.0,
        "hosts": [f"n{rank}" for rank in range(ranks)],
        "comms": {"0": list(range(ranks)), **(comms or {})},
        "inter": [],
        "processes": [{"rank": rank, "wall": 1.0, "body": body} for rank, body in enumerate(bodies)],
    }


def call(name: str, *, work: float = WORK, inside: float = 0.001, **fields: Any) -> dict[str, Any]:
    """One call with `work` cpu seconds before it."""
    return {
        "call": f"MPI_{name}",
        "compute": {"n": 1, "mean": work, "var": 0.0, "cpu": work},
        "seconds": {"n": 1, "mean": inside},
        **fields,
    }


def loop(count: int, *body: dict[str, Any]) -> dict[str, Any]:
    """`body`, `count` times."""
    return {"loop": count, "body": list(body)}


def ring(ranks: int, iterations: int, size: int = 1000) -> list[Body]:
    """Everybody sends to the right and receives from the left; a reduction after each ten."""
    return [
        [
            loop(
                iterations,
                loop(
                    10,
                    call(
                        "Sendrecv",
                        peer=(rank + 1) % ranks,
                        tag=1,
                        bytes=size,
                        source=(rank - 1) % ranks,
                        recv_tag=1,
                        recv_bytes=size,
                    ),
                ),
                call("Allreduce", bytes=8),
            )
        ]
        for rank in range(ranks)
    ]


def halo(ranks: int, iterations: int) -> list[Body]:
    """A chain that exchanges borders with nonblocking messages, so that the ends have fewer calls."""
    return [[loop(iterations, *_borders(rank, ranks))] for rank in range(ranks)]


def _borders(rank: int, ranks: int) -> Body:
    others = [other for other in (rank - 1, rank + 1) if 0 <= other < ranks]
    receives = [call("Irecv", source=o, tag=5, recv_bytes=4096, request=n) for n, o in enumerate(others)]
    sends = [call("Isend", peer=o, tag=5, bytes=4096, request=len(others) + n) for n, o in enumerate(others)]
    return [*receives, *sends, call("Waitall", requests=list(range(2 * len(others))))]


def wavefront(ranks: int, sweeps: int, planes: int) -> list[Body]:
    """A pipeline down the chain and back, as LU has it: blocking receives and sends, plane by plane."""
    bodies = []
    for rank in range(ranks):
        down = [call("Recv", source=rank - 1, tag=1, recv_bytes=500)] if rank else []
        down += [call("Send", peer=rank + 1, tag=1, bytes=500)] if rank < ranks - 1 else []
        up = [call("Recv", source=rank + 1, tag=2, recv_bytes=500)] if rank < ranks - 1 else []
        up += [call("Send", peer=rank - 1, tag=2, bytes=500)] if rank else []
        bodies.append([loop(sweeps, loop(planes, *down), loop(planes, *up), call("Allreduce", bytes=40))])
    return bodies


def master(workers: int, tasks: int) -> list[Body]:
    """Workers ask, the master answers whoever asks first."""
    answers = [
        node
        for task in range(tasks)
        for node in (
            call("Recv", source="any", tag="any", recv_bytes=64, work=0.0),
            call("Send", peer=1 + task % workers, tag=2, bytes=1000, work=0.0),
        )
    ]
    asks = [
        loop(
            len(range(worker, tasks, workers)),
            call("Send", peer=0, tag=1, bytes=64, work=0.001 * (worker + 1)),
            call("Recv", source=0, tag=2, recv_bytes=1000),
        )
        for worker in range(workers)
    ]
    return [answers, *[[ask] for ask in asks]]
