"""Reading reports at set times."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from gridportal.accounts.models import User
from scheduling.reports.models import ReportSchedule


def schedules_of(person: User) -> QuerySet[ReportSchedule]:
    """All for who may change them, else those that a person gets or owns."""
    rows = ReportSchedule.objects.select_related("owner").prefetch_related("people")
    if person.has_perm("scheduling.schedule_reports"):
        return rows
    return rows.filter(Q(people=person.pk) | Q(owner=person.pk)).distinct()
