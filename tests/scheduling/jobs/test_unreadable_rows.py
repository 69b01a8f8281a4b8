"""Rows that hold documents of another kind stop nobody: pages and the API say so, and they are written back whole."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from django.db import connection

from gridportal.base.errors import InputError
from scheduling.jobs.core import unreadable
from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.placing.services.requests import question


def stored(model: Any, pk: int, column: str, document: Any) -> None:
    """Write a document past the field."""
    with connection.cursor() as cursor:
        words = f"UPDATE {model._meta.db_table} SET {column} = %s WHERE id = %s"
        cursor.execute(words, [json.dumps(document), pk])


@pytest.mark.parametrize(
    ("column", "document"),
    [
        ("requirements", []),
        ("requirements", "n1"),
        ("requirements", {"min_bandwidth": "abc"}),
        ("requirements", {"require": [1]}),
        ("requirements", {"network": "tomorrow"}),
        ("options", []),
        ("options", {"memory": "abc"}),
        ("options", {"partition": 3}),
    ],
)
def test_a_job_of_another_kind_is_listed_and_told(
    people: Any, make_job: Any, client_as: Any, caplog: pytest.LogCaptureFixture, column: str, document: Any
) -> None:
    job = make_job(people["user"], "waiting")
    stored(Job, job.pk, column, document)
    unreadable.tell.cache_clear()
    user = client_as("user")
    with caplog.at_level(logging.WARNING):
        for page in ("/jobs/", f"/jobs/{job.pk}/", "/api/jobs", f"/api/jobs/{job.pk}"):
            assert user.get(page).status_code == 200, page
    told = [line for line in caplog.messages if line.startswith(f"job {job.pk}: its {column} cannot be read: ")]
    assert len(told) == 1
    assert "cannot be read: " in user.get(f"/jobs/{job.pk}/").content.decode()
    assert list(user.get(f"/api/jobs/{job.pk}").json()[column]) == ["unreadable"]
    found = Job.objects.get(pk=job.pk)
    with pytest.raises(InputError, match="can be read"):
        question(found, None)
    found.save()
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {column} FROM scheduling_job WHERE id = %s", [job.pk])
        (text,) = cursor.fetchone()
    assert json.loads(text) == document


@pytest.mark.parametrize("document", [[], {"spent": "long"}])
def test_a_trial_of_another_kind_is_told(people: Any, make_job: Any, client_as: Any, document: Any) -> None:
    job = make_job(people["user"], "running")
    stored(Placement, job.placements.get().pk, "trial", document)
    user = client_as("user")
    for page in ("/jobs/", f"/api/jobs/{job.pk}", f"/api/jobs/{job.pk}/placement"):
        assert user.get(page).status_code == 200, page
    assert "Its trial cannot be read: trial" in user.get(f"/jobs/{job.pk}/").content.decode()
