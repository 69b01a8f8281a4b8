"""The pages of a Slurm cluster: what can be chosen, held and released, and what is said when it does not answer."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.errors import BackendError
from monitoring.telemetry.services.sweeps import refresh_loads
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.jobs.models import Job
from scheduling.placing.services import following, rounds
from scheduling.placing.services.start_forecast import GroupForecasts
from tests.markup import markup
from tests.scheduling.runs.fake_queue import FakeQueue

Submit = Callable[..., Job]
FORM = {
    "application": "ep",
    "node_count": "2",
    "method": "pattern",
    "candidates": "3",
    "seed": "0",
    "param-klass": "S",
    "param-seed": "1",
    "param-note": "",
    "request_key": "7d0a9f5e-5d42-4c7b-9a53-0f6f7ac0b4b2",
}


@pytest.fixture
def queued(submit: Submit, fake_queue: FakeQueue) -> Job:
    """A job in Slurm's queue."""
    job = submit(2)
    rounds.place_and_start_all(job.cluster)
    following.poll_runs()
    job.refresh_from_db()
    return job


def test_the_form_offers_what_the_cluster_has(
    client_as: Callable[..., Client], fake_queue: FakeQueue, application: Any
) -> None:
    refresh_loads("hpc")
    page = markup(client_as("user").get(reverse("submit") + "?application=ep"))
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
    assert (job.cluster, job.busy_policy) == ("hpc", "again")
    assert job.options == ClusterOptions(partition="main", memory=2**29)


def test_what_the_cluster_does_not_have_is_said_beside_its_field(
    client_as: Callable[..., Client], fake_queue: FakeQueue, application: Any
) -> None:
    refresh_loads("hpc")
    answer = client_as("user").post(reverse("submit"), FORM | {"cluster": "hpc", "hpc-constraint": "huge"})
    assert answer.status_code == 422
    assert "one that the cluster has: small" in markup(answer)
    assert not Job.objects.exists()


BAD = [
    ("gres", "gpu:-1", "names with a count of at least 1"),
    ("gres", "gpu:0", "names with a count of at least 1"),
    ("gres", "gpu:2,,nic", "names with a count of at least 1"),
    ("gres", "gpu:99999999999999999999", "names with a count of at least 1"),
    ("gres", "gpu:1", "no node of the cluster has such resources"),
    ("partition", "nowhere", "main"),
    ("account", "a b; id", "letters, digits"),
    ("qos", "--qos=x", "letters, digits"),
    ("reservation", "../x", "letters, digits"),
    ("constraint", "huge", "one that the cluster has: small"),
    ("constraint", "$(id)", "features, such as"),
    ("memory", "-1", "1"),
    ("memory", str(2**30), "at most"),
    ("cpus_per_rank", "0", "1"),
    ("cpus_per_rank", "5000", "4096"),
]


@pytest.mark.parametrize(("name", "value", "words"), BAD)
def test_a_bad_option_is_one_sentence_on_the_page_and_over_the_api(
    client_as: Callable[..., Client], fake_queue: FakeQueue, application: Any, name: str, value: str, words: str
) -> None:
    refresh_loads("hpc")
    field = name if name == "cpus_per_rank" else f"hpc-{name}"
    page = client_as("user").post(reverse("submit"), FORM | {"cluster": "hpc", field: value})
    assert page.status_code == 422
    assert words in html.unescape(markup(page)) or name == "partition"  # which is a list to choose from there
    plain = int(value) if value.lstrip("-").isdigit() else value
    options = {name: plain * 2**20 if name == "memory" and isinstance(plain, int) else plain}
    body = {"application": "ep", "node_count": 2, "parameters": {"klass": "S"}, "cluster": "hpc", "options": options}
    for address in ("/api/jobs", "/api/preview"):
        answer = client_as("user").post(address, body, content_type="application/json")
        assert answer.status_code == 400, answer.content
        said = str(answer.json())
        assert name in said
        assert words in said
    assert not Job.objects.exists()


def test_all_that_is_wrong_is_told_at_once(
    client_as: Callable[..., Client], fake_queue: FakeQueue, application: Any
) -> None:
    refresh_loads("hpc")
    wrong = {"cluster": "hpc", "hpc-gres": "bogus!!", "after": "99999", "time_limit": "-1"}
    page = markup(client_as("user").post(reverse("submit"), FORM | wrong))
    for field in ("hpc-gres", "after", "time_limit"):
        assert re.search(rf'<[^>]*name="{field}"[^>]*aria-invalid="true"', page), field
    assert "Enter the number of a job that you can see." in page
    assert not Job.objects.exists()


@pytest.mark.parametrize("value", ["gpu:2", "gpu:a100", "gpu:a100:2,nic", "lustre:4K"])
def test_a_gres_that_slurm_understands_is_accepted_where_the_cluster_is_not_known_yet(
    client_as: Callable[..., Client], fake_queue: FakeQueue, application: Any, value: str
) -> None:
    client_as("user").post(reverse("submit"), FORM | {"cluster": "hpc", "hpc-gres": value})
    assert Job.objects.get().options == ClusterOptions(gres=value)


def test_hold_and_release_are_buttons_only_where_they_can_be_used(
    client_as: Callable[..., Client], queued: Job, fake_queue: FakeQueue
) -> None:
    client = client_as("user")
    address = reverse("job", args=[queued.pk])
    assert 'id="hold"' in markup(client.get(address))
    assert 'id="hold"' not in markup(client_as("manager").get(address))
    assert client.post(reverse("job-hold", args=[queued.pk])).status_code == 302
    page = markup(client.get(address))
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
    following.poll_runs()
    for name in ("jobs", "applications", "help"):
        assert "see whether slurmctld runs" in markup(client_as("user").get(reverse(name)))


def test_a_closed_node_says_why(client_as: Callable[..., Client], fake_queue: FakeQueue) -> None:
    fake_queue.close("n2", "bad fan")
    refresh_loads("hpc")
    page = markup(client_as("user").get(reverse("node", args=["n2"]) + "?cluster=hpc"))
    assert "bad fan" in page


def test_the_preview_of_busy_nodes_has_their_expected_start(
    client_as: Callable[..., Client], fake_queue: FakeQueue, application: Any
) -> None:
    refresh_loads("hpc")
    fake_queue.busy("n1", "n2", "n3")
    refresh_loads("hpc")
    page = markup(client_as("user").post(reverse("submit-preview"), FORM | {"cluster": "hpc"}))
    assert "If nodes are busy" in page
    assert "unknown" in page


def test_the_page_of_a_job_that_waits_has_the_start_of_each_way(
    client_as: Callable[..., Client], submit: Submit, fake_queue: FakeQueue
) -> None:
    refresh_loads("hpc")
    until = time.time() + 3600
    fake_queue.busy("n1", "n2", until=until)
    job = submit(2, method="communication", candidates=6)
    rounds.place_and_start_all(job.cluster)
    number = job.runs.get().backend_id
    fake_queue.status[number] = replace(fake_queue.status[number], expected_start=until)
    following.poll_runs()
    page = client_as("user").get(reverse("job", args=[job.pk]))
    ways = {way["label"]: way for way in page.context["ways"]}
    assert set(next(iter(ways.values()))["nodes"]) == {"n1", "n2"}
    assert abs(next(iter(ways.values()))["expected_start"].timestamp() - until) < 61
    free = [way for way in ways.values() if set(way["nodes"]) == {"n3", "n4"}]
    assert [way["expected_start"] for way in free] == ["now"] * len(free) != []
    for address in ("job", "job-live"):
        assert "When it would start" in markup(client_as("user").get(reverse(address, args=[job.pk])))
    fake_queue.begin(number)
    following.poll_runs()
    assert "When it would start" not in markup(client_as("user").get(reverse("job", args=[job.pk])))


def test_slurm_is_asked_for_starts_once_however_often_the_page_is_looked_at(
    client_as: Callable[..., Client], submit: Submit, fake_queue: FakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh_loads("hpc")
    fake_queue.busy("n1", "n2")
    job = submit(4, busy_policy="wait")
    rounds.place_and_start_all(job.cluster)
    asked: list[str] = []
    monkeypatch.setattr(
        "scheduling.placing.services.start_estimate.forecast_starts",
        lambda *_: (asked.append(""), GroupForecasts({}))[1],
    )
    for _ in range(5):
        client_as("user").get(reverse("job-live", args=[job.pk]))
    assert len(asked) == 1
