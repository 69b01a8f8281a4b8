"""Profiles: who talks to whom in an application, as it was observed."""

from __future__ import annotations

from django.db import models

from scheduling.jobs.models import Application
from scheduling.runs.models import Run


class Profile(models.Model):
    """Who talks to whom when this application runs with these parameters on so many ranks, as it was observed.

    `program` is a digest of how the application was started then: once that has changed the profile is stale. It is
    empty where the run failed before all ranks had called MPI_Finalize: no job takes that profile. `use`
    (`core.profile_uses`) and `pattern_shown` are set by the page that shows it.
    """

    use: str
    pattern_shown: str

    SOURCES = [("trace", "trace"), ("monitoring", "monitoring")]

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="profiles")
    parameters = models.JSONField(default=dict, blank=True)
    parameters_key = models.CharField(max_length=16)
    ranks = models.PositiveIntegerField()
    source = models.CharField(max_length=10, choices=SOURCES)
    program = models.CharField(max_length=16)
    pattern = models.CharField(max_length=60, help_text="Name of the pattern that was recognized, or own.")
    document = models.JSONField(help_text="As scheduling.profiles.core.profile writes it.")
    trace_file = models.CharField(max_length=400, blank=True, help_text="The whole trace, compressed.")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="profiles")
    building_until = models.DateTimeField(null=True, blank=True, help_text="Lease of a skeleton that is being built.")
    building_holder = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)
        indexes = [models.Index(fields=["application", "ranks", "-id"], name="profile_newest")]

    def __str__(self) -> str:
        return f"{self.pattern} on {self.ranks} ranks"
