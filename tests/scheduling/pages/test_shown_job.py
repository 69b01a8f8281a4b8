"""What is told of one job: the same on its page, over REST, and by `gridportal job show`."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from typer.testing import CliRunner

from gridportal import cli
from scheduling.jobs.models import Job
from scheduling.pages.commands import shown_job
from scheduling.runs.models import Run
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def same_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_job, "database", nullcontext)


def shown(*words: str) -> str:
    return CliRunner().invoke(cli.app, ["job", "show", *words]).output


@pytest.fixture
def leased(make_job: Callable[..., Job], people: dict[str, Any]) -> Callable[..., Job]:
    """leased(part, attempts=1): a job that is being placed, whose worker has so much of its lease left."""

    def make(part: float, attempts: int = 1) -> Job:
        job = make_job(people["user"], "placing")
        until = timezone.now() + part * timedelta(seconds=settings.PORTAL.lease_seconds)
        Job.objects.filter(pk=job.pk).update(lease_until=until, lease_holder="killed", attempts=attempts)
        job.refresh_from_db()
        return job

    return make


@pytest.mark.parametrize(
    ("attempts", "then"), [(1, "another takes over at"), (3, "the job is given up at")], ids=["first", "third"]
)
def test_a_worker_that_does_not_report_is_told_everywhere(
    leased: Callable[..., Job], client_as: Callable[..., Any], attempts: int, then: str
) -> None:
    job = leased(0.3, attempts)
    since = job.lease_until - timedelta(seconds=settings.PORTAL.lease_seconds)
    at = f"{job.lease_until:%H:%M:%S} UTC"
    said = f"Its worker has not reported since {since:%H:%M:%S} UTC. If it stays silent, {then} {at}"
    client = client_as("user")
    assert said in markup(client.get(f"/jobs/{job.pk}/"))
    assert said in " ".join(shown(str(job.pk)).split())
    one, (listed,) = client.get(f"/api/jobs/{job.pk}").json(), client.get("/api/jobs").json()["results"]
    assert one["reason_code"] == listed["reason_code"] == "worker_silent"
    assert said in one["explanation"]
    assert listed["reason"].startswith(said)
    facts = {"since": since.isoformat(), "until": job.lease_until.isoformat(), "gives_up": attempts == 3}
    assert json.loads(shown(str(job.pk), "--json"))["reason_facts"] == facts


def test_when_nobody_took_over_yet_the_time_for_it_is_now(
    leased: Callable[..., Job], client_as: Callable[..., Any]
) -> None:
    before = timezone.now()
    job = leased(-0.5)
    facts = client_as("user").get(f"/api/jobs/{job.pk}").json()["reason_facts"]
    assert facts["since"] < before.isoformat() <= facts["until"]


def test_of_one_that_reports_nothing_is_said(leased: Callable[..., Job], client_as: Callable[..., Any]) -> None:
    job = leased(0.9)
    assert client_as("user").get(f"/api/jobs/{job.pk}").json()["reason_code"] == "none"
    assert "Its nodes are being chosen by the newest figures" in shown(str(job.pk))


def test_a_job_is_shown_with_its_runs_and_their_checks(make_job: Callable[..., Job], people: dict[str, Any]) -> None:
    job = make_job(people["user"], "failed")
    Run.objects.filter(job=job).update(verified=True, exit_code=139)
    text = " ".join(shown(str(job.pk)).split())
    assert text.startswith(f"Job {job.pk}: ep with {job.ranks} ranks of user, failed on n1, n2.")
    assert "its check passed before it failed" in text
    document = json.loads(shown(str(job.pk), "--json"))
    assert (document["verified"], document["check_passed"], document["inputs"]) == (False, True, None)


def test_a_number_of_no_job_is_named() -> None:
    result = CliRunner().invoke(cli.app, ["job", "show", "12345"])
    assert str(result.exception) == "JOB is 12345; accepted is the number of a job."
