"""A placement on the map of its cluster: nodes, the pairs that talk by what they get, another candidate beside it."""

from __future__ import annotations

from monitoring.clusters import selectors
from monitoring.status.charts.network_map import Marked, MarkedGroup, Wire
from scheduling.jobs.core.candidates import CandidateGroup, RankPair
from scheduling.placing.models import Placement
from scheduling.profiles.charts.picture import Peaks, path_peak

#: So many pairs of a group are drawn, the slowest.
MOST_PAIRS = 120


def beside(placement: Placement | None, number: str) -> int | None:
    """Which candidate group an address asks for beside the chosen one, counted from 2; None for none that there is."""
    if placement is None or not (number.isascii() and number.isdigit() and len(number) < 4):
        return None
    return int(number) if 2 <= int(number) <= len(placement.candidates) else None


def marked(placement: Placement | None, beside: int | None, cluster: str) -> Marked:
    """What is drawn of it; nothing of a job without one."""
    if placement is None:
        return Marked()
    worst, peaks = placement.bottleneck, selectors.peaks(cluster)
    chosen = placement.candidates[0] if placement.candidates else CandidateGroup(tuple(placement.nodes))
    other = placement.candidates[beside - 1] if beside else None
    ends = frozenset(worst.ends) if worst else frozenset[str]()
    return Marked(_group(chosen, peaks), ends, _group(other, peaks) if other else MarkedGroup())


def _group(group: CandidateGroup, peaks: Peaks) -> MarkedGroup:
    between = [edge for edge in group.edges if edge.source != edge.target]
    slowest = sorted(between, key=lambda edge: edge.bandwidth or 0.0)[:MOST_PAIRS]
    return MarkedGroup(group.nodes, tuple(_wire(edge, peaks) for edge in slowest))


def _wire(edge: RankPair, peaks: Peaks) -> Wire:
    return Wire(edge.source, edge.target, path_peak(edge, peaks) or 1.0, edge.bandwidth)
