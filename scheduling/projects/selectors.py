"""Reading projects: which a person sees, and what their jobs used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from django.db.models import Count, QuerySet

from gridportal.accounts.models import User
from scheduling.jobs import selectors as jobs
from scheduling.jobs.models import Job
from scheduling.jobs.project_models import Project
from scheduling.usage import period_sums
from scheduling.usage.core.use_parts import Figures, UsePart
from scheduling.usage.ranges import Range


def projects_of(person: User) -> QuerySet[Project]:
    """Those that a person is a member of; all for operators, managers and administrators. Each with its `people`."""
    seen = Project.objects.all() if person.role in jobs.SEES_ALL else jobs.own_projects(person)
    return Project.objects.filter(pk__in=seen.values("pk")).annotate(people=Count("members")).order_by("name")


def jobs_of(person: User, project: Project) -> QuerySet[Job]:
    """The jobs of a project that a person may see, newest first."""
    return jobs.jobs_of(person).filter(project=project).select_related("application", "owner").order_by("-pk")


def use_of_projects(person: User, span: Range) -> Mapping[int, Figures]:
    """What the jobs that a person may see used within a range, by the key of the project."""
    found: dict[int, Figures] = defaultdict(Figures)
    for key, figures in period_sums.uses(person, span, [UsePart.PROJECT]).items():
        if key.name:
            found[int(key.name)].add(figures)
    return dict(found)
