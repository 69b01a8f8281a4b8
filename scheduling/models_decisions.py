"""What people decided instead of the portal."""

from __future__ import annotations

from django.db import models


class Decision(models.Model):
    """One choice of a person: who, when, why, what was proposed and what was taken instead. Only ever added.

    `mode`: operator, whoever took a candidate group by hand. `candidate`: the place of what was taken, as the selection
    counts, from 0; `proposed` and `taken`: node names in rank order.
    """

    OPERATOR = "operator"

    job = models.ForeignKey("scheduling.Job", on_delete=models.CASCADE, related_name="decisions")
    mode = models.CharField(max_length=12, choices=[(OPERATOR, OPERATOR)], default=OPERATOR)
    by = models.CharField(max_length=150, help_text="The name of who decided; it stays when the person is gone.")
    at = models.DateTimeField()
    why = models.TextField(help_text="In their own words.")
    candidate = models.PositiveSmallIntegerField()
    proposed = models.JSONField(default=list)
    taken = models.JSONField(default=list)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.by} took group {self.candidate + 1} for job {self.job_id}"
