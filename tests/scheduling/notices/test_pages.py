"""The page of notices, the bell, what a person chooses, and the same over REST."""

from __future__ import annotations

import re
from typing import Any

import pytest

from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.jobs.services.advance import advance
from scheduling.notices import selectors
from scheduling.notices.models import Notice
from scheduling.notices.services import writing_notices


def words(answer: Any) -> str:
    """The text of a page, spaces made one."""
    return " ".join(answer.content.decode().split())


@pytest.fixture
def job(make_job: Any, people: Any) -> Job:
    """A job that has failed, of which its owner was told."""
    made: Job = make_job(people["user"], "running")
    advance(made, JobState.FAILED)
    writing_notices.write_notices()
    return made


def test_the_bell_counts_what_was_not_read(client_as: Any, job: Job) -> None:
    client = client_as("user")
    page = words(client.get("/notices/"))
    assert re.search(r"<span[^>]* data-count[^>]*>\s*1\s*</span>", page)
    assert f"Job {job.pk} has failed</a>." in page
    assert client.get("/notices/bell").json() == {"unread": 1}
    assert client_as("anonymous").get("/notices/bell").json() == {"unread": None}
    assert client_as("other").get("/notices/bell").json() == {"unread": 0}


def test_one_or_all_are_marked_as_read_and_others_own_are_left_alone(client_as: Any, job: Job) -> None:
    (notice,) = Notice.objects.all()
    client_as("other").post("/notices/read", {"notice": notice.pk})
    assert "No notice was unread." in client_as("other").post("/notices/read", follow=True).content.decode()
    notice.refresh_from_db()
    assert notice.read_at is None
    answer = client_as("user").post("/notices/read", {"notice": notice.pk, "back": "/notices/?show=unread"})
    assert answer.url == "/notices/?show=unread"
    notice.refresh_from_db()
    assert notice.read_at is not None
    assert "You have read everything" in words(client_as("user").get("/notices/?show=unread"))


@pytest.mark.parametrize("back", ["https://elsewhere.example/", "//elsewhere.example/", "nonsense"])
def test_it_leads_back_to_pages_of_the_portal_alone(client_as: Any, job: Job, back: str) -> None:
    assert client_as("user").post("/notices/read", {"back": back}).url == "/notices/"


def test_choices_are_kept_and_errors_stand_beside_their_field(client_as: Any, people: Any) -> None:
    client = client_as("user")
    sent = {"page": ["failed"], "webhook": ["ended", "failed"], "webhook_format": "json"}
    answer = client.post("/notices/settings", {**sent, "webhook_url": "ftp://x.example"})
    assert answer.status_code == 422
    assert "an address that begins with https:// or http://" in words(answer)
    client.post("/notices/settings", {**sent, "webhook_url": "https://hooks.example/x"})
    row = selectors.settings_of(people["user"])
    assert (row.page, row.email, row.webhook) == (["failed"], [], ["ended", "failed"])
    page = words(client.get("/notices/settings"))
    assert 'aria-label="A job fails: page" checked' in page
    assert "No e-mail can be sent" in page


def test_all_wrong_fields_are_told_at_once_on_the_page_and_over_rest(client_as: Any, people: Any) -> None:
    client = client_as("user")
    sent = {
        "page": ["nonsense"],
        "email_address": "nobody",
        "webhook_url": "http://127.0.0.1:8/",
        "webhook_format": "json",
    }
    answer = client.post("/notices/settings", sent)
    page = words(answer)
    assert answer.status_code == 422
    for sentence in ("page: Enter one of", "Enter an e-mail address", "127.0.0.1 is in a private network"):
        assert sentence.lower() in page.lower()
    answer = client.patch("/api/notices/settings", sent, "application/json")
    assert (answer.status_code, sorted(answer.json())) == (400, ["email_address", "page", "webhook_url"])
    answer = client.patch("/api/notices/settings", {**sent, "webhook_format": "teams"}, "application/json")
    assert sorted(answer.json()) == ["email_address", "page", "webhook_format", "webhook_url"]
    assert selectors.settings_of(people["user"]).pk is None


def test_the_page_of_a_job_has_the_choice_for_it(client_as: Any, job: Job, people: Any) -> None:
    client = client_as("user")
    answer = client.post(f"/jobs/{job.pk}/notices", {"choice": "none"}, follow=True)
    assert f"Notices of job {job.pk}:</a> nothing." in words(answer)
    assert '<option value="none" selected>' in words(answer)
    assert selectors.choice_of(people["user"], job) == "none"


def test_rest_has_it_all(client_as: Any, job: Job) -> None:
    client = client_as("user")
    (notice,) = client.get("/api/notices?unread=true").json()["results"]
    assert (notice["kind"], notice["title"], notice["job"]) == ("failed", f"Job {job.pk} has failed", job.pk)
    assert client.post("/api/notices/read", {"ids": [notice["id"]]}, "application/json").json() == {"read": 1}
    assert client.get("/api/notices?unread=true").json()["results"] == []
    answer = client.patch("/api/notices/settings", {"page": ["started"]}, "application/json")
    assert (answer.status_code, answer.json()["page"]) == (200, ["started"])
    answer = client.patch("/api/notices/settings", {"page": ["x"]}, "application/json")
    assert answer.status_code == 400
    assert client.put(f"/api/jobs/{job.pk}/notices", {"choice": "all"}, "application/json").json() == {"choice": "all"}
    assert client.get(f"/api/jobs/{job.pk}/notices").json() == {"choice": "all"}
    assert client.post("/api/notices/test").status_code == 201
    assert client.post("/api/notices/test").status_code == 429
