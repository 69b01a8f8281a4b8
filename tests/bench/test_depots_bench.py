"""How fast ranks read from depots over shaped links, in parts of what the links let through, and how soon a depot
answers one who wants little, also beside others who want much."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from gridportal.runtime.depot.depot_wire import Session
from gridportal.runtime.depot.slabs import Slab
from tests.gridportal.runtime.depot.depots import depot
from tests.gridportal.runtime.depot.test_depot import NAME, client, fetched, session
from tests.gridportal.testbed.conftest import eventually
from tests.gridportal.testbed.shaped_grid import shaped_grid
from tests.gridportal.testbed.test_depots import run

pytestmark = pytest.mark.bench
PROGRAM = "tests.gridportal.runtime.srs.weigh"
RATE = 100.0  # Mbit/s
#: For each link: 32, 10 and 2 MB.
ELEMENTS = (4_000_000, 1_250_000, 250_000)
LEAST = 0.9
#: From which nodes to which, their layouts, and how many links carry at once what is read.
WAYS = [
    (["a"], ["c"], "block:1", "block:1", 1),
    (["a", "b"], ["c", "d"], "block-cyclic:64:2", "block-cyclic:512:2", 4),
    (["a", "b"], ["c", "d"], "cyclic:2", "block:2", 4),
]


SHARD, SMALL, ASKS = 64 * 2**20, 4096, 60
#: Who want all of a shard, again and again.
BESIDE = (0, 4, 12)
READER = """
import sys
from tests.gridportal.runtime.depot.test_depot import NAME, client, fetched
from gridportal.runtime.depot.slabs import Slab
depots = client((sys.argv[1], int(sys.argv[2])))
print("reads", flush=True)
while True:
    depots.fetch("n1", NAME, lambda: (([Slab(at, 2**20)], len) for at in range(0, int(sys.argv[3]), 2**20)))
"""


@pytest.mark.grid
@pytest.mark.timeout(600)
def test_reading_over_shaped_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = {(one, other): RATE for one in "abcd" for other in "abcd" if one != other}
    lines = []
    with shaped_grid(tmp_path, pairs) as grid:
        eventually(lambda: grid.status()["agents"] == 4, "four agents")
        cases = [(each, *way) for each in ELEMENTS for way in WAYS]
        for number, (each, before, after, old, new, links) in enumerate(cases):
            folder = tmp_path / str(number)
            folder.mkdir()
            elements = links * each
            run(grid, f"write-{number}", folder, before, old, str(elements), program=PROGRAM)
            done = run(grid, f"read-{number}", folder, after, new, str(elements), program=PROGRAM)
            assert done["restart"] == 1
            rate = 8 * 8 * elements / done["seconds"]["reading"] / 1e6
            lines.append((f"{8 * each / 1e6:g} MB, {old} to {new}, {links} links", rate / (links * RATE)))
    with capsys.disabled():
        sys.stdout.write("\nreading from depots, parts of the links' limit:\n")
        sys.stdout.writelines(f"  {name}: {part:.3f}\n" for name, part in lines)
    assert min(part for _, part in lines[: len(WAYS)]) >= LEAST


def test_small_reads_beside_large_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """4 KiB of a shard with a connection of its own each time, and over one that is open."""
    lines = []
    with depot(tmp_path / "shards", "n1", "--space", "1G", "--job-space", "512M") as address:
        depots = client(address)
        depots.put("n1", NAME, memoryview(os.urandom(SHARD)))
        for readers in BESIDE:
            with reading(address, readers):
                first = waits(lambda at: fetched(depots, NAME, Slab(at, SMALL)))
                asking = session(address)
                with asking.connection:
                    later = waits(partial(ask, asking))
            lines.append(f"beside {readers:2} readers: a first request {first}; a later one {later}")
    with capsys.disabled():
        sys.stdout.write("\n4 KiB of a depot, ms: median, 95 %, most\n" + "\n".join(lines) + "\n")


def ask(asking: Session, at: int) -> None:
    asking.send({"op": "read", "name": NAME, "slabs": [[at, SMALL, []]]})
    asking.receive()
    left = SMALL
    while left:
        left -= len(asking.connection.recv(left))
    asking.receive()


def waits(ask: Callable[[int], object]) -> str:
    each = []
    for number in range(ASKS):
        began = time.perf_counter()
        ask(number * SMALL * 7)
        each.append(1e3 * (time.perf_counter() - began))
        time.sleep(0.01)
    return f"{statistics.median(each):.1f}, {statistics.quantiles(each, n=20)[-1]:.1f}, {max(each):.1f}"


@contextmanager
def reading(address: tuple[str, int], count: int) -> Iterator[None]:
    """So many processes read all of the shard, until this is left."""
    argv = [sys.executable, "-c", READER, address[0], str(address[1]), str(SHARD)]
    started = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    try:
        for each in started:
            assert each.stdout is not None
            assert each.stdout.readline() == "reads\n"
        yield
    finally:
        for each in started:
            each.kill()
            each.communicate()
