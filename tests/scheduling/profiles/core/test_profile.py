"""Profiles: collectives as the messages they are made of, matrices, the pairs that matter, and their names."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from gridportal.base.errors import InputError
from gridportal.base.reasons import Code
from scheduling.jobs.core import patterns
from scheduling.messages import message
from scheduling.profiles.core import profile
from scheduling.profiles.core.profile_names import OWN, recognize
from scheduling.profiles.core.profile_spread import sends
from scheduling.profiles.core.trace import Call, Compute, Inside, Loop, Process, Trace

SIZES = [8.0, 4096.0, 1e6]
COUNTS = range(2, 18)


def flows(name: str, p: int, size: float, root: int = 0, counts: tuple[float, ...] = ()) -> np.ndarray:
    found = np.zeros((p, p))
    for me in range(p):
        for to, n in sends(name, me, p, size, root, counts):
            assert 0 <= to < p
            assert to != me
            found[me, to] += n
    return found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("p", COUNTS)
def test_every_rank_gets_what_a_broadcast_has(p: int, size: float) -> None:
    root = p // 2
    got = flows("Bcast", p, size, root).sum(axis=0)
    others = [rank for rank in range(p) if rank != root]
    assert all(got[rank] >= size * (1 - 1e-9) for rank in others)


@pytest.mark.parametrize("p", COUNTS)
def test_what_is_gathered_arrives_at_the_root_and_scattered_leaves_it(p: int) -> None:
    gathered = flows("Gather", p, 10.0, 1)
    assert gathered[:, 1].sum() == 10 * (p - 1)
    assert (flows("Scatter", p, 10.0, 1) == gathered.T).all()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("p", COUNTS)
def test_all_ranks_end_an_allgather_with_all_blocks(p: int, size: float) -> None:
    got = flows("Allgather", p, size).sum(axis=0)
    assert got == pytest.approx([size * (p - 1)] * p)


@pytest.mark.parametrize("p", COUNTS)
@pytest.mark.parametrize("name", ["Alltoall", "Alltoallv"])
def test_an_all_to_all_sends_each_block_once(name: str, p: int) -> None:
    counts = tuple(1000.0 * (i + 1) for i in range(p)) if name == "Alltoallv" else ()
    found = flows(name, p, 1000.0 * p, 0, counts)
    expected = np.tile(counts or [1000.0] * p, (p, 1))
    np.fill_diagonal(expected, 0)
    assert (found == expected).all()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("p", COUNTS)
def test_an_allreduce_is_even_on_powers_of_two_and_reaches_all(p: int, size: float) -> None:
    found = flows("Allreduce", p, size)
    reached = np.linalg.matrix_power(np.eye(p) + (found > 0), p) > 0
    assert reached.all()
    if not p & (p - 1):
        assert np.ptp(found.sum(axis=0)) == pytest.approx(0)
        assert (found == found.T).all()


@pytest.mark.parametrize("p", COUNTS)
def test_reductions_bring_something_from_everyone_to_the_root(p: int) -> None:
    for size in SIZES:
        found = flows("Reduce", p, size, p - 1)
        reached = np.linalg.matrix_power(np.eye(p) + (found > 0), p) > 0
        assert reached[:, p - 1].all()


def of(*bodies: tuple[object, ...], wall: float = 1.0) -> profile.Profile:
    ranks = len(bodies)
    processes = tuple(Process(rank, wall, body) for rank, body in enumerate(bodies))  # type: ignore[arg-type]
    return profile.of_trace(Trace("p", ranks, "", wall, (), {"0": tuple(range(ranks))}, processes))


def test_loops_and_started_requests_count_as_often_as_they_ran() -> None:
    kept = Call("MPI_Send_init", peer=1, bytes=100, request=0)
    first = (kept, Loop(3, (Call("MPI_Start", requests=(0,)), Loop(2, (Call("MPI_Send", peer=2, bytes=7),)))))
    found = of(first, (), ())
    assert found.numbers is not None
    assert (found.sizes[0, 1], found.numbers[0, 1]) == (300, 3)
    assert (found.sizes[0, 2], found.numbers[0, 2]) == (42, 6)
    assert found.sizes.sum() == 342


def test_what_is_fetched_comes_from_the_other_side() -> None:
    found = of((Call("MPI_Get", peer=1, bytes=10), Call("MPI_Put", peer=1, bytes=4), Call("MPI_Win_lock", peer=1)), ())
    assert found.sizes.tolist() == [[0, 4], [10, 0]]


def threaded(*threads: int) -> profile.Profile:
    """Of a rank whose main thread waits 9 s of 10 for its other threads, which call one after the other, and sends."""
    sends = Call("MPI_Send", peer=0, bytes=1.0, compute=Compute(1, 10.0, 0.0, 1.0), seconds=Inside(1, 5.0))
    others = Loop(20, (Call("MPI_Recv", compute=Compute(20, 0.0, 0.0, 0.0), seconds=Inside(20, 1.0)),))
    process = Process(0, 12.0, (sends, others), Compute(1, 2.0, 0.0, 0.5), threads=threads, ordered=not threads)
    return profile.of_trace(Trace("p", 1, "", 12.0, (), {"0": (0,)}, (process,)))


def test_the_phases_of_a_program_with_threads_are_those_of_its_main_one() -> None:
    one, several = threaded(), threaded(1, 10, 10)
    assert [(phase.calls, phase.computing) for phase in one.phases] == [(1, 10.0), (20, 0.0)]
    assert [(phase.calls, phase.computing) for phase in several.phases] == [(1, 1.0)]
    assert threaded(0, 1, 20).phases == ()
    assert (several.computing, several.waiting, several.ratio) == (1.5, 0.0, None)
    assert (one.computing, one.ratio) == (12.0, 12.0 / 25.0)
    assert (one.is_threaded, several.is_threaded) == (False, True)


def test_threads_that_called_nothing_are_not_counted() -> None:
    (limit,) = threaded(0, 1, 20).limits
    assert (limit.code, limit.facts) == (Code.TRACE_THREADS, {"ranks": 1, "threads": 2})
    assert message(limit).startswith("At most 2 threads of 1 rank called MPI at a time")
    (alone,) = threaded(0, 21).limits
    assert "came from one thread" in message(alone)


def test_pairs_that_carry_little_do_not_matter() -> None:
    heavy, light = Call("MPI_Send", peer=1, bytes=1e6), Call("MPI_Send", peer=2, bytes=4.9e4)
    assert [pair[:2] for pair in of((heavy, light), (), ()).dominant] == [(0, 1)]
    assert of((heavy, light), (), (), wall=1e6).dominant == ()


@pytest.mark.parametrize("name", patterns.NAMES)
@pytest.mark.parametrize("ranks", [4, 8, 16])
def test_every_known_pattern_is_recognized_also_after_ranks_were_renamed(name: str, ranks: int) -> None:
    try:
        known = patterns.named(name, ranks)
    except InputError:
        return  # it cannot have so many ranks
    edges = {(a, b) for a, b, _ in known.edges}
    found = recognize(ranks, edges)
    assert found.name != OWN
    order = random.Random(f"{name}{ranks}").sample(range(ranks), ranks)
    renamed = {tuple(sorted((order[a], order[b]))) for a, b in edges}
    again = recognize(ranks, renamed)  # type: ignore[arg-type]
    assert again.name != OWN
    graph = {(a, b) for a, b, _ in patterns.named(again.name, ranks).edges}
    places = again.order or tuple(range(ranks))
    assert {tuple(sorted((places[a], places[b]))) for a, b in graph} == renamed


def test_recognition_agrees_with_all_renamings_on_four_ranks() -> None:
    pairs = list(itertools.combinations(range(4), 2))
    known = {frozenset((a, b) for a, b, _ in patterns.named(name, 4).edges) for name in patterns.NAMES}
    for chosen in itertools.chain.from_iterable(itertools.combinations(pairs, n) for n in range(7)):
        images = {
            frozenset(tuple(sorted((order[a], order[b]))) for a, b in chosen)
            for order in itertools.permutations(range(4))
        }
        assert (recognize(4, chosen).name != OWN) == bool(images & known)


def test_a_profile_is_read_as_it_was_written_and_damage_is_refused() -> None:
    found = of((Loop(5, (Call("MPI_Send", peer=1, bytes=1e5),)),), (), (), ())
    document = profile.document(found)
    assert profile.document(profile.parse(document)) == document
    for damage in ({"bytes": [[1]]}, {"ranks": 0}, {"phases": [{"x": 1}]}, {"bytes": None}):
        with pytest.raises(InputError):
            profile.parse({**document, **damage})


def test_two_profiles_are_apart_by_the_bytes_between_other_pairs() -> None:
    one = profile.of_counters("p", np.array([[0, 6.0], [2.0, 0]]), 1.0)
    assert profile.apart(one, one) == 0
    assert profile.apart(one, profile.of_counters("p", np.array([[0, 2.0], [4.0, 0]]), 1.0)) == 0.25
