"""The API's list of jobs is written from plain rows: the same bytes as its serializer writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.renderers import JSONRenderer

from gridportal.base.reasons import text_reason
from scheduling.jobs.models import Job
from scheduling.pages.selectors import jobs_visible_to
from scheduling.pages.serializers import JobSerializer
from scheduling.placing.models import Placement
from scheduling.runs.models import Run


@pytest.fixture
def jobs(people: dict[str, Any], make_job: Callable[..., Job], fake_grid: object) -> list[Job]:
    """Jobs in every state, with and without nodes and results, of two people."""
    states = ("queued", "placing", "waiting", "starting", "running", "cancelling", "succeeded", "failed", "cancelled")
    made = [make_job(people["other" if n % 3 else "user"], state) for n, state in enumerate(states)]
    Job.objects.filter(pk=made[2].pk).update(
        name="Größe <&>\u2028 'x'", reason=text_reason("Only 3 of 64 nodes are free.")
    )
    Job.objects.filter(pk=made[3].pk).update(ranks=3, node_count=3, cluster="hpc", pattern="")
    now = timezone.now()
    Job.objects.filter(pk__in=[job.pk for job in made[4:]]).update(started_at=now, ended_at=now.replace(microsecond=0))
    Run.objects.filter(job=made[6]).update(seconds=1e-7, verified=True)
    Run.objects.filter(job=made[7]).update(seconds=3.0, verified=False)
    placement = Placement.objects.create(job=made[6], method="pattern", nodes=["n3", "é"], seconds=0.1)
    Run.objects.create(job=made[6], number=2, placement=placement, key="again", run_dir="/r", script="")
    return made


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu"])
@pytest.mark.parametrize("asked", ["", "ordering=-name", "limit=3&offset=2&ordering=state", "state=failed", "q=none"])
def test_the_bytes_are_the_serializers(
    jobs: list[Job], people: dict[str, Any], client_as: Callable[..., Client], asked: str, zone: str, settings: Any
) -> None:
    settings.TIME_ZONE = zone
    answer = client_as("operator").get(f"/api/jobs?{asked}")
    found = answer.json()["results"]
    by_number = jobs_visible_to(people["operator"]).in_bulk([row["id"] for row in found])
    written = JSONRenderer().render(JobSerializer([by_number[row["id"]] for row in found], many=True).data)
    assert answer.content.endswith(b'"results":' + written + b"}")
    assert found or asked == "q=none"


def test_rows_cost_as_many_questions_as_one_row(jobs: list[Job], client_as: Callable[..., Client]) -> None:
    client = client_as("operator")
    Job.objects.filter(state="waiting").update(state="failed")  # what waits asks for the nodes of its cluster
    asked = []
    for limit in (1, 1, 9):
        with CaptureQueriesContext(connection) as captured:
            assert client.get("/api/jobs", {"limit": limit}).status_code == 200
        asked.append(len(captured))
    assert asked[1] == asked[2]
