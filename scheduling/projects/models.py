"""Budgets of projects."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from scheduling.jobs.project_models import Project
from scheduling.projects.core.budget_state import WhenUsed
from scheduling.usage.ranges import Range

_CHOICES = [(each.value, each.value) for each in WhenUsed]


class Budget(models.Model):
    """How many node-hours the jobs of a project may use from the day `begins` to the day `ends` (both in it, UTC)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="budgets")
    node_hours = models.FloatField(help_text="How many there are in this time.")
    begins = models.DateField()
    ends = models.DateField(help_text="Its last day.")
    warn_at = models.PositiveSmallIntegerField(
        default=80, validators=[MinValueValidator(1), MaxValueValidator(100)], help_text="Percent."
    )
    when_used = models.CharField(max_length=10, choices=_CHOICES, default=WhenUsed.WARN)
    version = models.PositiveIntegerField(default=1, help_text="One more with each change.")
    warned_at = models.DateTimeField(null=True, blank=True, help_text="When people were told that little is left.")
    used_up_at = models.DateTimeField(null=True, blank=True, help_text="When people were told that nothing is left.")

    class Meta:
        ordering = ("-begins", "-pk")
        constraints = [
            models.CheckConstraint(condition=Q(ends__gte=F("begins")), name="budget_ends_after_it_begins"),
            models.CheckConstraint(condition=Q(node_hours__gt=0), name="budget_has_node_hours"),
            models.CheckConstraint(condition=Q(warn_at__gte=1, warn_at__lte=100), name="budget_warns_by_percent"),
        ]

    def __str__(self) -> str:
        return f"budget of {self.project} from {self.begins}"

    def get_absolute_url(self) -> str:
        return f"{reverse('project', args=[self.project.name])}#budgets"

    @property
    def span(self) -> Range:
        """Its whole time."""
        return Range(_midnight(self.begins), _midnight(self.ends + timedelta(days=1)))

    def is_current(self, now: datetime) -> bool:
        """Whether its time has begun and is not over."""
        return self.span.begin <= now < self.span.until


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
