"""Reading jobs: whose a person sees."""

from __future__ import annotations

from django.db.models import QuerySet

from gridportal.accounts.models import User
from scheduling.jobs.models import Job

SEES_ALL = frozenset({"operator", "manager", "administrator"})


def jobs_of(user: User) -> QuerySet[Job]:
    """A person's own jobs, or everybody's for operators, managers and administrators; newest first."""
    return Job.objects.all() if user.role in SEES_ALL else Job.objects.filter(owner_id=user.pk)
