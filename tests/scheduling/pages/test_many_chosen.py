"""Many jobs of the list at once: what is asked first, what is done, by whose permission, and the message."""

from __future__ import annotations

import re
import uuid

import pytest

from scheduling import tasks
from scheduling.jobs.core import job_numbers
from scheduling.jobs.models import Job
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def enqueued(monkeypatch) -> list[tuple[str, int]]:
    """What the doors hand to the workers."""
    seen: list[tuple[str, int]] = []
    monkeypatch.setattr(tasks, "place_soon", lambda job: seen.append(("place_soon", job.pk)))
    monkeypatch.setattr(tasks.cancel_run, "delay_on_commit", lambda pk: seen.append(("cancel_run", pk)))
    return seen


@pytest.fixture
def chosen(people, make_job, enqueued) -> dict[str, Job]:
    """One of each kind that matters."""
    return {
        "waits": make_job(people["user"], "waiting", name="waits"),
        "runs": make_job(people["user"], "running", name="runs"),
        "over": make_job(people["user"], "succeeded", name="over"),
        "theirs": make_job(people["other"], "waiting", name="secret"),
    }


def post(client, do, jobs=(), address="/jobs/many", **fields):
    return client.post(address, {"do": do, "job": [job.pk for job in jobs], **fields})


def states(chosen) -> dict[str, str]:
    return dict(Job.objects.filter(pk__in=[job.pk for job in chosen.values()]).values_list("name", "state"))


def test_it_asks_first_how_many_can_be_and_which_cannot_and_why(client_as, chosen):
    before = states(chosen)
    page = markup(post(client_as("user"), "cancel", chosen.values()))
    assert "Cancel 2 jobs?" in page
    assert "2 cannot be" in page
    assert "over, is over: succeeded." in page
    assert "1 is not there for you." in page
    assert "secret" not in page
    assert states(chosen) == before


def test_confirmed_it_is_done_once_and_one_message_leads_to_the_results(client_as, chosen, enqueued):
    client = client_as("user")
    page = markup(client.post("/jobs/many?state=active", {"do": "cancel", "job": [j.pk for j in chosen.values()]}))
    sent = re.findall(r'name="job" value="(\d+)"', page)
    answers = [client.post("/jobs/many?state=active", {"do": "cancel", "confirm": "yes", "job": sent}) for _ in "12"]
    assert {answer["Location"] for answer in answers} == {"/jobs/?state=active"}
    assert states(chosen) == {"waits": "cancelled", "runs": "cancelling", "over": "succeeded", "secret": "waiting"}
    assert enqueued == [("cancel_run", chosen["runs"].pk)]
    shown = markup(client.get("/jobs/"))
    numbers = job_numbers.written([chosen["waits"].pk, chosen["runs"].pk])
    assert f'<a href="/jobs/?ids={numbers}">2 jobs:</a> 1 cancelled, 1 being stopped.' in shown
    assert "Nothing was cancelled: none of the chosen jobs could be." in shown


@pytest.mark.parametrize(("role", "left"), [("manager", 4), ("operator", 1), ("administrator", 1)])
def test_each_is_held_against_its_own_permission(client_as, chosen, role, left):
    client = client_as(role)
    page = markup(post(client, "cancel", chosen.values()))
    assert f"{left} cannot be" in page
    assert ("only its owner or an operator may cancel it" in page) == (role == "manager")
    post(client, "cancel", chosen.values(), confirm="yes")
    assert (states(chosen)["secret"] == "cancelled") == (role != "manager")


def test_resubmitted_twice_by_one_page_they_are_made_once(client_as, chosen, enqueued):
    client, key = client_as("user"), str(uuid.uuid4())
    jobs = [chosen["over"], chosen["runs"]]
    for _ in range(2):
        post(client, "resubmit", jobs, confirm="yes", request_key=key)
    made = Job.objects.filter(resubmitted_from__in=jobs)
    assert made.count() == 2
    assert f"/jobs/?ids={job_numbers.written(made.values_list('pk', flat=True))}" in markup(client.get("/jobs/"))
    assert {name for name, _ in enqueued} == {"place_soon"}


def test_jobs_in_a_chain_are_a_chain_again(client_as, people, make_job, enqueued, application):
    client = client_as("user")
    first = make_job(people["user"], "running")
    body = {"application": "ep", "ranks": 1, "pattern": "ring", "after_ok": [first.pk]}
    second = client.post("/api/jobs", body, content_type="application/json").json()["id"]
    post(client, "resubmit", Job.objects.filter(pk__in=[first.pk, second]), confirm="yes")
    again = {job.resubmitted_from_id: job for job in Job.objects.filter(resubmitted_from__isnull=False)}
    assert again[second].after_ok == [again[first.pk].pk]


def test_who_submits_nothing_resubmits_nothing(client_as, chosen):
    page = markup(client_as("manager").get("/jobs/"))
    assert 'value="resubmit"' not in page
    assert 'value="cancel"' not in page
    assert post(client_as("manager"), "resubmit", [chosen["over"]], confirm="yes").status_code == 403
    assert not Job.objects.filter(resubmitted_from__isnull=False).exists()


def test_what_cannot_be_submitted_any_more_is_named(client_as, chosen, application):
    application.enabled = False
    application.save()
    page = markup(post(client_as("user"), "resubmit", [chosen["over"]]))
    assert "None of these jobs can be resubmitted" in page
    assert "which is switched off." in page


def test_all_that_the_filters_show_and_no_others(client_as, people, make_job, enqueued):
    for state in ("waiting", "waiting", "succeeded"):
        make_job(people["user"], state)
    page = markup(post(client_as("user"), "cancel", address="/jobs/many?state=waiting", all="1"))
    assert "Cancel 2 jobs?" in page
    assert 'id="unable"' not in page


def test_too_many_and_none_are_refused_in_words(client_as, people, make_job, monkeypatch):
    monkeypatch.setattr(job_numbers, "MOST", 2)
    jobs = [make_job(people["user"], "waiting") for _ in range(3)]
    client = client_as("user")
    for fields in ({"all": "1"}, {"job": [job.pk for job in jobs]}, {}):
        assert client.post("/jobs/many", {"do": "cancel", **fields})["Location"] == "/jobs/"
    shown = markup(client.get("/jobs/"))
    assert shown.count("Narrow the filters, or choose fewer.") == 2
    assert "Choose at least one job in the list." in shown
    assert set(Job.objects.values_list("state", flat=True)) == {"waiting"}


def test_the_csv_is_of_the_chosen_alone(client_as, chosen):
    client = client_as("user")
    answer = post(client, "export", [chosen["runs"], chosen["over"], chosen["theirs"]])
    lines = client.get(answer["Location"]).getvalue().decode().splitlines()
    assert [line.split(",")[1] for line in lines[1:]] == ["over", "runs"]
    every = post(client, "export", address="/jobs/many?state=waiting", all="1")
    assert every["Location"] == "/jobs.csv?state=waiting"


@pytest.mark.parametrize("ids", ["x", "5-1", "1-900", "1,,2", "9" * 30, "1\0"])
def test_what_is_no_list_of_numbers_is_said_and_narrows_nothing(client_as, chosen, ids):
    page = markup(client_as("user").get("/jobs/", {"ids": ids}))
    assert "<strong>3</strong> jobs" in page
    assert client_as("user").get("/api/jobs", {"ids": ids}).status_code == 400


def test_over_rest_each_gets_its_outcome(client_as, chosen, enqueued):
    client = client_as("user")
    body = {"do": "cancel", "jobs": [job.pk for job in chosen.values()]}
    rows = client.post("/api/jobs/many", body, content_type="application/json").json()
    assert [row["outcome"] for row in rows] == ["cancelled", "stopping", "over", "unknown"]
    body = {"do": "resubmit", "jobs": [chosen["over"].pk], "request_key": str(uuid.uuid4())}
    made = [client.post("/api/jobs/many", body, content_type="application/json").json()[0]["new_job"] for _ in "12"]
    assert made[0] == made[1] == Job.objects.get(resubmitted_from=chosen["over"]).pk
    refused = client_as("manager").post("/api/jobs/many", body, content_type="application/json")
    assert refused.status_code == 403


def test_a_key_in_the_header_resubmits_once_and_never_other_jobs(client_as, chosen, enqueued):
    client, over, running = client_as("user"), chosen["over"].pk, chosen["runs"].pk

    def post(*numbers):
        body, headers = {"do": "resubmit", "jobs": numbers}, {"Idempotency-Key": "monday"}
        return client.post("/api/jobs/many", body, content_type="application/json", headers=headers)

    made = [post(over).json()[0]["new_job"] for _ in "12"]
    assert made[0] == made[1] == Job.objects.get(resubmitted_from=over).pk
    other = post(over, running)
    assert other.status_code == 409
    assert f"has submitted jobs {over} again already" in other.content.decode()
    assert Job.objects.filter(resubmitted_from__isnull=False).count() == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"do": "delete", "jobs": [1]},
        {"do": "cancel", "jobs": []},
        {"do": "cancel", "jobs": [0]},
        {"do": "cancel", "jobs": list(range(1, 300))},
    ],
)
def test_what_cannot_be_asked_over_rest_is_refused(client_as, people, body):
    answer = client_as("user").post("/api/jobs/many", body, content_type="application/json")
    assert answer.status_code == 400


def test_two_or_more_of_the_list_are_compared(client_as, chosen):
    client = client_as("user")
    pair = [chosen["runs"], chosen["over"]]
    assert post(client, "compare", pair)["Location"] == f"/jobs/compare/?runs={pair[0].pk},{pair[1].pk}"
    assert "many-compare" in markup(client.get("/jobs/"))
    assert "Choose two or more jobs" in markup(client.get(post(client, "compare", pair[:1])["Location"]))


def test_rest_says_why_a_job_was_not_cancelled(client_as, people, make_job):
    job = make_job(people["other"], "waiting")
    asked = {"do": "cancel", "jobs": [job.pk]}
    (row,) = client_as("manager").post("/api/jobs/many", asked, content_type="application/json").json()
    assert (row["outcome"], row["detail"]) == (
        "forbidden",
        f"Job {job.pk} belongs to another person; only its owner or an operator may cancel it.",
    )
