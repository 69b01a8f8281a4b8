"""Plays a communication skeleton in Python: `mpiexec -n RANKS python -m gridportal.runtime.skeleton FILE`.

For programs of mpi4py, and where nobody can build the player in C (gridportal/runtime/player) for an application's
MPI. The document's grammar is in scheduling.skeletons.core.skeleton.document. Collective over `comm`; every rank runs
its own line of each segment in the order of the schedule. Connections are made before the clock starts. What the run
says of the application stands in gridportal.runtime.prediction.
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

from gridportal.base.errors import GridPortalError, InputError
from gridportal.runtime.phases import Phases
from gridportal.runtime.prediction import RankTimes, prediction
from gridportal.runtime.skeleton_check import runnable
from gridportal.runtime.skeleton_ops import Compiled, Program
from gridportal.runtime.work import Work


class SkeletonRun:
    """One run of `document` over `comm`. Raises InputError when the number of ranks is another."""

    def __init__(self, comm: MPI.Intracomm, document: Mapping[str, Any]) -> None:
        if comm.Get_size() != document["ranks"]:
            raise InputError("ranks", comm.Get_size(), f"{document['ranks']}, which the skeleton was made for")
        self.comm, self.document = comm, document
        self.work = Work(document["rate"])
        self.program = Program(comm, document, self.work)
        self.log: list[tuple[float, float, float, float]] = []

    def run(self) -> dict[str, Any]:
        """The same on every rank: seconds of the skeleton, and of the rank for which it predicts the most.

        These are the seconds that it predicts for the application (in MPI and at work), and those of its own work
        (what it took, and what it was asked for).
        """
        self.program.connect()
        ahead = self.program.clock()
        self.comm.Barrier()
        started = time.perf_counter()
        self._body(self.document["schedule"])
        seconds = time.perf_counter() - started
        mine = np.array(self.log).reshape(-1, 4)
        mine[:, :2] -= ahead
        whole = self.comm.gather(RankTimes(seconds, self.work.seconds, self.work.asked, mine))
        return self.comm.bcast(prediction(self.document, whole) if whole else None)  # type: ignore[no-any-return]

    def _body(self, body: list[Any]) -> None:
        for node in body:
            if isinstance(node, int):
                self._segment(self.program.segments[node])
            else:
                for _ in range(node["loop"]):
                    self._body(node["body"])

    def _segment(self, line: Compiled) -> None:
        before = self.work.seconds
        line.work()
        first, arrived = self.work.seconds - before, time.perf_counter()
        for step in line.steps:
            step()
        self.log.append(line.times((arrived, time.perf_counter(), first, self.work.seconds - before)))


def main(arguments: list[str] | None = None) -> int:
    """Run the skeleton in a file and report as every program does; rank 0 prints one JSON line."""
    parser = argparse.ArgumentParser(prog="python -m gridportal.runtime.skeleton", description=__doc__)
    parser.add_argument("file", type=Path)
    options = parser.parse_args(arguments)
    comm = MPI.COMM_WORLD
    document = comm.bcast(_read(options.file) if comm.Get_rank() == 0 else None, root=0)
    if isinstance(document, str):
        if comm.Get_rank() == 0:
            sys.stderr.write(f"{document}\n")
        return 2
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
    except (OSError, ValueError, RecursionError) as error:
        return f"The skeleton {path} cannot be read: {error}"
    if not isinstance(document, dict) or document.get("version") != 1:
        return f"{path} is not a skeleton of version 1."
    try:
        return dict(runnable(document))
    except InputError as error:
        return f"The skeleton {path} cannot be run: {error}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (GridPortalError, MemoryError, OverflowError, MPI.Exception) as error:
        sys.stderr.write(f"The skeleton cannot be run: {error}\n" if str(error) else "There is too little memory.\n")
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(2)
