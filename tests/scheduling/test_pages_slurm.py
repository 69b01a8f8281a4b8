"""The pages of a Slurm cluster: what can be chosen, held and released, and what is said when it does not answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from gridportal.clusters import Cluster as Setting
from gridportal.errors import BackendError
from monitoring.services import refresh_loads
from scheduling import services
from scheduling.models import Job
from tests.scheduling.fake_queue import FakeQueue

Submit = Callable[..., Job]
FORM = {
    "application": "ep", "node_count": "2", "method": "pattern", "candidates": "3", "seed": "0",
    "param-klass": "S", "param-seed": "1", "param-note": "", "request_key": "7d0a9f5e-5d42-4c7b-9a53-0f6f7ac0b4b2",
}  # fmt: skip


@pytest.fixture
def queued(submit: Submit, fake_queue: FakeQueue) -> Job:
    """A job in Slurm's queue."""
    job = submit(2)
    for placed in services.place_job(job.pk):
        services.start_run(placed)
    services.poll_runs()
    job.refresh_from_db()
    return job


def test_the_form_offers_what_the_cluster_has(
    client_as: Callable[..., Client], fake_queue: FakeQueue, application: Any
) -> None:
    refresh_loads("hpc")
    page = client_as("user").get(reverse("submit") + "?application=ep").content.decode()
    assert "hpc-partition" in page
    assert "main 4 nodes, 1 h" in page
    assert "Known here: small." in page
    assert 'name="cluster"' not in page  # there is only one


def test_options_of_the_form_reach_the_job(
    client_as: Callable[..., Client], fake_queue: FakeQueue, application: Any, settings: Any
) -> None:
    settings.CLUSTERS = {"grid": Setting(name="grid", backend="grid"), **settings.CLUSTERS}
    refresh_loads("hpc")
    asked = {"cluster": "hpc", "busy_policy": "again", "hpc-partition": "main", "hpc-memory": "512"}
    answer = client_as("user").post(reverse("submit"), FORM | asked)
    assert answer.status_code == 302
    job = Job.objects.get()
    assert (job.cluster, job.busy_policy, job.options) == ("hpc", "again", {"partition": "main", "memory": 2**29})


def test_what_the_cluster_does_not_have_is_said_beside_its_field(
    client_as: Callable[..., Client], fake_queue: FakeQueue, application: Any
) -> None:
    refresh_loads("hpc")
    answer = client_as("user").post(reverse("submit"), FORM | {"cluster": "hpc", "hpc-constraint": "huge"})
    assert answer.status_code == 422
    assert "one that the cluster has: small" in answer.content.decode()
    assert not Job.objects.exists()


def test_hold_and_release_are_buttons_only_where_they_can_be_used(
    client_as: Callable[..., Client], queued: Job, fake_queue: FakeQueue
) -> None:
    client = client_as("user")
    address = reverse("job", args=[queued.pk])
    assert 'id="hold"' in client.get(address).content.decode()
    assert 'id="hold"' not in client_as("manager").get(address).content.decode()
    assert client.post(reverse("job-hold", args=[queued.pk])).status_code == 302
    page = client.get(address).content.decode()
    assert 'id="release"' in page
    assert 'id="hold"' not in page
    client.post(reverse("job-release", args=[queued.pk]))
    assert [verb for verb, _ in fake_queue.asked if verb in ("hold", "release")] == ["hold", "release"]


def test_hold_over_the_api_and_its_refusal_in_words(client_as: Callable[..., Client], queued: Job) -> None:
    client = client_as("operator")
    assert client.post(f"/api/jobs/{queued.pk}/hold").json()["runs"][0]["held"] is True
    answer = client.post(f"/api/jobs/{queued.pk}/requeue")
    assert answer.status_code == 400
    assert "which is starting" in str(answer.json())


def test_a_cluster_that_does_not_answer_is_said_on_every_page(
    client_as: Callable[..., Client], queued: Job, fake_queue: FakeQueue
) -> None:
    fake_queue.error = BackendError("squeue failed: Slurm's controller does not answer; see whether slurmctld runs.")
    services.poll_runs()
    for name in ("jobs", "applications", "help"):
        assert "see whether slurmctld runs" in client_as("user").get(reverse(name)).content.decode()


def test_a_closed_node_says_why(client_as: Callable[..., Client], fake_queue: FakeQueue) -> None:
    fake_queue.close("n2", "bad fan")
    refresh_loads("hpc")
    page = client_as("user").get(reverse("node", args=["n2"]) + "?cluster=hpc").content.decode()
    assert "bad fan" in page


def test_the_preview_of_busy_nodes_has_their_expected_start(
    client_as: Callable[..., Client], fake_queue: FakeQueue, application: Any
) -> None:
    refresh_loads("hpc")
    fake_queue.busy("n1", "n2", "n3")
    refresh_loads("hpc")
    page = client_as("user").post(reverse("submit-preview"), FORM | {"cluster": "hpc"}).content.decode()
    assert "If nodes are busy" in page
    assert "unknown" in page
