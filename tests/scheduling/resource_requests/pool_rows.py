"""A cluster's nodes as rows, for requests to be matched with."""

from __future__ import annotations

from django.utils import timezone

from monitoring.clusters.models import Cluster, Link, Node


def keep_pool(name: str = "grid") -> Cluster:
    """n1 to n4, at 1, 0.9, 0.5 and 0.4 of a processor; n1 and n2 stand in utk, all are joined by 100 Mbit/s."""
    cluster = Cluster.objects.create(name=name, topology="four", mode="root", measured_at=timezone.now())
    nodes = [
        Node.objects.create(
            cluster=cluster,
            name=f"n{place + 1}",
            position=place,
            cpu=cpu,
            labels={"site": "utk" if place < 2 else "uiuc", "mem_gb": "16"},
            facts={"memory": 2**40, "cpus": 4},
        )
        for place, cpu in enumerate((1.0, 0.9, 0.5, 0.4))
    ]
    for source in nodes:
        for target in nodes:
            if source.position < target.position:
                Link.objects.create(cluster=cluster, source=source, target=target, capacity=1e8, bandwidth=8e7)
    return cluster


#: Two nodes of utk with a free processor each.
TWO = '[ Type = "Set"; requirements = other.site == "utk" && other.cpu >= 0.8 && SetSize == 2; rank = Min(other.cpu) ]'
#: Three of them: there are two.
THREE = TWO.replace("SetSize == 2", "SetSize == 3")
