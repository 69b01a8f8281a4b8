"""For how long a job was running: all its runs count, on pages, over REST and as CSV alike."""

from __future__ import annotations

import csv
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from scheduling.jobs.group_models import JobGroup
from scheduling.jobs.models import Job
from scheduling.runs.models import Run
from tests.markup import markup


@pytest.fixture
def moved(make_job, people):
    """A job whose first run took 40 s, and whose second took 2.5 s."""
    job, now = make_job(people["user"], "succeeded"), timezone.now()
    last = job.runs.get()
    last.started_at, last.ended_at, last.number, last.seconds = now - timedelta(seconds=2.5), now, 2, 2.0
    last.save()
    before = last.placement
    before.pk = None
    before.save()
    began = now - timedelta(seconds=50)
    ended = began + timedelta(seconds=40)
    Run.objects.create(
        job=job,
        number=1,
        placement=before,
        backend=last.backend,
        state="checkpointed",
        started_at=began,
        ended_at=ended,
    )
    Job.objects.filter(pk=job.pk).update(started_at=last.started_at, ended_at=last.ended_at)
    job.refresh_from_db()
    return job


def test_the_list_its_csv_and_rest_tell_the_same(client_as, moved):
    client = client_as("user")
    assert ">42.50</td>" in markup(client.get("/jobs/"))
    [row] = csv.DictReader(markup(client.get("/jobs.csv")).splitlines())
    assert float(row["running_seconds"]) == 42.5
    assert client.get("/api/jobs").json()["results"][0]["running_seconds"] == 42.5
    assert client.get(f"/api/jobs/{moved.pk}").json()["running_seconds"] == 42.5


def test_a_job_that_runs_shows_its_time_so_far_with_its_earlier_runs(client_as, moved):
    began = timezone.now() - timedelta(minutes=5)
    last = moved.runs.get(number=2)
    first = timezone.now() - timedelta(minutes=6)  # a moved job keeps the start of its first run
    Run.objects.filter(pk=last.pk).update(started_at=began, ended_at=None, state="running")
    Job.objects.filter(pk=moved.pk).update(state="running", started_at=first, ended_at=None)
    for address in ("/jobs/", "/jobs/?sort=-running"):
        [shown] = re.findall(r'title="until now">(\d+)<', markup(client_as("user").get(address)))
        assert 340 <= int(shown) < 360, "the first run counts once"
    assert client_as("user").get("/api/jobs").json()["results"][0]["running_seconds"] is None


def test_a_stopped_job_has_the_time_of_its_runs(client_as, moved):
    Run.objects.filter(job=moved).update(state="checkpointed")
    Job.objects.filter(pk=moved.pk).update(state="stopped", ended_at=None)
    client = client_as("user")
    assert ">42.50</td>" in markup(client.get("/jobs/"))
    [row] = csv.DictReader(markup(client.get("/jobs.csv")).splitlines())
    assert float(row["running_seconds"]) == 42.5
    assert client.get("/api/jobs").json()["results"][0]["running_seconds"] == 42.5


def test_the_page_of_the_job_says_which_time_is_of_which_run(client_as, moved):
    page = markup(client_as("user").get(f"/jobs/{moved.pk}/"))
    assert "From start to end, all 2 runs" in page
    assert "42.5 s" in page
    assert "Program’s own time, run 2" in page


def test_a_sweep_counts_all_runs_too(client_as, moved):
    group = JobGroup.objects.create(owner=moved.owner, application=moved.application, axes=[])
    Job.objects.filter(pk=moved.pk).update(group=group)
    assert "42.5" in markup(client_as("user").get(f"/sweeps/{group.pk}.csv"))


def test_one_that_runs_still_has_no_time_yet(client_as, make_job, people):
    job = make_job(people["user"], "running")
    assert client_as("user").get(f"/api/jobs/{job.pk}").json()["running_seconds"] is None
