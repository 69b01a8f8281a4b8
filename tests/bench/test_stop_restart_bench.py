"""What redistribution from files and a call of check_stop cost: a plain copy of the same bytes, and nothing, are the
measure. All within one run, the fastest of some rounds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from gridportal.runtime.srs import checkpoint_files, compiled_copy, layouts
from gridportal.runtime.srs.checkpoint_manifest import Checkpoint, StoredArray
from gridportal.runtime.srs.layouts import Layout
from gridportal.runtime.srs.redistribution import Redistribution
from tests.gridportal.workloads import mpi

pytestmark = pytest.mark.bench
ROUNDS = 4
#: 512 MiB of doubles.
LINE, SQUARE = (2**26,), (2**13, 2**13)
WAYS = [
    *((LINE, f"block:4 block:{n}") for n in (3, 8)),
    (LINE, "cyclic:4 block:6"),
    *((LINE, f"block-cyclic:{size}:4 block-cyclic:{2 * size}:6") for size in (4, 64, 256, 512)),
    (SQUARE, "cyclic:2x2 block:2x4"),
    *((SQUARE, f"block-cyclic:{size}x{size}:2x2 block-cyclic:{size}x{size}:2x3") for size in (4, 64, 256)),
]
CALLS = """
import json, sys, time
from mpi4py import MPI
from gridportal.runtime.srs import stop_restart
comm, calls = MPI.COMM_WORLD, 1_000_000
state = stop_restart.init(comm, sys.argv[1])
def seconds(check):
    comm.Barrier()
    began = time.perf_counter()
    for _ in range(calls):
        if check():
            break
    return time.perf_counter() - began
each = [(seconds(state.check_stop), seconds(lambda: 0)) for _ in range(5)]
mine = min(a for a, _ in each) - min(b for _, b in each)
slowest = comm.allreduce(mine, MPI.MAX)
if comm.Get_rank() == 0:
    print(json.dumps(1e6 * slowest / calls))
state.finish()
"""


class Fastest(NamedTuple):
    """Of some rounds: seconds of the clock, and of the processor, which others beside us change less."""

    clock: float
    cpu: float

    def over(self, other: Fastest) -> str:
        return f"{self.clock / other.clock:5.2f} times memcpy, {self.cpu / other.cpu:5.2f} by cpu seconds"


def fastest(step: Callable[[], None], count: int = ROUNDS) -> Fastest:
    rounds = []
    for _ in range(count):
        began, used = time.perf_counter(), time.process_time()
        step()
        rounds.append((time.perf_counter() - began, time.process_time() - used))
    return Fastest(*map(min, zip(*rounds, strict=True)))


def plain_copy() -> Fastest:
    plain, into = np.ones(LINE), np.ones(LINE)
    return fastest(lambda: np.copyto(into, plain))


def stored(folder: Path, shape: tuple[int, ...], layout: Layout) -> Checkpoint:
    checkpoint_files.begin(folder, 1)
    held = [np.ones(layout.local_shape(shape, rank)) for rank in range(layout.ranks)]
    shards = tuple(checkpoint_files.write_shard(folder, 1, 0, rank, part) for rank, part in enumerate(held))
    array = StoredArray("x", np.dtype("f8"), shape, layout, shards)
    return checkpoint_files.complete(folder, 1, layout.ranks, 0.0, [array])


@pytest.mark.timeout(900)
def test_redistribution_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copying = plain_copy()
    lines = [f"memcpy of {8 * LINE[0] / 2**20:.0f} MiB: {copying.clock:.3f} s; copies are {compiled_copy.kind().value}"]
    for number, (shape, text) in enumerate(WAYS):
        old, new = (layouts.parsed(word) for word in text.split())
        checkpoint, way = stored(tmp_path / str(number), shape, old), Redistribution(old, new, shape)
        rooms = [np.ones(new.local_shape(shape, rank)) for rank in range(new.ranks)]

        def read(checkpoint: Checkpoint = checkpoint, way: Redistribution = way, rooms: list = rooms) -> None:
            for target, room in enumerate(rooms):
                way.fill(lambda source: checkpoint.held("x", source), target, room)

        lines.append(f"{text:50} {fastest(read).over(copying)}")
        checkpoint_files.clear(tmp_path / str(number))
    with capsys.disabled():
        print("\n" + "\n".join(lines))  # noqa: T201


def test_check_stop_when_nobody_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "calls.py"
    program.write_text(CALLS)
    for ranks in (1, 2, 8):
        command = [str(mpi.MPIEXEC), "-n", str(ranks), sys.executable, str(program), str(tmp_path / "checkpoints")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        with capsys.disabled():
            print(f"\ncheck_stop on {ranks} ranks: {json.loads(done.stdout):.2f} us a call")  # noqa: T201
