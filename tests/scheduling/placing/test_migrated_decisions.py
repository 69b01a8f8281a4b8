"""A dictionary of an earlier version, who took which group and why, becomes one row of all placements that had it."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

MIGRATION: Any = importlib.import_module("scheduling.migrations.0021_overrides_become_decisions")
BEFORE, AFTER = [("scheduling", "0020_decisions")], [("scheduling", "0021_overrides_become_decisions")]
GROUPS = [{"nodes": ["n1", "n2"], "place": 1}, {"nodes": ["n3", "n4"], "place": 0}]
OVERRIDE = {"candidate": 1, "by": "ada", "reason": "near my disks", "at": "2026-11-22T10:00:00+00:00"}


@pytest.mark.django_db(transaction=True)
def test_overrides_become_rows_and_dictionaries_again(people: Any, make_job: Any) -> None:
    job = make_job(people["user"], "waiting").pk  # with no placement of its own
    try:
        old = migrated(BEFORE).get_model("scheduling", "Placement")
        for override in (OVERRIDE, OVERRIDE, None, OVERRIDE | {"at": "soon", "candidate": 9}):
            old.objects.create(
                job_id=job, method="pattern", nodes=["n1", "n2"], candidates=GROUPS, seconds=0.1, override=override
            )
        apps = migrated(AFTER)
        decisions = apps.get_model("scheduling", "Decision").objects.order_by("pk")
        rows = list(apps.get_model("scheduling", "Placement").objects.filter(job_id=job).order_by("pk"))
        first, strange = decisions
        assert [row.decision_id for row in rows] == [first.pk, first.pk, None, strange.pk]
        assert (first.by, first.why, first.candidate, first.mode) == ("ada", "near my disks", 1, "operator")
        assert (first.proposed, first.taken, first.at.hour) == (["n3", "n4"], ["n1", "n2"], 10)
        assert (strange.taken, strange.at.year) == (["n1", "n2"], 1970)

        apps.get_model("scheduling", "Placement").objects.update(override=None)
        with connection.schema_editor() as editor:
            MIGRATION.to_dictionaries(apps, editor)
        again = apps.get_model("scheduling", "Placement").objects.filter(pk__in=[row.pk for row in rows]).order_by("pk")
        assert [row.override for row in again][:3] == [OVERRIDE, OVERRIDE, None]
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes("scheduling"))


def migrated(to: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate(to)
    return executor.loader.project_state(to).apps
