"""Back to the version without sums by state: they are forgotten, as on the way here, and counted again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from scheduling.usage.models import DailyUse, UseMark


@pytest.fixture
def tables(transactional_db: None) -> Iterator[None]:
    """The tables are brought to now at the end."""
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def test_sums_by_state_keep_nobody_from_going_back(tables: None, application: Any) -> None:
    day = {"day": date(2026, 1, 2), "cluster": "grid", "application": application}
    DailyUse.objects.bulk_create(DailyUse(**day, state=state) for state in ("", "failed"))
    UseMark.objects.create(pk=1, through=7)

    MigrationExecutor(connection).migrate([("scheduling", "0022_no_override")])

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM scheduling_dailyuse")
        assert cursor.fetchone() == (0,)
        cursor.execute("SELECT through FROM scheduling_usemark")
        assert cursor.fetchone() == (0,)
