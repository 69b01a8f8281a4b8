"""Few answers that take long are made at once for one person, over pages and REST."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from gridportal.base.errors import BusyError
from gridportal.web.long_answers import MOST, long_answer
from tests.scheduling.pages.test_pages import crossbar, form_of

__all__ = ["crossbar"]


def test_one_person_has_so_many_at_once_and_others_theirs() -> None:
    with ExitStack() as under_way:
        for _ in range(MOST):
            under_way.enter_context(long_answer(1))
        with pytest.raises(BusyError, match="ask again in 2 seconds"), long_answer(1):
            pass
        with long_answer(2):
            pass
    with long_answer(1):
        pass


def test_an_answer_that_fails_counts_no_more() -> None:
    for _ in range(MOST + 1):
        with pytest.raises(ZeroDivisionError), long_answer(3):
            raise ZeroDivisionError


@pytest.mark.django_db
def test_more_previews_and_matches_of_a_person_are_refused(client_as, people, make_job, application, crossbar) -> None:
    client, person = client_as("user"), people["user"]
    job = make_job(person, "waiting")
    form = form_of(application)
    asked = {"application": application.slug, "parameters": {"klass": "S", "seed": 7}, "node_count": 2}

    def answers():
        return [
            client.post("/submit/preview", form),
            client.get(f"/jobs/{job.pk}/requirements/"),
            client.get(f"/api/jobs/{job.pk}/requirements"),
            client.post("/api/preview", asked, content_type="application/json"),
        ]

    with ExitStack() as under_way:
        for _ in range(MOST):
            under_way.enter_context(long_answer(person.pk))
        for refused in answers():
            assert refused.status_code == 429
            assert refused["Retry-After"] == "2"
            assert b"still under way" in refused.content
    assert [made.status_code for made in answers()] == [200] * 4
