"""Reading jobs and applications: whose and which a person sees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Q, QuerySet
from django.utils import timezone

from gridportal.accounts.models import User
from gridportal.base.reasons import NOTHING, Code, Reason, named
from scheduling.jobs.core.dependency import Prospect, prospect
from scheduling.jobs.core.program_start import UPLOADED
from scheduling.jobs.dependency_models import JobDependency
from scheduling.jobs.models import Application, Job
from scheduling.jobs.ownership_models import OwnProgram
from scheduling.jobs.project_models import Project
from scheduling.jobs.share_models import JobShare

SEES_ALL = frozenset({"operator", "manager", "administrator"})


def jobs_of(user: User) -> QuerySet[Job]:
    """A person's own jobs, or everybody's for operators, managers and administrators; newest first."""
    return Job.objects.all() if user.role in SEES_ALL else Job.objects.filter(owner_id=user.pk)


def viewable_jobs(user: User) -> QuerySet[Job]:
    """All jobs whose page a person may open: those of `jobs_of`, and those that are shared with the person."""
    if user.role in SEES_ALL:
        return Job.objects.all()
    return Job.objects.filter(Q(owner=user.pk) | Q(pk__in=_shares_for(user).values("job")))


def jobs_shared_with(user: User) -> QuerySet[Job]:
    """The jobs of others that are shared with a person."""
    return Job.objects.filter(pk__in=_shares_for(user).values("job")).exclude(owner=user.pk)


def is_shared_with(user: User, job: Job, *, files: bool = False) -> bool:
    """Whether a person may read a job of another one, and with `files` also the files of its runs."""
    shares = _shares_for(user).filter(job=job)
    return shares.filter(with_files=True).exists() if files else shares.exists()


def _shares_for(user: User) -> QuerySet[JobShare]:
    """What is shared with a person, with a group of theirs, or by a link that the person has opened, and still is."""
    by_link = Q(visits__person=user.pk, made_by__is_active=True) & ~Q(digest="")
    mine = Q(person=user.pk) | Q(group__in=user.groups.values("pk")) | by_link
    return JobShare.objects.filter(mine).exclude(expires_at__lte=timezone.now())


def own_projects(user: User) -> QuerySet[Project]:
    """The projects that a person is a member of, to which the person's new jobs can belong."""
    return Project.objects.filter(members=user.pk).order_by("name")


def usual_project(user: User) -> Project | None:
    """The project of new jobs of a person who has one; None for nobody's, or several to choose among."""
    found = list(own_projects(user)[:2])
    return found[0] if len(found) == 1 else None


def usable_applications(user: User) -> QuerySet[Application]:
    """What a person may submit: everybody's, the own ones, and those shared with the person or a group of theirs."""
    shared = Q(shares__person=user.pk) | Q(shares__group__in=user.groups.values("pk"))
    private = Application.objects.filter(owner__isnull=False).filter(Q(owner=user.pk) | shared)
    return Application.objects.filter(Q(owner__isnull=True) | Q(pk__in=private.values("pk")))


def visible_applications(user: User) -> QuerySet[Application]:
    """What a person may look at: who sees everybody's jobs sees what they run, too."""
    return Application.objects.all() if user.role in SEES_ALL else usable_applications(user)


def without_logs(applications: QuerySet[Application], slug: str = "") -> QuerySet[Application]:
    """Those that can run; the programs of logs that were read are left out, but for the one with this short name."""
    return applications.exclude(~Q(slug=slug), command=[])


def may_use(user: User, application: Application) -> bool:
    """Whether a person may submit it."""
    if application.owner_id in (None, user.pk):
        return True
    return usable_applications(user).filter(pk=application.pk).exists()


def uploaded_programs(applications: Iterable[Application]) -> dict[int, bytes]:
    """The programs that were uploaded, by the number of their application; asks nothing where there are none."""
    keys = {each.pk for each in applications if UPLOADED in each.command}
    if not keys:
        return {}
    rows = OwnProgram.objects.filter(pk__in=keys, content__isnull=False).values_list("pk", "content")
    return {key: bytes(content) for key, content in rows if content}


class Before(NamedTuple):
    """A job that has to be over first, and in which state it is."""

    on: int
    only_ok: bool
    state: str
    is_seen: bool = True  # by the owner of the job that waits; a share may have ended

    @property
    def prospect(self) -> Prospect:
        """Whether it has come to that."""
        return prospect(self.state, only_ok=self.only_ok)

    @property
    def state_shown(self) -> str:
        """Its state for the owner of the job that waits; empty where that one may not see it any more."""
        return self.state if self.is_seen else ""


def waiting_reason(befores: Iterable[Before]) -> Reason:
    """For which jobs it waits, and in which state each of them is; none where all of them are over."""
    left = [before for before in befores if before.prospect is Prospect.OPEN]
    if not left:
        return NOTHING
    told, more = named({"job": each.on, "state": each.state_shown, "has_to_succeed": each.only_ok} for each in left)
    return Reason.of(Code.AFTER_JOBS, waits_for=told, more=more)


def befores_of(job_ids: Iterable[int]) -> dict[int, list[Before]]:
    """What each of some jobs is to start after, by its number."""
    found: dict[int, list[Before]] = {}
    rows = JobDependency.objects.filter(job__in=list(job_ids)).order_by("job_id", "on_id")
    columns = ("job_id", "on_id", "only_ok", "on__state", "job__owner_id", "on__owner_id")
    for job, on, only_ok, state, owner, other in rows.values_list(*columns):
        is_seen = owner == other or viewable_jobs(User.objects.get(pk=owner)).filter(pk=on).exists()
        found.setdefault(job, []).append(Before(on, only_ok, state, is_seen))
    return found
