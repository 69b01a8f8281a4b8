"""What redistribution from files and a call of check_stop cost: a plain copy of the same bytes, and nothing, are the
measure. Copies and reads take turns, so that whatever else the machine does meets both; medians of some rounds."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
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
ROUNDS = 7
#: 512 MiB of doubles.
LINE, SQUARE = (2**26,), (2**13, 2**13)
WAYS = [
    *((LINE, f"block:4 block:{n}") for n in (4, 3, 8)),
    (LINE, "cyclic:4 block:6"),
    *((LINE, f"block-cyclic:{size}:4 block-cyclic:{2 * size}:6") for size in (4, 64, 256, 512)),
    (SQUARE, "cyclic:2x2 block:2x4"),
    *((SQUARE, f"block-cyclic:{size}x{size}:2x2 block-cyclic:{size}x{size}:2x3") for size in (4, 64, 256)),
]
CALLS = """
import json, sys, time
import numpy as np
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
alone = (min(a for a, _ in each) - min(b for _, b in each)) / calls
def between(check, count):
    # seconds of processors and of the clock, where a rank computes for a millisecond before each call
    used = took = 0.0
    for _ in range(count):
        until = time.thread_time() + 1e-3
        while time.thread_time() < until:
            pass
        began, start = time.perf_counter(), time.thread_time()
        check()
        used, took = used + time.thread_time() - start, took + time.perf_counter() - began
    return used / count, took / count
each = [(between(state.check_stop, 300), between(comm.Barrier, 50)) for _ in range(3)]
spaced, barrier = (min(pair) for pair in zip(*each))
mine = np.array([alone, *spaced, *barrier])
slowest = np.empty_like(mine)
comm.Allreduce(mine, slowest, MPI.MAX)
if comm.Get_rank() == 0:
    print(json.dumps((1e6 * slowest).tolist()))
state.finish()
"""


class Seconds(NamedTuple):
    """Of the clock, and of the processor, which others beside us change less."""

    clock: float
    cpu: float


def took(step: Callable[[], object]) -> Seconds:
    began, used = time.perf_counter(), time.process_time()
    step()
    return Seconds(time.perf_counter() - began, time.process_time() - used)


def in_turn(steps: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, list[Seconds]]:
    """What each took, round by round, after one that does not count."""
    for step in steps.values():
        step()
    each: dict[str, list[Seconds]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            each[name].append(took(step))
    return each


def median(rounds: Sequence[Seconds]) -> Seconds:
    return Seconds(*map(statistics.median, zip(*rounds, strict=True)))


def ratios(some: Sequence[Seconds], others: Sequence[Seconds]) -> str:
    """Of processor time, round by round: the median, and between which values half of them are."""
    each = sorted(one.cpu / other.cpu for one, other in zip(some, others, strict=True))
    low, middle, high = statistics.quantiles(each, n=4)
    return f"{middle:5.2f} ({low:.2f} to {high:.2f})"


def stored(folder: Path, shape: tuple[int, ...], layout: Layout) -> Checkpoint:
    checkpoint_files.begin(folder, 1)
    held = [np.ones(layout.local_shape(shape, rank)) for rank in range(layout.ranks)]
    shards = tuple(checkpoint_files.write_shard(folder, 1, 0, rank, part) for rank, part in enumerate(held))
    array = StoredArray("x", np.dtype("f8"), shape, layout, shards)
    return checkpoint_files.complete(folder, 1, layout.ranks, 0.0, [array])


@pytest.mark.timeout(900)
def test_redistribution_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, into = np.ones(LINE), np.ones(LINE)
    lines = [f"{8 * LINE[0] / 2**20:.0f} MiB, copied by {compiled_copy.kind().value}, over memcpy by cpu seconds"]
    for number, (shape, text) in enumerate(WAYS):
        old, new = (layouts.parsed(word) for word in text.split())
        checkpoint, way = stored(tmp_path / str(number), shape, old), Redistribution(old, new, shape)
        rooms = [np.ones(new.local_shape(shape, rank)) for rank in range(new.ranks)]

        def read(checkpoint: Checkpoint = checkpoint, way: Redistribution = way, rooms: list = rooms) -> None:
            for target, room in enumerate(rooms):
                way.fill(lambda source: checkpoint.held("x", source), target, room)

        each = in_turn({"memcpy": lambda: np.copyto(into, plain), "read": read})
        lines.append(f"{text:50} {ratios(each['read'], each['memcpy'])}, memcpy {median(each['memcpy']).cpu:.3f} s")
        checkpoint_files.clear(tmp_path / str(number))
    with capsys.disabled():
        print("\n" + "\n".join(lines))  # noqa: T201


def test_check_stop_when_nobody_asks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "calls.py"
    program.write_text(CALLS)
    for ranks in (1, 2, 8):
        command = [str(mpi.MPIEXEC), "-n", str(ranks), sys.executable, str(program), str(tmp_path / "checkpoints")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        alone, used, took, barrier_used, barrier_took = json.loads(done.stdout)
        with capsys.disabled():
            print(  # noqa: T201
                f"\ncheck_stop on {ranks} ranks: {alone:.2f} us a call; every millisecond {used:.1f} us of processors, "
                f"{used / barrier_used:.3f} of a barrier there, and {took:.0f} us of the clock, "
                f"{took / barrier_took:.3f} of one"
            )
