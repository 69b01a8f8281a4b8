"""Jobs of an earlier version have one rank on each of their nodes; one statement says so of all of them."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test.utils import CaptureQueriesContext

from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.models import Job

BEFORE = [("scheduling", "0031_compared_trials")]


@pytest.mark.django_db(transaction=True)
def test_every_old_job_has_a_rank_on_each_of_its_nodes(people: Any, application: Any) -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(BEFORE)
    try:
        old = executor.loader.project_state(BEFORE).apps.get_model("scheduling", "Job")
        for nodes in (1, 4, 9):
            fields = {"owner_id": people["user"].pk, "application_id": application.pk, "request_key": uuid.uuid4()}
            old.objects.create(node_count=nodes, **fields)
    finally:
        executor = MigrationExecutor(connection)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            executor.migrate(executor.loader.graph.leaf_nodes("scheduling"))
    assert sum(query["sql"].startswith("UPDATE") for query in asked) <= 2
    jobs = Job.objects.order_by("pk")
    assert [job.rank_request for job in jobs] == [RankRequest(ranks=nodes, nodes=nodes) for nodes in (1, 4, 9)]
