"""Programs that people bring themselves: where each comes from, and with whom it is shared."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q

from scheduling.jobs.core.program_start import ProgramKind
from scheduling.jobs.models import Application


class OwnProgram(models.Model):
    """The program of an application that a person has brought: uploaded, or at a path on the nodes.

    `content` is read where it is needed only: applications are read by the hundred.
    """

    application = models.OneToOneField(Application, models.CASCADE, primary_key=True, related_name="program")
    kind = models.CharField(max_length=10, choices=[(kind.value, kind.label) for kind in ProgramKind])
    mpi = models.CharField(max_length=20, default="mpich", help_text="By which it is started, a key of MPIS.")
    path = models.CharField(max_length=1000, blank=True, help_text="On the nodes; empty: it is uploaded.")
    file_name = models.CharField(max_length=120, blank=True)
    size = models.PositiveIntegerField(default=0)
    content = models.BinaryField(null=True, blank=True)

    def __str__(self) -> str:
        return self.path or self.file_name

    @property
    def text(self) -> str:
        """The uploaded program as text; empty where it is none, or lies at a path."""
        try:
            return bytes(self.content or b"").decode()
        except UnicodeDecodeError:
            return ""


class ApplicationShare(models.Model):
    """A person, or a group of people, whom the owner lets submit an application."""

    application = models.ForeignKey(Application, models.CASCADE, related_name="shares")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+")
    group = models.ForeignKey(Group, models.CASCADE, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.CheckConstraint(
                condition=Q(person__isnull=False) ^ Q(group__isnull=False), name="share_with_person_or_group"
            ),
            models.UniqueConstraint(fields=["application", "person"], name="share_once_with_person"),
            models.UniqueConstraint(fields=["application", "group"], name="share_once_with_group"),
        ]

    def __str__(self) -> str:
        return f"{self.application_id} with {self.with_whom}"

    @property
    def with_whom(self) -> str:
        """The name of the person or the group."""
        whom: Any = self.person or self.group
        return str(whom)
