"""Jobs after jobs on the pages and over REST: the form, the links both ways, who sees what."""

from __future__ import annotations

import json
import uuid

import pytest

from scheduling.jobs.models import Job
from tests.markup import markup

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("application")]
FORM = {
    "application": "ep",
    "ranks": "1",
    "method": "pattern",
    "pattern": "ring",
    "candidates": "3",
    "seed": "0",
    "param-klass": "S",
    "param-seed": "1",
    "param-note": "",
}


def send(client, **changes):
    return client.post("/submit/", FORM | {"request_key": str(uuid.uuid4())} | changes)


@pytest.fixture
def first(people, make_job):
    return make_job(people["user"], "running", name="prepare")


def test_the_form_takes_numbers_and_both_pages_link_to_each_other(client_as, first):
    client = client_as("user")
    answer = send(client, after_ok=f"#{first.pk}", name="evaluate")
    second = Job.objects.latest("pk")
    assert answer["Location"] == f"/jobs/{second.pk}/"
    page = markup(client.get(f"/jobs/{second.pk}/"))
    assert f"Waiting for job {first.pk} (running) to succeed." in page
    assert f'<a href="/jobs/{first.pk}/">job {first.pk}, prepare</a>' in page
    back = markup(client.get(f"/jobs/{first.pk}/"))
    assert f'<a href="/jobs/{second.pk}/">Job {second.pk}, evaluate</a>' in back
    assert "starts only if this one succeeds" in back


@pytest.mark.parametrize("words", ["twelve", "1.5", "12;13", "99999999"])
def test_what_names_no_job_is_said_beside_the_field(client_as, first, words):
    answer = send(client_as("user"), after=words)
    assert answer.status_code == 422
    assert "is not possible. Enter" in markup(answer)
    assert f'value="{words}"' in markup(answer)
    assert Job.objects.count() == 1


def test_the_form_of_a_resubmission_and_of_the_address_has_the_numbers(client_as, first):
    client = client_as("user")
    send(client, after=str(first.pk))
    second = Job.objects.latest("pk")
    page = markup(client.get(f"/submit/?application=ep&from={second.pk}"))
    assert f'name="after" value="{first.pk}"' in page
    assert f'name="after_ok" value="{first.pk}"' in markup(client.get(f"/submit/?application=ep&after_ok={first.pk}"))


def test_the_preview_says_that_nodes_are_chosen_later(client_as, first):
    filled = FORM | {"request_key": str(uuid.uuid4()), "after": str(first.pk)}
    assert f"Waiting for job {first.pk} (running)." in markup(client_as("user").post("/submit/preview", filled))


def test_a_person_sees_no_job_of_others_that_follows_and_only_the_number_of_one_before(client_as, people, make_job):
    mine = make_job(people["user"], "running", name="mine")
    send(client_as("operator"), after=str(mine.pk), name="private to operators")
    second = Job.objects.latest("pk")
    assert "private to operators" not in markup(client_as("user").get(f"/jobs/{mine.pk}/"))
    assert "private to operators" in markup(client_as("manager").get(f"/jobs/{mine.pk}/"))
    assert client_as("user").get(f"/jobs/{second.pk}/").status_code == 404


def test_over_rest_it_is_asked_for_told_and_changed_at_a_second_submission(client_as, first):
    client = client_as("user")
    body = {"application": "ep", "ranks": 1, "pattern": "ring", "after": [first.pk]}
    made = client.post("/api/jobs", body, content_type="application/json")
    assert made.status_code == 201
    job = made.json()
    assert (job["state"], job["after"], job["after_ok"]) == ("waiting", [first.pk], [])
    assert job["reason_code"] == "after_jobs"
    assert job["reason_facts"]["waits_for"] == [{"job": first.pk, "state": "running", "has_to_succeed": False}]
    assert client.get("/api/jobs?state=waiting").json()["results"][0]["reason_code"] == "after_jobs"
    again = client.post(f"/api/jobs/{job['id']}/resubmit", {"after": []}, content_type="application/json").json()
    assert (again["state"], again["after"]) == ("queued", [])
    asked = client.post("/api/preview", body, content_type="application/json").json()
    assert asked["after"] == f"Waiting for job {first.pk} (running)."


@pytest.mark.parametrize("numbers", [["x"], [0], "12", [999999], list(range(1, 40)), {"job": 1}, None])
def test_what_is_no_list_of_jobs_is_refused_over_rest(client_as, first, numbers):
    body = json.dumps({"application": "ep", "ranks": 1, "pattern": "ring", "after_ok": numbers})
    answer = client_as("user").post("/api/jobs", body, content_type="application/json")
    assert answer.status_code == 400
    assert "after_ok" in answer.content.decode()
