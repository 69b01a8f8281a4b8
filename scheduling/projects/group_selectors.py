"""Reading what groups of people have to do with projects, jobs and applications."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import Group
from django.db.models import Count, Q

from scheduling.jobs.ownership_models import ApplicationShare
from scheduling.jobs.project_models import Project
from scheduling.jobs.share_models import JobShare


@dataclass(frozen=True, slots=True)
class ProjectPart:
    """A project on which members of a group work: how many of the group, and how many people in all."""

    project: Project
    inside: int
    people: int


def projects_of_group(group: Group) -> list[ProjectPart]:
    """By name."""
    rows = Project.objects.filter(members__groups=group).distinct().order_by("name")
    inside = Count("members", filter=Q(members__groups=group), distinct=True)
    counted = Project.objects.filter(pk__in=rows.values("pk")).annotate(
        inside=inside, people=Count("members", distinct=True)
    )
    return [ProjectPart(row, row.inside, row.people) for row in counted.order_by("name")]


def shares_of_group(group: Group) -> tuple[int, int]:
    """How many jobs and how many applications are shared with a group."""
    return JobShare.objects.filter(group=group).count(), ApplicationShare.objects.filter(group=group).count()
