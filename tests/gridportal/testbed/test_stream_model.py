"""The traffic model of Pattern 2003, 3.3."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.network import topology_files
from gridportal.testbed import topologies
from gridportal.testbed.layout import shared_paths
from gridportal.testbed.stream_model import FLOOR, PERIOD, available, replay, usual_streams

PEAKS = {("a", "b"): 100e6, ("b", "a"): 100e6, ("a", "c"): 155e6, ("c", "a"): 8e6}


@given(st.integers(0, 2**32), st.integers(0, 200))
def test_no_link_ever_leaves_the_floor_and_its_capacity(seed: int, streams: int) -> None:
    for event in islice(replay(random.Random(seed), PEAKS, streams=streams), 300):
        assert min(FLOOR, PEAKS[event.link]) <= event.available <= PEAKS[event.link]


@given(st.integers(0, 2**32))
def test_each_event_moves_one_stream_on_one_link_and_shares_fairly(seed: int) -> None:
    on = dict.fromkeys(PEAKS, 0)
    for event in islice(replay(random.Random(seed), PEAKS), 200):
        assert abs(event.streams - on[event.link]) == 1
        assert event.streams >= 0
        assert event.available == available(PEAKS[event.link], event.streams)
        on[event.link] = event.streams


@given(st.integers(0, 2**32), st.integers(0, 15))
def test_first_the_given_streams_enter_then_one_event_comes_every_thirty_seconds(seed: int, streams: int) -> None:
    events = list(islice(replay(random.Random(seed), PEAKS, streams=streams), streams + 5))
    assert [event.at for event in events] == [0.0] * streams + [PERIOD * i for i in range(1, 6)]


def test_the_same_seed_gives_the_same_traffic() -> None:
    def first(seed: int) -> list[object]:
        return list(islice(replay(random.Random(seed), PEAKS, streams=5), 50))

    assert first(7) == first(7)
    assert first(7) != first(8)


def test_links_that_cannot_be_shared_have_no_traffic() -> None:
    assert list(replay(random.Random(1), {("a", "b"): 12e6}, streams=3)) == []


@pytest.mark.parametrize("name", topologies.names())
def test_the_usual_streams_make_each_network_busy_and_leave_a_choice(name: str) -> None:
    peaks = shared_paths(topology_files.load(topologies.find(name)))
    events = list(islice(replay(random.Random(1), peaks, streams=usual_streams(len(peaks))), usual_streams(len(peaks))))
    left = dict.fromkeys(peaks, 1.0) | {event.link: event.available / peaks[event.link] for event in events}
    busy = [share for share in left.values() if share <= 0.5]
    assert len(busy) >= len(peaks) / 2
    assert len({round(share, 2) for share in left.values()}) >= 3
