"""Applications of an earlier version have no patterns for their output."""

from __future__ import annotations

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from scheduling.jobs.models import Application

BEFORE = [("scheduling", "0034_specifications")]


@pytest.mark.django_db(transaction=True)
def test_an_old_application_is_judged_as_before() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(BEFORE)
    try:
        old = executor.loader.project_state(BEFORE).apps.get_model("scheduling", "Application")
        old.objects.create(slug="old", name="Old", command=["old"])
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes("scheduling"))
    patterns = Application.objects.get(slug="old").output_patterns
    assert not patterns
    assert patterns.document() == {}
