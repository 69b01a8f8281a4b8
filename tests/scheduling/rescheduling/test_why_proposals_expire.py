"""A proposal that expired says why among its steps."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.reasons import Code
from scheduling.rescheduling.services import deciding
from tests.scheduling.rescheduling.proposals import propose
from tests.scheduling.rescheduling.test_pages import words


@pytest.mark.parametrize(
    ("run_state", "code", "sentence"),
    [
        ("running", Code.NOBODY_DECIDED, "Nobody decided in time, so the job stays where it is."),
        ("checkpointed", Code.RUN_IS_OVER, "The run that it would have moved does not run any more."),
    ],
)
def test_it_says_why(client_as: Any, make_job: Any, people: Any, run_state: str, code: Code, sentence: str) -> None:
    job = make_job(people["user"], "running")
    row = propose(job, expires_at=timezone.now() - timedelta(seconds=1))
    job.runs.update(state=run_state)
    assert deciding.expire_proposals() == 1
    assert row.events.get(to_state="expired").reason.code is code
    assert sentence in words(client_as("operator").get(row.get_absolute_url()))
    one = client_as("operator").get(f"/api/migrations/{row.pk}").json()
    (listed,) = client_as("operator").get("/api/migrations").json()["results"]
    assert (one["reason"], listed["reason"]) == (sentence, sentence)
