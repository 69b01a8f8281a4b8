"""A program that the wrong MPI started counts as a success nowhere without its warning."""

from __future__ import annotations

import csv

import pytest
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from scheduling.jobs.group_models import JobGroup
from scheduling.jobs.models import Announcement, Job
from scheduling.notices import notice_messages
from scheduling.notices.models import Notice
from scheduling.notices.services import writing_notices
from tests.markup import markup

ALONE = Reason.of(Code.START_SINGLETONS, ranks=2, mpi="MPICH", launcher="mpirun")
WARNING = "each of the 2 processes believed to be alone (rank 0 of 1)"


@pytest.fixture
def jobs(make_job, people):
    """Two jobs that succeeded, alike; the ranks of the second, which was faster, never found each other."""
    made, now = [make_job(people["user"], "succeeded") for _ in range(2)], timezone.now()
    for job, seconds in zip(made, (9.0, 3.0), strict=True):
        began = now - timezone.timedelta(seconds=seconds)
        job.runs.update(seconds=seconds, started_at=began, ended_at=now)
        Job.objects.filter(pk=job.pk).update(started_at=began, ended_at=now)
    made[1].runs.update(start_reason=ALONE)
    return made


def test_a_comparison_does_not_call_it_the_fastest(client_as, jobs):
    good, odd = jobs
    shown = client_as("user").get(f"/api/jobs/compare?runs={good.pk},{odd.pk}").json()
    assert shown["finding"] == (
        "Times cannot be compared: fewer than two of them succeeded with ranks that worked together."
    )
    [reservation] = shown["reservations"]
    assert reservation.startswith(f"Job {odd.pk} is succeeded, but its times do not count. ")
    assert WARNING in reservation
    assert WARNING in markup(client_as("user").get(f"/jobs/compare/?runs={good.pk},{odd.pk}"))


def test_a_sweep_leaves_it_out_of_its_sentence_and_says_why(client_as, jobs):
    good, odd = jobs
    group = JobGroup.objects.create(
        owner=good.owner, application=good.application, axes=[{"name": "seed", "values": [1]}]
    )
    Job.objects.filter(pk__in=[good.pk, odd.pk]).update(group=group)
    client = client_as("user")
    page = markup(client.get(f"/sweeps/{group.pk}/"))
    assert "The ranks of 1 of these jobs were started oddly" in page
    assert WARNING in page
    finding = page[page.index('id="finding"') :]
    assert f"job {odd.pk})" not in finding[: finding.index("</p>")]
    warnings = [row["warning"] for row in csv.DictReader(markup(client.get(f"/sweeps/{group.pk}.csv")).splitlines())]
    assert warnings[0] == ""
    assert WARNING in warnings[1]


def test_a_notice_says_it_in_title_and_text(jobs, people):
    for job in jobs:
        event = job.events.create(from_state="running", to_state="succeeded", actor="portal")
        Announcement.objects.create(pk=event.pk)
    writing_notices.write_notices()
    told = {notice.job_id: notice for notice in Notice.objects.filter(person=people["user"])}
    good, odd = (told[job.pk] for job in jobs)
    assert notice_messages.title(good).endswith("has succeeded")
    assert notice_messages.title(odd).endswith("has ended, but was started oddly")
    assert WARNING in notice_messages.text(odd)
