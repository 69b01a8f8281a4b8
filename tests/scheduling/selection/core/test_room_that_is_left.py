"""Too little room: one sentence counts what cannot be used, what is full and what is left."""

from __future__ import annotations

import pytest

from gridportal.base.errors import ImpossibleError
from gridportal.network.topology import Node, Topology
from scheduling.selection.core.eligible import usable_nodes
from scheduling.selection.core.placement import Request

NODES = Topology("six", False, "links", tuple(Node(f"n{number}") for number in range(1, 7)), ())


def refusal(slots: dict[str, int], *excluded: str) -> str:
    with pytest.raises(ImpossibleError) as error:
        usable_nodes(NODES, Request(2, "compute", ranks=8, slots=slots, exclude=frozenset(excluded)))
    return str(error.value)


def test_one_sentence_counts_what_is_excluded_and_what_is_full() -> None:
    slots = {"n1": 2, "n2": 4, "n3": 4, "n4": 0, "n5": 0, "n6": 0}
    assert refusal(slots, "n2", "n3") == (
        "Only 1 of 6 compute nodes has room, for 2 ranks, and 8 ranks on 2 nodes were asked for: 2 are excluded or in "
        "use and 3 have no room for a rank."
    )
    assert refusal(dict.fromkeys(slots, 0), "n6") == (
        "None of 6 compute nodes has room: 1 is excluded or in use and 5 have no room for a rank."
    )
    assert refusal(dict.fromkeys(slots, 4), "n1", "n2", "n3", "n4", "n5") == (
        "Only 1 of 6 compute nodes has room, for 4 ranks, and 8 ranks on 2 nodes were asked for: 5 are excluded or in "
        "use."
    )
