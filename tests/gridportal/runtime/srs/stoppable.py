"""A program that stops and goes on: every element of an array is computed anew in each step, from its own place.

usage: stoppable FOLDER LAYOUT SHAPE STEPS [--stop-at STEP] [--every SECONDS] [--every-calls CALLS] [--foreground]
           [--pause SECONDS] [--limit BYTES] [--nodes NAME,NAME] [--steps-file FILE]

With --nodes the ranks take themselves for such of these nodes. Rank 0 writes its step to the steps file.

Rank 0 prints one JSON line: how it began, the step at which it ended, whether it was stopped, and a checksum of the
whole array.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
import zlib
from pathlib import Path

import numpy as np
from mpi4py import MPI

from gridportal.runtime.srs import layouts, stop_restart
from gridportal.runtime.srs.layouts import Layout


def given() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("layout", type=layouts.parsed)
    parser.add_argument("shape", type=lambda text: tuple(int(word) for word in text.split(",")))
    parser.add_argument("steps", type=int)
    for name in ("--stop-at", "--limit", "--every-calls"):
        parser.add_argument(name, type=int)
    for name in ("--every", "--pause"):
        parser.add_argument(name, type=float)
    parser.add_argument("--foreground", action="store_true")
    parser.add_argument("--nodes", type=lambda text: text.split(","))
    parser.add_argument("--steps-file", type=Path)
    return parser.parse_args()


def filled(layout: Layout, shape: tuple[int, ...], rank: int, local: np.ndarray) -> None:
    """Each element is its place in the whole array."""
    whole = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    for panel in layout.panels(shape, rank):
        here = tuple(slice(at, at + n) for at, n in zip(panel.place, panel.shape, strict=True))
        there = tuple(slice(at, at + n) for at, n in zip(panel.start, panel.shape, strict=True))
        local[here] = whole[there]


def gathered(comm: MPI.Intracomm, layout: Layout, shape: tuple[int, ...], local: np.ndarray) -> np.ndarray:
    whole = np.zeros(shape)
    for rank, part in enumerate(comm.gather(local) or []):
        for panel in layout.panels(shape, rank):
            here = tuple(slice(at, at + n) for at, n in zip(panel.place, panel.shape, strict=True))
            there = tuple(slice(at, at + n) for at, n in zip(panel.start, panel.shape, strict=True))
            whole[there] = part[here]
    return whole


def main() -> None:
    asked, comm = given(), MPI.COMM_WORLD
    rank = comm.Get_rank()
    x = np.zeros(asked.layout.local_shape(asked.shape, rank))
    step = np.zeros(1, dtype=np.int64)
    if asked.limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (asked.limit, asked.limit))
    if asked.nodes:
        os.environ["GRIDPORTAL_NODE"] = asked.nodes[rank % len(asked.nodes)]
    state = stop_restart.init(
        comm, asked.folder, every=asked.every, every_calls=asked.every_calls, background=not asked.foreground
    )
    state.register("x", x, asked.shape, asked.layout)
    state.register("step", step)
    state.store_map()
    if state.restart_value():
        state.read("x")
        state.read("step")
    else:
        filled(asked.layout, asked.shape, rank, x)
    began, stopped = int(step[0]), 0
    while step[0] < asked.steps:
        x *= 1.0000001
        x += 0.1 * step[0]
        step[0] += 1
        if step[0] == asked.stop_at and rank == comm.Get_size() - 1:
            state.ask_stop()
        if stopped := state.check_stop():
            break
        if asked.steps_file and rank == 0:
            asked.steps_file.write_text(str(step[0]))
        if asked.pause:
            time.sleep(asked.pause)
    state.finish()
    whole, steps = gathered(comm, asked.layout, asked.shape, x), comm.gather(int(step[0]))
    if rank == 0:
        document = {
            "restart": state.restart_value(),
            "began": began,
            "steps": steps,
            "stopped": stopped,
            "sum": zlib.crc32(whole.tobytes()),
            "passed_over": state.passed_over,
        }
        sys.stdout.write(json.dumps(document) + "\n")


if __name__ == "__main__":
    main()
