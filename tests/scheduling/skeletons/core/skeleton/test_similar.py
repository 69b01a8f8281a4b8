"""Segments that differ a little are one kind, of the mean size; those that an MPI sends in another way are two."""

from __future__ import annotations

import doctest
import json

import pytest

from gridportal.runtime.skeleton_check import runnable
from scheduling.profiles.core.trace import parse
from scheduling.skeletons.core.skeleton import build, document, similar
from scheduling.skeletons.core.skeleton.similar import similar_size, similar_work
from tests.scheduling.skeletons.core.skeleton import programs
from tests.scheduling.skeletons.core.skeleton.rendezvous import stuck


def changing(sizes, works=(0.001,)):
    """Two ranks that exchange, each time another size, with another amount of work before it."""

    def body(rank):
        other = 1 - rank
        return [
            node
            for k, size in enumerate(sizes)
            for node in (
                programs.call("Irecv", source=other, tag=1, recv_bytes=size, request=0, work=works[k % len(works)]),
                programs.call("Send", peer=other, tag=1, bytes=size + 8 * rank),
                programs.call("Wait", requests=[0]),
            )
        ]

    return [body(0), body(1)]


def built(bodies):
    return build(parse(programs.trace(bodies)), target=1e9)


def test_the_doctests():
    assert doctest.testmod(similar).failed == 0


def test_sizes_that_differ_a_little_are_one_kind_with_their_mean_at_both_ends_of_a_message():
    skeleton = built(changing([50_000, 52_000, 54_000] * 4))

    (segment,) = skeleton.segments
    assert segment.times == 12
    sent = [[op.bytes for op in line if op.kind == "send"] for line in segment.ops]
    received = [[op.recv_bytes for op in line if op.kind == "recv"] for line in segment.ops]
    assert sent == [[52_000], [52_008]]
    assert received == [[52_008], [52_000]]


def test_rounds_with_changing_sizes_become_a_loop_that_is_shortened_and_still_fits_together():
    bodies = changing([50_000, 3_000, 51_000, 2_600] * 25)
    whole = built(bodies)

    shortened = runnable(
        json.loads(json.dumps(document(build(parse(programs.trace(bodies)), target=0.1 * whole.expected), rate=1.0)))
    )

    assert shortened["schedule"] == [{"loop": 5, "body": [0, 1]}]
    assert stuck(shortened) == []


def test_a_size_that_an_mpi_sends_in_another_way_is_a_kind_of_its_own():
    assert len(built(changing([65_000, 66_000] * 6)).segments) == 2


def test_much_more_work_is_a_kind_of_its_own_and_a_little_more_is_not():
    assert len(built(changing([100] * 12, works=(0.007, 0.009))).segments) == 1
    assert len(built(changing([100] * 12, works=(0.007, 0.07))).segments) == 2


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [(0, 1024, True), (0, 1025, False), (5_000, 15_000, True), (16_000, 17_000, False), (200_000, 215_000, True)],
)
def test_which_sizes_count_as_the_same(one, other, alike):
    assert similar_size(one, other) is alike
    assert similar_size(other, one) is alike


def test_a_sum_keeps_whole_numbers():
    def body(size):
        return programs.call("Allreduce", bytes=size)

    skeleton = built([[body(80_000), body(80_008), body(80_016), body(80_016)]] * 2)

    (segment,) = skeleton.segments
    assert [op.bytes for line in segment.ops for op in line] == [80_008, 80_008]


def test_which_work_counts_as_the_same():
    assert similar_work([[0.0, 0.0019]], [[0.0019, 0.0]])
    assert not similar_work([[0.003]], [[0.0]])
