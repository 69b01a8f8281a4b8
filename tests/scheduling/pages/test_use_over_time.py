"""What a run took of its nodes over time: sums by hand, the page, its part, and who may see it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from monitoring.clusters.models import Cluster
from monitoring.history.core.samples import History, Sample
from monitoring.telemetry.services.readings import record_readings
from scheduling.pages.use_over_time import mean, since_before, total, use_over_time
from scheduling.runs.models import Run
from tests.markup import markup


def history(*points: tuple[float, float]) -> History:
    at, value = (np.array(column, dtype=float) for column in zip(*points, strict=True))
    return History(at, value, value, value, "raw", 1.0)


def test_a_sum_has_each_moment_and_a_reading_stands_for_a_minute_at_most():
    found = total([history((0.0, 1.0), (10.0, 3.0)), history((5.0, 2.0), (200.0, 7.0))])
    assert found.at.tolist() == [0.0, 5.0, 10.0, 200.0]
    assert found.value.tolist() == [1.0, 3.0, 5.0, 7.0]


def test_a_rate_stands_for_the_time_before_its_reading_and_counts_by_its_length():
    found = since_before(history((3.0, 0.0), (33.0, 30.0)), begun=0.0)
    assert found.at.tolist() == [0.0, 3.0, 33.0]
    assert found.value.tolist() == [0.0, 30.0, 30.0]
    assert mean(found) == pytest.approx(30.0 * 30 / 33)
    assert mean(history((5.0, 7.0))) == 7.0


def test_what_nobody_read_adds_nothing():
    nothing = History(*(np.zeros(0) for _ in range(4)), "raw", None)
    assert total([nothing, history((1.0, 4.0))]).value.tolist() == [4.0]
    with pytest.raises(ValueError, match="nothing to add up"):
        total([])


@pytest.fixture
def measured(people: Any, make_job: Any) -> Run:
    """A run on n1 and n2 whose agents told of it three times."""
    Cluster.objects.get_or_create(name="grid")
    job = make_job(people["user"], "running", node_count=2, cluster="grid")
    run = job.runs.get()
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(started_at=now - timedelta(seconds=60))
    run.refresh_from_db()
    name = Path(run.run_dir).name
    for ago in (40.0, 20.0, 1.0):
        at = now.timestamp() - ago
        figures = {("n1", "load"): 1.0, ("n2", "load"): 0.5, ("n1", "memory"): 3e9, ("n2", "memory"): 1e9}
        figures |= {("n1", "tx"): 2e7, ("n1", "rx"): 1e7}
        record_readings(
            job.cluster,
            "agent",
            [Sample(f"{node}@{name}", metric, at, value) for (node, metric), value in figures.items()],
        )
    return run


@pytest.mark.django_db
def test_use_is_summed_over_nodes_and_told_node_by_node(measured):
    use = use_over_time(measured)
    assert [panel.finding for panel in use.panels] == [
        "1.50 on average, 1.50 at most.",
        "4.0 GB on average, 4.0 GB at most.",
        "20.0 Mbit/s on average, 20.0 Mbit/s at most.",
    ]
    assert [(row.node, row.load, row.memory, row.rx) for row in use.nodes] == [
        ("n1", 1.0, 3e9, 1e7),
        ("n2", 0.5, 1e9, None),
    ]


@pytest.mark.django_db
def test_the_page_and_its_part_show_it_to_who_may_see_the_job(client_as, measured, monkeypatch):
    address = f"/jobs/{measured.job_id}/use"
    page = markup(client_as("user").get(address))
    assert "Busy processors" in page
    assert "<title>" in page
    part = markup(client_as("user").get(address, headers={"HX-Request": "true"}))
    assert "Busy processors" in part
    assert "<title>" not in part
    assert client_as("other").get(address).status_code == 404
    assert f'hx-get="{address}"' in markup(client_as("user").get(f"/jobs/{measured.job_id}/"))
    monkeypatch.setattr("scheduling.pages.use_over_time.MOST_NODES", 1)
    assert "The first 1 nodes; 1 more are not shown." in markup(client_as("user").get(address))


@pytest.mark.django_db
def test_a_run_that_nobody_saw_begin_is_not_waited_for(client_as, people, make_job):
    """It ended within a moment: its begin was never told."""
    job = make_job(people["user"], "failed")
    job.runs.update(started_at=None)
    page = markup(client_as("user").get(f"/jobs/{job.pk}/use"))
    assert "No agent reported on this job." in page
    assert "It has not started yet." not in page


@pytest.mark.django_db
def test_a_job_without_a_run_says_so(client_as, people, make_job):
    job = make_job(people["user"], "waiting")
    assert "It has not started yet." in markup(client_as("user").get(f"/jobs/{job.pk}/use"))
