"""Stencils, simulated: the work of the largest block, the edges over the links, the slowest node decides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import GridPortalError
from gridportal.network.topology import Topology
from scheduling.performance.core.kernel_rates import KernelRates
from scheduling.performance.core.stencil_model import StencilModel
from tests.scheduling.performance.core.test_panel_models import star

#: A sweep takes a nanosecond for each point.
RATES = KernelRates(1e9, 1e9, *[0.0] * 7, sweeps=((1.0, 1e-9), (1e6, 1e-3)))
HEAT = StencilModel("heat-2d", RATES)


def seconds(ranks: int, network: Topology, **parameters: int) -> float:
    asked = {"rows": 1000, "columns": 1000, "steps": 100} | parameters
    (phase,) = HEAT.predict(asked, [f"n{at}" for at in range(ranks)], network)
    return phase.total or 0.0


def test_one_rank_sweeps_over_every_point() -> None:
    assert seconds(1, star(1)) == pytest.approx(100 * 1e-3)


def test_four_ranks_have_a_quarter_each_and_send_their_edges() -> None:
    """Two rows and two columns of 500 points, each at 8 Mbit/s: 4 ms each, and 30 microseconds for a message."""
    assert seconds(4, star(4, bandwidth=8e6)) == pytest.approx(100 * (0.25e-3 + 4 * (4e-3 + 30e-6)))


def test_reports_are_of_a_twentieth_of_the_steps() -> None:
    (phase,) = HEAT.predict({"rows": 64, "columns": 64, "steps": 1010}, ["n0"], star(1))
    assert (phase.phase, phase.count) == ("steps", 20)
    (few,) = HEAT.predict({"rows": 64, "columns": 64, "steps": 3}, ["n0"], star(1))
    assert few.count == 3


@given(st.floats(1e6, 1e10), st.floats(1, 20), st.sampled_from([2, 4, 6, 8]))
def test_thinner_links_and_slower_nodes_never_help(bandwidth: float, factor: float, ranks: int) -> None:
    usual = seconds(ranks, star(ranks, bandwidth))
    assert seconds(ranks, star(ranks, bandwidth / factor)) >= usual * (1 - 1e-9)
    assert seconds(ranks, star(ranks, bandwidth, cpu=1 / factor)) >= usual * (1 - 1e-9)


def test_a_node_with_a_part_of_a_processor_has_slower_kernels() -> None:
    slow = RATES.on(0.25)
    assert (slow.product, slow.sweep(1e6)) == (0.25e9, pytest.approx(4e-3))
    assert KernelRates.read(RATES.document()) == RATES


@pytest.mark.parametrize("wrong", [{"rows": 0}, {"steps": 0}, {"columns": -1}])
def test_what_it_cannot_predict_is_said(wrong: dict[str, int]) -> None:
    with pytest.raises(GridPortalError, match=next(iter(wrong))):
        seconds(1, star(1), **wrong)
