"""Which jobs a job starts after, and which start after it, as far as a person may see them."""

from __future__ import annotations

from dataclasses import dataclass

from gridportal.accounts.models import User
from scheduling.jobs.dependency_models import JobDependency
from scheduling.jobs.models import Job
from scheduling.jobs.selectors import viewable_jobs

#: So many that start after it are shown.
MOST = 20


@dataclass(frozen=True, slots=True)
class OtherJob:
    """A job before or after this one. job: None where the person may not see its page; its state is empty then."""

    number: int
    state: str
    only_ok: bool
    job: Job | None


@dataclass(frozen=True, slots=True)
class JobOrder:
    """before: what it starts after; after: those that start after it, which are so many that the person may see."""

    before: list[OtherJob]
    after: list[OtherJob]
    more: int

    def __bool__(self) -> bool:
        return bool(self.before or self.after)


def order_of(job: Job, user: User) -> JobOrder:
    """The jobs before and after; of those after it only those that the person may see."""
    visible = viewable_jobs(user).select_related("application")
    links = list(job.dependencies.select_related("on"))
    shown = visible.in_bulk([link.on_id for link in links]) if links else {}
    before = [
        OtherJob(link.on_id, link.on.state if link.on_id in shown else "", link.only_ok, shown.get(link.on_id))
        for link in links
    ]
    followers = JobDependency.objects.filter(on=job, job__in=visible.order_by().values("pk")).order_by("job_id")
    rows = list(followers.select_related("job__application")[: MOST + 1])
    more = followers.count() - MOST if len(rows) > MOST else 0
    after = [OtherJob(link.job_id, link.job.state, link.only_ok, link.job) for link in rows[:MOST]]
    return JobOrder(before, after, more)
