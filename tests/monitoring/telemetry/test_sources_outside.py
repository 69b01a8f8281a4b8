"""Which sources from outside a cluster has by its settings."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from gridportal.base.clusters import Cluster as Setting
from gridportal.base.clusters import parse
from gridportal.base.errors import BackendError, InputError
from monitoring.clusters.models import Cluster, Node
from monitoring.history.selectors import series
from monitoring.telemetry import selectors
from monitoring.telemetry.adapters.prometheus import PrometheusSource
from monitoring.telemetry.models import Source
from monitoring.telemetry.services import outside, polling
from tests.prometheus_server import prometheus

pytestmark = pytest.mark.django_db


def setting(**fields):
    return Setting.model_validate({"name": "hpc", "backend": "slurm"} | fields)


def test_a_grid_below_slurm_keeps_its_loads(tmp_path):
    assert outside.slurm(setting()).loads
    assert not outside.slurm(setting(probe="grid", state_dir=tmp_path)).loads


def test_a_prometheus_is_asked_about_the_clusters_nodes_from_where_it_last_answered():
    assert outside.prometheus(setting()) is None
    cluster = Cluster.objects.create(name="hpc")
    Node.objects.create(cluster=cluster, name="n1")
    Node.objects.create(cluster=cluster, name="s1", kind="network")
    heard = datetime(2026, 1, 2, tzinfo=UTC)
    Source.objects.create(cluster=cluster, name="prometheus", kind="prometheus", last_ok=heard)
    found = outside.prometheus(setting(prometheus={"url": "http://p:9090/"}))
    assert isinstance(found, PrometheusSource)
    assert (found.nodes, found.since, found.setting.url) == ({"n1"}, heard.timestamp(), "http://p:9090")


def test_the_header_comes_from_the_environment_and_its_lack_is_said_when_asked(monkeypatch):
    about = setting(prometheus={"url": "http://p:9090", "authorization": "PROM_WORD"})
    monkeypatch.delenv("PROM_WORD", raising=False)
    with pytest.raises(BackendError, match="PROM_WORD for http://p:9090 is not set"):
        outside.prometheus(about).collect(0.0)
    monkeypatch.setenv("PROM_WORD", "Bearer abc")
    assert outside.prometheus(about).authorization == "Bearer abc"


def test_a_prometheus_that_cannot_be_is_refused_with_its_field():
    with pytest.raises(InputError, match=r"GRIDPORTAL_CLUSTERS\[0\].prometheus.url is 'ftp://p'; accepted is an addr"):
        parse('[{"name": "hpc", "backend": "slurm", "prometheus": {"url": "ftp://p"}}]')


@pytest.mark.prometheus
def test_a_poll_keeps_what_a_real_prometheus_says_while_the_grid_that_is_down_is_told(settings, tmp_path):
    with prometheus() as watched:
        about = {"url": watched.url, "nodes": {watched.target: "n1"}, "window": 5}
        both = setting(backend="grid", state_dir=tmp_path, prometheus=about)
        settings.CLUSTERS = {"hpc": both}
        assert polling.poll("hpc") > 0
    live = series.live("hpc")
    assert 0 < live["n1", "cpu"].value <= 1
    assert live["n1", "memory_free"].value <= live["n1", "memory_total"].value
    assert live["n1", "cpu"].source == "prometheus"
    told = {row.name: row for row in selectors.sources("hpc")}
    assert (told["prometheus"].error, told["prometheus"].stale, told["grid"].stale) == ("", False, True)
    assert told["prometheus"].cost_bytes > 0
    with pytest.raises(BackendError, match="did not answer"):
        outside.prometheus(both).collect(time.time())
