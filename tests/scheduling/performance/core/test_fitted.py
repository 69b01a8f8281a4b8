"""The model fitted from past runs: exact where they follow a law, not misled by one that was disturbed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.performance.core.fitted import FITTED, LEAST_CPU, PAST_RUNS, PastPhase, PastRun, RunShape, predict


def past(n: float, ranks: int, seconds: float, capacity: float = 1.0, text: str = "") -> PastRun:
    return PastRun(RunShape({"n": n}, {"kind": text}, ranks, capacity), {"step": PastPhase(10, seconds)})


def wanted(n: float, ranks: int, capacity: float = 1.0, text: str = "") -> RunShape:
    return RunShape({"n": n}, {"kind": text}, ranks, capacity)


def law(n: float, ranks: int) -> float:
    return 2e-6 * n**3 / ranks


SEEN = [(n, ranks) for n in (100.0, 200.0, 400.0) for ranks in (2, 4, 8)]


@given(st.floats(60, 790), st.integers(1, 16), st.floats(0.1, 4))
def test_a_law_of_powers_is_found(n: float, ranks: int, capacity: float) -> None:
    runs = [past(n, ranks, law(n, ranks)) for n, ranks in SEEN]
    found = predict(runs, wanted(n, ranks, capacity))
    assert found is not None
    assert found.total == pytest.approx(10 * law(n, ranks) / capacity, rel=1e-2)
    if (n, ranks) not in SEEN:
        assert (found.model, found.error) == (FITTED, pytest.approx(0.0, abs=1e-2))


@given(st.sampled_from(range(len(SEEN))), st.floats(2, 20))
def test_one_disturbed_run_misleads_nobody(at: int, slowdown: float) -> None:
    """Whichever of them it is, and however slow: the prediction is off by a tenth at most."""
    runs = [past(n, ranks, law(n, ranks) * (slowdown if at == which else 1.0)) for which, (n, ranks) in enumerate(SEEN)]
    found = predict(runs, wanted(300.0, 5))
    assert found is not None
    assert found.total == pytest.approx(10 * law(300.0, 5), rel=0.1)


def test_the_same_run_is_the_median_of_its_past() -> None:
    runs = [past(100, 4, seconds) for seconds in (2.0, 2.2, 9.0, 2.1, 1.9)]
    found = predict(runs, wanted(100, 4))
    assert found is not None
    assert (found.model, found.phases[0].seconds) == (PAST_RUNS, (2.1,))
    assert found.error == pytest.approx(0.07, abs=0.03)


def test_slower_nodes_are_promised_more_time() -> None:
    runs = [past(100, 4, 4.0, capacity=0.5)]
    found = predict(runs, wanted(100, 4, capacity=0.25))
    assert found is not None
    assert (found.phases[0].seconds, found.error) == ((8.0,), None)


@pytest.mark.parametrize(
    "shape", [wanted(10, 4), wanted(1000, 4), wanted(100, 17), wanted(300, 4, text="other"), RunShape({}, {}, 4)]
)
def test_what_nobody_has_seen_is_not_promised(shape: RunShape) -> None:
    assert predict([past(n, ranks, law(n, ranks)) for n, ranks in SEEN], shape) is None
    assert predict([], shape) is None


def test_the_course_of_the_newest_run_is_kept() -> None:
    shape = wanted(100, 4)
    runs = [PastRun(shape, {"panel": PastPhase(4, 2.0, (1.5, 0.5))}), PastRun(shape, {"panel": PastPhase(4, 4.0)})]
    found = predict(runs, shape)
    assert found is not None
    assert found.phases[0].seconds == (4.5, 1.5)


def test_parameters_are_numbers_or_texts() -> None:
    shape = RunShape.of({"n": 3, "seed": 7, "klass": "S", "fast": True, "bad": float("nan")}, 4, None)
    assert (shape.figures, shape.texts) == ({"n": 3.0}, {"klass": "S", "fast": "True", "bad": "nan"})
    assert shape.capacity == 1.0


def test_a_processor_with_nothing_free_is_not_counted_as_an_idle_one() -> None:
    assert RunShape.of({}, 4, 0.0).capacity == LEAST_CPU
    assert RunShape.of({}, 4, 0.25).capacity == 0.25
