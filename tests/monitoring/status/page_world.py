"""A small network with history, for the tests of pages."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services.readings import record_readings


def build(now: datetime) -> Cluster:
    """Compute nodes a, b, c around the switch s, 100 Mbit/s each. Over the last four minutes a>b had 80, then 40
    Mbit/s, a a quarter, then a half of its processor free; a job takes a part of a."""
    cluster = Cluster.objects.create(name="grid", topology="star", kind="links", measured_at=now)
    switch = Node.objects.create(cluster=cluster, name="s", kind="network", position=9)
    for place, name in enumerate("abc"):
        node = Node.objects.create(cluster=cluster, name=name, position=place, cpu=0.5, load=1.0, measured_at=now)
        row = {"bandwidth": 40e6, "measured_at": now, "origin": "probe", "latency": 1e-4}
        Link.objects.create(cluster=cluster, source=node, target=switch, capacity=100e6, **row)
    for ago, rate, free in ((240, 80e6, 0.25), (180, 80e6, 0.25), (120, 40e6, 0.5), (60, 40e6, 0.5), (0, 40e6, 0.5)):
        at = (now - timedelta(seconds=ago)).timestamp()
        samples = [Sample("a>b", "bandwidth", at, rate), Sample("a>b", "latency", at, 2e-4)]
        record_readings("grid", "probes", samples)
        told = {"cpu": free, "load": 1.0, "load_runs": 0.75, "memory_free": 4e9, "memory_total": 8e9}
        of_node = [Sample("a", metric, at, value) for metric, value in told.items()]
        traffic = [Sample("a:eth0", "tx", at, 30e6), Sample("a:eth0", "rx", at, 5e6)]
        of_run = [Sample("a@job-1-run-1", m, at, v) for m, v in (("load", 0.75), ("tx", 20e6), ("rx", 1e6))]
        record_readings("grid", "agent", [*of_node, *traffic, *of_run])
    Link.objects.update(bandwidth=40e6, measured_at=now, origin="probe")
    return cluster
