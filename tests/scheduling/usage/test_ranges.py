"""What a report of slowdown reads: not every run and every placement of a portal."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scheduling.usage import ranges
from scheduling.usage.predictions import prediction_qualities

pytestmark = pytest.mark.django_db


def test_neither_all_runs_nor_all_placements_are_read_for_slowdown() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("The plans of SQLite are looked at.")
    span = ranges.recent(timedelta(days=365))
    with CaptureQueriesContext(connection) as asked:
        judged = ranges.judged_runs(span)
        assert ranges.slowdown(span, judged).runs == 0
        assert not any(each.count for each in prediction_qualities(span, judged).values())
    statements = [query["sql"] for query in asked.captured_queries if query["sql"].startswith("SELECT")]
    assert len(statements) >= 5
    whole = [sql for sql in statements if re.search(r"SCAN scheduling_(run|placement)\b(?! USING)", plan(sql))]
    assert not whole


def plan(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN QUERY PLAN " + statement.replace("%", "%%"))
        return "; ".join(row[3] for row in cursor.fetchall())
