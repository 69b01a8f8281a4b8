"""The network over REST."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from gridportal.accounts.models import AuditEvent
from gridportal.network import topology
from monitoring.clusters.models import Cluster, Link, Node

JSON = "application/json"


@pytest.fixture
def cluster(db):
    then = timezone.now() - timedelta(seconds=40)
    row = Cluster.objects.create(
        name="grid", topology="two", kind="pairs", directed=True, mode="root", measured_at=then
    )
    one, two = (
        Node.objects.create(cluster=row, name=name, position=place, cpu=0.5, measured_at=then, labels={"site": "utk"})
        for place, name in enumerate(("n1", "n2"))
    )
    Link.objects.create(cluster=row, source=one, target=two, capacity=1e8, bandwidth=4e7, measured_at=then)
    Link.objects.create(cluster=row, source=two, target=one, capacity=1e8)
    return row


def test_the_network_is_a_document_that_the_selection_can_read(client_as, cluster):
    document = client_as("user").get("/api/network").json()
    assert [link["bandwidth"] for link in document["links"]] == [4e7, None]
    assert document["nodes"][0] | {"id": "n1", "cpu": 0.5, "labels": {"site": "utk"}} == document["nodes"][0]
    assert 39 < document["links"][0]["age"] < 60
    assert document["links"][1]["age"] is None
    assert document["status"]["mode"] == "root"
    for link in document["links"]:
        link["bandwidth"] = link["bandwidth"] or link["capacity"]
        link["latency"] = link["latency"] or 0.0
    read = topology.parse({name: document[name] for name in ("directed", "graph", "nodes", "links")})
    assert (read.kind, read.directed, len(read.links)) == ("pairs", True, 2)


@pytest.mark.parametrize(("part", "count"), [("nodes", 2), ("links", 2)])
def test_parts_can_be_had_alone(client_as, cluster, part, count):
    assert len(client_as("user").get(f"/api/network/{part}").json()) == count


def test_a_cluster_that_was_never_reached_says_what_to_look_at(client_as):
    answer = client_as("user").get("/api/network?cluster=moon")
    assert answer.status_code == 404
    assert "moon" in answer.json()["detail"]


def test_the_whole_network_takes_few_queries(client_as, cluster, django_assert_max_num_queries):
    client = client_as("manager")
    with django_assert_max_num_queries(6):
        client.get("/api/network")


def test_an_operator_has_the_network_measured(client_as, cluster, monkeypatch):
    from monitoring import tasks

    seen = []
    monkeypatch.setattr(tasks.measure_network, "delay_on_commit", lambda *args, **kwargs: seen.append((args, kwargs)))
    assert client_as("operator").post("/api/measure", {}, content_type=JSON).status_code == 202
    assert seen == [(("grid",), {"max_age": 0})]
    assert AuditEvent.objects.get(action="network.measure").object_label == "grid"


def test_a_cluster_that_nobody_knows_is_not_measured(client_as, cluster, monkeypatch):
    answer = client_as("operator").post("/api/measure", {"cluster": "moon"}, content_type=JSON)
    assert (answer.status_code, list(answer.json())) == (400, ["cluster"])
    assert not Cluster.objects.filter(name="moon").exists()


def test_the_page_leaves_the_same_trail(client_as, cluster):
    assert client_as("operator").post("/topology/measure", {"cluster": "grid"}).status_code == 302
    event = AuditEvent.objects.get(action="network.measure")
    assert (event.actor_name, event.object_id) == ("operator", "grid")


def test_a_member_of_a_flow_query_that_nobody_reads_is_refused(client_as, cluster):
    body = {"flows": [{"source": "n1", "target": "n2", "wieght": 2}], "when": {"kind": "forecast"}}
    answer = client_as("user").post("/api/network/flows", body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["when"][0].startswith("when is not known here; accepted are ")
    del body["when"]
    answer = client_as("user").post("/api/network/flows", body, content_type="application/json")
    assert "wieght is not known here; accepted are source, target, demand, weight." in answer.content.decode()
