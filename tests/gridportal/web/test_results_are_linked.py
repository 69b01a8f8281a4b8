"""The message after an action links to its result, and a conflict to what was decided before."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.http import HttpResponse

from scheduling.jobs.services.registering import register_application
from tests.markup import markup
from tests.scheduling.rescheduling.proposals import propose

pytestmark = pytest.mark.django_db


def said(answer: HttpResponse) -> str:
    """The newest message that the next page shows."""
    return str(list(get_messages(answer.wsgi_request))[-1])


def test_a_decision_and_a_conflict_link_to_the_decision(client_as: Any, make_job: Any, people: Any) -> None:
    row = propose(make_job(people["user"], "running"))
    operator, address = client_as("operator"), f"/migrations/{row.pk}/"
    link = f'<a href="{address}">Decision {row.pk}'
    assert said(operator.post(f"{address}refuse", {"reason": "it ends soon"})).startswith(link)
    late = said(operator.post(f"{address}approve", {"reason": "too late"}))
    assert late.startswith(f"{link}</a>: operator has refused decision {row.pk} already")


def test_a_move_that_is_proposed_already_leads_to_its_decision(client_as: Any, make_job: Any, people: Any) -> None:
    job = make_job(people["user"], "running")
    register_application("tests", {"stop_means": {"by": "srs"}}, job.application)
    row = propose(job)
    shown = said(client_as("user").post(f"/jobs/{job.pk}/propose-move"))
    assert shown.startswith(f'<a href="/migrations/{row.pk}/">Decision {row.pk}</a>: ')


def test_saved_notices_link_to_the_notices(client_as: Any, make_job: Any, people: Any) -> None:
    job = make_job(people["user"], "running")
    shown = said(client_as("user").post(f"/jobs/{job.pk}/notices", {"choice": "all"}))
    assert shown.startswith(f'<a href="/jobs/{job.pk}/#notices">Notices of job {job.pk}:</a> ')


def test_an_invitation_links_to_the_person_and_a_token_to_the_tokens(client_as: Any) -> None:
    invited = {"username": "new.one", "email": "", "role": "user", "ways": "password"}
    page = markup(client_as("administrator").post("/people/invite", invited))
    assert '<a href="/people/?q=new.one">new.one</a>' in page
    made = markup(client_as("user").post("/account/tokens", {"name": "laptop", "days": 30}))
    assert '<a href="#tokens">“laptop”</a>' in made
    assert 'id="tokens"' in made
