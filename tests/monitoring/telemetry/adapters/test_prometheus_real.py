"""The source against a real Prometheus that scrapes a real node_exporter."""

from __future__ import annotations

import os
import time

import pytest

from gridportal.base.errors import BackendError
from gridportal.base.prometheus_setting import QUERIES, Prometheus
from monitoring.telemetry.adapters.prometheus import PrometheusSource
from monitoring.telemetry.adapters.prometheus_api import Api
from tests.prometheus_server import AUTHORIZATION, prometheus

pytestmark = pytest.mark.prometheus


@pytest.fixture(scope="module")
def watched():
    with prometheus() as found:
        yield found


def source(watched, **changed):
    about = {"url": watched.url, "nodes": {watched.target: "n1"}, "window": 5, "step": 1} | changed.pop("setting", {})
    return PrometheusSource("prometheus", Prometheus.model_validate(about), **changed)


def collected(made, wanted, seconds=20.0):
    """What the source brings once rates have two scrapes."""
    until = time.monotonic() + seconds
    while True:
        found = made.collect(time.time())
        if wanted <= {sample.metric for sample in found.samples} or time.monotonic() > until:
            return found
        time.sleep(0.3)


def test_the_default_questions_bring_what_the_machine_itself_says(watched):
    interfaces = os.listdir("/sys/class/net") != ["lo"]
    asked = set(QUERIES) if interfaces else set(QUERIES) - {"tx", "rx"}
    found = collected(source(watched), asked - {"disk_free"})
    values = {(sample.subject, sample.metric): sample.value for sample in found.samples}
    with open("/proc/meminfo", encoding="ascii") as file:
        total = int(file.readline().split()[1]) * 1024
    assert values["n1", "memory_total"] == total
    assert 0 < values["n1", "memory_free"] <= total
    assert values["n1", "cpu"] == pytest.approx(1 / (1 + values["n1", "load"]))
    assert asked - {"disk_free"} <= {metric for _, metric in values}
    assert (values["n1", "gpu"], values["n1:mlx5_0", "ib_tx"], values["n1:mlx5_0", "ib_rx"]) == (0.5, 0, 0)
    assert all(subject == "n1" or subject.startswith("n1:") for subject, _ in values)
    assert found.cost_bytes > 0
    assert 0 <= found.lag < 10


def test_values_have_the_time_of_the_scrape_so_asking_twice_brings_the_same(watched):
    collected(source(watched), {"load"})
    for _ in range(10):
        once, again = source(watched).collect(time.time()), source(watched).collect(time.time())
        if set(once.samples) & set(again.samples):
            break
    same = {(sample.subject, sample.metric, sample.at) for sample in again.samples}
    assert same & {(sample.subject, sample.metric, sample.at) for sample in once.samples}
    assert all(abs(sample.at - time.time()) < 30 for sample in again.samples)


def test_after_a_gap_the_missed_values_come_at_whole_steps_and_only_once(watched):
    begun = time.time()
    collected(source(watched), {"tx"} if os.listdir("/sys/class/net") != ["lo"] else {"load"})
    while time.time() < begun + 6:
        time.sleep(0.2)
    found = source(watched, since=begun).collect(time.time())
    missed = {sample.at for sample in found.samples if sample.metric == "load" and sample.at == int(sample.at)}
    assert len(missed) >= 3
    assert min(missed) >= begun
    again = source(watched, since=begun).collect(time.time())
    assert {s for s in found.samples if s.at in missed} <= set(again.samples)
    recent = source(watched, since=time.time() - 1).collect(time.time())
    assert {sample.at for sample in recent.samples if sample.metric == "load"}.isdisjoint(missed)


def test_machines_that_are_not_of_the_cluster_are_left_out_and_that_is_said(watched):
    with pytest.raises(BackendError, match=r"tells nothing about the nodes.*one of n7"):
        source(watched, nodes=frozenset({"n7"})).collect(time.time())


def test_a_question_that_is_no_promql_is_refused_with_prometheus_words(watched):
    with pytest.raises(BackendError, match=r"refused 'rate\('.*parse error"):
        source(watched, setting={"queries": {"tx": "rate("}}).collect(time.time())


def test_a_value_that_is_not_a_number_is_no_value(watched):
    api = Api(watched.url)
    assert [each.points for each in api.now("vector(0/0)")] == [[]]
    assert [each.points for each in api.now("vector(1/0)")] == [[]]
    api.close()


def test_a_password_is_sent_from_the_setting_and_its_lack_is_said():
    with prometheus(password=True) as watched:
        assert collected(source(watched, authorization=AUTHORIZATION), {"load"}).samples
        with pytest.raises(BackendError, match=r"another header Authorization \(401\)"):
            source(watched).collect(time.time())
