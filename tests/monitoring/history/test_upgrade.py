"""What was measured before history was kept in frames is taken over by the upgrade."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from monitoring.history.core.samples import Sample
from monitoring.history.selectors import series
from monitoring.telemetry.services import readings

BEFORE = ("monitoring", "0004_sources")


def test_readings_that_were_rows_are_history_after_the_upgrade(earlier: Any) -> None:
    now, old = timezone.now(), earlier(*BEFORE)
    cluster = old.get_model("monitoring", "Cluster").objects.create(name="grid")
    old.get_model("monitoring", "Cluster").objects.create(name="empty")
    reading = old.get_model("monitoring", "Reading")
    for number in range(10):
        at = now - timedelta(seconds=10 * number)
        for subject, metric in (("n1", "cpu"), ("n1>n2", "bandwidth")):
            reading.objects.create(cluster=cluster, subject=subject, metric=metric, at=at, value=number)
    reading.objects.create(cluster=cluster, subject="", metric="cpu", at=now, value=1.0)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes("monitoring"))
    found = series.history(
        "grid", "n1>n2", "bandwidth", now - timedelta(seconds=45), now + timedelta(seconds=1), resolution="raw"
    )
    assert found.value.tolist() == [4.0, 3.0, 2.0, 1.0, 0.0]
    live = series.live("grid")
    assert {names: (value.value, value.source) for names, value in live.items()} == {
        ("n1", "cpu"): (0.0, "probes"),
        ("n1>n2", "bandwidth"): (0.0, "probes"),
    }
    assert readings.record_readings("grid", "probes", [Sample("n1", "cpu", now.timestamp() - 10, 1.0)]) == 0
    assert readings.record_readings("grid", "probes", [Sample("n1", "cpu", now.timestamp() + 1, 7.0)]) == 1
    assert len(series.history("grid", "n1", "cpu", now - timedelta(hours=1), now + timedelta(hours=1))) == 11
    assert not series.live("empty")
