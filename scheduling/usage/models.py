"""What jobs used, added up by day: reports read these sums in place of every run."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from scheduling.usage.core.use_parts import UsePart

#: What is added up; times are whole microseconds, so that sums are exact in any order.
SUMS = (
    *("runs", "time", "node_time", "skeleton_runs", "skeleton_time", "skeleton_node_time"),
    *("trials", "spent_time", "compared", "won_time", "over", "overrun_time"),
)
#: What tells the sums of one owner apart. The state leads: a report wants few states, but many days.
_PARTS = ("state", "method", "day", "cluster", "application")
_PERIODS = [("day", "day"), ("month", "month")]


class DailyUse(models.Model):
    """The jobs of one application on one cluster that were submitted on one day (UTC): of one owner, or of everybody
    where `owner` is empty; of one final state and one method, or of all of them where `state` and `method` are empty.
    `scheduling.usage.selectors.Use` says what each sum is."""

    day = models.DateField()
    cluster = models.SlugField(max_length=60, db_index=False)
    application = models.ForeignKey("scheduling.Application", models.CASCADE, related_name="+", db_index=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", null=True, db_index=False)
    state = models.CharField(max_length=12, blank=True, help_text="A final one; empty: any, by any method.")
    method = models.CharField(max_length=20, blank=True)
    jobs = models.PositiveBigIntegerField(default=0, help_text="How many are in these sums.")
    runs = models.PositiveBigIntegerField(default=0)
    time = models.BigIntegerField(default=0, help_text="Microseconds.")
    node_time = models.BigIntegerField(default=0, help_text="Node microseconds.")
    skeleton_runs = models.PositiveBigIntegerField(default=0)
    skeleton_time = models.BigIntegerField(default=0)
    skeleton_node_time = models.BigIntegerField(default=0)
    trials = models.PositiveBigIntegerField(default=0)
    spent_time = models.BigIntegerField(default=0)
    compared = models.PositiveBigIntegerField(default=0)
    won_time = models.BigIntegerField(default=0)
    over = models.PositiveBigIntegerField(default=0)
    overrun_time = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", *_PARTS], name="daily_use_of_owner"),
            models.UniqueConstraint(fields=_PARTS, name="daily_use_of_all", condition=Q(owner=None)),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.cluster}"


class UncountedJob(models.Model):
    """A job up to the mark that is in no sum yet, since what it used may still change."""

    job = models.OneToOneField("scheduling.Job", models.CASCADE, primary_key=True, related_name="+")

    def __str__(self) -> str:
        return f"job {self.pk}"


class UseMark(models.Model):
    """How far jobs are added up; one row. Each job up to `through` is in the sums or an UncountedJob.

    `version` changes with every change of the sums: who reads it before and after has read one state of them.
    """

    through = models.BigIntegerField(default=0, help_text="The number of a job.")
    version = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"through job {self.through}"


class PeriodUse(models.Model):
    """What jobs that are over used on one day (UTC) or in one month, and how those that ended then fared, by one part:
    of one person, project, node and so on of one cluster. `scheduling.usage.core.use_parts` says what each sum is.

    The months are there so that a report of a year reads a few rows of each part.
    """

    DAY, MONTH = "day", "month"

    period = models.CharField(max_length=5, choices=_PERIODS)
    start = models.DateField(help_text="The day, or the first one of the month.")
    part = models.CharField(max_length=12, choices=[(part.value, part.value) for part in UsePart])
    cluster = models.SlugField(max_length=60, db_index=False)
    name = models.CharField(max_length=255, blank=True)
    jobs = models.PositiveBigIntegerField(default=0, help_text="That ended in this time.")
    failed = models.PositiveBigIntegerField(default=0)
    node_time = models.BigIntegerField(default=0, help_text="Node microseconds.")
    cpu_time = models.BigIntegerField(default=0, help_text="Processor microseconds.")
    started = models.PositiveBigIntegerField(default=0, help_text="Of these jobs those that ran.")
    waited = models.BigIntegerField(
        default=0, help_text="Microseconds until they ran, together; without the time for which they were held back."
    )
    held_jobs = models.PositiveBigIntegerField(default=0, help_text="Of these jobs those that were held back.")
    held = models.BigIntegerField(default=0, help_text="Microseconds that they were, together.")
    newest = models.BigIntegerField(default=0, help_text="The number of the newest job.")
    waits = models.TextField(default="", blank=True, help_text="How many waited how long, by bucket: `packed_counts`.")
    slowdowns = models.TextField(default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["period", "part", "start", "cluster", "name"], name="use_of_period_once")
        ]

    def __str__(self) -> str:
        return f"{self.part} {self.name} of {self.cluster}, {self.period} of {self.start}"


class PersonUse(models.Model):
    """What the jobs of one person on one cluster used on one day (UTC) or in one month, as `PeriodUse` has it of
    everybody: all parts in one text, since a person's report reads nearly all of them."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    period = models.CharField(max_length=5, choices=_PERIODS)
    start = models.DateField(help_text="The day, or the first one of the month.")
    cluster = models.SlugField(max_length=60, db_index=False)
    parts = models.TextField(help_text="`scheduling.usage.core.packed_parts` writes and reads it.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "period", "start", "cluster"], name="use_of_person_once")
        ]

    def __str__(self) -> str:
        return f"{self.owner_id} on {self.cluster}, {self.period} of {self.start}"
