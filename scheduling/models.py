"""Applications, jobs, placements, runs: what was asked, what was chosen and why, what happened."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from gridportal.run_directory import RunFileError
from scheduling.core.requirements import Requirements
from scheduling.core.states import FINAL, PENDING, JobState
from scheduling.fields import ProgramJSON, ReasonField, RequirementsField
from scheduling.models_decisions import Decision
from scheduling.models_skeletons import Skeleton, SkeletonRun
from scheduling.models_use import DailyUse, UncountedJob, UseMark

__all__ = [
    "Application",
    "DailyUse",
    "Decision",
    "Job",
    "JobEvent",
    "PhaseReport",
    "Placement",
    "Profile",
    "Run",
    "Skeleton",
    "SkeletonRun",
    "UncountedJob",
    "UseMark",
]

STATES = [(state.value, state.value) for state in JobState]


class Application(models.Model):
    """A registered program. Administrators register it; people fill in the form made from it."""

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
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("application", args=[self.slug])


_PENDING = [state.value for state in PENDING]
#: What lists filter by. An index that has all of it counts and pages jobs without reading their rows.
_LISTED = ("state", "application", "node_count", "method", "created_at", "name")


class Job(models.Model):
    """What a person asked for, and where it is in its life."""

    # Both keys lead an index of several columns below.
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="jobs", db_index=False)
    application = models.ForeignKey(Application, models.PROTECT, related_name="jobs", db_index=False)
    name = models.CharField(max_length=120, blank=True)
    cluster = models.SlugField(max_length=60, default="grid")
    parameters = models.JSONField(default=dict, blank=True)
    node_count = models.PositiveIntegerField(help_text="Nodes asked for; one rank runs on each.")
    method = models.CharField(max_length=20, default="pattern")
    pattern = models.CharField(max_length=60, blank=True)
    pattern_graph = models.JSONField(null=True, blank=True, help_text="Node-link document of an own pattern.")
    candidates = models.PositiveSmallIntegerField(default=3)
    seed = models.IntegerField(default=0)
    requirements = RequirementsField(
        default=Requirements, blank=True, help_text="min_bandwidth, min_cpu, require, priority"
    )
    time_limit = models.PositiveIntegerField(null=True, blank=True, help_text="Seconds; empty: none.")
    options = models.JSONField(default=dict, blank=True, help_text="Of the cluster: partition, account, memory, ...")
    busy_policy = models.CharField(max_length=10, blank=True, help_text="wait, again, next; empty: the cluster's own.")
    trace = models.BooleanField(default=False, help_text="Record what the program calls, for its profile.")
    skeleton = models.BooleanField(
        null=True,
        blank=True,
        help_text="Choose by running its skeleton; empty: with the pattern method where it has one.",
    )
    request_key = models.UUIDField(default=uuid.uuid4, unique=True, help_text="A form sent twice makes one job.")
    resubmitted_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL)

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
            models.Index(fields=["node_count", "-id"], name="job_nodes"),
            models.Index(fields=["method", "-id"], name="job_method"),
            models.Index(fields=["name", "-id"], name="job_name"),
            models.Index(fields=["name", "id"], name="job_name_backwards"),
            models.Index(fields=["-created_at", "-id"], name="job_newest"),
            models.Index(fields=["cluster", "id"], name="job_pending", condition=Q(state__in=_PENDING)),
            models.Index(fields=["lease_holder"], name="job_lease_holder", condition=~Q(lease_holder="")),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=[state.value for state in JobState]), name="job_state_known"),
            models.CheckConstraint(condition=Q(node_count__gte=1), name="job_needs_a_node"),
        ]

    def __str__(self) -> str:
        return f"job {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("job", args=[self.pk])

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to it."""
        return JobState(self.state) in FINAL


class JobEvent(models.Model):
    """One step of a job's life; the timeline is these rows in order. Only ever added."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(auto_now_add=True)
    from_state = models.CharField(max_length=12, blank=True)
    to_state = models.CharField(max_length=12, choices=STATES)
    reason = ReasonField()
    actor = models.CharField(max_length=150, default="portal")

    class Meta:
        ordering = ("pk",)  # as they were written: the clock may have been set between two

    def __str__(self) -> str:
        return f"{self.from_state or 'new'} to {self.to_state}"


class Placement(models.Model):
    """The chosen nodes rank by rank, by which method, with what score, and the candidates that lost and why.

    `candidates` is a list, the chosen group first, of
    {"nodes": [..rank order..], "objective": {"min_bandwidth", "min_cpu"}, "bottleneck": {...} | null,
     "edges": [{"ranks": [a, b], "source", "target", "bandwidth", "weight"}], "reason": str}; where its skeleton was
    tried, also "place" (in the selection's own order), "selected" (the selection's reason) and "skeleton" {"state",
    "seconds", "predicted", "reason"}.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="placements")
    created_at = models.DateTimeField(auto_now_add=True)
    method = models.CharField(max_length=20)
    pattern = models.CharField(max_length=120, blank=True)
    nodes = models.JSONField()
    objective = models.JSONField(default=dict)
    bottleneck = models.JSONField(null=True, blank=True)
    optimal = models.BooleanField(default=False)
    candidates = models.JSONField(default=list)
    trial = models.JSONField(null=True, blank=True, help_text="How its skeleton was tried.")
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
        ]

    def __str__(self) -> str:
        return " ".join(self.nodes)


class Run(models.Model):
    """One attempt of a job on one node set. `key` makes submission idempotent."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="runs")
    number = models.PositiveSmallIntegerField(default=1)
    placement = models.OneToOneField(Placement, on_delete=models.PROTECT, related_name="run")
    key = models.CharField(max_length=64, unique=True)
    backend = models.CharField(max_length=20, default="grid")
    backend_id = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=12, choices=STATES, default=JobState.STARTING)
    reason = ReasonField()
    run_dir = models.CharField(max_length=400)
    script = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    verified = models.BooleanField(null=True, blank=True, help_text="The program's own check; empty: it has none.")
    seconds = models.FloatField(null=True, blank=True, help_text="As the program measured itself.")
    result = ProgramJSON(default=dict, blank=True)
    hosts = models.JSONField(default=list, blank=True, help_text="Host names printed by the ranks, in rank order.")
    expected_start = models.DateTimeField(null=True, blank=True, help_text="As the backend foresees it.")
    held = models.BooleanField(default=False, help_text="The backend waits for somebody to release it.")
    missed_at = models.DateTimeField(null=True, blank=True, help_text="Since when its backend does not know it.")
    restarts = models.PositiveIntegerField(default=0, help_text="How often it was seen put back into the queue.")
    put_back_at = models.DateTimeField(null=True, blank=True, help_text="When that was seen for the last time.")
    taken_back = models.BooleanField(default=False, help_text="The portal takes it back, to choose other nodes.")
    unread = models.JSONField(null=True, blank=True, help_text="Why it cannot be followed: file, fault, detail.")
    unread_since = models.DateTimeField(null=True, blank=True)
    progress_offset = models.BigIntegerField(default=0, help_text="Bytes of progress.jsonl already read.")

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="run_number_once_per_job")]
        indexes = [
            models.Index(fields=["state"]),
            models.Index(fields=["-ended_at"], name="run_ended"),
            models.Index(fields=["job", "started_at", "ended_at"], name="run_times"),
        ]

    def __str__(self) -> str:
        return f"run {self.number} of job {self.job_id}"

    @property
    def failure(self) -> RunFileError | None:
        """Why it cannot be followed, as it was noted."""
        return RunFileError.from_document(self.unread) if self.unread else None


class Profile(models.Model):
    """Who talks to whom when this application runs with these parameters on so many ranks, as it was observed.

    `program` is a digest of how the application was started then: once that has changed the profile is stale.
    """

    SOURCES = [("trace", "trace"), ("monitoring", "monitoring")]

    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="profiles")
    parameters = models.JSONField(default=dict, blank=True)
    parameters_key = models.CharField(max_length=16)
    ranks = models.PositiveIntegerField()
    source = models.CharField(max_length=10, choices=SOURCES)
    program = models.CharField(max_length=16)
    pattern = models.CharField(max_length=60, help_text="Name of the pattern that was recognized, or own.")
    document = models.JSONField(help_text="As scheduling.core.profile writes it.")
    trace_file = models.CharField(max_length=400, blank=True, help_text="The whole trace, compressed.")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.SET_NULL, related_name="profiles")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)
        indexes = [models.Index(fields=["application", "ranks", "-id"], name="profile_newest")]

    def __str__(self) -> str:
        return f"{self.pattern} on {self.ranks} ranks"


class PhaseReport(models.Model):
    """Measured seconds of one phase (maximum over ranks), as the program reported it."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="phases")
    at = models.DateTimeField()
    phase = models.CharField(max_length=60)
    iteration = models.PositiveIntegerField(null=True, blank=True)
    of = models.PositiveIntegerField(null=True, blank=True)
    seconds = models.FloatField()
    compute = models.FloatField(null=True, blank=True)
    communicate = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.phase} {self.seconds:.3f} s"
