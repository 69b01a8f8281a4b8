"""Jobs that belong together: those of one sweep."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse

from scheduling.jobs.core.parameters import Value
from scheduling.jobs.models import Application


class JobGroup(models.Model):
    """A sweep: the jobs with each combination of the values of its axes. They are all created, or none is.

    `axes`: each parameter that is swept, or `ranks`, with its values, in their order.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="job_groups")
    application = models.ForeignKey(Application, models.PROTECT, related_name="job_groups")
    name = models.CharField(max_length=120, blank=True)
    axes = models.JSONField(default=list, help_text="List of {name, values}.")
    request_key = models.UUIDField(default=uuid.uuid4, unique=True, help_text="A form sent twice makes one sweep.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"sweep {self.pk}"

    @property
    def values_by_axis(self) -> dict[str, list[Value]]:
        """The values of each axis, by its name."""
        return {axis["name"]: axis["values"] for axis in self.axes}

    @property
    def title(self) -> str:
        """Its name, or what it is of."""
        return self.name or f"{self.application.name} by {' and '.join(self.values_by_axis)}"

    def get_absolute_url(self) -> str:
        return reverse("sweep", args=[self.pk])
