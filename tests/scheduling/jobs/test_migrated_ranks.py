"""Jobs of an earlier version have one rank on each of their nodes; one statement says so of all of them."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.conftest import models_after
from tests.scheduling.old_rows import old_job

BEFORE, AFTER = ("scheduling", "0031_compared_trials"), ("scheduling", "0032_ranks_and_nodes")


def test_every_old_job_has_a_rank_on_each_of_its_nodes(earlier: Any) -> None:
    before = earlier(*BEFORE)
    for nodes in (1, 4, 9):
        old_job(before, node_count=nodes)
    with CaptureQueriesContext(connection) as asked:
        apps = models_after(AFTER)
    assert sum(query["sql"].startswith("UPDATE") for query in asked) <= 2
    jobs = apps.get_model("scheduling", "Job").objects.order_by("pk")
    assert list(jobs.values_list("ranks", "node_count")) == [(1, 1), (4, 4), (9, 9)]
