"""What jobs used in each hour, or each few minutes, of a time that is too short for days. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from scheduling.usage.core.use_parts import JobUse

_MICROSECOND = timedelta(microseconds=1)
_HOUR = timedelta(hours=1)
#: Up to so long a time is shown in steps of five minutes, a longer one in hours.
_SHORT = timedelta(hours=3)


def step_of(length: timedelta) -> timedelta:
    """How long a step of a time of this length is.

    >>> step_of(timedelta(hours=1)) == timedelta(minutes=5), step_of(timedelta(days=1)) == timedelta(hours=1)
    (True, True)
    """
    return timedelta(minutes=5) if length <= _SHORT else _HOUR


def steps(begin: datetime, until: datetime, step: timedelta) -> list[datetime]:
    """When each step begins: whole ones, of which the first and the last may reach beyond the time."""
    past = (begin - begin.replace(hour=0, minute=0, second=0, microsecond=0)) % step
    first = begin - past
    return [first + step * at for at in range(max(1, -(-(until - first) // step)))]


def node_time_by_step(jobs: Iterable[JobUse], begin: datetime, until: datetime, step: timedelta) -> list[int]:
    """Node microseconds between `begin` and `until` in each of `steps`. Cost: runs times their steps."""
    starts = steps(begin, until, step)
    sums = [0] * len(starts)
    for run in (run for job in jobs for run in job.runs):
        began, ended = max(run.began, begin), min(run.ended, until)
        if began < ended:
            for at in range((began - starts[0]) // step, len(starts)):
                lasted = min(ended, starts[at] + step) - max(began, starts[at])
                if lasted <= timedelta():
                    break
                sums[at] += lasted // _MICROSECOND * run.node_count
    return sums
