"""The recording library keeps what some rounds of a loop computed, on all ranks the same rounds."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from scheduling.profiles.core.trace import Call, Loop, Trace
from tests.scheduling.profiles.tracing.conftest import MPICH, Traced, need
from tests.scheduling.profiles.tracing.test_library import compiled

RANKS = 3
BLOCK = 8
#: Seconds: traces have whole microseconds.
ROUNDED = 2e-6
#: What a rank computes at most in all, in rounds that have a millisecond each where there are few.
MOST_SECONDS = 0.75
#: How often the loop runs, and how many blocks are kept then: 16 until the next one that is kept comes, and of these
#: about a third goes.
BLOCKS = {5: 1, 128: 16, 136: 16, 137: 12, 1500: 11, 300: 15}


def check_spread(loop: Loop) -> None:
    """Whole blocks, whose distances have no period: of work that goes round in 2 to 4 blocks each part is met."""
    blocks = list(dict.fromkeys(number // BLOCK for number in loop.rounds))
    assert len(blocks) == BLOCKS[loop.count]
    whole = [number for block in blocks for number in range(block * BLOCK, (block + 1) * BLOCK) if number < loop.count]
    assert list(loop.rounds) == whole
    if len(blocks) > 8:
        assert all({block % cycle for block in blocks} == set(range(cycle)) for cycle in (2, 3, 4))
        assert len({later - earlier for earlier, later in pairwise(blocks)}) <= 3
        assert loop.rounds[-1] > 0.8 * loop.count


def loops(found: Trace) -> list[Loop]:
    """The loop of each rank."""
    of_ranks = [[node for node in process.body if isinstance(node, Loop)] for process in found.processes]
    assert all(len(nodes) == 1 for nodes in of_ranks)
    return [nodes[0] for nodes in of_ranks]


def calls(found: Trace, name: str) -> list[Call]:
    """That call of each rank's loop, which may stand in an inner one."""
    return [
        next(
            each
            for node in loop.body
            for each in (node.body if isinstance(node, Loop) else (node,))
            if isinstance(each, Call) and each.call == name
        )
        for loop in loops(found)
    ]


def run(traced: Traced, mpicc: str, folder: Path, rounds: int, inner: int) -> tuple[Trace, list[list[float]]]:
    """A trace of turns.c, and the cpu seconds that the ranks themselves have counted in each round."""
    unit = min(1.0, MOST_SECONDS * 1000 / rounds)
    found = traced(mpicc, RANKS, compiled(mpicc, "turns.c", folder / "turns"), str(rounds), str(unit), str(inner))
    return found, [[float(line) for line in (folder / str(rank)).read_text().split()] for rank in range(RANKS)]


def check(kept: Sequence[float], counted: Sequence[float]) -> None:
    """What the library keeps is all that the program has counted, and in most rounds hardly more: on a busy machine MPI
    may take its time at the end of a call, which goes to the round after it."""
    more = [mine - its for mine, its in zip(kept, counted, strict=True)]
    assert min(more) > -ROUNDED
    assert median(more) < 0.1 * median(counted)


@pytest.mark.in_turn("mpicc")
@pytest.mark.parametrize("mpicc", [MPICH, "mpicc.openmpi"], ids=["MPICH", "Open MPI"])
@pytest.mark.parametrize("rounds", BLOCKS)
def test_kept_rounds_are_what_the_program_did(traced: Traced, tmp_path: Path, mpicc: str, rounds: int) -> None:
    found, counted = run(traced, mpicc, tmp_path, rounds, 0)
    assert len({loop.rounds for loop in loops(found)}) == 1
    for rank, (loop, call) in enumerate(zip(loops(found), calls(found, "MPI_Allreduce"), strict=True)):
        assert loop.count == rounds
        check_spread(loop)
        check(call.compute.rounds, [counted[rank][number] for number in loop.rounds])


@pytest.mark.in_turn("mpicc")
@pytest.mark.parametrize("mpicc", [MPICH, "mpicc.openmpi"], ids=["MPICH", "Open MPI"])
def test_calls_of_an_inner_loop_have_their_mean_of_each_round(traced: Traced, tmp_path: Path, mpicc: str) -> None:
    """The work of a round stands before the first call. Those of the inner loop after it had next to nothing to do:
    they say so, or nothing."""
    found, counted = run(traced, mpicc, tmp_path, 130, 3)
    first, inner = calls(found, "MPI_Allreduce"), calls(found, "MPI_Barrier")
    for rank, loop in enumerate(loops(found)):
        check(first[rank].compute.rounds, [counted[rank][number] for number in loop.rounds])
        assert inner[rank].compute.n == 3 * 130
        assert len(inner[rank].compute.rounds) in (0, len(loop.rounds))
        assert sum(inner[rank].compute.rounds) < 0.5 * sum(first[rank].compute.rounds)


def test_rounds_of_very_long_loops_are_spread_as_those_of_short_ones(tmp_path: Path) -> None:
    """Up to as many rounds as a loop can have: nobody could run so many here."""
    need(MPICH)
    program = tmp_path / "round_blocks"
    source = Path(__file__).with_name("round_blocks.c")
    subprocess.run([MPICH, "-O2", "-o", program, source, "-lpthread"], check=True, timeout=60)
    counts = sorted({1500, 2**31 - 1, *(int(1.7**power) for power in range(14, 41))})

    done = subprocess.run([program, *map(str, counts)], capture_output=True, text=True, check=True, timeout=60)

    for line in done.stdout.splitlines():
        found = json.loads(line)
        blocks = list(dict.fromkeys(number // BLOCK for number in found["rounds"]))
        assert 9 <= len(blocks) <= 16
        assert blocks[0] == 0
        assert 0.75 * found["count"] < found["rounds"][-1] < found["count"]
        distances = [later - earlier for earlier, later in pairwise(blocks)]
        assert min(distances) > 0
        assert max(distances) < 3 * min(distances)
        assert len(set(distances)) <= 3
