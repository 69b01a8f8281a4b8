"""What a run is expected to take still, and how its contract stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridportal.base.errors import InputError
from gridportal.runtime.progress_events import Phase
from scheduling.contracts.core.limits import Limits
from scheduling.contracts.core.monitor import Monitor
from scheduling.contracts.core.monitor_state import MonitorState
from scheduling.contracts.core.outlook import Standing, outlook, remaining_elsewhere, standing
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction

TEN = Prediction("m", (PhasePrediction("step", 10, (1.0,)),))


def monitor_after(*seconds: float, promised: Prediction = TEN) -> Monitor:
    monitor = Monitor(promised, Limits())
    for each in seconds:
        monitor.observe(Phase("step", each, at=100.0))
    return monitor


def test_complete_is_work_and_not_time() -> None:
    """Half the steps done, in ten times their time: half done, though the refined time is nearly over once."""
    view = outlook(TEN, monitor_after(*[10.0] * 5).state, 50.0)
    assert view is not None
    assert (view.complete, view.refined, view.remaining) == (0.5, 100.0, 50.0)
    assert remaining_elsewhere(view, 30.0) == 15.0


@given(st.integers(1, 9), st.floats(0.1, 20))
def test_a_steady_run_is_foretold_exactly(done: int, ratio: float) -> None:
    view = outlook(TEN, monitor_after(*[ratio] * done).state, ratio * done)
    assert view is not None
    assert view.refined == pytest.approx(10 * ratio)
    assert view.complete == pytest.approx(done / 10)


def test_the_latest_ratio_counts_once_it_foretells_better() -> None:
    """Forty steps as promised, then five times as long: the rest is expected to be slow, not a little slow."""
    hundred = Prediction("m", (PhasePrediction("step", 100, (1.0,)),))
    view = outlook(hundred, monitor_after(*[1.0] * 40, *[5.0] * 20, promised=hundred).state, 140.0)
    assert view is not None
    assert view.ratio == pytest.approx(5.0, rel=0.05)


def test_every_phase_has_a_ratio_of_its_own() -> None:
    """A slow beginning says nothing of the steps."""
    promised = Prediction("m", (PhasePrediction("read", 1, (5.0,)), PhasePrediction("step", 10, (1.0,))))
    monitor = Monitor(promised, Limits())
    for each in (Phase("read", 50.0), Phase("step", 1.0)):
        monitor.observe(each)
    view = outlook(promised, monitor.state, 51.0)
    assert view is not None
    assert view.remaining == pytest.approx(9.0)


def test_without_a_count_nobody_knows_the_end() -> None:
    promised = Prediction("m", (PhasePrediction("step", None, (1.0,)),))
    monitor = monitor_after(1.0, 1.0, promised=promised)
    assert outlook(promised, monitor.state, 2.0) is None
    assert monitor.state.average == 1.0


@pytest.mark.parametrize(
    ("seconds", "quiet", "expected"),
    [
        ((), 5.0, Standing.WAITING),
        ((1.0, 1.0), 5.0, Standing.KEPT),
        ((1.0, 1.0, 1.0, 2.5), 5.0, Standing.SLOW),
        ((4.0, 4.0), 5.0, Standing.VIOLATED),
        ((0.2, 0.2), 5.0, Standing.FASTER),
        ((1.0, 1.0), 31.0, Standing.SILENT),
        ((), 31.0, Standing.SILENT),
    ],
)
def test_how_a_contract_stands(seconds: tuple[float, ...], quiet: float, expected: Standing) -> None:
    assert standing(TEN, monitor_after(*seconds).state, Limits(), quiet) is expected


def test_long_steps_may_be_quiet_for_long() -> None:
    hour = Prediction("m", (PhasePrediction("step", 10, (3600.0,)),))
    state = monitor_after(3600.0, promised=hour).state
    assert standing(hour, state, Limits(), 4 * 3600 - 1) is Standing.KEPT
    assert standing(hour, state, Limits(), 4 * 3600 + 1) is Standing.SILENT


@pytest.mark.parametrize(("lower", "upper"), [(0, 2), (1, 2), (0.7, 1), (0.7, 101), (float("nan"), 2)])
def test_limits_that_make_no_sense_are_refused(lower: float, upper: float) -> None:
    with pytest.raises(InputError, match="limit"):
        Limits.checked(lower, upper)


@pytest.mark.parametrize("document", [{"phases": {"a": [1]}}, {"adjustments": [[1]]}, {"clock": "x"}, {"call": 3}])
def test_a_state_of_another_kind_is_named(document: object) -> None:
    with pytest.raises(InputError, match="contract"):
        MonitorState.read(document)
