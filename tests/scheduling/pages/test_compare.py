"""Runs side by side: what each was asked, where it ran, its phases and times; which ones stands in the address."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from gridportal.runtime.progress_events import Phase
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.models import Job
from scheduling.placing.services.random_nodes import with_random_nodes
from scheduling.placing.services.requests import question
from scheduling.runs.models import Run
from scheduling.runs.services import phase_totals
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(people, make_job):
    """Two runs that differ in their method and their phases."""
    jobs = [
        make_job(people["user"], "succeeded", node_count=2, method="pattern"),
        make_job(people["user"], "succeeded", node_count=2, method="random"),
    ]
    for job, seconds in zip(jobs, (1.0, 2.5), strict=True):
        phase_totals.add_phases(job.runs.get(), [Phase("step", seconds, 1, 1)])
    return jobs


def row(page: str, name: str) -> str:
    """The row of a fact, its marks too."""
    return re.search(rf'<tr[^>]*><th scope="row">{name}(?: *<|, ).*?</tr>', page, re.DOTALL)[0]


def test_two_runs_stand_side_by_side(client_as, pair):
    first, second = pair
    page = markup(client_as("user").get(f"/jobs/compare/?runs={first.pk},{second.pk}.1"))
    assert f"Compare runs {first.pk},{second.pk}.1 · GridPortal</title>" in page
    for job in pair:
        assert f'href="/jobs/{job.pk}/runs/1/"' in page
    assert "pattern" in row(page, "method")
    assert "random" in row(page, "method")
    assert ">1<" in row(page, "seed")
    assert ">0<" in row(page, "seed of the selection")
    assert "80.0 Mbit/s" in row(page, "slowest pair then")
    assert re.search(r"1\.000.*2\.500", row(page, "step"), re.DOTALL)
    assert "1.50 s" in row(page, "program’s own time")


def test_only_rows_in_which_runs_differ_are_marked(client_as, pair):
    page = markup(client_as("user").get(f"/jobs/compare/?runs={pair[0].pk}+{pair[1].pk}"))
    assert 'class="marked"' in row(page, "method")
    assert 'class="marked"' not in row(page, "state")


def test_without_runs_the_page_says_what_to_write(client_as):
    assert "Nothing is compared yet" in markup(client_as("user").get("/jobs/compare/"))


@pytest.mark.parametrize(
    ("runs", "sentence"),
    [
        ("x", "&#x27;x&#x27; is not possible. Enter numbers of jobs"),
        ("1", "Enter 2 to 6 runs"),
        ("1 2 3 4 5 6 7", "Enter 2 to 6 runs"),
    ],
)
def test_what_names_no_runs_is_said_in_one_sentence(client_as, runs, sentence):
    answer = client_as("user").get("/jobs/compare/", {"runs": runs})
    assert answer.status_code == 200
    assert sentence in markup(answer)


def test_a_job_that_has_not_run_stands_beside_and_is_followed(client_as, people, make_job, pair):
    waiting = make_job(people["user"])
    page = markup(client_as("user").get(f"/jobs/compare/?runs={pair[0].pk},{waiting.pk}"))
    assert f"Job {waiting.pk} has not started." in page
    assert "this page follows them" in page
    assert "data-final" not in page
    assert "data-final" in markup(client_as("user").get(f"/jobs/compare/?runs={pair[0].pk},{pair[1].pk}"))


def test_runs_of_others_and_runs_that_are_not_there_are_refused(client_as, people, make_job, pair):
    foreign = make_job(people["other"], "succeeded")
    user = client_as("user")
    assert user.get(f"/jobs/compare/?runs={pair[0].pk},{foreign.pk}").status_code == 404
    assert user.get(f"/jobs/compare/?runs={pair[0].pk},{pair[1].pk}.9").status_code == 404
    assert client_as("operator").get(f"/jobs/compare/?runs={pair[0].pk},{foreign.pk}").status_code == 200


def test_the_page_of_a_job_that_was_submitted_again_leads_to_the_comparison(client_as, people, make_job, pair):
    again = make_job(people["user"], "succeeded", resubmitted_from=pair[0])
    page = markup(client_as("user").get(f"/jobs/{again.pk}/"))
    assert f"/jobs/compare/?runs={pair[0].pk},{again.pk}" in page


@pytest.fixture
def timed(pair):
    """The pair, where the second took twice as long."""
    for job, seconds in zip(pair, (10.0, 20.0), strict=True):
        job.runs.update(
            seconds=seconds, ended_at=timezone.now(), started_at=timezone.now() - timedelta(seconds=seconds)
        )
    return pair


def test_the_finding_says_how_much_longer_random_nodes_took(client_as, timed):
    first, second = timed
    page = markup(client_as("user").get(f"/jobs/compare/?runs={second.pk},{first.pk}"))
    assert f"Job {first.pk} on nodes chosen by pattern was fastest: 10.0 s." in page
    assert f"Job {second.pk} on random nodes took 20.0 s, 2 times as long." in page
    assert "Not only the choice of nodes differs" not in page
    figure = json.loads(re.search(r'<script id="times-figure"[^>]*>(.*?)</script>', page)[1])
    assert next(bars["y"] for bars in figure["data"] if "own time" in bars["name"]) == [20.0, 10.0]
    assert '"x": ["step"], "y": [2.5]' in page


@pytest.mark.parametrize("changed", [{"node_count": 1}, {"cluster": "other"}, {"parameters": {"klass": "B"}}])
def test_runs_under_other_conditions_are_not_held_against_each_other(client_as, timed, changed):
    """How long a run takes on fewer nodes, say, tells nothing of how its nodes were chosen."""
    first, second = timed
    Run.objects.update(node_count=None)
    Job.objects.filter(pk=second.pk).update(**changed)
    page = markup(client_as("user").get(f"/jobs/compare/?runs={first.pk},{second.pk}"))
    assert "no two of these runs have the same application, parameters, cluster and number of nodes" in page
    assert "times as long" not in page


def test_a_run_under_other_conditions_is_left_out_and_named(client_as, people, make_job, timed):
    first, second = timed
    other = make_job(people["user"], "succeeded", node_count=4, method="pattern")
    other.runs.update(seconds=1.0, ended_at=timezone.now(), started_at=timezone.now() - timedelta(seconds=1))
    page = markup(client_as("user").get(f"/jobs/compare/?runs={first.pk},{second.pk},{other.pk}"))
    assert f"Job {second.pk} on random nodes took 20.0 s, 2 times as long." in page
    assert f"Left out of the sentence, since more than the choice of nodes differs: job {other.pk}." in page


def test_equal_times_are_called_equal(client_as, timed):
    Run.objects.update(seconds=10.0)
    page = markup(client_as("user").get(f"/jobs/compare/?runs={timed[0].pk},{timed[1].pk}"))
    assert "All took the same time, 10.0 s" in page


def test_rest_has_the_same_figures(client_as, timed):
    first, second = timed
    answer = client_as("user").get(f"/api/jobs/compare?runs={first.pk},{second.pk}").json()
    assert [(each["job"], each["seconds"], each["method"]) for each in answer["runs"]] == [
        (first.pk, 10.0, "pattern"),
        (second.pk, 20.0, "random"),
    ]
    assert answer["runs"][0]["phases"][0]["phase"] == "step"
    assert "2 times as long" in answer["finding"]
    assert any(row["name"] == "method" and row["differs"] for part in answer["parts"] for row in part["rows"])


@pytest.mark.parametrize(("role", "code"), [("other", 404), ("operator", 200)])
def test_rest_does_not_find_jobs_of_others(client_as, timed, role, code):
    assert client_as(role).get(f"/api/jobs/compare?runs={timed[0].pk},{timed[1].pk}").status_code == code


def test_rest_says_what_names_no_runs(client_as):
    answer = client_as("user").get("/api/jobs/compare?runs=1,x")
    assert answer.status_code == 400
    assert "numbers of jobs" in answer.content.decode()


def test_random_nodes_with_a_key_are_drawn_once(client_as, people, make_job):
    job = make_job(people["user"], "succeeded", method="pattern")
    client, where = client_as("user"), f"/api/jobs/{job.pk}/random-nodes"
    first = client.post(where, headers={"Idempotency-Key": "once"})
    again = client.post(where, headers={"Idempotency-Key": "once"})
    assert (first.status_code, again.status_code) == (201, 200)
    assert (again.json()["id"], again.json()["seed"]) == (first.json()["id"], first.json()["seed"])
    other = client.post(where, headers={"Idempotency-Key": "twice"})
    assert (other.status_code, other.json()["id"] != first.json()["id"]) == (201, True)
    assert other.json()["seed"] != first.json()["seed"]


def test_one_click_submits_the_same_on_random_nodes_and_leads_to_both(client_as, people, make_job):
    job = make_job(people["user"], "succeeded", seed=3, requirements=Requirements(min_bandwidth=1e6, min_cpu=0.5))
    user = client_as("user")
    assert f'action="/jobs/{job.pk}/random-nodes"' in markup(user.get(f"/jobs/{job.pk}/"))
    answer = user.post(f"/jobs/{job.pk}/random-nodes")
    made = Job.objects.get(resubmitted_from=job)
    assert answer["Location"] == f"/jobs/compare/?runs={job.pk},{made.pk}"
    assert (made.method, made.node_count, made.parameters) == ("random", job.node_count, job.parameters)
    assert made.requirements == Requirements()
    assert f"/jobs/compare/?runs={job.pk},{made.pk}" in markup(user.get(f"/jobs/{job.pk}/"))
    assert f"/jobs/compare/?runs={made.pk},{job.pk}" in markup(user.get(f"/jobs/{made.pk}/"))


def test_random_nodes_are_others_than_those_of_the_job_that_they_are_compared_with(people, make_job):
    job = make_job(people["user"], "succeeded")
    again = make_job(people["user"], "queued", method="random", resubmitted_from=job)
    assert question(again, None).avoid == set(job.runs.get().placement.nodes)
    assert question(make_job(people["user"], "queued", method="random"), None).avoid == set()


def test_a_draw_that_got_the_same_nodes_is_said_to_compare_nothing(client_as, pair):
    first, second = pair
    page = markup(client_as("user").get(f"/jobs/compare/?runs={first.pk},{second.pk}"))
    said = f"Job {second.pk} has the same nodes as job {first.pk}: these two compare nothing."
    assert said in page
    placement = second.runs.get().placement
    placement.nodes = ["n3", "n4"]
    placement.save()
    assert said not in markup(client_as("user").get(f"/jobs/compare/?runs={first.pk},{second.pk}"))


def test_random_nodes_once_more_are_refused_in_words(client_as, people, make_job):
    job = make_job(people["user"], "succeeded", method="random")
    user = client_as("user")
    assert "random-nodes" not in markup(user.get(f"/jobs/{job.pk}/"))
    answer = user.post(f"/api/jobs/{job.pk}/random-nodes")
    assert answer.status_code == 400
    assert "chosen by a method" in answer.content.decode()
    assert "chosen by a method" in markup(user.post(f"/jobs/{job.pk}/random-nodes", follow=True))


def test_a_job_whose_nodes_the_selection_counted_is_drawn_on_as_many(people, make_job):
    job = make_job(people["user"], "succeeded", node_count=4, nodes_open=True)
    assert with_random_nodes(job, 7).node_count == 4
