"""Quantiles from buckets: never further off than promised, and the same however values were added up."""

from __future__ import annotations

from collections import Counter
from math import ceil

from hypothesis import given
from hypothesis import strategies as some

from scheduling.usage.core.logarithmic_histogram import LEAST, bucket, quantile

SECONDS = some.lists(some.floats(0.0, 1e7), min_size=1, max_size=40)


@given(SECONDS, some.floats(0.0, 1.0))
def test_a_quantile_is_off_by_a_fortieth_at_most(values: list[float], share: float) -> None:
    exact = sorted(values)[max(1, ceil(share * len(values))) - 1]
    found = quantile(Counter(map(bucket, values)), share)
    assert found is not None
    if exact < LEAST:
        assert found == 0.0
    else:
        assert abs(found - exact) <= 0.025 * exact * (1 + 1e-6)


def test_nothing_has_no_quantile() -> None:
    assert quantile(Counter(), 0.5) is None
