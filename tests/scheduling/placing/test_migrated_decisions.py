"""A dictionary of an earlier version, who took which group and why, becomes one row of all placements that had it."""

from __future__ import annotations

import importlib
from typing import Any

from django.db import connection

from tests.conftest import models_after
from tests.scheduling.old_rows import old_job

MIGRATION: Any = importlib.import_module("scheduling.migrations.0021_overrides_become_decisions")
BEFORE, AFTER = ("scheduling", "0020_decisions"), ("scheduling", "0021_overrides_become_decisions")
GROUPS = [{"nodes": ["n1", "n2"], "place": 1}, {"nodes": ["n3", "n4"], "place": 0}]
OVERRIDE = {"candidate": 1, "by": "ada", "reason": "near my disks", "at": "2026-11-22T10:00:00+00:00"}


def test_overrides_become_rows_and_dictionaries_again(earlier: Any) -> None:
    before = earlier(*BEFORE)
    job = old_job(before, state="waiting").pk  # with no placement of its own
    old = before.get_model("scheduling", "Placement")
    for override in (OVERRIDE, OVERRIDE, None, OVERRIDE | {"at": "soon", "candidate": 9}):
        old.objects.create(
            job_id=job, method="pattern", nodes=["n1", "n2"], candidates=GROUPS, seconds=0.1, override=override
        )
    apps = models_after(AFTER)
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
