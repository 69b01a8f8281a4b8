"""Sweeps: from the form and over REST to a page with all jobs, their figures, CSV, and cancelling what is left."""

from __future__ import annotations

import json
import re
import uuid

import pytest

from scheduling.jobs.group_models import JobGroup
from scheduling.jobs.models import Job
from scheduling.runs.models import Run
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("application")]
FORM = {
    "application": "ep",
    "ranks": "2",
    "method": "pattern",
    "candidates": "3",
    "seed": "0",
    "param-klass": "S",
    "param-seed": "1",
    "param-note": "",
}


def send(client, **changes):
    return client.post("/submit/", FORM | {"request_key": str(uuid.uuid4())} | changes)


@pytest.fixture
def swept(people, make_job, application):
    """Two classes on two and four ranks; three of the jobs are over."""
    axes = [{"name": "klass", "values": ["S", "W"]}, {"name": "ranks", "values": [2, 4]}]
    group = JobGroup.objects.create(owner=people["user"], application=application, name="scaling", axes=axes)
    for number, (klass, ranks) in enumerate((("S", 2), ("S", 4), ("W", 2), ("W", 4))):
        job = make_job(
            people["user"],
            "succeeded" if number < 3 else "queued",
            parameters={"klass": klass, "seed": 1, "note": "=1+1"},
            node_count=ranks,
            group=group,
        )
        Run.objects.filter(job=job).update(seconds=10.0 - number, result={"figures": {"mops": 100.0 * (number + 1)}})
    return group


def test_several_values_on_the_form_make_a_job_for_each_combination(client_as):
    answer = send(client_as("user"), **{"sweep-klass": "S, W", "sweep-ranks": "1..2", "name": "both"})
    group = JobGroup.objects.get()
    assert answer["Location"] == f"/sweeps/{group.pk}/"
    jobs = list(group.jobs.order_by("pk"))
    assert [(job.parameters["klass"], job.ranks) for job in jobs] == [("S", 1), ("S", 2), ("W", 1), ("W", 2)]
    assert {job.parameters["seed"] for job in jobs} == {1}
    assert {job.name for job in jobs} == {"both"}


def test_the_same_form_twice_makes_one_sweep(client_as):
    key = str(uuid.uuid4())
    for _ in range(2):
        send(client_as("user"), **{"sweep-klass": "S,W", "request_key": key})
    assert JobGroup.objects.count() == 1
    assert Job.objects.count() == 2


def test_the_same_form_with_other_values_is_asked_about(client_as):
    key = str(uuid.uuid4())
    send(client_as("user"), **{"sweep-klass": "S,W", "request_key": key})
    answer = send(client_as("user"), **{"sweep-klass": "S,A", "request_key": key})
    assert answer.status_code == 422
    assert "This form has made a job or a sweep already, of other values." in markup(answer)
    assert JobGroup.objects.count() == 1


def test_a_key_in_the_header_makes_one_sweep_over_rest(client_as):
    client = client_as("user")
    body = {"application": "ep", "parameters": {"seed": 1}, "ranks": 2, "sweep": {"klass": ["S", "W"]}}

    def post(**changes):
        headers = {"Idempotency-Key": "sweep of monday"}
        return client.post("/api/sweeps", body | changes, content_type="application/json", headers=headers)

    first, second = post(), post()
    assert (first.status_code, second.status_code) == (201, 200), first.json()
    assert first.json()["id"] == second.json()["id"]
    for changes in ({"sweep": {"klass": ["S", "A"]}}, {"parameters": {"seed": 2}}, {"name": "another"}):
        other = post(**changes)
        assert other.status_code == 409, changes
        assert f"has made sweep {first.json()['id']} already, of other values" in other.content.decode()
    assert Job.objects.count() == 2


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("sweep-klass", "S,Z", "&#x27;Z&#x27; is not possible. Enter one of S, W, A."),
        ("sweep-klass", "S,S", "Enter each value once."),
        ("sweep-seed", "1..900", "Enter a range from a lower to a higher number, of at most 200 numbers."),
        ("sweep-seed", "0..199,200..399", "Enter at most 200 values."),
        ("sweep-klass", "S", "Enter values that make 2 to 200 jobs."),
    ],
)
def test_what_is_no_sweep_is_said_beside_its_field_and_nothing_is_created(client_as, field, text, sentence):
    answer = send(client_as("user"), **{field: text})
    assert answer.status_code == 422
    assert sentence in markup(answer)
    assert text in markup(answer)
    assert not JobGroup.objects.exists()


def test_where_one_job_cannot_be_none_is_created(client_as):
    answer = send(client_as("user"), **{"sweep-ranks": "8,2", "node_count": "", "pins": "5=n1"})
    assert answer.status_code == 422
    assert "with ranks 2" in markup(answer)
    assert not Job.objects.exists()
    assert not JobGroup.objects.exists()


def test_the_preview_says_how_many_jobs_it_is(client_as):
    filled = FORM | {"request_key": str(uuid.uuid4()), "sweep-klass": "W,A", "sweep-ranks": "2,4"}
    page = markup(client_as("user").post("/submit/preview", filled))
    assert "4 jobs: klass W, A; ranks 2, 4" in re.sub(r"\s+", " ", page)


def test_the_page_has_all_jobs_and_draws_any_figure_over_any_parameter(client_as, swept):
    page = markup(client_as("user").get(f"/sweeps/{swept.pk}/?figure=mops&over=klass"))
    assert "Mops: the lowest is 100 (klass S, ranks 2" in page
    chart = json.loads(re.search(r'<script id="sweep-figure"[^>]*>(.*?)</script>', page)[1])
    assert [(line["name"], line["x"], line["y"]) for line in chart["data"]] == [
        ("ranks 2", ["S", "W"], [100.0, 300.0]),
        ("ranks 4", ["S"], [200.0]),
    ]
    for job in swept.jobs.all():
        assert f'href="/jobs/{job.pk}/"' in page
    assert f"/sweeps/{swept.pk}/" in markup(client_as("user").get("/sweeps/"))
    assert f"sweep {swept.pk}" in markup(client_as("user").get(f"/jobs/{swept.jobs.first().pk}/"))


def test_the_csv_has_a_row_for_each_job(client_as, swept):
    lines = client_as("user").get(f"/sweeps/{swept.pk}.csv").getvalue().decode().splitlines()
    assert lines[0].startswith("job,klass,ranks,state,node_count,seconds,")
    assert lines[0].endswith("mops,warning")
    assert len(lines) == 5
    assert ",S,2,succeeded,2,10.0," in lines[1]


def test_cancelling_takes_only_what_is_not_over(client_as, swept):
    answer = client_as("user").post(f"/sweeps/{swept.pk}/cancel", follow=True)
    assert "jobs: 1 cancelled." in markup(answer)
    assert sorted(swept.jobs.values_list("state", flat=True)) == ["cancelled", *["succeeded"] * 3]


def test_a_sweep_over_rest(client_as):
    client = client_as("user")
    body = {"application": "ep", "sweep": {"ranks": "1..2, 4", "klass": ["S"]}, "pattern": "ring"}
    made = client.post("/api/sweeps", body, content_type="application/json")
    assert made.status_code == 201
    shown = client.get(f"/api/sweeps/{made.json()['id']}").json()
    assert [job["values"] for job in shown["jobs"]] == [{"klass": "S", "ranks": ranks} for ranks in (1, 2, 4)]
    cancelled = client.post(f"/api/sweeps/{made.json()['id']}/cancel").json()
    assert {job["state"] for job in cancelled["jobs"]} == {"cancelled"}


@pytest.mark.parametrize(
    "sweep", [{}, {"nothing": [1, 2]}, {"klass": None}, {"seed": "1..300"}, {"klass": [["S"], "W"]}]
)
def test_what_is_no_sweep_is_refused_over_rest(client_as, sweep):
    body = {"application": "ep", "node_count": 2, "sweep": sweep}
    answer = client_as("user").post("/api/sweeps", body, content_type="application/json")
    assert answer.status_code == 400
    assert not Job.objects.exists()


def test_a_range_in_steps_and_how_many_jobs_the_preview_says(client_as):
    filled = FORM | {"request_key": str(uuid.uuid4()), "sweep-seed": "10..50:20"}
    assert 'data-jobs="3"' in client_as("user").post("/submit/preview", filled).content.decode()
    send(client_as("user"), **{"sweep-seed": "10..50:20"})
    assert [job.parameters["seed"] for job in Job.objects.order_by("pk")] == [10, 30, 50]
