"""The pages of a cluster that is this machine: no network to choose by, and nodes that are no hosts of their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.reasons import Code
from monitoring.telemetry import selectors
from monitoring.telemetry.services import polling, sweeps
from monitoring.telemetry.services.sources import note_source
from scheduling.jobs.models import Job
from scheduling.placing.services import placing
from scheduling.runs.models import Run
from tests.markup import markup

pytestmark = pytest.mark.django_db
FORM = {
    "application": "ep",
    "cluster": "here",
    "node_count": "1",
    "method": "pattern",
    "candidates": "3",
    "seed": "0",
    "param-klass": "S",
    "param-seed": "1",
    "param-note": "",
    "request_key": "7d0a9f5e-5d42-4c7b-9a53-0f6f7ac0b4b3",
}


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


def test_no_page_speaks_of_a_bottleneck_or_of_measuring(placed: Run, client_as: Callable[..., Client]) -> None:
    client = client_as("operator")
    pages = {
        "job": client.get(reverse("job", args=[placed.job_id])),
        "preview": client.post(reverse("submit-preview"), FORM),
        "topology": client.get(reverse("topology") + "?cluster=here"),
        "telemetry": client.get(reverse("telemetry") + "?cluster=here"),
    }
    for name, answer in pages.items():
        page = markup(answer)
        assert page.count("there is no network") == 1, name
        assert [word for word in ("ottleneck", "Mbit/s", "measured", "Measure now") if word in page] == [], name
    assert "probes" not in markup(pages["telemetry"])


def test_the_reason_says_that_any_nodes_are_as_good(placed: Run, client_as: Callable[..., Client]) -> None:
    assert placed.placement is not None
    assert placed.placement.candidates[0].reason.code is Code.ONE_MACHINE
    told = client_as("user").get(f"/api/jobs/{placed.job_id}/placement").json()
    assert told["finding"] == "All nodes of its cluster are one machine, so any of them are as good."
    assert told["bottleneck"] is None


def test_a_cluster_in_which_nothing_is_sent_has_no_source_of_probes(here: str) -> None:
    note_source(here, sweeps.PROBES, ok_at=time.time())  # of a version that noted it
    sweeps.measure(here)
    polling.poll(here)
    assert [source.name for source in selectors.sources(here)] == ["local"]
    assert [source.stale for source in selectors.sources(here)] == [False]
