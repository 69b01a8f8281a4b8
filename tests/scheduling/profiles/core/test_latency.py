"""Programs of many short messages are told from those that hardly talk."""

from __future__ import annotations

import pytest

from gridportal.base.reasons import NOTHING
from scheduling.messages import message
from scheduling.profiles.core import profile
from scheduling.profiles.core.profile_names import LATENCY
from scheduling.profiles.core.trace import Call, Compute, Inside, Loop, Process, Trace


def ring(
    times: int, size: float, inside: float, computing: float, ranks: int = 4, wall: float = 10.0
) -> profile.Profile:
    """Each rank sends to the next `times` times `size` bytes; seconds of a call, and of the computation before."""
    processes = tuple(
        Process(rank, wall, (Loop(times, (_send((rank + 1) % ranks, times, size, inside, computing),)),))
        for rank in range(ranks)
    )
    return profile.of_trace(Trace("p", ranks, "", wall, (), {"0": tuple(range(ranks))}, processes))


def _send(peer: int, times: int, size: float, inside: float, computing: float) -> Call:
    figures = Compute(times, computing, 0.0, computing), Inside(times, inside)
    return Call("MPI_Send", peer=peer, bytes=size, compute=figures[0], seconds=figures[1])


def test_many_short_messages_are_a_pattern_of_their_own() -> None:
    found = ring(times=5000, size=8.0, inside=1e-3, computing=1e-3)
    assert found.recognized.name == LATENCY
    assert {pair[:2] for pair in found.dominant} == {(0, 1), (1, 2), (2, 3), (0, 3)}
    assert found.bound_by_latency.facts == {"share": 0.5, "rate": 500.0, "size": 8.0}
    assert profile.parse(profile.document(found)).recognized == found.recognized
    assert "where latencies are known, ask for latency<=SECONDS" in message(found.bound_by_latency)


@pytest.mark.parametrize(
    "quiet",
    [
        ring(times=10, size=8.0, inside=0.5, computing=0.5),  # few messages: it waits for other ranks
        ring(times=21, size=26.0, inside=2e-3, computing=15e-3, wall=0.1),  # short: few, though many a second
        ring(times=5000, size=8.0, inside=1e-5, computing=2e-3),  # they take no time
    ],
)
def test_a_program_that_hardly_talks_is_as_before(quiet: profile.Profile) -> None:
    assert quiet.bound_by_latency == NOTHING
    assert quiet.recognized.name == "ep"


def test_short_messages_that_are_felt_by_their_bytes_keep_their_shape() -> None:
    found = ring(times=100_000, size=512.0, inside=5e-5, computing=5e-5)
    assert found.recognized.name == "ring"
    assert found.bound_by_latency


def test_long_messages_are_bound_by_bandwidth() -> None:
    found = ring(times=1000, size=1e6, inside=9e-3, computing=1e-3)
    assert (found.recognized.name, found.bound_by_latency) == ("ring", NOTHING)
