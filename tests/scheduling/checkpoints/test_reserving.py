"""What a move's nodes are judged by: the figures of the nodes that the job has, as if it had left them."""

from __future__ import annotations

import pytest

from gridportal.base.available_cpu import available_cpu
from gridportal.network.topology import Node, Topology
from monitoring.clusters.models import Cluster
from monitoring.clusters.models import Node as NodeRow
from scheduling.checkpoints.services.reserving import _without_ranks
from scheduling.placing.selectors import rooms


def test_each_rank_is_one_process_of_all_processors_of_its_node() -> None:
    load = available_cpu(12 / 16)  # 8 processes of others, and 4 ranks
    topology = Topology("one", False, "links", (Node("n1", cpu=load), Node("n2", cpu=load)), ())
    left = _without_ranks(topology, ["n1"] * 4, {"n1": 16})
    assert [node.cpu for node in left.nodes] == pytest.approx([available_cpu(8 / 16), load])


@pytest.mark.django_db
def test_processors_are_what_the_cluster_says_else_the_label() -> None:
    cluster = Cluster.objects.create(name="slurm")
    for place, (name, facts, labels) in enumerate(
        [("n1", {"cpus": 16}, {}), ("n2", {}, {"cpus": "4"}), ("n3", {}, {})]
    ):
        NodeRow.objects.create(cluster=cluster, name=name, position=place, facts=facts, labels=labels)
    assert rooms.processors("slurm") == {"n1": 16, "n2": 4}
