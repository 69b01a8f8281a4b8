"""When reports are sent, and of what time: whole weeks and months that follow each other without gap."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from scheduling.reports.core.report_times import ReportEvery, next_time, reported_time

MOMENTS = some.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC))


@pytest.mark.parametrize("every", list(ReportEvery))
@given(after=MOMENTS)
def test_each_report_begins_where_the_last_one_ended(every: ReportEvery, after: datetime) -> None:
    first = next_time(every, after)
    second = next_time(every, first)
    assert timedelta() < first - after <= timedelta(days=31)
    assert reported_time(every, first)[1] == reported_time(every, second)[0]
    assert reported_time(every, first)[1] <= first
