"""Remos queries about a cluster: what flows would get there, and the part of it that matters for a set of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from gridportal.network.flows import Flow, flow_query
from gridportal.network.logical import logical_topology
from gridportal.network.topology import Topology
from monitoring.clusters.selectors import default_cluster, never_reached, setting
from monitoring.status.core import remos
from monitoring.status.selectors.network_status import NetworkStatus, network_status
from monitoring.telemetry.core.figures import NOW, When

#: As many flows as are answered in one question.
MOST_FLOWS = 10_000
MOST_NODES = 512


def flows(cluster: str | None, asked: Sequence[Flow], *, when: When = NOW, half_duplex: bool = False) -> dict[str, Any]:
    """The answer to a flow query, as monitoring.status.core.remos.flows_document has it. `cluster`: None is the first.

    Raises InputError for a flow, node or cluster that is not there, BackendError while nothing is known of it.
    """
    status = _status(cluster, when)
    rates = flow_query(status.topology, asked, half_duplex=half_duplex, latencies=status.latencies)
    return remos.flows_document(rates, timezone.now().timestamp(), _about(status))


def logical(cluster: str | None, nodes: Sequence[str], *, when: When = NOW) -> dict[str, object]:
    """The logical topology of `nodes`, as status.core.remos.logical_document has it. Raises as `flows` does."""
    status = _status(cluster, when)
    found = logical_topology(status.topology, nodes)
    return remos.logical_document(found, timezone.now().timestamp(), _about(status))


def network_of(cluster: str | None, *, when: When = NOW) -> tuple[str, Topology]:
    """A cluster's name, and its network with its figures of that moment. Raises as `flows` does."""
    status = _status(cluster, when)
    return status.cluster.name, status.topology


def _status(cluster: str | None, when: When) -> NetworkStatus:
    name = setting(cluster or default_cluster()).name
    found = network_status(name, when=when, in_steps=False)
    if found is None:
        raise never_reached(name)
    return found


def _about(status: NetworkStatus) -> dict[str, object]:
    return {
        "cluster": status.cluster.name,
        "topology": status.topology.name,
        "when": {"kind": status.when.kind, "seconds": status.when.seconds},
        "warning": status.warning,
    }
