"""What counters say of links: newer ones replace older ones, probes hold for a while, and links are read as values."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from monitoring.clusters.models import Cluster, Link, Node
from monitoring.history.core.samples import Sample
from monitoring.telemetry.services.last_figures import write_counters

pytestmark = pytest.mark.django_db


@pytest.fixture
def star(db: None) -> Cluster:
    """Two nodes at a switch."""
    cluster = Cluster.objects.create(name="grid", topology="star")
    switch = Node.objects.create(cluster=cluster, name="s", kind="network")
    for name in ("a", "b"):
        node = Node.objects.create(cluster=cluster, name=name)
        Link.objects.create(cluster=cluster, source=node, target=switch, capacity=1e8, latency=0.001)
    return cluster


def count(cluster: Cluster, used: float, seconds_ago: float = 0.0) -> None:
    at = timezone.now().timestamp() - seconds_ago
    with transaction.atomic():
        write_counters(cluster, [Sample("a:eth0", "tx", at, used), Sample("a:eth0", "rx", at, 0.0)])


def test_counters_say_what_is_left_of_a_link(star: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*args: Any, **options: Any) -> None:
        raise AssertionError("a link was read as a model")

    before = star.figures_key
    with monkeypatch.context() as patch:
        patch.setattr(Link, "from_db", refused)
        count(star, 3e7)
    row = Link.objects.get(source__name="a")
    assert (row.bandwidth, row.origin, row.latency) == (7e7, "counter", 0.001)
    assert Link.objects.get(source__name="b").bandwidth is None
    assert Cluster.objects.get().figures_key != before
    count(star, 6e7, seconds_ago=60)
    assert Link.objects.get(source__name="a").bandwidth == 7e7, "an older one"


def test_a_probe_holds_for_a_while(star: Cluster) -> None:
    link = Link.objects.filter(source__name="a")
    link.update(bandwidth=2e7, origin="probe", measured_at=timezone.now() - timedelta(seconds=1))
    count(star, 3e7)
    assert link.get().bandwidth == 2e7
    link.update(measured_at=timezone.now() - timedelta(days=1))
    count(star, 3e7)
    assert link.get().bandwidth == 7e7
