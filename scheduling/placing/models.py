"""Placements: what was chosen and why; and what people decided instead of the portal."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from gridportal.base.reasons import Code
from scheduling.jobs.core.candidates import Objective
from scheduling.jobs.models import Job
from scheduling.placing.placement_fields import (
    BottleneckField,
    CandidatesField,
    ExplanationField,
    ObjectiveField,
    TrialField,
)
from scheduling.skeletons.core.trial_rounds import Plan


class Decision(models.Model):
    """One choice of a person: who, when, why, what was proposed and what was taken instead. Only ever added.

    `mode`: operator, whoever took a candidate group by hand. `candidate`: the place of what was taken, as the selection
    counts, from 0; `proposed` and `taken`: node names in rank order.
    """

    OPERATOR = "operator"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="decisions")
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


class Placement(models.Model):
    """The chosen nodes rank by rank, by which method, with what score, and the candidates that lost and why.

    `candidates` are the `CandidateGroup`s that were weighed, the chosen one first; `objective` and `bottleneck` are
    those of that one.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="placements")
    created_at = models.DateTimeField(auto_now_add=True)
    method = models.CharField(max_length=20)
    pattern = models.CharField(max_length=120, blank=True)
    nodes = models.JSONField()
    shares = models.JSONField(
        default=list, blank=True, help_text="The part of the work of each rank, by a mapper or by the nodes' speed."
    )
    objective = ObjectiveField(default=Objective)
    bottleneck = BottleneckField(null=True, blank=True)
    optimal = models.BooleanField(default=False)
    candidates = CandidatesField(default=tuple)
    explanation = ExplanationField(null=True, blank=True, help_text="Why the other nodes were not taken.")
    trial = TrialField(null=True, blank=True, help_text="How its skeleton was tried.")
    decision = models.ForeignKey(
        Decision,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="placements",
        help_text="By whom another candidate was taken, or is to be.",
    )
    seconds = models.FloatField(help_text="Time of the choice itself.")
    measured_at = models.DateTimeField(null=True, blank=True, help_text="When the network state used was measured.")
    warning = models.TextField(blank=True, help_text="The cluster's warning at that time, e.g. unshaped.")

    class Meta:
        ordering = ("pk",)
        indexes = [
            models.Index(fields=["method", "seconds"], name="placement_seconds"),
            models.Index(fields=["job"], name="placement_tried", condition=Q(trial__isnull=False)),
            models.Index(fields=["created_at"], name="placement_tried_at", condition=Q(trial__isnull=False)),
        ]

    def __str__(self) -> str:
        return " ".join(self.nodes)

    @property
    def plan(self) -> Plan:
        """How its skeleton is tried. Raises ValueError for one whose skeleton is not."""
        if self.trial is None or self.trial.plan is None:
            raise ValueError(f"Placement {self.pk} has no trial that was planned.")
        return self.trial.plan

    @property
    def named_by(self) -> str:
        """Who named these nodes for a move; empty where the selection chose them."""
        reason = self.candidates[0].reason if self.candidates else None
        return str(reason.facts["person"]) if reason and reason.code is Code.NODES_NAMED else ""

    @property
    def wanted(self) -> list[str]:
        """The nodes that a person took for the job and that it does not have yet; empty for none."""
        taken: list[str] = self.decision.taken if self.decision else []
        return taken if taken != self.nodes else []
