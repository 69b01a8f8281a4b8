"""What is known of a cluster's nodes beside the network, for their ads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from monitoring.clusters import selectors as clusters
from scheduling.matching.core.resource_ads import NodeFacts
from scheduling.placing.selectors.rooms import held


def node_facts(cluster: str) -> dict[str, NodeFacts]:
    """Of every compute node what its cluster says, and how many of the portal's jobs are on it."""
    return with_jobs(stated_facts(cluster), job_counts(cluster))


def stated_facts(cluster: str) -> dict[str, NodeFacts]:
    """What the cluster says of each node."""
    return {
        node.name: NodeFacts(
            cpus=node.facts.get("cpus"),
            memory=node.facts.get("memory"),
            partitions=tuple(node.facts.get("partitions", ())),
            features=tuple(node.facts.get("features", ())),
            gres=str(node.facts.get("gres") or ""),
            closed=bool(node.closed),
            busy=node.busy,
        )
        for node in clusters.compute_states(cluster)
    }


def job_counts(cluster: str) -> Counter[str]:
    """How many jobs are on each node."""
    return Counter(node for _, nodes, _ in held(cluster) for node in nodes)


def with_jobs(stated: Mapping[str, NodeFacts], jobs: Counter[str]) -> dict[str, NodeFacts]:
    """Both together."""
    return {name: replace(facts, jobs=jobs[name]) for name, facts in stated.items()}
