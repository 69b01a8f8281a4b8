"""Applications and jobs: what can be asked for, what was asked, and the events of its life."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from gridportal.base.lifecycle import Lifecycle
from scheduling.jobs.core.application_specification import ApplicationSpecification
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.jobs.core.methods import CANDIDATES
from scheduling.jobs.core.output_patterns import OutputPatterns
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.ranks import Limits
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.core.states import FINAL, LIFE, PENDING, JobState
from scheduling.jobs.core.stop_means import StopMeans
from scheduling.jobs.core.unreadable import Unreadable, tell
from scheduling.jobs.job_fields import (
    ClusterOptionsField,
    OutputPatternsField,
    ReasonField,
    RequirementsField,
    SpecificationField,
    StopMeansField,
)

STATES = [(state.value, state.value) for state in JobState]


class Application(models.Model):
    """A registered program. Administrators register it; people fill in the form made from it.

    `job_count` is set by the page that lists them.
    """

    job_count: int

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    command = models.JSONField(help_text="Argument list; {name} stands for a parameter, {python} for Python.")
    parameters = models.JSONField(
        default=list, blank=True, help_text="List of {name, label, type, choices|min|max, default, help}."
    )
    environment = models.JSONField(default=dict, blank=True, help_text="Variables set for every rank.")
    launcher = models.JSONField(
        default=list,
        blank=True,
        help_text="Argument list before the command; empty: mpiexec -n {ranks} -hosts {hosts}.",
    )
    modules = models.JSONField(default=list, blank=True, help_text="Environment modules to load before it starts.")
    mpi = models.CharField(max_length=60, blank=True, help_text="Which MPI it is built with, for people to know.")
    pattern = models.CharField(max_length=60, blank=True, help_text="Default communication pattern.")
    ranks = models.JSONField(default=dict, blank=True, help_text='{"choices": [1, 2, 4, 8]} or {"min": 1, "max": 64}')
    phases = models.JSONField(default=list, blank=True)
    scaling = models.JSONField(
        default=dict,
        blank=True,
        help_text='Seconds by ranks: {"ranks": {"2": 100, "4": 60}}; empty: unknown.',
    )
    output_patterns = OutputPatternsField(
        default=OutputPatterns,
        blank=True,
        help_text="What lines of its output mean: success, failure, seconds, figures.",
    )
    stop_means = StopMeansField(
        default=StopMeans,
        blank=True,
        help_text="How it is asked to stop with a checkpoint, and how long it may take: by, seconds. Empty: it cannot.",
    )
    enabled = models.BooleanField(default=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="applications",
        help_text="Whose own it is, for nobody else to see but those it is shared with; empty: it is everybody's.",
    )
    offered_at = models.DateTimeField(null=True, blank=True, help_text="Since when its owner offers it to everybody.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any], **rest: Any) -> Application:
        """A row. What nobody can read of it is told by its short name."""
        row = super().from_db(db, field_names, values, **rest)
        if isinstance(patterns := row.__dict__.get("output_patterns"), Unreadable):
            tell(f"application {row.slug}: its output_patterns", patterns.why)
        if isinstance(means := row.__dict__.get("stop_means"), Unreadable):
            tell(f"application {row.slug}: its stop_means", means.why)
        return row

    @property
    def is_of_log(self) -> bool:
        """Whether it stands for a program in a log of another system: nothing can run it."""
        return not self.command

    def get_absolute_url(self) -> str:
        return reverse("application", args=[self.slug])

    @property
    def rank_limits(self) -> Limits:
        """On how many ranks it runs."""
        limits: Limits | None = self.ranks
        return limits or {}


_PENDING = [state.value for state in PENDING]


#: What lists filter by. An index that has all of it counts and pages jobs without reading their rows.
_LISTED = ("state", "application", "node_count", "method", "created_at", "name")


class Job(models.Model):
    """What a person asked for, and where it is in its life."""

    life: ClassVar[Lifecycle[JobState]] = LIFE

    # Both keys lead an index of several columns below.
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="jobs", db_index=False)
    application = models.ForeignKey(Application, models.PROTECT, related_name="jobs", db_index=False)
    name = models.CharField(max_length=120, blank=True)
    cluster = models.SlugField(max_length=60, default="grid")
    project = models.ForeignKey(
        "scheduling.Project", models.PROTECT, null=True, blank=True, related_name="jobs", db_index=False
    )
    parameters = models.JSONField(default=dict, blank=True)
    ranks = models.PositiveIntegerField(help_text="Ranks of the program; a node may have several.")
    node_count = models.PositiveIntegerField(
        help_text="Nodes asked for; where the selection decides, the least number, and once it has, the number chosen."
    )
    nodes_open = models.BooleanField(default=False, help_text="The selection decides how many nodes.")
    ranks_per_node = models.PositiveIntegerField(null=True, blank=True, help_text="At most; empty: open.")
    cpus_per_rank = models.PositiveIntegerField(default=1, help_text="Threads of each rank.")
    memory_per_rank = models.PositiveIntegerField(null=True, blank=True, help_text="MB; empty: not limited.")
    gres_per_rank = models.CharField(max_length=200, blank=True, help_text="Such as gpu:1.")
    method = models.CharField(max_length=20, default="pattern")
    pattern = models.CharField(max_length=60, blank=True)
    pattern_graph = models.JSONField(null=True, blank=True, help_text="Node-link document of an own pattern.")
    candidates = models.PositiveSmallIntegerField(default=CANDIDATES)
    seed = models.IntegerField(default=0)
    requirements = RequirementsField(
        default=Requirements, blank=True, help_text="min_bandwidth, min_cpu, require, priority"
    )
    specification = SpecificationField(
        default=ApplicationSpecification, blank=True, help_text="Groups of ranks, links, pins, exclude."
    )
    classad = models.TextField(
        blank=True, default="", help_text="A request in ClassAds that its nodes have to match; empty: none."
    )
    ranks_open = models.BooleanField(
        default=False, help_text="The match says how many ranks; until it has, `ranks` is the least number."
    )
    time_limit = models.PositiveIntegerField(null=True, blank=True, help_text="Seconds; empty: none.")
    options = ClusterOptionsField(
        default=ClusterOptions, blank=True, help_text="Of the cluster: partition, account, memory, ..."
    )
    busy_policy = models.CharField(max_length=10, blank=True, help_text="wait, again, next; empty: the cluster's own.")
    trace = models.BooleanField(default=False, help_text="Record what the program calls, for its profile.")
    skeleton = models.BooleanField(
        null=True,
        blank=True,
        help_text="Choose by running its skeleton; empty: with the pattern method where it has one.",
    )
    continues = models.BooleanField(
        default=False,
        help_text="Goes on by itself where it stopped with a checkpoint because its time limit was near; else it waits "
        "for a person.",
    )
    after = models.JSONField(default=list, blank=True, help_text="Numbers of jobs that have to end before it starts.")
    after_ok = models.JSONField(
        default=list, blank=True, help_text="Numbers of jobs that have to succeed before it starts."
    )
    inputs = models.JSONField(
        default=list, blank=True, help_text="Files that came with it: list of {name, digest, size}."
    )
    held_back = models.BooleanField(
        default=False,
        help_text="It waits for other jobs or for node-hours, not for nodes: the line of its cluster goes past it.",
    )
    held_until = models.DateTimeField(null=True, blank=True, help_text="Until when it was held back, where it was.")
    by_hand = models.BooleanField(
        default=False, help_text="Once its groups are tried it waits until a person takes one of them."
    )
    request_key = models.UUIDField(default=uuid.uuid4, unique=True, help_text="A form sent twice makes one job.")
    resubmitted_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL)
    group = models.ForeignKey(
        "scheduling.JobGroup",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="jobs",
        help_text="The sweep that it is of.",
    )

    state = models.CharField(max_length=12, choices=STATES, default=JobState.QUEUED)
    reason = ReasonField(help_text="Why it is in this state: code and facts.")
    cancel_requested_by = models.CharField(max_length=150, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Placements begun.")
    refused = models.CharField(max_length=64, blank=True, help_text="On which figures the selection refused it last.")
    lease_until = models.DateTimeField(null=True, blank=True, help_text="Until when a worker has it in hand.")
    lease_holder = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=["-id", "owner", *_LISTED], name="job_list"),
            models.Index(fields=["owner", "-id", *_LISTED], name="job_list_of_owner"),
            models.Index(fields=["state", "-id"]),
            models.Index(fields=["application", "-id"]),
            models.Index(fields=["project", "-id"], name="job_project"),
            models.Index(fields=["node_count", "-id"], name="job_nodes"),
            models.Index(fields=["method", "-id"], name="job_method"),
            models.Index(fields=["name", "-id"], name="job_name"),
            models.Index(fields=["name", "id"], name="job_name_backwards"),
            models.Index(fields=["-created_at", "-id"], name="job_newest"),
            models.Index(fields=["-ended_at"], name="job_ended"),
            models.Index(fields=["cluster", "id"], name="job_pending", condition=Q(state__in=_PENDING)),
            models.Index(fields=["lease_holder"], name="job_lease_holder", condition=~Q(lease_holder="")),
            models.Index(fields=["id"], name="job_held_back", condition=Q(held_back=True)),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=[state.value for state in JobState]), name="job_state_known"),
            models.CheckConstraint(condition=Q(node_count__gte=1), name="job_needs_a_node"),
            models.CheckConstraint(condition=Q(ranks__gte=F("node_count")), name="job_node_has_a_rank"),
        ]

    def __str__(self) -> str:
        return f"job {self.pk}"

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any], **rest: Any) -> Job:
        """A row. What nobody can read of it is told by its number."""
        found = super().from_db(db, field_names, values, **rest)
        for name in ("requirements", "options", "specification"):
            if isinstance(value := found.__dict__.get(name), Unreadable):
                tell(f"job {found.pk}: its {name}", value.why)
        return found

    @property
    def unreadable(self) -> dict[str, str]:
        """Why its requirements, options or specification cannot be read, by the column's name."""
        columns = {name: getattr(self, name) for name in ("requirements", "options", "specification")}
        return {name: value.why for name, value in columns.items() if isinstance(value, Unreadable)}

    @property
    def rank_request(self) -> RankRequest:
        """How many ranks it has asked for, on how many nodes, and what each of them needs."""
        nodes = None if self.nodes_open else self.node_count
        return RankRequest.of(self, nodes, most=self.ranks if self.method == "log" else 0)

    def get_absolute_url(self) -> str:
        return reverse("job", args=[self.pk])

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to it."""
        return JobState(self.state) in FINAL

    @staticmethod
    def step_columns(to: str, now: datetime) -> dict[str, Any]:
        """What a step writes besides: nobody has leased a job that is over, and it waits for no other."""
        over = {"ended_at": now, "lease_until": None, "lease_holder": "", "held_back": False}
        return over if LIFE.is_final(to) else {}

    def step_event(self, before: str, to: str, facts: Mapping[str, Any]) -> JobEvent:
        """The event of a step, not written yet."""
        return JobEvent(job_id=self.pk, from_state=before, to_state=to, **facts)


class JobEvent(models.Model):
    """One step of a job's life; the timeline is these rows in order. Only ever added."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(auto_now_add=True)
    from_state = models.CharField(max_length=12, blank=True)
    to_state = models.CharField(max_length=12, choices=STATES)
    reason = ReasonField()
    run_number = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Of the run that took the step.")
    actor = models.CharField(max_length=150, default="portal")

    class Meta:
        ordering = ("pk",)  # as they were written: the clock may have been set between two

    def __str__(self) -> str:
        return f"{self.from_state or 'new'} to {self.to_state}"


class Announcement(models.Model):
    """A step of a job of which people may be told, until somebody has looked who is. Written with the step itself, so
    that none is told of which did not happen, and none is forgotten that did (a transactional outbox)."""

    event = models.OneToOneField(JobEvent, on_delete=models.CASCADE, primary_key=True, related_name="+")

    def __str__(self) -> str:
        return f"announcement of {self.event_id}"
