"""Samples as they are kept: the newest of each series, frames as they came in, and blocks."""

from __future__ import annotations

import uuid

from django.db import models

from monitoring.clusters.models import Cluster


class Snapshot(models.Model):
    """The newest value of every series of a cluster, in one row. Whoever records holds its lock.

    A series has a number, which is the place of its name in `names` and of its figures in `figures`.
    """

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="snapshot")
    lineage = models.UUIDField(default=uuid.uuid4, help_text="Whose state of forecasts a file is.")
    edition = models.UUIDField(help_text="Another one whenever the names change: processes keep them by it.")
    names = models.BinaryField(help_text="Subject and metric of every series, deflated.")
    figures = models.BinaryField(help_text="Value, time, source and forecast of every series.")
    updates = models.BigIntegerField(default=0, help_text="How often something was recorded.")
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"Snapshot of {self.cluster}"


class Page(models.Model):
    """Some hundred series with numbers in a row. Whoever moves its frames into blocks holds its lock."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="pages")
    number = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "number"], name="page_once_per_cluster")]

    def __str__(self) -> str:
        return f"{self.cluster} {self.number}"


class Frame(models.Model):
    """What came in at once for the series of one page, until it is moved into blocks. Of one moment the frame with
    the highest key counts."""

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="frames")
    oldest = models.BigIntegerField(help_text="Milliseconds since 1970.")
    newest = models.BigIntegerField(help_text="Milliseconds since 1970.")
    samples = models.PositiveIntegerField()
    kept_at = models.DateTimeField(auto_now_add=True)
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.samples} samples"


class Block(models.Model):
    """A few series over some hours: raw, or rolled up to minutes or hours."""

    TIERS = [(0, "raw"), (1, "minute"), (2, "hour")]

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="blocks", db_index=False)
    group = models.PositiveIntegerField(help_text="The series with these numbers: group * 16 up to 15 more.")
    tier = models.PositiveSmallIntegerField(choices=TIERS)
    start = models.BigIntegerField(help_text="Milliseconds since 1970, a multiple of the tier's span.")
    samples = models.PositiveIntegerField(help_text="Samples or points in it.")
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["page", "group", "tier", "start"], name="block_once")]
        indexes = [models.Index(fields=["tier", "start"])]

    def __str__(self) -> str:
        return f"{self.get_tier_display()} {self.group} {self.start}"
