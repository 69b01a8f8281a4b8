"""NAS IS: ranks of integer keys by bucket sort.

    mpiexec -n 4 python -m gridportal.workloads.is_sort --class S

Hardly computes: in every iteration all keys travel, from every rank to every other.
Source: NAS Parallel Benchmarks, RNR-94-007 (kernel IS), and the benchmarks' MPI version.
"""

from __future__ import annotations

import argparse
import time

from mpi4py import MPI

from gridportal.runtime.phases import Phases
from gridportal.workloads.commandline import Parser, launch
from gridportal.workloads.is_keys import CLASSES, ITERATIONS, ProblemClass, make_keys
from gridportal.workloads.is_ranking import KeyRanker, Ranking, count_right
from gridportal.workloads.program_log import Log
from gridportal.workloads.rank_counts import power_of_two

MOST_RANKS = 64


def run(comm: MPI.Intracomm, arguments: argparse.Namespace) -> bool:
    """Run one class on all ranks of `comm`; True if all test keys have their official ranks and all are sorted."""
    name = arguments.problem_class
    problem = CLASSES[name]
    power_of_two(comm.Get_size(), MOST_RANKS)
    log, phases = Log(comm), Phases(comm, "is", **{"class": name})
    log.header(
        f"NAS Parallel Benchmarks: IS, class {name}",
        keys=f"2^{problem.keys_log2} below 2^{problem.key_log2}",
        iterations=ITERATIONS,
        ranks=comm.Get_size(),
    )
    with phases.phase("init"):
        length = problem.keys // comm.Get_size()
        own = range(comm.Get_rank() * length, (comm.Get_rank() + 1) * length)
        ranker = KeyRanker(comm, phases.communicating, problem, own, make_keys(problem, own))
        ranker.rank(1)  # NPB's one untimed iteration, which touches all data and connects all ranks
    comm.Barrier()
    started = time.perf_counter()
    passed, ranking = iterate(comm, phases, log, problem, ranker)
    seconds = phases.slowest(time.perf_counter() - started)
    with phases.phase("full_verify"):
        is_sorted = ranker.sorted_everywhere(ranking)
    return verify(phases, log, problem, passed, is_sorted, seconds)


def iterate(
    comm: MPI.Intracomm, phases: Phases, log: Log, problem: ProblemClass, ranker: KeyRanker
) -> tuple[int, Ranking]:
    """The timed part; how many test ranks were right over all ranks of `comm`, and the last ranking."""
    passed = 0
    log.line("  iteration    seconds")
    for iteration in range(1, ITERATIONS + 1):
        started = time.perf_counter()
        with phases.phase("rank", iteration, ITERATIONS):
            ranking = ranker.rank(iteration)
            passed += count_right(problem, ranking, iteration)
        log.line(f"  {iteration:>9} {time.perf_counter() - started:>10.4f}")
    return comm.allreduce(passed), ranking


def verify(phases: Phases, log: Log, problem: ProblemClass, passed: int, is_sorted: bool, seconds: float) -> bool:
    """Hold the ranks against the official ones and report, on every rank alike."""
    expected = ITERATIONS * len(problem.tests)
    verified = passed == expected and is_sorted
    figures = {"test_ranks_right": passed, "test_ranks": expected, "sorted": is_sorted}
    mops = ITERATIONS * problem.keys / seconds / 1e6
    log.verification(verified, **figures)
    log.header("", seconds=f"{seconds:.3f}", keys_ranked=f"{mops:.1f} million a second")
    phases.result(verified, seconds, **figures, mops=mops)
    return verified


if __name__ == "__main__":
    parser = Parser(prog="is", description="NAS IS: integer sort.")
    parser.class_option(CLASSES)
    launch(parser, run)
