"""The list of sweeps: which of them an address asks for, in which order."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q, QuerySet

from gridportal.accounts.models import User
from scheduling.jobs.group_models import JobGroup
from scheduling.pages.sweep_results import groups_visible_to

#: By what the list sorts; with "-" in front downwards.
_SORTS = {
    "id": "pk",
    "name": "name",
    "application": "application__name",
    "owner": "owner__username",
    "jobs": "job_count",
    "submitted": "created_at",
}


def sweep_list(person: User, text: str, sort: str) -> QuerySet[JobGroup, Any]:
    """The sweeps that a person may see, with `text` in name, application or owner, or as the number; newest first
    unless `sort` says otherwise. Each has `job_count`."""
    rows = groups_visible_to(person).annotate(job_count=Count("jobs"))
    if text:
        named = Q(name__icontains=text) | Q(application__name__icontains=text) | Q(owner__username__icontains=text)
        rows = rows.filter(named | Q(pk=int(text)) if text.isdecimal() and len(text) < 18 else named)
    column, sign = _SORTS.get(sort.removeprefix("-"), ""), "-" if sort.startswith("-") else ""
    return rows.order_by(f"{sign}{column}", "-pk") if column else rows.order_by("-pk")
