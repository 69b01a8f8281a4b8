"""Decisions on moves and their steps, and by which rules a cluster or a job is moved."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from gridportal.base.lifecycle import Lifecycle
from scheduling.jobs.core.candidates import CandidateGroup
from scheduling.jobs.core.explanation import Explanation
from scheduling.jobs.job_fields import ReasonField
from scheduling.jobs.models import Job
from scheduling.rescheduling.core.decision_states import DECISION_LIFE, OPEN_DECISIONS, DecisionState, Policy
from scheduling.rescheduling.core.move_cost import CostKind, MoveCost
from scheduling.rescheduling.core.weighing import THRESHOLD, MoveMode, Verdict, Weighing

_OPEN = [state.value for state in OPEN_DECISIONS]


def _choices(kind: type[Any]) -> list[tuple[str, str]]:
    return [(each.value, each.value) for each in kind]


STATES, POLICIES = _choices(DecisionState), _choices(Policy)


class ReschedulingPolicy(models.Model):
    """How jobs of a cluster are moved; a cluster without a row has the defaults. Only `services.policies` writes it.

    `allow`, `deny`: hours, one window a line; see scheduling.rescheduling.core.move_windows. Times in seconds.
    """

    cluster = models.SlugField(max_length=60, unique=True)
    policy = models.CharField(max_length=10, choices=POLICIES, default=Policy.ASK)
    cost_kind = models.CharField(max_length=10, choices=_choices(CostKind), default=CostKind.PREDICTED)
    cost_scale = models.FloatField(default=1.0, help_text="What table I of the paper is multiplied by.")
    threshold = models.FloatField(default=THRESHOLD)
    learns_threshold = models.BooleanField(default=False, help_text="Learn it from what became of earlier moves.")
    changes_ranks = models.BooleanField(
        default=False, help_text="A move may go to another number of ranks, from half to twice as many."
    )
    expires_after = models.PositiveIntegerField(default=600, help_text="Seconds until a proposal expires.")
    most_per_hour = models.PositiveSmallIntegerField(default=20)
    most_per_job = models.PositiveSmallIntegerField(default=10)
    job_cooldown = models.PositiveIntegerField(default=600)
    node_cooldown = models.PositiveIntegerField(default=300)
    allow = models.TextField(blank=True)
    deny = models.TextField(blank=True)
    freed_at = models.DateTimeField(null=True, blank=True, help_text="The newest end of a run that was looked at.")
    changed_by = models.CharField(max_length=150, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"moves on {self.cluster}"


class JobMovePolicy(models.Model):
    """What its owner or an operator said of moves of one job."""

    job = models.OneToOneField(Job, on_delete=models.CASCADE, related_name="move_policy")
    opted_out = models.BooleanField(default=False)
    policy = models.CharField(max_length=10, choices=POLICIES, blank=True, help_text="Empty: its cluster's.")

    def __str__(self) -> str:
        return f"moves of job {self.job_id}"


class MoveDecision(models.Model):
    """One weighing of a move, and its life.

    Seconds: `ret_current` to stay, `ret_new` there, `costs` by kind and phase, `cost` of the kind that decides. `gain`
    is a share, held against `threshold`; `complete` 0..1. `by`, `why`: who decided, and in which words. `outcome`: what
    really came once the job is over.
    """

    life: ClassVar[Lifecycle[DecisionState]] = DECISION_LIFE

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="move_decisions")
    cluster = models.SlugField(max_length=60)
    run_number = models.PositiveSmallIntegerField(help_text="Of the run that would be stopped.")
    mode = models.CharField(max_length=14, choices=_choices(MoveMode))
    policy = models.CharField(max_length=10, choices=POLICIES)
    state = models.CharField(max_length=10, choices=STATES)
    state_since = models.DateTimeField(default=timezone.now)
    verdict = models.CharField(max_length=20, choices=_choices(Verdict))
    verdict_until = models.DateTimeField(null=True, blank=True)
    nodes_now = models.JSONField(default=list)
    nodes = models.JSONField(default=list)
    complete = models.FloatField(null=True, blank=True)
    ret_current = models.FloatField(null=True, blank=True)
    ret_new = models.FloatField(null=True, blank=True)
    cost = models.FloatField()
    cost_kind = models.CharField(max_length=10, choices=_choices(CostKind))
    costs = models.JSONField(default=dict)
    gain = models.FloatField(null=True, blank=True)
    threshold = models.FloatField()
    average = models.FloatField(null=True, blank=True, help_text="The ratio of actual to promised so far.")
    measured_at = models.DateTimeField(null=True, blank=True, help_text="When the newest figures were measured.")
    groups = models.JSONField(default=dict, blank=True, help_text="Both node sets and their pairs: now, there.")
    lacking = models.JSONField(
        default=dict, blank=True, help_text="What other nodes lack, where none can take the job."
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    by = models.CharField(max_length=150, blank=True)
    why = models.TextField(blank=True)
    continuation = models.ForeignKey(
        "scheduling.Continuation", models.SET_NULL, null=True, blank=True, related_name="decisions"
    )
    outcome = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ("-pk",)
        permissions = [
            ("view_moves", "May see the moves of all jobs"),
            ("propose_move", "May propose to move jobs"),
            ("approve_move", "May approve moves"),
            ("refuse_move", "May refuse moves"),
            ("override_move", "May move jobs to other nodes than were proposed"),
            ("simulate_moves", "May have the series of moves simulated"),
            ("change_move_policy", "May change how jobs are moved"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["job"], condition=Q(state__in=_OPEN), name="one_open_decision_per_job"),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in DecisionState]), name="decision_state_known"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "-id"], name="decision_state"),
            models.Index(fields=["cluster", "-id"], name="decision_cluster"),
        ]

    def __str__(self) -> str:
        return f"decision {self.pk} on job {self.job_id}"

    def get_absolute_url(self) -> str:
        return reverse("migration", args=[self.pk])

    @property
    def is_open(self) -> bool:
        """Whether the job may still be moved by it."""
        return self.state in OPEN_DECISIONS

    @property
    def asked_by(self) -> str:
        """Who had it weighed; `portal` where no person asked."""
        first = next(iter(self.events.all()), None) if self.pk else None
        return first.actor if first else "portal"

    @property
    def pays(self) -> bool | None:
        """Whether its gain is above the threshold; None where nobody can predict it."""
        return None if self.gain is None else self.gain > self.threshold

    @property
    def person_asking(self) -> str | None:
        """The person who had it weighed; None where the portal did by itself, or the person is no more."""
        asked_by = self.asked_by if self.mode == MoveMode.OPERATOR else ""
        return asked_by if asked_by not in ("", "portal") else None

    @property
    def overridden_at(self) -> datetime | None:
        """When a person took other nodes: the figures of going there are of that moment."""
        events = self.events.all() if self.pk else ()
        return next((each.at for each in events if each.to_state == DecisionState.OVERRIDDEN), None)

    @property
    def costs_by_kind(self) -> dict[str, MoveCost]:
        """The cost by each kind. Raises InputError for a row that cannot be read."""
        return {kind: MoveCost.read(document) for kind, document in self.costs.items()}

    @property
    def what_nodes_lack(self) -> Explanation:
        """What each other node lacked; empty where some could take the job."""
        return Explanation.read(self.lacking)

    @property
    def group_now(self) -> CandidateGroup:
        """Where it runs, with what the pairs that talk got when it was weighed; without pairs where nobody looked."""
        return self._group("now", self.nodes_now)

    @property
    def group_there(self) -> CandidateGroup:
        """Where it would go, with what the pairs that talk would get."""
        return self._group("there", self.nodes)

    def _group(self, name: str, nodes: list[str]) -> CandidateGroup:
        document = self.groups.get(name)
        return CandidateGroup.read(document) if document else CandidateGroup(tuple(nodes))

    @property
    def saves(self) -> float | None:
        """Seconds by which the job would end sooner; below 0: later."""
        if self.ret_current is None or self.ret_new is None:
            return None
        return self.ret_current - self.ret_new - self.cost

    def take_weighing(self, weighing: Weighing) -> None:
        """Let the figures be those of `weighing`."""
        figures = weighing.figures
        self.verdict, self.verdict_until = weighing.verdict, weighing.until
        self.ret_current, self.ret_new, self.nodes = figures.ret_current, figures.ret_new, list(figures.nodes)
        self.cost, self.cost_kind = weighing.cost.total, weighing.cost.kind
        self.gain, self.threshold = weighing.gain, weighing.threshold

    @staticmethod
    def step_columns(to: str, now: datetime) -> dict[str, Any]:
        """What a step writes besides."""
        return {"state_since": now}

    def step_event(self, before: str, to: str, facts: Mapping[str, Any]) -> DecisionEvent:
        """The event of a step, not written yet."""
        words = {name: facts[name] for name in ("actor", "why", "reason") if name in facts}
        return DecisionEvent(decision_id=self.pk, from_state=before, to_state=to, **words)


class DecisionEvent(models.Model):
    """One step of a decision's life. Only ever added."""

    decision = models.ForeignKey(MoveDecision, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(default=timezone.now)
    from_state = models.CharField(max_length=10, blank=True)
    to_state = models.CharField(max_length=10, choices=STATES)
    actor = models.CharField(max_length=150, default="portal")
    why = models.TextField(blank=True, help_text="A person's own words.")
    reason = ReasonField(help_text="What the portal found.")

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.from_state or 'new'} to {self.to_state}"
