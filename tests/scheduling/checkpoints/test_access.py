"""Who is not the owner of a job reads nothing of its folder and checkpoints: by page, REST, files, or key of depots."""

from __future__ import annotations

import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from gridportal.runtime.depot import depot_access
from gridportal.runtime.depot.depot_client import DepotError, Depots
from gridportal.testbed.state import State
from scheduling.jobs.models import Application, Job
from scheduling.runs.services import job_folder
from tests.fake_grid import FakeGrid
from tests.scheduling.checkpoints.stoppable_jobs import leave_checkpoint, look, newest, running, stoppable
from tests.scheduling.runs.test_job_depots import NAME, grid_with_depots

__all__ = ["grid_with_depots"]
Submit = Callable[..., Job]


@pytest.fixture
def job(submit: Submit, application: Application, fake_grid: FakeGrid) -> Job:
    """It runs, and has written a checkpoint."""
    stoppable(application)
    found = running(submit)
    leave_checkpoint(found)
    return look(found)


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("get", "/jobs/{}/", 404),
        ("get", "/jobs/{}/live", 404),
        ("post", "/jobs/{}/move", 404),
        ("get", "/api/jobs/{}/data", 404),
        ("get", "/api/jobs/{}/moves", 404),
        ("post", "/api/jobs/{}/move", 404),
    ],
)
def test_another_user_gets_nothing_by_page_or_rest(
    job: Job, client_as: Callable[[str], Client], method: str, address: str, status: int
) -> None:
    asked: Any = getattr(client_as("other"), method)
    answer = asked(address.format(job.pk))
    assert (answer.status_code, job.continuations.count()) == (status, 0)
    assert "checkpoint" not in answer.content.decode().lower().partition("<main")[2]
    assert client_as("user").get(f"/api/jobs/{job.pk}/data").json()["checkpoints"][0]["number"] == 1


def test_the_key_of_a_run_is_for_its_user_alone_and_opens_no_other_job(
    grid_with_depots: State, job: Job, submit: Submit
) -> None:
    other = running(submit)
    mine, theirs = (Path(newest(each).run_dir, "depots.json") for each in (job, other))
    assert {stat.S_IMODE(file.stat().st_mode) for file in (mine, theirs)} == {0o600}
    own, key = depot_access.read(mine), depot_access.read(theirs)
    checksum = Depots(own).put("n1", NAME, memoryview(b"mine"))
    assert Depots(own).check("n1", NAME, 4) == checksum
    for access in (key, replace(key, job=own.job)):
        with pytest.raises(DepotError):
            Depots(access, tries=1).check("n1", NAME, 4)
    assert Depots(own).check("n1", NAME, 4) == checksum
    assert (own.job, own.key) != (key.job, key.key)
    assert job_folder.folder(job) != job_folder.folder(other)
