"""The form shows how long a program took on several numbers of ranks, and offers to take one of them."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from scheduling.pages.past_times import past_times
from scheduling.runs.models import Run
from tests.markup import markup
from tests.scheduling.pages.test_pages import crossbar, form_of

__all__ = ["crossbar"]
GIVEN = {"klass": "S", "seed": 7, "note": ""}


def ran(make_job, owner, ranks, seconds, **fields):
    job = make_job(owner, "succeeded", **({"node_count": ranks, "parameters": GIVEN} | fields))
    now = timezone.now()
    Run.objects.filter(job=job).update(started_at=now - timedelta(seconds=seconds), ended_at=now)


def test_times_are_medians_of_runs_with_the_same_parameters_on_the_same_cluster(make_job, people, application):
    for ranks, seconds in ((1, 8.0), (2, 4.0), (2, 4.2), (2, 90.0), (4, 3.8)):
        ran(make_job, people["user"], ranks, seconds)
    ran(make_job, people["user"], 8, 1.0, cluster="hpc")
    ran(make_job, people["user"], 8, 1.0, parameters=GIVEN | {"seed": 8})
    found = past_times(application, GIVEN, "grid")
    assert [(point.ranks, round(point.seconds, 3), runs) for point, runs in found.rows] == [
        (1, 8.0, 1),
        (2, 4.2, 3),
        (4, 3.8, 1),
    ]
    assert past_times(application, GIVEN, "hpc").points == ()


def test_the_preview_draws_the_curve_and_says_where_its_knee_is(client_as, make_job, people, application, crossbar):
    for ranks, seconds in ((1, 8.0), (2, 4.0), (4, 3.5)):
        ran(make_job, people["user"], ranks, seconds)
    page = markup(client_as("user").post("/submit/preview", form_of(application)))
    assert "The knee is at 2 ranks: 2.0 times as fast as 1 rank, at 100 % efficiency; 2 more ranks save 0.5 s." in page
    assert 'id="scaling-figure"' in page
    assert 'data-takes="4"' in page
