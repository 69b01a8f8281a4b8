"""What is not there, and what cannot be taken, is said in words that people use."""

from __future__ import annotations

from typing import Any

import pytest

from monitoring.clusters.models import Cluster, Link, Node
from tests.markup import markup

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/api/migrations/999", "decision on a move"),
        ("/api/sweeps/999", "sweep"),
        ("/api/report-schedules/999", "report schedule"),
        ("/api/alert-rules/999", "alert rule"),
        ("/api/jobs/999", "job"),
    ],
)
def test_what_is_not_there_has_a_name_of_words(client_as: Any, address: str, name: str) -> None:
    answer = client_as("operator").get(address)
    said = f"There is no such {name}, or you may not see it."
    assert (answer.status_code, answer.json()["detail"]) == (404, said)


def test_numbers_of_jobs_are_asked_for_as_such(client_as: Any) -> None:
    said = client_as("user").get("/api/jobs?ids=1,2,x").json()["ids"][0]
    assert said.startswith("ids is '1,2,x'; accepted is numbers of jobs with commas between, such as 12-15,18")


def test_a_null_character_is_named_as_what_is_wrong(client_as: Any, application: Any) -> None:
    sent = {"name": "a\0b", "list": "jobs"}
    said = client_as("user").post("/api/saved-views", sent, content_type="application/json").json()["name"][0]
    assert said.endswith("accepted is a text of at most 60 characters without control characters.")
    listed = client_as("user").get("/api/jobs?q=a%00b").json()["q"][0]
    assert "characters without control characters" in listed
    page = markup(client_as("user").get("/jobs/?q=a%00b"))
    assert "Enter a text of at most 100 characters without control characters." in page


@pytest.fixture
def mapped() -> Cluster:
    cluster = Cluster.objects.create(name="grid")
    ends = [Node.objects.create(cluster=cluster, name=name) for name in ("n1", "n2")]
    Link.objects.create(cluster=cluster, source=ends[0], target=ends[1], capacity=1e8, latency=0.001)
    return cluster


def test_a_map_says_what_it_does_not_have(client_as: Any, mapped: Cluster) -> None:
    client = client_as("user")
    assert "There is no node nope here." in markup(client.get("/topology/?node=nope"))
    assert "There is no link nope here." in markup(client.get("/topology/?link=nope"))
    known = markup(client.get("/topology/?node=n1&link=n2>n1"))
    assert "There is no" not in known
    gone = client.get("/topology/?job=99999")
    assert gone.status_code == 404
    assert "There is no job 99999." in markup(gone)
