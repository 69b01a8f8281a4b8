"""Runs a communication skeleton: `mpiexec -n RANKS python -m gridportal.runtime.skeleton FILE`.

The document's grammar is in scheduling.core.skeleton.document. Collective over `comm`; every rank runs its own line of
each segment in the order of the schedule. Connections are made before the clock starts. What the run says of the
application (Pattern 2003, 2.5): for every segment the time in MPI seen here, as often as the application runs it, and
the application's work at the pace that work has here.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from gridportal.errors import GridPortalError, InputError
from gridportal.runtime.phases import Phases
from gridportal.runtime.skeleton_ops import Compiled, Program
from gridportal.runtime.work import Work

#: Work shorter than this is too little to tell the pace.
_ENOUGH_WORK = 1e-3


class SkeletonRun:
    """One run of `document` over `comm`. Raises InputError when the number of ranks is another."""

    def __init__(self, comm: MPI.Intracomm, document: Mapping[str, Any]) -> None:
        if comm.Get_size() != document["ranks"]:
            raise InputError("ranks", comm.Get_size(), f"{document['ranks']}, which the skeleton was made for")
        self.comm, self.document = comm, document
        self.work = Work(document["rate"])
        self.program = Program(comm, document, self.work)
        count = len(document["segments"])
        self.inside = np.zeros(count)
        self.runs = np.zeros(count, dtype=np.int64)

    def run(self) -> dict[str, Any]:
        """The same on every rank: seconds of the skeleton, and of the rank for which it predicts the most.

        These are the seconds that it predicts for the application (in MPI and at work), and those of its own work
        (what it took, and what it was asked for).
        """
        self.program.connect()
        self.comm.Barrier()
        started = time.perf_counter()
        self._body(self.document["schedule"])
        seconds = time.perf_counter() - started
        mine = np.array([seconds, *self._foretold(), self.work.seconds, self.work.asked])
        everybody = np.empty((self.comm.Get_size(), len(mine)))
        self.comm.Allgather(mine, everybody)
        _, communicating, working, worked, asked = everybody[np.argmax(everybody[:, 1] + everybody[:, 2])].tolist()
        return {
            "seconds": float(everybody[:, 0].max()),
            "predicted": communicating + working,
            "communicating": communicating,
            "working": working,
            "work": worked,
            "work_asked": asked,
        }

    def _body(self, body: list[Any]) -> None:
        for node in body:
            if isinstance(node, int):
                self._segment(node, self.program.segments[node])
            else:
                for _ in range(node["loop"]):
                    self._body(node["body"])

    def _segment(self, number: int, line: Compiled) -> None:
        worked = self.work.seconds
        started = time.perf_counter()
        for step in line:
            step()
        self.inside[number] += time.perf_counter() - started - (self.work.seconds - worked)
        self.runs[number] += 1

    def _foretold(self) -> tuple[float, float]:
        """Seconds that the application would spend here in MPI and at work, on this rank."""
        rank = self.comm.Get_rank()
        seen = recorded = 0.0
        for segment, inside, runs in zip(self.document["segments"], self.inside, self.runs, strict=True):
            seen += segment["times"] * inside / (max(runs, 1) * segment["part"])
            recorded += segment["times"] * segment["inside"][rank]
        application = self.document["application"]
        unseen = application["unseen"][rank] * (seen / recorded if recorded > 0 else 1.0)
        pace = self.work.seconds / self.work.asked if self.work.asked >= _ENOUGH_WORK else 1.0
        return float(seen + unseen), float(application["work"][rank] * pace)


def main(arguments: list[str] | None = None) -> int:
    """Run the skeleton in a file and report as every program does; rank 0 prints one JSON line."""
    parser = argparse.ArgumentParser(prog="python -m gridportal.runtime.skeleton", description=__doc__)
    parser.add_argument("file", type=Path)
    options = parser.parse_args(arguments)
    comm = MPI.COMM_WORLD
    document = comm.bcast(_read(options.file) if comm.Get_rank() == 0 else None, root=0)
    if isinstance(document, str):
        raise GridPortalError(document)
    phases = Phases(comm, "skeleton", of=document["program"])
    found = SkeletonRun(comm, document).run()
    phases.result(None, found["seconds"], **{name: value for name, value in found.items() if name != "seconds"})
    if comm.Get_rank() == 0:
        sys.stdout.write(json.dumps(found) + "\n")
    return 0


def _read(path: Path) -> dict[str, Any] | str:
    """The document, or the sentence why there is none: all ranks must learn of it."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return f"The skeleton {path} cannot be read: {error}"
    if not isinstance(document, dict) or document.get("version") != 1:
        return f"{path} is not a skeleton of version 1."
    return document


if __name__ == "__main__":
    try:
        sys.exit(main())
    except GridPortalError as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(2)
