"""Reading what is known of the clusters: rows for pages, the network as a value, live values and histories."""

from __future__ import annotations

from monitoring.selectors.clusters import (
    cluster,
    compute_labels,
    compute_names,
    compute_states,
    configured,
    default_cluster,
    links,
    nodes,
    offers,
    offers_and_size,
    peak_bandwidth,
    setting,
)
from monitoring.selectors.network import NetworkStatus, network_status
from monitoring.selectors.telemetry import agents_heard, forecast, history, live, recorded, sources

__all__ = [
    "NetworkStatus",
    "agents_heard",
    "cluster",
    "compute_labels",
    "compute_names",
    "compute_states",
    "configured",
    "default_cluster",
    "forecast",
    "history",
    "links",
    "live",
    "network_status",
    "nodes",
    "offers",
    "offers_and_size",
    "peak_bandwidth",
    "recorded",
    "setting",
    "sources",
]
