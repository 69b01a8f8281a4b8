"""Where a job runs and where it would go, on the map of its cluster."""

from __future__ import annotations

from typing import Any

from monitoring.clusters import selectors as clusters
from monitoring.status.charts import network_map
from monitoring.status.charts.network_map import Marked, MarkedGroup, Spot, Wire
from monitoring.status.selectors.picture import picture
from scheduling.jobs.core.candidates import CandidateGroup, RankPair
from scheduling.profiles.charts.picture import Peaks, path_peak
from scheduling.rescheduling.models import MoveDecision

#: Of larger clusters the page of the topology has the map.
MOST_NODES = 120
#: So many pairs of each node set are drawn, the slowest.
_MOST_PAIRS = 60


def marked(decision: MoveDecision) -> Marked:
    """Both node sets as the map marks them: filled where it runs, rings where it would go."""
    peaks = clusters.peaks(decision.cluster)
    there = decision.group_there
    ends = frozenset(there.bottleneck.ends) if there.bottleneck else frozenset[str]()
    return Marked(_group(decision.group_now, peaks), ends, _group(there, peaks))


def figure(decision: MoveDecision) -> dict[str, Any] | None:
    """The map as it is now with both node sets; None of a cluster without a network, or too large to draw here."""
    cluster = clusters.cluster(decision.cluster)
    if cluster is None or not cluster.traits.has_network or not decision.nodes:
        return None
    shown = picture(cluster)
    if not 0 < len(shown.nodes) <= MOST_NODES:
        return None
    both = marked(decision)
    lines = network_map.drawn(network_map.wires(shown.links), cluster.kind, both)
    spots = [Spot(node.name, node.kind, node.cpu) for node in shown.nodes]
    at = network_map.places(cluster.kind, spots, lines)
    return network_map.figure(spots, lines, at, both)


def _group(group: CandidateGroup, peaks: Peaks) -> MarkedGroup:
    between = [edge for edge in group.edges if edge.source != edge.target]
    slowest = sorted(between, key=lambda edge: edge.bandwidth or 0.0)[:_MOST_PAIRS]
    return MarkedGroup(group.nodes, tuple(_wire(edge, peaks) for edge in slowest))


def _wire(edge: RankPair, peaks: Peaks) -> Wire:
    return Wire(edge.source, edge.target, path_peak(edge, peaks) or 1.0, edge.bandwidth)
