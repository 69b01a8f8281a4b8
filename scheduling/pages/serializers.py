"""Jobs and their runs as JSON. Bandwidth in bit/s, times in seconds, cpu 0..1."""

from __future__ import annotations

from typing import Any, cast

from rest_framework import serializers

from gridportal.base.reasons import Reason
from gridportal.web.templatetags.job_times import ran
from scheduling.jobs.core.unreadable import Unreadable
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.services.job_spec import COLUMNS
from scheduling.messages import message
from scheduling.placing.selectors.occupancy import Reasons
from scheduling.runs.core.run_checks import is_verified
from scheduling.runs.models import Run

#: What the members `verified` and `check_passed` mean wherever they stand.
VERIFIED = (
    "Whether the result can be relied on: the program's own check passed, and it has succeeded. Null: it has no check, "
    "or is not over."
)
CHECK_PASSED = (
    "What the program's own check said; null: nothing. True where verified is false: it passed, and the program failed "
    "or was cancelled after that."
)


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
    verified = serializers.SerializerMethodField(help_text=VERIFIED)
    check_passed = serializers.BooleanField(source="run_verified", allow_null=True, help_text=CHECK_PASSED)
    running_seconds = serializers.SerializerMethodField(
        help_text="From start to end on its nodes, of all its runs together; null while it is neither over nor stopped."
    )

    def get_verified(self, row: Any) -> bool | None:
        """Of its last run."""
        return is_verified(row.run_verified, row.state)

    def get_running_seconds(self, row: Any) -> float | None:
        """Seconds."""
        seconds: float | None = ran(row)
        return seconds

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
            "running_seconds",
            "verified",
            "check_passed",
            "created_at",
            "started_at",
            "ended_at",
        )
        read_only_fields = fields


class RunSerializer(ReasonedSerializer):
    """One attempt of the job on one node set."""

    verified = serializers.BooleanField(source="is_verified", read_only=True, allow_null=True, help_text=VERIFIED)
    check_passed = serializers.BooleanField(source="verified", read_only=True, allow_null=True, help_text=CHECK_PASSED)

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
            "check_passed",
            "seconds",
            "result",
            "hosts",
        )
        read_only_fields = fields


_REASONS = ("trace_reason", "trace_reason_code", "start_reason", "start_reason_code")


class RunDetailSerializer(RunSerializer):
    """The same with its nodes, when it was prepared, what became of its trace, and how its ranks were started."""

    nodes = serializers.ListField(child=serializers.CharField(), source="placement.nodes", help_text="In rank order.")
    trace_reason = serializers.SerializerMethodField(
        help_text="Why its trace left no profile, or which of its traces the profile is of; empty: nothing is to say."
    )
    trace_reason_code = serializers.CharField(
        source="trace_reason.code.value", help_text="The same as a code, which never changes; none: nothing is to say."
    )

    start_reason = serializers.SerializerMethodField(
        help_text="What is odd about how its ranks were started, such as by another MPI; empty: nothing."
    )
    start_reason_code = serializers.CharField(
        source="start_reason.code.value", help_text="The same as a code, which never changes; none: nothing is odd."
    )

    def get_start_reason(self, row: Any) -> str:
        """The sentence."""
        return message(row.start_reason)

    def get_trace_reason(self, row: Any) -> str:
        """The sentence."""
        return message(row.trace_reason)

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "nodes", "created_at", *_REASONS)
        read_only_fields = fields


class ValueDocument(serializers.JSONField):
    """The document of a value; of one that nobody can read, what is wrong with it."""

    def to_representation(self, value: Any) -> Any:
        """An object in any case."""
        return {"unreadable": value.why} if isinstance(value, Unreadable) else value.document()


class InputFileSerializer(serializers.Serializer[Any]):
    """A file that came with a job."""

    name = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes.")
    digest = serializers.CharField(help_text="SHA-256 of its content.")


class JobDetailSerializer(JobSerializer):
    """One job in full. `explanation` says why it is where it is, and the next step."""

    explanation = serializers.CharField()
    requirements = ValueDocument(read_only=True)
    specification = ValueDocument(read_only=True, help_text=Job._meta.get_field("specification").help_text)
    options = ValueDocument(read_only=True, help_text=Job._meta.get_field("options").help_text)
    inputs = InputFileSerializer(
        many=True, allow_null=True, help_text="Files that came with it; null to whoever may not read its files."
    )
    after = serializers.ListField(child=serializers.IntegerField(), help_text="Jobs that have to end before it starts.")
    after_ok = serializers.ListField(
        child=serializers.IntegerField(), help_text="Jobs that have to succeed before it starts."
    )
    runs = RunSerializer(many=True)

    class Meta(JobSerializer.Meta):
        fields = (
            *JobSerializer.Meta.fields,
            *(name for name in COLUMNS if name not in JobSerializer.Meta.fields),
            "nodes_open",
            "inputs",
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


class JobFilterSerializer(serializers.Serializer[Any]):
    """The filters of a job list, as on its page."""

    q = serializers.CharField(required=False, help_text="id, name, owner, application or state")
    state = serializers.CharField(required=False, help_text="a state, or active for every one that is not final")
    application = serializers.CharField(required=False, help_text="its slug")
    owner = serializers.CharField(required=False)
    cluster = serializers.CharField(required=False, help_text="its name")
    method = serializers.CharField(required=False)
    since = serializers.CharField(required=False, help_text="15m, 1h, 24h, 7d or 30d")
    ids = serializers.CharField(required=False, help_text="numbers of jobs, such as 12-15,18")
    start = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)
    ordering = serializers.CharField(required=False, help_text="id, name, state, ...; a minus sign turns it round")
