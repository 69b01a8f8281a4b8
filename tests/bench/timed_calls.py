"""A program of the catalogue whose calls of SRS are timed; usage: timed_calls PROGRAM ARGUMENTS...

Rank 0 leaves calls.json in the run directory: the seconds of processor of the whole program, those of its calls that
begin and end SRS, among them the first vote, and the seconds of every other call of check_stop.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpi4py import MPI

from gridportal.runtime.srs import stop_restart
from gridportal.runtime.srs.stop_restart import StopRestart

#: Seconds of each call.
spent: dict[str, list[float]] = {}


def timed(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def inside(*words: Any, **more: Any) -> Any:
        start = time.thread_time()
        try:
            return call(*words, **more)
        finally:
            spent.setdefault(name, []).append(time.thread_time() - start)

    return inside


def main() -> None:
    for name in ("register", "store_map", "check_stop", "finish"):
        setattr(StopRestart, name, timed(name, getattr(StopRestart, name)))
    stop_restart.init = timed("init", stop_restart.init)
    start = time.thread_time()
    program, sys.argv = sys.argv[1], sys.argv[1:]
    with contextlib.suppress(SystemExit):
        runpy.run_module(f"gridportal.workloads.{program}", run_name="__main__")
    seconds = time.thread_time() - start
    if MPI.COMM_WORLD.Get_rank() == 0:
        first, *others = spent.pop("check_stop")
        ends = first + sum(sum(each) for each in spent.values())
        told = {"seconds": seconds, "ends": ends, "calls": others}
        Path(os.environ["GRIDPORTAL_RUN_DIR"], "calls.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
