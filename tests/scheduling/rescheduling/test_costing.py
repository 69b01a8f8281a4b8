"""How long reading is predicted to take: from one node on as many ranks as before, else from all of them."""

from __future__ import annotations

import pytest

from gridportal.network.topology import Topology, parse
from scheduling.rescheduling.services.costing import seconds_of_reading

MB = 1_000_000


@pytest.fixture
def pairs() -> Topology:
    """Four nodes with paths of 8 Mbit/s between each two, which share nothing."""
    names = "abcd"
    links = [{"source": one, "target": other, "capacity": 8e6} for one in names for other in names if one != other]
    return parse(
        {"directed": True, "graph": {"kind": "pairs"}, "nodes": [{"id": name} for name in names], "links": links}
    )


def test_on_as_many_ranks_each_reads_from_one_node(pairs: Topology) -> None:
    assert seconds_of_reading(pairs, 8 * MB, ["a", "b"], ["c", "d"]) == pytest.approx(4.0)


def test_on_another_number_each_reads_from_all(pairs: Topology) -> None:
    assert seconds_of_reading(pairs, 8 * MB, ["a", "b", "c"], ["d"]) == pytest.approx(8 / 3, rel=1e-3)


def test_what_stays_on_its_node_takes_no_time(pairs: Topology) -> None:
    assert seconds_of_reading(pairs, 8 * MB, ["a", "b"], ["a", "b"]) == 0.0
