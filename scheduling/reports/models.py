"""Reports that are sent at set times."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse

from scheduling.reports.core.report_times import ReportEvery

_EVERY = [(each.value, each.value) for each in ReportEvery]


class ReportSchedule(models.Model):
    """A report that some people get by e-mail each week or month. Each of them gets what that person may see."""

    name = models.CharField(max_length=80, unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    every = models.CharField(max_length=10, choices=_EVERY, default=ReportEvery.MONTH)
    tabs = models.JSONField(default=list, help_text="Names of tabs of the report, in order.")
    people = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="report_schedules", blank=True)
    next_at = models.DateTimeField(help_text="When it is sent next.")
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When it was sent last.")

    class Meta:
        ordering = ("name",)
        indexes = [models.Index(fields=["next_at"], name="report_due")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('report-schedules')}#schedule-{self.pk}"

    @property
    def people_names(self) -> list[str]:
        """Who gets it, in the order of the alphabet."""
        return sorted(person.username for person in self.people.all())
