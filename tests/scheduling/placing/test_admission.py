"""When there is too much to do new jobs are told to come later: by rule, in one sentence, and at little cost."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from gridportal.base.errors import BusyError
from gridportal.web import request_wait
from scheduling.jobs.models import Job
from scheduling.placing.services import admission
from scheduling.placing.services import submission as jobs
from scheduling.placing.services.retry_pace import LONGEST, RetryPace

Submit = Callable[..., Job]
Clients = Callable[..., Client]
ASKED = {"application": "ep", "node_count": 2, "parameters": {"klass": "S"}}


@pytest.fixture(autouse=True)
def fresh_counts(settings: Any) -> Iterator[None]:
    """No count of another test, and counts that are taken anew for each job; two new jobs are the most."""
    settings.PORTAL = settings.PORTAL.model_copy(update={"most_new_jobs": 2, "most_waiting_jobs": 5})
    count_anew()
    yield
    admission.reset()


def count_anew() -> None:
    """Forget what was counted; the next count holds until this is called again, and not for moments."""
    admission.reset()
    admission._door.new.good_for = admission._door.waiting.good_for = 1e9  # seconds


def post(client: Client, key: str = "", **more: Any) -> Any:
    headers = {"Idempotency-Key": key} if key else {}
    return client.post("/api/jobs", {**ASKED, **more}, content_type="application/json", headers=headers)


def test_more_new_jobs_than_workers_look_at_are_told_to_come_later(
    submit: Submit, client_as: Clients, fake_grid: object
) -> None:
    client = client_as("user")
    assert [post(client).status_code for _ in range(2)] == [201, 201]
    answer = post(client)
    after = int(answer["Retry-After"])
    assert answer.status_code == 429
    assert 2 <= after <= 3
    assert answer.json() == {
        "detail": "2 new jobs are still to be looked at by a worker, which is as many as the portal takes; send this "
        f"again in {after} seconds."
    }
    assert Job.objects.count() == 2


def test_once_they_are_looked_at_more_are_taken(submit: Submit, client_as: Clients) -> None:
    client = client_as("user")
    assert [post(client).status_code for _ in range(3)] == [201, 201, 429]
    Job.objects.update(state="waiting")
    count_anew()
    assert post(client).status_code == 201


def test_a_full_cluster_is_no_reason_to_refuse(submit: Submit, make_job: Any, people: Any, client_as: Clients) -> None:
    for _ in range(4):
        make_job(people["other"], "waiting")
    client = client_as("user")
    assert post(client).status_code == 201
    Job.objects.update(state="waiting")
    count_anew()
    answer = post(client)
    assert answer.status_code == 429
    assert answer.json()["detail"].startswith("5 jobs wait for nodes, which is as many as the portal takes; send")


@pytest.mark.parametrize("key", ["3f2b8c1e-5f0a-4c57-9b39-0d5f6f0c8d11", "my own words"])
def test_what_was_sent_before_gets_its_job_as_ever(client_as: Clients, key: str, application: Any) -> None:
    client = client_as("user")
    made = post(client, key).json()["id"]
    post(client)
    assert post(client).status_code == post(client, "another one").status_code == 429
    again = post(client, key)
    assert (again.status_code, again.json()["id"]) == (200, made)


def test_a_key_in_the_body_counts_too(client_as: Clients, application: Any) -> None:
    client, key = client_as("user"), str(uuid.uuid4())
    made = post(client, request_key=key).json()["id"]
    post(client)
    assert (post(client, request_key=key).status_code, post(client).status_code) == (200, 429)
    assert post(client, request_key=str(uuid.uuid4())).status_code == 429
    assert post(client, request_key=key).json()["id"] == made


def test_refusing_costs_one_question_at_most(
    client_as: Clients, application: Any, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client = client_as("user")
    for _ in range(3):
        post(client)
    with django_assert_num_queries(0):
        assert post(client).status_code == 429
    with django_assert_num_queries(1):
        assert post(client, str(uuid.uuid4())).status_code == 429


def test_a_submission_that_waited_long_for_a_thread_is_refused(
    client_as: Clients, application: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_wait, "of_this_request", lambda: 4.2)
    answer = post(client_as("user"))
    assert (answer.status_code, answer.json()["detail"].partition(";")[0]) == (
        429,
        "This submission waited 4.2 s for the web server, and 3 s is the most",
    )
    assert client_as("user").get("/api/jobs").status_code == 200


def test_a_database_that_is_away_is_told_as_ever(
    client_as: Clients, application: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise OperationalError("the server closed the connection")

    client = client_as("user")
    monkeypatch.setattr(admission, "check_admission", away)
    monkeypatch.setattr(jobs, "check_admission", away)
    answer = post(client)
    assert (answer.status_code, answer["Retry-After"]) == (503, "2")
    assert "database does not answer" in answer.json()["detail"]


def test_the_form_says_so_and_keeps_what_was_filled_in(client_as: Clients, submit: Submit) -> None:
    submit(), submit()
    client = client_as("user")
    filled = {"application": "ep", "cluster": "grid", "node_count": "2", "method": "pattern", "candidates": "3"}
    filled |= {"seed": "0", "param-klass": "W", "param-seed": "7", "request_key": str(uuid.uuid4()), "name": "mine"}
    answer = client.post(reverse("submit"), filled)
    page = answer.content.decode()
    assert (answer.status_code, answer["Retry-After"].isdigit()) == (429, True)
    assert "which is as many as the portal takes; send this again in" in page
    assert 'value="mine"' in page
    assert Job.objects.count() == 2


def test_services_and_resubmission_obey_the_same_rule(submit: Submit, client_as: Clients) -> None:
    job = submit()
    submit()
    with pytest.raises(BusyError, match="which is as many as the portal takes"):
        submit()
    again = client_as("user").post(f"/api/jobs/{job.pk}/resubmit", {}, content_type="application/json")
    assert again.status_code == 429
    assert Job.objects.count() == 2


def test_refusals_are_counted(client_as: Clients, application: Any) -> None:
    client = client_as("user")

    def counted() -> float:
        lines = client.get("/metrics").content.decode().splitlines()
        found = [line for line in lines if line.startswith("gridportal_submissions_refused_total")]
        return sum(float(line.split()[1]) for line in found)

    before = counted()
    for _ in range(4):
        post(client)
    post(client, "by the service")
    assert counted() - before == 3


def test_jobs_in_hand_are_counted_between_two_looks_at_the_database(submit: Submit) -> None:
    submit(), submit()
    Job.objects.all().delete()
    with pytest.raises(BusyError):
        submit()


def test_the_more_are_refused_the_later_they_come_and_soon_when_it_is_over() -> None:
    pace, now = RetryPace(), 0.0
    for _ in range(100):
        now += 1.0
        seconds = [pace.note(refused=refused, now=now) for refused in (True, True, False)][-1]
    assert seconds == LONGEST
    for _ in range(100):
        now += 1.0
        seconds = pace.note(refused=False, now=now)
    assert seconds == 2.0


def test_the_pace_stays_where_about_as_many_are_refused_as_accepted() -> None:
    pace = RetryPace()
    pace.note(refused=True, now=0.0)
    pace.seconds = 40.0
    seconds = {pace.note(refused=at % 3 == 0, now=at / 10) for at in range(1000)}
    assert seconds == {40.0}


def test_submissions_below_the_bounds_are_not_touched(people: Any, submit: Submit, settings: Any) -> None:
    settings.PORTAL = settings.PORTAL.model_copy(update={"most_new_jobs": 500})
    for _ in range(10):
        submit()
    assert Job.objects.count() == 10
