"""Experiments of the papers that operators start, or that somebody ran from the command line."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse

from gridportal.experiments.plan import Plan

QUEUED, RUNNING, STOPPING = "queued", "running", "stopping"
STOPPED, DONE, FAILED = "stopped", "done", "failed"
OPEN = (QUEUED, RUNNING, STOPPING)
STATES = [(word, word) for word in (*OPEN, STOPPED, DONE, FAILED)]


class Experiment(models.Model):
    """One experiment and its folder; what it found is in the folder, its summary here too.

    `host` is the machine that runs it and `heartbeat` when that last said so: where it falls silent another may take
    the experiment up. `started_by` is None for what was started from the command line.
    """

    name = models.CharField(max_length=40)
    seed = models.PositiveIntegerField(default=1)
    full = models.BooleanField(default=False)
    folder = models.CharField(max_length=400, unique=True)
    state = models.CharField(max_length=10, choices=STATES, default=QUEUED)
    reason = models.TextField(blank=True)
    done = models.PositiveIntegerField(default=0)
    of = models.PositiveIntegerField(default=0)
    now = models.CharField(max_length=200, blank=True, help_text="The trial that it is at.")
    host = models.CharField(max_length=200, blank=True)
    heartbeat = models.DateTimeField(null=True, blank=True)
    restarts = models.PositiveSmallIntegerField(default=0, help_text="How often it was taken up after it had died.")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(null=True, blank=True)

    class Meta:
        db_table = "scheduling_experiment"  # where its rows were made, before experiments were an app of their own
        ordering = ("-pk",)

    def __str__(self) -> str:
        """For people; `plan` is the same for programs."""
        return f"{self.name}, seed {self.seed}{', full' if self.full else ''}"

    def get_absolute_url(self) -> str:
        return reverse("experiment", args=[self.pk])

    @property
    def plan(self) -> Plan:
        """What was asked for."""
        return Plan(self.name, self.seed, self.full)

    @property
    def is_open(self) -> bool:
        """Whether it waits or runs."""
        return self.state in OPEN
