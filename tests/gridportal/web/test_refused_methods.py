"""An address that only takes forms is told as such to somebody who opens it."""

from __future__ import annotations

import pytest

from tests.markup import markup

pytestmark = pytest.mark.django_db


def test_opening_the_address_of_a_button_gives_a_page_in_words(client_as, people, make_job):
    job = make_job(people["user"], "running")
    answer = client_as("user").get(f"/jobs/{job.pk}/cancel")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    page = markup(answer)
    assert "Nothing was done" in page
    assert '<html lang="en"' in page
    job.refresh_from_db()
    assert job.state == "running"


def test_rest_keeps_its_own_sentence(client_as, people, make_job):
    job = make_job(people["user"], "running")
    answer = client_as("user").get(f"/api/jobs/{job.pk}/cancel")
    assert answer.status_code == 405
    assert answer.headers["Content-Type"].startswith("application/json")
    assert "detail" in answer.json()
