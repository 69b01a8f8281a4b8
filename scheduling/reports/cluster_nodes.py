"""How many nodes each cluster has, also those that are known from a log alone."""

from __future__ import annotations

from collections import Counter

from scheduling.usage import ranges
from scheduling.workload_logs.models import LoggedCluster


def cluster_nodes() -> Counter[str]:
    """By the name of the cluster; one of which nobody knows it is not there."""
    logged = LoggedCluster.objects.filter(nodes__isnull=False).values_list("name", "nodes")
    return ranges.nodes_of_clusters() + Counter({name: nodes for name, nodes in logged if nodes})
