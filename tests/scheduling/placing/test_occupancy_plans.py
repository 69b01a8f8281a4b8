"""Which nodes are held is found without a look at everything that a cluster ever ran."""

from __future__ import annotations

import pytest
from django.db import connection

from scheduling.placing.selectors.rooms import open_runs


@pytest.mark.django_db
def test_open_runs_are_found_by_having_no_end() -> None:
    if connection.vendor != "sqlite":
        pytest.skip("another planner has its own statistics of what is rare")
    plan = open_runs("grid").explain()
    assert "run_ended" in plan
    assert "scheduling_job_cluster" not in plan or "rowid=?" in plan
