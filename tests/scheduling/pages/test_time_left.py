"""How long a running job still takes: by earlier runs, by its time limit, or nobody knows."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from scheduling.contracts.selectors.run_ends import RestOfRun
from scheduling.jobs.models import Job
from scheduling.pages.time_left import time_left
from scheduling.placing.core.expected_ends import EndSource
from scheduling.runs.models import Run
from tests.markup import markup

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def running(people, make_job):
    """A job that has run for 10 s."""
    job = make_job(people["user"], "running")
    Job.objects.filter(pk=job.pk).update(started_at=NOW - timedelta(seconds=10))
    job.runs.update(started_at=NOW - timedelta(seconds=10))
    job.refresh_from_db()
    return job


def ran(make_job, person, seconds, **fields):
    job = make_job(person, "succeeded", **fields)
    ended = NOW - timedelta(seconds=60)
    Run.objects.filter(job=job).update(started_at=ended - timedelta(seconds=seconds), ended_at=ended)


def test_earlier_runs_with_the_same_parameters_on_as_many_ranks_count(running, people, make_job):
    assert time_left(running, None, NOW) is None
    ran(make_job, people["user"], 500, node_count=4)
    ran(make_job, people["user"], 700, parameters={"klass": "W"})
    cache.clear()
    assert time_left(running, None, NOW) is None
    for seconds in (30, 40, 90):
        ran(make_job, people["other"], seconds)
    cache.clear()
    found = time_left(running, None, NOW)
    assert (found.seconds, found.by.value, found.is_late) == (30.0, "runs", False)
    assert time_left(running, None, NOW + timedelta(seconds=60)).is_late


def test_the_time_limit_ends_it(running, client_as):
    running.time_limit = 60
    assert time_left(running, None, NOW).ends_at == NOW + timedelta(seconds=50)
    running.save(update_fields=["time_limit"])
    assert "Its time limit ends it" in markup(client_as("user").get(f"/jobs/{running.pk}/"))


def test_a_job_that_does_not_run_has_none(people, make_job):
    for state in ("waiting", "succeeded", "starting"):
        assert time_left(make_job(people["user"], state, time_limit=60), None, NOW) is None


def test_a_time_left_that_stands_still_says_for_how_long_a_report_is_late(running, client_as, monkeypatch):
    for late, expected in ((3.0, "About 5 min left"), (150.0, "At least 5 min left")):
        rest = RestOfRun(300.0, EndSource.CONTRACT, late)
        monkeypatch.setattr("scheduling.pages.time_left.rest_of_run", lambda *_, rest=rest: rest)
        page = markup(client_as("user").get(f"/jobs/{running.pk}/"))
        assert expected in page
        assert ("its next report is 2 min 30 s late" in page) == (late > 100)


def test_a_time_limit_that_comes_first_is_told_first(running, client_as, monkeypatch):
    rest = RestOfRun(1200.0, EndSource.CONTRACT, 0.0)
    monkeypatch.setattr("scheduling.pages.time_left.rest_of_run", lambda *_: rest)
    Job.objects.filter(pk=running.pk).update(time_limit=900)
    Run.objects.filter(job=running).update(started_at=timezone.now())
    page = " ".join(markup(client_as("user").get(f"/jobs/{running.pk}/")).split())
    assert re.search(r"Its time limit ends it in 1[0-5] min( \d+ s)?,", page)
    assert "before its about 20 min of work are done" in page
    assert "About 20 min left" not in page
    Job.objects.filter(pk=running.pk).update(time_limit=2000)
    page = " ".join(markup(client_as("user").get(f"/jobs/{running.pk}/")).split())
    assert "About 20 min left" in page
    assert "Its time limit ends it at" in page


def test_a_moved_run_has_the_whole_time_limit_from_its_own_start(running):
    running.time_limit = 60
    began = NOW - timedelta(seconds=4)
    running.runs.update(goes_on_from=1, started_at=began)
    assert time_left(running, None, NOW).ends_at == began + timedelta(seconds=60)
