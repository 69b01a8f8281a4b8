"""How long a running job still takes, as far as anybody can say, and when its time limit would end it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduling.contracts.models import Contract
from scheduling.contracts.selectors.run_ends import rest_of_run
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.placing.core.expected_ends import EndSource
from scheduling.runs.selectors import run_starts

#: Seconds left up to which they are told in steps of so many: a figure that changes with every report says no more.
_STEPS = ((120.0, 5), (1200.0, 30), (10800.0, 300))
_LONGEST_STEP = 1800
#: From so many seconds on a report is told to be late: agents and the portal take a few themselves.
_LATE = 15.0


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """seconds: still to run, below 0 where it takes longer than that, None where nobody knows. by: what says so, None
    with it. ends_at: when its time limit ends it, None without one. late: for how many seconds its next report should
    have come: so long the time left stands still. limit_in: seconds until its time limit."""

    seconds: float | None
    by: EndSource | None
    ends_at: datetime | None
    late: float = 0.0
    limit_in: float | None = None

    @property
    def is_cut_short(self) -> bool:
        """Whether its time limit comes before its work is done.

        >>> [TimeLeft(1200.0, None, None, limit_in=each).is_cut_short for each in (135.0, 1300.0, None)]
        [True, False, False]
        """
        return self.limit_in is not None and self.seconds is not None and self.limit_in < self.seconds

    @property
    def waits(self) -> bool:
        """Whether its next report is late by so much that this is told."""
        return self.late >= _LATE

    @property
    def is_late(self) -> bool:
        """Whether it takes longer than it should."""
        return self.seconds is not None and self.seconds < 0

    @property
    def is_refined(self) -> bool:
        """Whether each report of its phases changes it."""
        return self.by in (EndSource.CONTRACT, EndSource.FIRST_REPORTS)

    @property
    def about(self) -> int:
        """The seconds as they are told, in steps that grow with them.

        >>> [TimeLeft(seconds, None, None).about for seconds in (3.2, 61.0, 500.0, 7000.0)]
        [5, 60, 510, 6900]
        """
        seconds = self.seconds or 0.0
        step = next((step for most, step in _STEPS if seconds <= most), _LONGEST_STEP)
        return max(step, round(seconds / step) * step)


def time_left(job: Job, contract: Contract | None, now: datetime) -> TimeLeft | None:
    """None for a job that does not run, and where nothing at all is known. `contract`: of its newest run."""
    if job.state != JobState.RUNNING or job.started_at is None:
        return None
    began = run_starts([job.pk]).get(job.pk) if job.time_limit else None
    ends_at = began + timedelta(seconds=job.time_limit or 0) if began else None
    rest = rest_of_run(job, contract, now)
    if rest is None:
        return TimeLeft(None, None, ends_at) if ends_at else None
    limit_in = max(0.0, (ends_at - now).total_seconds()) if ends_at else None
    return TimeLeft(rest.seconds, rest.by, ends_at, rest.late, limit_in)
