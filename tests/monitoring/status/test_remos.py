"""Remos queries about a cluster: over REST, for now, over a window, and as forecast."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gridportal.base.errors import InputError
from gridportal.network import topology as core
from gridportal.network.flows import Flow
from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.core.samples import Sample
from monitoring.status.core.remos import parse_forecast_over
from monitoring.status.selectors import network_status, remos_queries
from monitoring.telemetry.core.figures import FORECAST, window
from monitoring.telemetry.services import readings
from tests.gridportal.network.networks import dumbbell as network_of

JSON = "application/json"
C = 100e6


@pytest.fixture
def dumbbell(db: None) -> Cluster:
    """a, b - s - t - c, d: links of 100 Mbit/s, all measured half a minute ago, half of the middle one available."""
    then = timezone.now() - timedelta(seconds=30)
    row = Cluster.objects.create(name="grid", topology="dumbbell", kind="links", measured_at=then)
    kinds = {node.id: node.kind for node in network_of().nodes}
    nodes = {
        name: Node.objects.create(cluster=row, name=name, kind=kind, position=at)
        for at, (name, kind) in enumerate(kinds.items())
    }
    for link in network_of().links:
        Link.objects.create(
            cluster=row,
            source=nodes[link.source],
            target=nodes[link.target],
            capacity=C,
            bandwidth=C / 2 if {link.source, link.target} == {"s", "t"} else C,
            measured_at=then,
        )
    return row


def ask(client: Any, *flows: str, **more: Any) -> Any:
    ends = [dict(zip(("source", "target"), flow.split(">"), strict=True)) for flow in flows]
    return client.post("/api/network/flows", {"flows": ends, **more}, content_type=JSON)


def test_two_flows_over_one_link_share_what_is_available(client_as: Any, dumbbell: Cluster) -> None:
    answer = ask(client_as("user"), "a>c", "b>d").json()
    assert (answer["cluster"], answer["topology"], answer["when"]["kind"]) == ("grid", "dumbbell", "now")
    for flow in answer["flows"]:
        assert flow["bandwidth"] == C / 4
        assert flow["binding"] == {"source": "s", "target": "t"}
        assert flow["origins"] == ["probe"]
        assert 29 < flow["age"] < 60


def test_traffic_that_yields_is_told_by_the_counters(client_as: Any, dumbbell: Cluster) -> None:
    readings.record_readings("grid", "agent", [Sample("s>t", "tx", time.time(), 0.98 * C)])
    shares = [flow["bandwidth"] for flow in ask(client_as("user"), "a>c", "b>d").json()["flows"]]
    assert shares == pytest.approx([C / 3] * 2)


def test_over_a_window_the_mean_counts_and_the_extremes_are_told(dumbbell: Cluster) -> None:
    now = time.time()
    for age, rate in ((5000, 90e6), (300, 20e6), (200, 40e6), (100, 60e6)):
        readings.record_readings("grid", "probes", [Sample("a>c", "bandwidth", now - age, rate)])
    (flow,) = remos_queries.flows("grid", [Flow("a", "c")], when=window(3600))["flows"]
    assert (flow["bandwidth"], flow["low"], flow["high"]) == pytest.approx((40e6, 20e6, 60e6))
    assert flow["origins"] == ["window"]
    (whole,) = remos_queries.flows("grid", [Flow("a", "c")], when=window(7200))["flows"]
    assert whole["high"] == pytest.approx(90e6)


def test_a_measured_latency_is_the_paths(dumbbell: Cluster) -> None:
    readings.record_readings("grid", "probes", [Sample("a>c", "latency", time.time(), 0.004)])
    there, other = remos_queries.flows("grid", [Flow("a", "c"), Flow("b", "d")])["flows"]
    assert (there["latency"], other["latency"]) == (pytest.approx(0.004), 0.0)


def test_the_selection_sees_steps_and_a_query_what_was_measured(dumbbell: Cluster) -> None:
    Link.objects.filter(source__name="s", target__name="t").update(bandwidth=0.4321 * C)
    selection, query = network_status.network_status("grid"), network_status.network_status("grid", in_steps=False)
    assert selection is not None
    assert query is not None
    assert (_middle(selection.topology).bandwidth, _middle(query.topology).bandwidth) == (43e6, 43.21e6)
    assert _middle(selection.topology).measured_at == pytest.approx(time.time() - 30, abs=20)


def _middle(topology: core.Topology) -> core.Link:
    return next(link for link in topology.links if {link.source, link.target} == {"s", "t"})


def test_the_logical_topology_collapses_the_switches_between_two_nodes(client_as: Any, dumbbell: Cluster) -> None:
    answer = client_as("manager").get("/api/network/logical?nodes=a,c").json()
    (link,) = answer["links"]
    assert (link["through"], link["bandwidth"], link["capacity"]) == (["s", "t"], C / 2, C)
    assert [part["bandwidth"] for part in link["made_of"]] == [C, C / 2, C]
    assert answer["left_out"] == {"network_nodes": 0, "compute_nodes": 2, "links": 2}
    document = {name: answer[name] for name in ("directed", "graph", "nodes", "links")}
    assert len(core.parse(document).links) == 1


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({}, "flows", "flows is empty; accepted is"),
        ({"flows": []}, "flows", "flows"),
        ({"flows": [{"source": "a", "target": "zz"}]}, "flows[0].target", "accepted is the name of a compute node"),
        ({"flows": [{"source": "a", "target": "b", "demand": -1}]}, "flows[0].demand", "is -1.0; accepted is a number"),
        ({"flows": [{"source": "a", "target": "b"}], "window": "soon"}, "window", "accepted is a time such as"),
        ({"flows": [{"source": "a", "target": "b"}], "window": "1h", "forecast": True}, "forecast", "either window or"),
    ],
)
def test_a_bad_question_is_refused_in_one_sentence(
    client_as: Any, dumbbell: Cluster, body: Any, field: str, words: str
) -> None:
    answer = client_as("user").post("/api/network/flows", body, content_type=JSON)
    assert answer.status_code == 400
    assert words in str(answer.json()[field])


@pytest.mark.parametrize(
    ("asked", "words"), [("nodes=a,zz", "'zz'"), ("nodes=n[1-", "host list"), ("", "nodes is empty")]
)
def test_nodes_that_are_not_there_are_named(client_as: Any, dumbbell: Cluster, asked: str, words: str) -> None:
    answer = client_as("user").get(f"/api/network/logical?{asked}")
    assert answer.status_code == 400
    assert words in str(answer.json())


def test_a_cluster_that_was_never_reached_says_so(client_as: Any, db: None) -> None:
    answer = ask(client_as("user"), "a>b")
    assert answer.status_code == 404
    assert "grid" in answer.json()["detail"]


@pytest.mark.parametrize("seconds", [0, -1, 1e12, float("nan")])
def test_a_window_has_a_length_that_can_be(seconds: float) -> None:
    with pytest.raises(InputError, match="window is"):
        window(seconds)


def test_a_forecast_tells_its_error_and_now_has_it_around_what_was_measured(dumbbell: Cluster) -> None:
    now = time.time()
    for step in range(40):
        rate = 40e6 + (10e6 if step % 2 else -10e6)
        readings.record_readings("grid", "probes", [Sample("a>c", "bandwidth", now - 10 * (40 - step), rate)])
    (ahead,) = remos_queries.flows("grid", [Flow("a", "c")], when=FORECAST)["flows"]
    assert ahead["origins"] == ["forecast"]
    assert ahead["low"] < ahead["bandwidth"] < ahead["high"]
    assert 25e6 < ahead["bandwidth"] < 55e6
    (there,) = remos_queries.flows("grid", [Flow("a", "c")])["flows"]
    assert there["bandwidth"] == C / 2
    assert there["low"] < C / 2 < there["high"]


def test_a_forecast_over_the_next_minutes_is_of_the_mean_over_such_times(dumbbell: Cluster, client_as: Any) -> None:
    now = time.time()
    for step in range(360):  # a minute low, a minute high: over the next two the mean is sure, the next figure is not
        rate = 20e6 if step // 6 % 2 else 60e6
        readings.record_readings("grid", "probes", [Sample("a>c", "bandwidth", now - 10 * (360 - step), rate)])
    answer = ask(client_as("user"), "a>c", ahead="2m").json()
    assert answer["when"] == {"kind": "forecast", "seconds": 120}
    assert answer["warning"] == ""
    (ahead,) = answer["flows"]
    assert ahead["bandwidth"] == pytest.approx(40e6, rel=0.1)
    assert ahead["high"] - ahead["low"] < 8e6
    (following,) = remos_queries.flows("grid", [Flow("a", "c")], when=FORECAST)["flows"]
    assert abs(following["bandwidth"] - 40e6) > 10e6
    assert "either window or forecast" in str(ask(client_as("user"), "a>c", ahead="2m", window="1h").json())


def test_what_has_little_history_is_forecast_by_its_next_figure(dumbbell: Cluster) -> None:
    now = time.time()
    for step in range(5):
        readings.record_readings("grid", "probes", [Sample("a>c", "bandwidth", now - 10 * (5 - step), 30e6)])
    (ahead,) = remos_queries.flows("grid", [Flow("a", "c")], when=parse_forecast_over("1h"))["flows"]
    assert ahead["bandwidth"] == pytest.approx(30e6)
    assert ahead["origins"] == ["forecast"]


def test_a_time_ahead_that_the_history_is_too_short_for_is_told(dumbbell: Cluster, client_as: Any) -> None:
    now = time.time()
    for age in range(300, 0, -10):
        readings.record_readings("grid", "probes", [Sample("a>c", "bandwidth", now - age, 30e6)])
    told = "A forecast of the mean over the next 7 d needs 56 d of history, and only 4 min 50 s of it is kept."
    Cluster.objects.update(warning="Nothing is shaped.")
    assert ask(client_as("user"), "a>c", ahead="7d").json()["warning"].startswith(f"Nothing is shaped. {told}")
    assert remos_queries.logical("grid", ["a", "c"], when=parse_forecast_over("7d"))["warning"].startswith(
        f"Nothing is shaped. {told}"
    )
    assert ask(client_as("user"), "a>c", ahead="30s").json()["warning"] == "Nothing is shaped."
    assert ask(client_as("user"), "a>c", forecast=True).json()["warning"] == "Nothing is shaped."
