"""Jobs and applications as JSON. Bandwidth in bit/s, times in seconds, cpu 0..1."""

from __future__ import annotations

import uuid
from typing import Any, cast

from rest_framework import serializers

from gridportal.base.clusters import BUSY
from gridportal.base.reasons import Reason
from gridportal.web.api_errors import SlugField, WordedSerializer
from scheduling.jobs.core.methods import METHODS
from scheduling.jobs.core.unreadable import Unreadable
from scheduling.jobs.models import Application, Job, JobEvent
from scheduling.jobs.services.job_spec import COLUMNS, JobSpec
from scheduling.messages import message
from scheduling.placing.models import Placement
from scheduling.placing.selectors.occupancy import Reasons
from scheduling.runs.models import Run

_COUNTS = ("ranks", "node_count", "ranks_per_node")


class OutputPatternsDocument(serializers.DictField):
    """The document of an application's output patterns; of one that nobody can read, what is wrong with it."""

    def to_representation(self, value: Any) -> Any:
        """An object in any case."""
        return {"unreadable": value.why} if isinstance(value, Unreadable) else value.document()


class StopMeansDocument(serializers.DictField):
    """How an application is stopped; of one that nobody can read, what is wrong with it."""

    def to_representation(self, value: Any) -> Any:
        """An object in any case."""
        return {"unreadable": value.why} if isinstance(value, Unreadable) else value.document()


class ApplicationSerializer(WordedSerializer, serializers.ModelSerializer[Application]):
    """A registered program. Only types are checked here; the service checks what they mean."""

    slug = serializers.CharField(max_length=60)  # that it is free is for the service to say
    command = serializers.ListField(child=serializers.CharField())
    parameters = serializers.ListField(child=serializers.DictField(), required=False)
    environment = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)
    launcher = serializers.ListField(child=serializers.CharField(), required=False)
    modules = serializers.ListField(child=serializers.CharField(), required=False)
    ranks = serializers.DictField(required=False)
    phases = serializers.ListField(child=serializers.CharField(), required=False)
    output_patterns = OutputPatternsDocument(
        required=False,
        help_text="Regular expressions for lines of its output: success, failure, seconds (pattern, unit, which), and "
        "figures, a list of objects with name, pattern, unit, which; progress (pattern, of, file), lines of its output "
        "or of that file which tell a step; rounds, true where rounds of its outermost loop are counted instead.",
    )

    stop_means = StopMeansDocument(
        required=False,
        help_text="How it is asked to stop with a checkpoint, from which it goes on elsewhere: by (srs or own) and "
        "seconds, how long it may take; with own one of signal, file and command, restart (the words for {restart} in "
        "its command, with {file}), pattern (of that file), and ranks, checkpoint and every. Empty: it cannot.",
    )

    class Meta:
        model = Application
        fields = (
            "slug",
            "name",
            "description",
            "command",
            "parameters",
            "environment",
            "launcher",
            "modules",
            "mpi",
            "pattern",
            "ranks",
            "phases",
            "output_patterns",
            "stop_means",
            "enabled",
            "created_at",
            "updated_at",
        )
        read_only_fields = ("created_at", "updated_at")


class RequirementsSerializer(WordedSerializer):
    """What the nodes must have; each may be left out."""

    min_bandwidth = serializers.FloatField(required=False, allow_null=True, min_value=0, help_text="bit/s")
    min_cpu = serializers.FloatField(required=False, allow_null=True, min_value=0, max_value=1)
    compute_priority = serializers.FloatField(required=False, allow_null=True)
    reference_bandwidth = serializers.FloatField(
        required=False,
        allow_null=True,
        min_value=1,
        help_text="bit/s that count as 100 % with the method balanced; null: each link's own capacity.",
    )
    require = serializers.DictField(child=serializers.CharField(), required=False, help_text='{"site": "utk"}')
    network = serializers.ChoiceField(
        choices=["now", "forecast"], required=False, help_text="Which figures of the network nodes are chosen by."
    )

    flows = serializers.BooleanField(
        required=False,
        allow_null=True,
        help_text="All pairs talk at once: what they leave each other on shared links counts (not compute, random).",
    )


class SubmitSerializer(WordedSerializer, serializers.ModelSerializer[Job]):
    """A job as asked for. Who owns it and where it is in its life is not for the caller to say.

    What has no field of its own here is taken as the column of Job is.
    """

    #: Whether an old job says how many ranks and nodes there are.
    partial_counts = False

    application = SlugField(slug_field="slug", queryset=Application.objects.all())
    parameters = serializers.DictField(required=False)
    ranks = serializers.IntegerField(required=False, allow_null=True, min_value=1, help_text="Of the program.")
    node_count = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, help_text="Nodes; alone: one rank on each."
    )
    ranks_per_node = serializers.IntegerField(required=False, allow_null=True, min_value=1, help_text="At most.")
    cpus_per_rank = serializers.IntegerField(required=False, min_value=1, help_text="Threads of each rank.")
    memory_per_rank = serializers.IntegerField(required=False, allow_null=True, min_value=1, help_text="MB")
    gres_per_rank = serializers.CharField(required=False, allow_blank=True, max_length=200, help_text="Such as gpu:1")
    method = serializers.ChoiceField(choices=[(m, m) for m in METHODS], required=False)
    pattern = serializers.CharField(required=False, allow_blank=True, max_length=60)
    pattern_graph = serializers.DictField(required=False, allow_null=True)
    candidates = serializers.IntegerField(required=False, min_value=1)
    seed = serializers.IntegerField(required=False, min_value=0)
    requirements = RequirementsSerializer(required=False)
    specification = serializers.DictField(
        required=False,
        help_text="groups (name, count, require, most), links (source, target, weight, pattern), pins and exclude",
    )
    classad = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=20_000,
        help_text="A request in ClassAds that the nodes have to match; without ranks and nodes it says how many.",
    )
    time_limit = serializers.IntegerField(required=False, allow_null=True, min_value=1, help_text="seconds")
    name = serializers.CharField(required=False, allow_blank=True, max_length=120)
    cluster = serializers.CharField(required=False, max_length=60)
    options = serializers.DictField(
        required=False,
        help_text="Of a Slurm cluster: partition, account, qos, reservation, constraint, gres, "
        "memory (bytes on each node), cpus_per_rank, exclusive",
    )
    busy_policy = serializers.ChoiceField(
        choices=list(BUSY.items()), required=False, allow_blank=True, help_text="Empty: the cluster's own."
    )
    trace = serializers.BooleanField(required=False, help_text="Record what the program calls, for its profile.")
    skeleton = serializers.BooleanField(
        required=False,
        allow_null=True,
        help_text="Choose among the candidates by running its skeleton on them; null: with the method pattern, where "
        "there is one.",
    )
    request_key = serializers.UUIDField(
        required=False, help_text="The same key twice gives the same job; or send an Idempotency-Key header."
    )

    class Meta:
        model = Job
        fields = (*COLUMNS, "request_key")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Somebody who says neither how many ranks nor how many nodes has forgotten it."""
        says_count = any(attrs.get(name) for name in (*_COUNTS, "classad")) or attrs.get("specification", {}).get(
            "groups"
        )
        if not self.partial_counts and not says_count:
            message = cast(str, serializers.Field.default_error_messages["required"])
            raise serializers.ValidationError({"node_count": message}, code="required")
        return attrs

    def spec(self, key: uuid.UUID | None = None) -> JobSpec:
        """What is asked for, after is_valid(). Raises InputError."""
        return JobSpec.from_api(self.validated_data, key)


class ResubmitSerializer(SubmitSerializer):
    """What is to differ from the old job; nothing has to."""

    application = SlugField(slug_field="slug", queryset=Application.objects.all(), required=False)
    partial_counts = True


class ReasonedSerializer(serializers.ModelSerializer[Any]):
    """A row that has a reason: as a sentence, and as the code and the facts that it is made of."""

    reason = serializers.SerializerMethodField(help_text="Why it is so, in words, with the next step.")
    reason_code = serializers.SerializerMethodField(
        help_text="The same as a code, which never changes; none: no reason."
    )
    reason_facts = serializers.SerializerMethodField(help_text="The facts of that code.")

    def reason_of(self, row: Any) -> Reason:
        """The reason that is told."""
        found: Reason = row.reason
        return found

    def get_reason(self, row: Any) -> str:
        """The sentence."""
        return message(self.reason_of(row))

    def get_reason_code(self, row: Any) -> str:
        """The code."""
        return self.reason_of(row).code.value

    def get_reason_facts(self, row: Any) -> dict[str, Any]:
        """The facts."""
        facts: dict[str, Any] = self.reason_of(row).document()["facts"]
        return facts


class JobSerializer(ReasonedSerializer):
    """A job in a list: what was asked, where it is, what came of it."""

    owner = serializers.CharField(source="owner.username")
    application = serializers.CharField(source="application.slug")
    nodes = serializers.ListField(child=serializers.CharField(), source="chosen_nodes", allow_null=True)
    seconds = serializers.FloatField(source="run_seconds", allow_null=True)
    verified = serializers.BooleanField(source="run_verified", allow_null=True)

    def reason_of(self, row: Any) -> Reason:
        """True at this moment, also while the job waits."""
        context = cast("dict[str, Any]", self.context)  # the stubs know a Mapping; it is a dict that all rows share
        reasons: Reasons = context.setdefault("reasons", Reasons())
        return reasons.of(row)

    class Meta:
        model = Job
        fields: tuple[str, ...] = (
            "id",
            "name",
            "owner",
            "application",
            "cluster",
            "state",
            "reason",
            "reason_code",
            "reason_facts",
            "ranks",
            "node_count",
            "method",
            "pattern",
            "nodes",
            "seconds",
            "verified",
            "created_at",
            "started_at",
            "ended_at",
        )
        read_only_fields = fields


class RunSerializer(ReasonedSerializer):
    """One attempt of the job on one node set."""

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "number",
            "backend",
            "backend_id",
            "state",
            "reason",
            "reason_code",
            "reason_facts",
            "expected_start",
            "held",
            "started_at",
            "ended_at",
            "exit_code",
            "verified",
            "seconds",
            "result",
            "hosts",
        )
        read_only_fields = fields


class RunDetailSerializer(RunSerializer):
    """The same with its nodes, when it was prepared, and what became of its trace."""

    nodes = serializers.ListField(child=serializers.CharField(), source="placement.nodes", help_text="In rank order.")
    trace_reason = serializers.SerializerMethodField(
        help_text="Why its trace left no profile, or which of its traces the profile is of; empty: nothing is to say."
    )
    trace_reason_code = serializers.CharField(
        source="trace_reason.code.value", help_text="The same as a code, which never changes; none: nothing is to say."
    )

    def get_trace_reason(self, row: Any) -> str:
        """The sentence."""
        return message(row.trace_reason)

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "nodes", "created_at", "trace_reason", "trace_reason_code")
        read_only_fields = fields


class ValueDocument(serializers.JSONField):
    """The document of a value; of one that nobody can read, what is wrong with it."""

    def to_representation(self, value: Any) -> Any:
        """An object in any case."""
        return {"unreadable": value.why} if isinstance(value, Unreadable) else value.document()


class JobDetailSerializer(JobSerializer):
    """One job in full. `explanation` says why it is where it is, and the next step."""

    explanation = serializers.CharField()
    requirements = ValueDocument(read_only=True)
    specification = ValueDocument(read_only=True, help_text=Job._meta.get_field("specification").help_text)
    options = ValueDocument(read_only=True, help_text=Job._meta.get_field("options").help_text)
    runs = RunSerializer(many=True)

    class Meta(JobSerializer.Meta):
        fields = (
            *JobSerializer.Meta.fields,
            *(name for name in COLUMNS if name not in JobSerializer.Meta.fields),
            "nodes_open",
            "request_key",
            "resubmitted_from",
            "cancel_requested_by",
            "explanation",
            "runs",
        )
        read_only_fields = fields


class JobEventSerializer(ReasonedSerializer):
    """One step of the job's life."""

    class Meta:
        model = JobEvent
        fields = ("at", "from_state", "to_state", "reason", "reason_code", "reason_facts", "actor", "run_number")
        read_only_fields = fields


EXPLANATION = "Why other nodes were not taken (counts, nodes), and what a better link would buy (next_link)."


class PlacementSerializer(serializers.ModelSerializer[Any]):
    """The chosen nodes rank by rank, why, and the candidates that lost."""

    finding = serializers.CharField()
    candidates = serializers.ListField(child=serializers.DictField())
    explanation = serializers.DictField(help_text=EXPLANATION)
    trial = serializers.DictField(allow_null=True, help_text="How its skeleton fared on the candidate groups.")
    override = serializers.DictField(allow_null=True, help_text="Who took another: candidate, by, reason, at.")

    class Meta:
        model = Placement
        fields = (
            "nodes",
            "shares",
            "method",
            "pattern",
            "finding",
            "objective",
            "bottleneck",
            "optimal",
            "candidates",
            "explanation",
            "seconds",
            "measured_at",
            "warning",
            "trial",
            "override",
            "created_at",
        )
        read_only_fields = fields


class TakeSerializer(WordedSerializer):
    """Which candidate is taken, counted from 0 in the selection's order, and why."""

    candidate = serializers.IntegerField(min_value=0, max_value=100)
    reason = serializers.CharField(max_length=500)


class PreviewSerializer(serializers.Serializer[Any]):
    """What the selection would choose now. `problem` says why nothing can be chosen, if so."""

    candidates = serializers.ListField(child=serializers.DictField())
    bottleneck = serializers.DictField(allow_null=True)
    finding = serializers.CharField(allow_blank=True)
    optimal = serializers.BooleanField()
    seconds = serializers.FloatField()
    measured_at = serializers.DateTimeField(allow_null=True)
    warning = serializers.CharField(allow_blank=True)
    script = serializers.CharField(allow_blank=True)
    problem = serializers.CharField(allow_null=True)
    on_free_nodes = serializers.BooleanField()
    ways = serializers.ListField(child=serializers.DictField())
    trial = serializers.CharField(allow_blank=True, help_text="Whether its skeleton would be tried on the groups.")
    explanation = serializers.DictField(help_text=EXPLANATION)


class LogSerializer(serializers.Serializer[Any]):
    """A piece of the log; ask on from `end`. `complete`: nothing more will come."""

    text = serializers.CharField(allow_blank=True)
    offset = serializers.IntegerField()
    end = serializers.IntegerField()
    complete = serializers.BooleanField()


class LogPartSerializer(WordedSerializer):
    """Which piece: from byte `offset` (else the end of the log), at most `limit` bytes."""

    offset = serializers.IntegerField(required=False, min_value=0)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=1_000_000, default=64_000)


class ScriptSerializer(serializers.Serializer[Any]):
    """The exact batch script of the last run."""

    script = serializers.CharField()


class PhaseSerializer(serializers.Serializer[Any]):
    """What one phase of the program took; seconds are maxima over the ranks."""

    phase = serializers.CharField()
    count = serializers.IntegerField()
    seconds = serializers.FloatField()
    mean = serializers.FloatField()
    min = serializers.FloatField()
    max = serializers.FloatField()
    compute = serializers.FloatField(allow_null=True)
    communicate = serializers.FloatField(allow_null=True)
    share = serializers.FloatField()
    iteration = serializers.IntegerField(allow_null=True)
    of = serializers.IntegerField(allow_null=True)


class JobFilterSerializer(serializers.Serializer[Any]):
    """The filters of a job list, as on its page."""

    q = serializers.CharField(required=False, help_text="id, name, owner, application or state")
    state = serializers.CharField(required=False, help_text="a state, or active for every one that is not final")
    application = serializers.CharField(required=False, help_text="its slug")
    owner = serializers.CharField(required=False)
    method = serializers.CharField(required=False)
    since = serializers.CharField(required=False, help_text="15m, 1h, 24h, 7d or 30d")
    start = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)
    ordering = serializers.CharField(required=False, help_text="id, name, state, ...; a minus sign turns it round")
