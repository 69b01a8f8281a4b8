"""Whether the portal takes in more jobs now: one that takes in more than it can place serves nobody any faster.

Two bounds, each a setting: jobs that no worker has looked at yet, and jobs that wait for nodes. The first is reached
when submissions come faster than workers place them, or when there are no workers. The second is far away: on a full
cluster many jobs wait, and that is no reason to refuse one. See docs/decisions/admission.md.
"""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import QuerySet

from gridportal.base.errors import SubmissionBusyError
from scheduling.jobs.core.states import JobState
from scheduling.jobs.models import Job
from scheduling.placing.services.retry_pace import RetryPace

#: For how many seconds a count is good enough.
_NEW_FOR, _WAITING_FOR = 0.25, 5.0


def check_admission(jobs: int = 1) -> None:
    """Raises SubmissionBusyError, with the seconds after which to come again, while so many more are beyond a bound."""
    _door.check(time.monotonic(), jobs)


def note_accepted() -> None:
    """One more job was taken in."""
    _door.note_accepted(time.monotonic())


def refuse(why: str) -> SubmissionBusyError:
    """The error for a submission that is refused now, with the sentence and the seconds."""
    return _door.refusal(why, time.monotonic())


def reset() -> None:
    """Forget all counts."""
    global _door
    _door = _Door()


@dataclass
class _Count:
    """How many jobs are in a state: counted now and then, and no further than matters."""

    state: JobState
    good_for: float
    number: int = 0
    at: float = float("-inf")

    def read(self, most: int, now: float) -> int:
        """At most `most`."""
        if now - self.at > self.good_for:
            self.number, self.at = _jobs(self.state)[:most].count(), now
        return self.number


@dataclass
class _Door:
    """What one process of the web server knows."""

    new: _Count = field(default_factory=lambda: _Count(JobState.QUEUED, _NEW_FOR))
    waiting: _Count = field(default_factory=lambda: _Count(JobState.WAITING, _WAITING_FOR))
    pace: RetryPace = field(default_factory=RetryPace)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self, now: float, jobs: int = 1) -> None:
        if why := self._why(now, jobs):
            raise self.refusal(why, now)

    def note_accepted(self, now: float) -> None:
        with self.lock:
            self.new.number += 1
            self.pace.note(refused=False, now=now)

    def refusal(self, why: str, now: float) -> SubmissionBusyError:
        with self.lock:
            seconds = self.pace.note(refused=True, now=now)
        after = round(seconds * random.uniform(1.0, 1.5))  # noqa: S311 - so that not all come again at once
        return SubmissionBusyError(f"{why}; send this again in {after} seconds.", after)

    def _why(self, now: float, jobs: int) -> str:
        most_new, most_waiting = settings.PORTAL.most_new_jobs, settings.PORTAL.most_waiting_jobs
        with self.lock:
            new, waiting = self.new.read(most_new, now), self.waiting.read(most_waiting, now)
        if new and new + jobs > most_new:  # where none is new, more of them at once are taken than the bound says
            return f"{most_new} new jobs are still to be looked at by a worker, which is as many as the portal takes"
        if waiting and waiting + jobs > most_waiting:
            return f"{most_waiting} jobs wait for nodes, which is as many as the portal takes"
        return ""


_door = _Door()


def _jobs(state: JobState) -> QuerySet[Job]:
    return Job.objects.filter(state=state).order_by()
