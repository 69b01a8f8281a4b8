"""Skeletons from traces: they end wherever the program ends, they keep its sizes, and they are as long as was asked."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.runtime.skeleton_check import runnable
from scheduling.profiles.core.trace import parse
from scheduling.skeletons.core.skeleton import build, document
from tests.examples import examples
from tests.scheduling.skeletons.core.skeleton import programs
from tests.scheduling.skeletons.core.skeleton.rendezvous import stuck, unrolled

RATE = 1000.0


def made(bodies, target, comms=None):
    built = document(build(parse(programs.trace(bodies, comms)), target=target), rate=RATE)
    return runnable(json.loads(json.dumps(built)))


def whole_time(bodies):
    skeleton = build(parse(programs.trace(bodies)), target=1e9)
    return skeleton.scaled.seconds(skeleton.segments)


PROGRAMS = {
    "ring": programs.ring(4, 40),
    "halo": programs.halo(5, 300),
    "wavefront": programs.wavefront(4, 20, 16),
    "master": programs.master(3, 90),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("share", [1.0, 0.5, 0.1, 0.03, 0.004])
def test_a_skeleton_ends_even_when_every_send_waits_for_its_receive(name, share):
    bodies = PROGRAMS[name]

    assert stuck(made(bodies, share * whole_time(bodies))) == []


@pytest.mark.parametrize("name", ["ring", "halo", "wavefront"])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.05])
def test_it_takes_the_time_that_was_asked_for(name, share):
    bodies = PROGRAMS[name]
    target = share * whole_time(bodies)

    assert made(bodies, target)["expected"] == pytest.approx(target, rel=0.25)


def test_a_target_as_long_as_the_run_repeats_the_whole_run():
    shortened = made(programs.ring(3, 4), 1e9)

    ops = Counter(op["op"] for op in unrolled(shortened, 0) if op["op"] != "work")
    assert ops == {"sendrecv": 40, "allreduce": 4}


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2])
def test_ranks_that_work_in_different_segments_take_no_longer_than_the_run_did(share: float) -> None:
    """Each works before the message that the other waits for, both at once: in two segments, one for each rank."""
    there, back = {"peer": 1, "tag": 1, "bytes": 8}, {"peer": 0, "tag": 2, "bytes": 8}
    bodies = [
        [
            programs.loop(
                100,
                programs.call("Send", work=0.01, **there),
                programs.call("Recv", work=0.0, source=1, tag=2, recv_bytes=8),
            )
        ],
        [
            programs.loop(
                100,
                programs.call("Recv", work=0.0, source=0, tag=1, recv_bytes=8),
                programs.call("Send", work=0.01, **back),
            )
        ],
    ]
    trace = parse(programs.trace(bodies))
    whole = build(trace, target=1e9)
    took = max(map(sum, zip(whole.working, whole.inside, strict=True)))
    assert sum(each.times * each.seconds for each in whole.segments) > 1.5 * took

    assert whole.expected == pytest.approx(took)
    assert build(trace, target=share * took).expected == pytest.approx(share * took, rel=0.12)


def test_outer_loops_are_shortened_before_inner_ones():
    shortened = made(programs.wavefront(4, 20, 16), 0.1 * whole_time(programs.wavefront(4, 20, 16)))

    ops = Counter(op["op"] for op in unrolled(shortened, 1) if op["op"] != "work")
    assert ops["allreduce"] == 2
    assert ops["recv"] == ops["send"] == 2 * 2 * 16


def test_sizes_stay_as_long_as_repetition_can_be_cut():
    shortened = made(programs.ring(4, 40, size=123_456), 0.05 * whole_time(programs.ring(4, 40)))

    sizes = {op["bytes"] for op in unrolled(shortened, 2) if op["op"] == "sendrecv"}
    assert sizes == {123_456}


def test_what_happens_once_and_matters_is_kept_smaller():
    bodies = [[programs.call("Alltoall", bytes=8_000_000, work=1.0)] for _ in range(4)]

    shortened = made(bodies, 0.1)

    assert shortened["segments"][0]["part"] == pytest.approx(0.1, rel=0.15)
    assert 700_000 < unrolled(shortened, 0)[1]["bytes"] < 900_000


def test_a_request_that_is_started_again_and_again_becomes_plain_messages():
    def body(rank):
        other = 1 - rank
        return [
            programs.call("Send_init", peer=other, tag=1, bytes=10, request=0),
            programs.call("Recv_init", source=other, tag=1, recv_bytes=10, request=1),
            programs.loop(20, programs.call("Startall", requests=[0, 1]), programs.call("Waitall", requests=[0, 1])),
            programs.call("Request_free", requests=[0]),
        ]

    shortened = made([body(0), body(1)], 1e9)

    assert stuck(shortened) == []
    assert Counter(op["op"] for op in unrolled(shortened, 0) if op["op"] != "work") == {
        "send": 20,
        "recv": 20,
        "wait": 20,
    }


def test_a_receive_from_anybody_becomes_one_from_whoever_came():
    shortened = made(programs.master(2, 4), 1e9)

    sources = Counter(op["from"] for op in unrolled(shortened, 0) if op["op"] == "recv")
    assert sources == {1: 2, 2: 2}


def test_each_rank_is_told_what_comes_in_an_exchange_of_unequal_parts():
    counts = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    bodies = [[programs.call("Alltoallv", bytes=sum(row), counts=row)] for row in counts]

    shortened = made(bodies, 1e9)

    assert [unrolled(shortened, rank)[-1]["from_counts"] for rank in range(3)] == [[1, 4, 7], [2, 5, 8], [3, 6, 9]]


def test_a_trace_whose_ranks_wait_for_each_other_is_refused():
    bodies = [[programs.call("Recv", source=1 - rank, tag=0, recv_bytes=8)] for rank in range(2)]

    with pytest.raises(ImpossibleError, match="waits for ever in a recv"):
        made(bodies, 1.0)


def test_a_program_without_messages_has_none():
    with pytest.raises(ImpossibleError, match="sends no messages"):
        made([[], []], 1.0)


def test_one_sided_communication_is_refused_by_its_name():
    with pytest.raises(ImpossibleError, match="MPI_Put"):
        made([[programs.call("Put", peer=1, bytes=8)], []], 1.0)


@pytest.mark.parametrize("inside", [[programs.call("Barrier")], []])
def test_a_loop_that_runs_for_ever_is_refused_whatever_its_calls_say_of_themselves(inside):
    """A traced program may write into its trace what it likes."""
    with pytest.raises(ImpossibleError, match="at most 5,000,000"):
        made([[programs.loop(10**12, *inside)]] * 2, 1.0)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (programs.call("Alltoallv"), "MPI_Alltoallv with 0 counts among 2 ranks"),
        (programs.call("Gatherv", root=0), "MPI_Gatherv with 0 counts among 2 ranks"),
        (programs.call("Barrier", comm="1"), "communicator 1 with rank 0, which is not in it"),
        (programs.call("Bcast", comm="1", root=0), "communicator 1 with rank 0, which is not in it"),
    ],
)
def test_a_collective_that_no_mpi_would_take_is_refused(call, said):
    with pytest.raises(ImpossibleError, match=said):
        made([[call], [call]], 1.0, {"1": [1]})


@pytest.mark.parametrize("target", [0, -1, float("nan")])
def test_a_target_that_is_no_time_is_refused(target):
    with pytest.raises(InputError, match="target"):
        made(programs.ring(2, 2), target)


@st.composite
def exchanges(draw):
    """Loops of exchanges that any MPI may run: each is complete before the next begins."""
    ranks = draw(st.integers(2, 5))
    bodies = [[] for _ in range(ranks)]
    for tag in range(draw(st.integers(1, 5))):
        times = draw(st.integers(1, 30))
        kind = draw(st.sampled_from(["pair", "shift", "all"]))
        one, other = draw(st.permutations(range(ranks)))[:2]
        step = draw(st.integers(1, ranks - 1))
        for rank in range(ranks):
            if kind == "all":
                node = programs.call("Allreduce", bytes=8 * (tag + 1))
            elif kind == "shift":
                node = programs.call(
                    "Sendrecv",
                    peer=(rank + step) % ranks,
                    tag=tag,
                    bytes=tag,
                    source=(rank - step) % ranks,
                    recv_tag=tag,
                    recv_bytes=tag,
                )
            elif rank == one:
                node = programs.call("Send", peer=other, tag=tag, bytes=100)
            elif rank == other:
                node = programs.call("Recv", source=one, tag=tag, recv_bytes=200)
            else:
                continue
            bodies[rank].append(programs.loop(times, node))
    outer = draw(st.integers(1, 12))
    return [[programs.loop(outer, *body)] if body else [] for body in bodies]


@settings(max_examples=examples(30, fuzz=150), deadline=None)
@given(exchanges(), st.floats(0.002, 1.0))
def test_no_skeleton_of_any_program_deadlocks(bodies, share):
    assert stuck(made(bodies, share * max(whole_time(bodies), 1e-6))) == []


def test_what_a_cpu_second_was_in_the_traced_run_goes_before_what_it_is_now() -> None:
    traced = programs.trace(programs.ring(3, 40))
    for process, pace in zip(traced["processes"], (3e5, 9e5, 4e5), strict=True):
        process["pace"] = pace
    now = {"near": 1e5}
    assert runnable(document(build(parse(traced), target=0.1), rate=RATE, player=now))["player"] == {"near": 4e5}
    del traced["processes"][1]["pace"]
    assert runnable(document(build(parse(traced), target=0.1), rate=RATE, player=now))["player"] == now
