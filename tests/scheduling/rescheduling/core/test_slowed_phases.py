"""Phases on the nodes that a job leaves grow with its slowdown there, the others do not. Figures worked by hand."""

from __future__ import annotations

import pytest

from scheduling.rescheduling.core.move_cost import CostPhase, predicted, worst_case
from scheduling.rescheduling.core.slowed_phases import EarlierMove, estimates, slowdown_of

IDLE = {CostPhase.WRITE: 0.4, CostPhase.OTHER: 2.0, CostPhase.START: 6.0, CostPhase.REDISTRIBUTION: 9.0}


def test_ten_times_slower_nodes_are_left_ten_times_slower() -> None:
    found = estimates([EarlierMove(IDLE)], slowdown=10.0)
    assert found == {
        CostPhase.WRITE: pytest.approx(4.0),
        CostPhase.OTHER: pytest.approx(20.0),
        CostPhase.START: 6.0,
        CostPhase.REDISTRIBUTION: 9.0,
    }
    assert sum(found.values()) == pytest.approx(39.0)


def test_an_earlier_move_away_from_load_counts_as_it_would_have_been_without() -> None:
    loaded = EarlierMove({CostPhase.WRITE: 6.0, CostPhase.START: 5.0}, slowdown=4.0)
    assert estimates([loaded], slowdown=1.0) == {CostPhase.WRITE: pytest.approx(1.5), CostPhase.START: 5.0}
    assert estimates([loaded], slowdown=4.0)[CostPhase.WRITE] == pytest.approx(6.0)


def test_the_median_is_of_moves_brought_to_one_slowdown() -> None:
    """1, 2 and 9 s at slowdowns of 1, 1 and 3 are 1, 2 and 3 s on idle nodes: their median is 2, and 10 at 5."""
    moves = [EarlierMove({CostPhase.OTHER: seconds}, slow) for seconds, slow in [(1.0, 1.0), (2.0, 1.0), (9.0, 3.0)]]
    assert estimates(moves, slowdown=5.0) == {CostPhase.OTHER: pytest.approx(10.0)}


def test_what_nobody_measured_is_left_to_the_worst_case_as_it_is() -> None:
    assert estimates([], slowdown=10.0) == {}
    assert predicted(estimates([], 10.0), worst_case(0.1)).seconds[CostPhase.WRITE] == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("ratio", "min_cpu", "slowdown"), [(3.0, 1.0, 3.0), (1.0, 0.25, 4.0), (2.0, 0.5, 4.0), (2.0, None, 2.0)]
)
def test_the_slowdown_is_the_ratio_over_the_processor_that_was_promised(
    ratio: float, min_cpu: float | None, slowdown: float
) -> None:
    assert slowdown_of(ratio, min_cpu) == pytest.approx(slowdown)
