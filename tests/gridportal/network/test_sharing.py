"""The rule that tells traffic that yields from traffic that does not, against links of which everything is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.network.max_min import Claim, fill
from gridportal.network.sharing import sharing, sharing_columns
from gridportal.network.topology import Link

C = 100e6


def seen(others: list[Claim], blind: float = 0.0) -> tuple[float, float]:
    """What a probe gets on a link with these others, and what they used before it; `blind`: bit/s that never yield."""
    alone = sum(fill([C - blind], others).rates)
    return fill([C - blind], [*others, Claim((0,))]).rates[-1], alone + blind


def truth(others: list[Claim], flows: int, blind: float = 0.0) -> float:
    return fill([C - blind], [*others, *[Claim((0,))] * flows]).rates[-1]


@given(st.integers(0, 40), st.integers(1, 20))
def test_flows_that_take_all_they_can_are_counted_and_shared_with(others: int, flows: int) -> None:
    there = [Claim((0,))] * others
    available, used = seen(there)
    found = sharing(Link("a", "b", C, available, used=used))
    assert found.others == pytest.approx(others)
    assert found.rate(flows) == pytest.approx(truth(there, flows))


@given(st.floats(0.0, 0.99), st.integers(1, 20))
def test_what_never_yields_leaves_the_rest_to_all_together(blind: float, flows: int) -> None:
    available, used = seen([], blind * C)
    found = sharing(Link("a", "b", C, available, used=used))
    assert not found.yields
    assert found.rate(flows) == pytest.approx((C - blind * C) / flows)


@given(st.floats(1e5, C), st.one_of(st.none(), st.floats(0.0, C)))
def test_one_flow_gets_exactly_what_the_probe_got(available: float, used: float | None) -> None:
    assert sharing(Link("a", "b", C, available, used=used)).rate(1) == pytest.approx(available)


@given(st.floats(1e5, C), st.integers(2, 10))
def test_not_knowing_what_others_use_never_promises_more(available: float, flows: int) -> None:
    unknown = sharing(Link("a", "b", C, available)).rate(flows)
    assert unknown <= sharing(Link("a", "b", C, available, used=C)).rate(flows) * (1 + 1e-9)


@pytest.mark.parametrize("others", range(1, 10))
def test_others_held_elsewhere_are_underestimated_by_half_at_most(others: int) -> None:
    there = [Claim((0,), cap=C / (others + 1))] * others
    available, used = seen(there)
    found = sharing(Link("a", "b", C, available, used=used)).rate(2)
    assert 0.5 * truth(there, 2) <= found <= truth(there, 2)


@pytest.mark.parametrize("blind", [0.1, 0.5, 0.9])
def test_a_mixture_is_overestimated_by_half_at_most(blind: float) -> None:
    there = [Claim((0,))]
    available, used = seen(there, blind * C)
    found = sharing(Link("a", "b", C, available, used=used)).rate(2)
    assert truth(there, 2, blind * C) <= found <= 1.5 * truth(there, 2, blind * C)


def test_headers_that_the_probe_does_not_see_change_little() -> None:
    """A probe counts what arrives, the counter what is sent: some 5 % more."""
    available, used = seen([Claim((0,))])
    found = sharing(Link("a", "b", C, 0.95 * available, used=used)).rate(2)
    assert found == pytest.approx(0.95 * C / 3, rel=0.03)


FIGURES = st.sampled_from([0.0, 1e6, 30e6, 50e6, 99e6, C, 2 * C])


@given(st.lists(st.tuples(FIGURES, st.none() | FIGURES), max_size=6))
def test_many_links_at_once_are_shared_as_each_of_them(figures: list[tuple[float, float | None]]) -> None:
    links = [Link("a", "b", C, available, used=used) for available, used in figures]
    room, others, cap = sharing_columns(links)
    found = list(zip(room.tolist(), others.tolist(), cap.tolist(), strict=True))
    assert found == [(each.room, each.others, each.others_cap) for each in map(sharing, links)]
