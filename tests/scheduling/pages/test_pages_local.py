"""The pages of a cluster that is this machine: no network to choose by, and nodes that are no hosts of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from gridportal.base.clusters import Cluster as Setting
from scheduling.jobs.models import Job
from scheduling.placing.services import placing
from scheduling.runs.models import Run
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.fixture
def here(settings: Any, tmp_path: Path) -> str:
    settings.CLUSTERS = {"here": Setting(name="here", backend="local", slots=2, state_dir=tmp_path / "state")}
    return "here"


@pytest.fixture
def placed(here: str, submit: Callable[..., Job]) -> Run:
    """A job whose nodes are chosen and that nobody starts."""
    job = submit(2, cluster=here)
    ((run,),) = placing.Round(here).batches()
    assert run.job_id == job.pk
    Run.objects.filter(pk=run.pk).update(hosts=["laptop", "laptop"])
    return run


def test_a_slot_is_not_said_to_be_another_host_than_chosen(placed: Run, client_as: Callable[..., Client]) -> None:
    page = markup(client_as("user").get(reverse("job", args=[placed.job_id])))
    assert page.count("laptop") >= 2
    assert "not the chosen name" not in page


def test_the_page_says_that_there_is_no_network_to_choose_by(placed: Run, client_as: Callable[..., Client]) -> None:
    page = markup(client_as("user").get(reverse("submit") + "?application=ep"))
    assert "there is no network to choose by" in page
