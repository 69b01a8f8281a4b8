"""A moved job has its whole time limit anew where it goes on: what others are told of its end agrees with that."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from scheduling.contracts.selectors.run_ends import expected_ends
from scheduling.jobs.models import Job
from scheduling.jobs.project_models import Project
from scheduling.pages.time_left import time_left
from scheduling.placing.models import Placement
from scheduling.placing.selectors.occupancy import ends_by_limits
from scheduling.placing.services import rounds
from scheduling.projects.budget_selectors import open_jobs
from scheduling.projects.core.budget_state import OpenJob
from scheduling.runs.models import Run
from tests.fake_grid import FakeGrid

pytestmark = pytest.mark.django_db
NOW = timezone.now().replace(microsecond=0)
LIMIT = 3600


def moved(job: Job, began_anew: datetime | None) -> Job:
    """It began half an hour ago, and goes on elsewhere since `began_anew`; None: it is to start there."""
    half_an_hour_ago = NOW - timedelta(minutes=30)
    state = "running" if began_anew else "starting"
    Job.objects.filter(pk=job.pk).update(state=state, started_at=half_an_hour_ago, time_limit=LIMIT)
    job.runs.update(state="checkpointed", started_at=half_an_hour_ago, ended_at=NOW - timedelta(minutes=10))
    there = Placement.objects.create(job=job, method="given", nodes=job.runs.get().placement.nodes, seconds=0.0)
    Run.objects.create(
        job=job,
        number=2,
        goes_on_from=1,
        placement=there,
        key=f"job-{job.pk}-run-2",
        state="running" if began_anew else "submitted",
        started_at=began_anew,
        run_dir="/nowhere",
        script="",
    )
    job.refresh_from_db()
    return job


def test_its_end_is_by_the_run_that_goes_on(make_job: Callable[..., Job], people: Any) -> None:
    began = NOW - timedelta(minutes=5)
    job = moved(make_job(people["user"], "running"), began)
    end = began + timedelta(seconds=LIMIT)
    assert ends_by_limits([job.pk])[job.pk].at == end
    assert expected_ends([job.pk])[job.pk].at == end
    left = time_left(job, None, NOW)
    assert left is not None
    assert left.ends_at == end


def test_what_is_to_start_elsewhere_has_no_end_yet(make_job: Callable[..., Job], people: Any) -> None:
    job = moved(make_job(people["user"], "running"), None)
    assert ends_by_limits([job.pk]) == {}


def test_a_budget_counts_what_the_run_that_goes_on_may_still_take(
    make_job: Callable[..., Job], people: Any, django_assert_max_num_queries: Any
) -> None:
    project = Project.objects.create(name="ocean")
    job = moved(make_job(people["user"], "running", project=project), NOW - timedelta(minutes=5))
    with django_assert_max_num_queries(2):
        assert open_jobs(NOW)[project.pk] == [OpenJob(job.node_count, LIMIT, 300.0)]


def test_a_wide_job_behind_it_waits_until_the_new_limit(submit: Callable[..., Job], fake_grid: FakeGrid) -> None:
    first = submit(1, time_limit=LIMIT)
    rounds.place_and_start_all(first.cluster)
    began = NOW - timedelta(minutes=5)
    moved(first, began)
    wide, younger = submit(4), submit(1)
    rounds.place_and_start_all(first.cluster)
    younger.refresh_from_db()
    at = (began + timedelta(seconds=LIMIT)).replace(second=0)
    assert younger.reason.facts == {"job": wide.pk, "needed": 4, "start": at.isoformat()}
