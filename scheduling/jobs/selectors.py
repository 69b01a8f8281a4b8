"""Reading jobs and applications: whose and which a person sees."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Q, QuerySet

from gridportal.accounts.models import User
from scheduling.jobs.core.program_start import UPLOADED
from scheduling.jobs.models import Application, Job
from scheduling.jobs.ownership_models import OwnProgram
from scheduling.jobs.project_models import Project

SEES_ALL = frozenset({"operator", "manager", "administrator"})


def jobs_of(user: User) -> QuerySet[Job]:
    """A person's own jobs, or everybody's for operators, managers and administrators; newest first."""
    return Job.objects.all() if user.role in SEES_ALL else Job.objects.filter(owner_id=user.pk)


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
