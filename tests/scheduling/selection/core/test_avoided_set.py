"""A random draw that is compared with another group takes any other set of nodes, where there is one."""

from __future__ import annotations

import random

import pytest

from gridportal.network.topology import parse
from scheduling.selection.core.placement import Request
from scheduling.selection.core.selection import select

RATES = {"a": 100e6, "b": 40e6, "c": 80e6}
SWITCH = parse(
    {
        "nodes": [*({"id": name} for name in RATES), {"id": "s", "kind": "network"}],
        "links": [{"source": name, "target": "s", "capacity": rate} for name, rate in RATES.items()],
    }
)


def drawn(request: Request, seed: int) -> tuple[str, ...]:
    return select(SWITCH, request, rng=random.Random(seed), clock=lambda: 0.0).nodes


@pytest.mark.parametrize(
    ("nodes", "ranks", "slots", "avoid"),
    [(2, None, None, {"a", "b"}), (1, None, None, {"c"}), (1, 4, {"a": 4, "b": 4, "c": 4}, {"a"})],
)
def test_the_avoided_set_is_never_drawn_where_there_is_another(
    nodes: int, ranks: int | None, slots: dict[str, int] | None, avoid: set[str]
) -> None:
    plain = Request(nodes, "random", candidates=1, ranks=ranks, slots=slots)
    compared = Request(nodes, "random", candidates=1, ranks=ranks, slots=slots, avoid=frozenset(avoid))
    sets = [(frozenset(drawn(plain, seed)), frozenset(drawn(compared, seed))) for seed in range(40)]
    assert frozenset(avoid) in {one for one, _ in sets}
    assert frozenset(avoid) not in {other for _, other in sets}
    assert all(one == other for one, other in sets if one != avoid), "the draw is the same where it need not differ"


def test_the_avoided_set_is_drawn_where_there_is_no_other() -> None:
    assert set(drawn(Request(3, "random", candidates=1, avoid=frozenset("abc")), 0)) == {"a", "b", "c"}
