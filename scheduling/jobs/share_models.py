"""With whom jobs are shared: people, groups, and who has a link with a secret."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils import timezone

from scheduling.jobs.models import Job


class JobShare(models.Model):
    """A person, a group, or whoever opens a link, who may read a job. Of a link's secret only a hash is kept."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="shares")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+")
    group = models.ForeignKey(Group, models.CASCADE, null=True, blank=True, related_name="+")
    digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of a link's secret; empty: it is no link.")
    with_files = models.BooleanField(default=False, help_text="The files of its runs may be read, too.")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: it does not expire.")

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.CheckConstraint(
                condition=Q(person__isnull=False, group__isnull=True, digest="")
                | Q(person__isnull=True, group__isnull=False, digest="")
                | Q(person__isnull=True, group__isnull=True, expires_at__isnull=False) & ~Q(digest=""),
                name="job_share_is_of_one_kind",
            ),
            models.UniqueConstraint(fields=["job", "person"], name="share_job_once_with_person"),
            models.UniqueConstraint(fields=["job", "group"], name="share_job_once_with_group"),
            models.UniqueConstraint(fields=["digest"], condition=~Q(digest=""), name="share_link_is_one"),
        ]

    def __str__(self) -> str:
        return f"job {self.job_id} with {self.with_whom}"

    @property
    def is_link(self) -> bool:
        """Whether it is for whoever has the link."""
        return bool(self.digest)

    @property
    def is_expired(self) -> bool:
        """Whether it opens nothing any more."""
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def with_whom(self) -> str:
        """The name of the person or the group."""
        whom: Any = self.person or self.group or "a link"
        return str(whom)


class JobShareVisit(models.Model):
    """A person who has opened a link, and may read the job as long as the link is of use."""

    share = models.ForeignKey(JobShare, models.CASCADE, related_name="visits")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    first_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)
        constraints = [models.UniqueConstraint(fields=["share", "person"], name="share_visit_once")]

    def __str__(self) -> str:
        return f"{self.person} by a link to job {self.share.job_id}"
