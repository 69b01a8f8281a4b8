"""Projects: for what jobs are run, and by whom."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse


class Project(models.Model):
    """What several people work on. Their jobs may belong to it, and reports add them up."""

    name = models.SlugField(max_length=60, unique=True)
    description = models.CharField(max_length=500, blank=True)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="projects", blank=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("project", args=[self.name])

    @property
    def member_names(self) -> list[str]:
        """Of its people, in the order of the alphabet."""
        return sorted(person.username for person in self.members.all())
