"""Which nodes a job cannot have because they are worked on while it may run."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from gridportal.base.moment_text import moment_text


@dataclass(frozen=True, slots=True)
class PlannedTime:
    """From `start` up to `end`, without the end. `nodes`: which are worked on; empty: all of the cluster."""

    start: datetime
    end: datetime
    nodes: frozenset[str]
    why: str

    def shares_nodes(self, other: PlannedTime) -> bool:
        """Whether both are about a node."""
        return not self.nodes or not other.nodes or not self.nodes.isdisjoint(other.nodes)

    def reaches(self, now: datetime, seconds: float | None) -> bool:
        """Whether a job that starts now and may take so many seconds (None: for ever) could run into it."""
        return now < self.end and (seconds is None or now + timedelta(seconds=seconds) > self.start)


def kept_nodes(
    planned: Iterable[PlannedTime], nodes: Collection[str], now: datetime, seconds: float | None
) -> dict[str, str]:
    """The nodes of `nodes` that a job which starts now may not have, each with the sentence. O(planned * nodes).

    >>> from datetime import UTC
    >>> noon = datetime(2030, 5, 3, 12, tzinfo=UTC)
    >>> disks = PlannedTime(noon, noon + timedelta(hours=3), frozenset({"n1"}), "new disks")
    >>> kept_nodes([disks], ["n1", "n2"], noon - timedelta(hours=1), 3600)
    {}
    >>> kept_nodes([disks], ["n1", "n2"], noon - timedelta(hours=1), 3601)["n1"]
    'It is maintained from 12:00 UTC on 3 May to 15:00 UTC on 3 May (new disks); only a job that ends before can start.'
    """
    found: dict[str, str] = {}
    for each in planned:
        if each.reaches(now, seconds):
            sentence = _sentence(each, now, limited=seconds is not None)
            found |= {node: sentence for node in nodes if not each.nodes or node in each.nodes}
    return found


def _sentence(planned: PlannedTime, now: datetime, *, limited: bool) -> str:
    why = f" ({planned.why})" if planned.why else ""
    if planned.start <= now:
        return f"It is maintained until {moment_text(planned.end, now)}{why}."
    times = f"from {moment_text(planned.start, now)} to {moment_text(planned.end, now)}"
    ends = "only a job that ends before can start"
    if limited:
        return f"It is maintained {times}{why}; {ends}."
    return f"It is maintained {times}{why}; {ends}, and this one has no time limit: give it one that ends before."
