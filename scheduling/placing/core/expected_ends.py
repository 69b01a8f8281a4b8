"""When jobs that run are expected to end, and what says so: the start of those that wait follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class EndSource(StrEnum):
    """What an expected end comes from, the best first. CLUSTER: the cluster's own word; FIRST_REPORTS: a contract that
    was made of the run's own first reports."""

    CLUSTER = "cluster"
    CONTRACT = "contract"
    TRIAL = "trial"
    RUNS = "runs"
    FIRST_REPORTS = "first-reports"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class ExpectedEnd:
    """When a job that runs is expected to end, and by what."""

    at: datetime
    by: EndSource


#: The expected ends of jobs by their numbers; those of which nobody knows are left out.
EndsOf = Callable[[Iterable[int]], Mapping[int, ExpectedEnd]]


def last_end(nodes: Iterable[str], free_at: Mapping[str, ExpectedEnd | None]) -> ExpectedEnd | None:
    """When the last of some nodes is free, and by what; None where all are free, and where nobody knows of one."""
    ends = [free_at[node] for node in nodes if node in free_at]
    known = [end for end in ends if end is not None]
    return max(known, key=lambda end: end.at) if known and len(known) == len(ends) else None
