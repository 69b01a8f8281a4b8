"""The form shows how long a program took on several numbers of ranks, and offers to take one of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from gridportal.base.errors import InputError
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.scaling_table import ScalingTable
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.jobs.services.registering import register_application
from scheduling.pages.past_times import past_times
from scheduling.placing.services.joint_counts import best_count
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


def test_the_table_of_the_application_goes_before_runs_and_ranks_and_nodes_are_chosen_together(
    client_as, people, application, crossbar
):
    table = {"ranks": {"1": 8, "2": 4, "4": 3.9, "9": 1}}
    register_application("tests", {"scaling": table}, application)
    assert past_times(application, GIVEN, "grid").rows[1][0].seconds == 4.0
    page = markup(client_as("user").post("/submit/preview", form_of(application)))
    assert "2 ranks on 2 nodes should take 4.00 s: the fewest ranks that are within 5 % of the least." in page
    assert "as the application's table has them" in page
    with pytest.raises(InputError, match=r"scaling\.ranks\.2 is -1"):
        register_application("tests", {"scaling": {"ranks": {"2": -1}}}, application)


def test_a_number_of_ranks_that_is_busy_now_is_no_choice(people, application, crossbar):
    spec = JobSpec(application, parameters=GIVEN, ranks=2, method="compute", cluster="grid")
    table = ScalingTable.read({"ranks": {"2": 8, "4": 1}})
    free = best_count(spec, table)
    assert (free.chosen.ranks, free.chosen.nodes) == (4, 4)
    one = replace(spec, specification=ApplicationSpecification.read({"exclude": [f"n{n}" for n in range(1, 3)]}))
    left = best_count(one, table)
    assert (left.chosen.ranks, left.points[1].seconds) == (2, None)
    assert "4 were asked for" in left.points[1].why or "4 ranks were asked for" in left.points[1].why
    assert best_count(one, ScalingTable.read({"ranks": {"4": 8}})) is None


def test_the_preview_draws_the_curve_and_says_where_its_knee_is(client_as, make_job, people, application, crossbar):
    for ranks, seconds in ((1, 8.0), (2, 4.0), (4, 3.5)):
        ran(make_job, people["user"], ranks, seconds)
    page = markup(client_as("user").post("/submit/preview", form_of(application)))
    assert "The knee is at 2 ranks: 2.0 times as fast as 1 rank, at 100 % efficiency; 2 more ranks save 0.5 s." in page
    assert 'id="scaling-figure"' in page
    assert "The dotted line is a program that takes half the time on twice the ranks." in page
    assert 'data-takes="4"' in page
