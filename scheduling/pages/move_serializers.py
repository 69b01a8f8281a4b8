"""Checkpoints, data and moves of a job over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from gridportal.web.api_errors import WordedSerializer
from scheduling.checkpoints.models import Checkpoint, RestartFile, RuntimeSupport
from scheduling.checkpoints.selectors import PHASES, RestartPoint, checkpoints_of, restart_files_of, restart_point
from scheduling.messages import message
from scheduling.messages.move_messages import unusable
from scheduling.rescheduling.core.expected_move import ExpectedMove
from scheduling.rescheduling.selectors import expected_columns
from scheduling.runs.continuation_models import Continuation

_SECONDS = tuple(name for name, _ in PHASES)


class MoveRequestSerializer(WordedSerializer):
    """Where a job is to go on; each may be left out."""

    nodes = serializers.ListField(
        child=serializers.CharField(max_length=255),
        required=False,
        allow_null=True,
        max_length=4096,
        help_text="Names, each once or rank by rank; left out: the portal chooses.",
    )
    ranks = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, help_text="On how many ranks; left out: see the handbook."
    )
    reason = serializers.CharField(required=False, allow_blank=True, max_length=500)
    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Only tell what it is expected to take; nothing is stopped."
    )


_PHASE_SECONDS = "Seconds by phase, null where nobody knows: " + ", ".join((*_SECONDS, "queue")) + "."


class ExpectedMoveSerializer(serializers.Serializer[ExpectedMove]):
    """What a move would take now; seconds as in Migration 2003, table I."""

    nodes = serializers.ListField(child=serializers.CharField(), help_text="Rank by rank; empty: there are none now.")
    measured_at = serializers.DateTimeField(allow_null=True, help_text="When the network was measured.")
    seconds = serializers.SerializerMethodField(help_text=_PHASE_SECONDS)
    partial_total = serializers.FloatField(help_text="Seconds of all phases that are known.")
    total = serializers.FloatField(allow_null=True, help_text="Seconds of all phases; null while one is not known.")
    problem = serializers.SerializerMethodField(help_text="Why there are no nodes for it now, or empty.")

    @extend_schema_field(serializers.DictField(child=serializers.FloatField(allow_null=True)))
    def get_seconds(self, move: ExpectedMove) -> dict[str, float | None]:
        """By the names of the phases."""
        return expected_columns(move)

    def get_problem(self, move: ExpectedMove) -> str:
        """The sentence."""
        return message(move.why) if move.why else ""


class MoveSerializer(serializers.ModelSerializer[Continuation]):
    """One stop-and-continue; seconds as in Migration 2003, table I."""

    source_run = serializers.IntegerField(source="source.number", help_text="Number of the run that was stopped.")
    target_run = serializers.IntegerField(source="target.number", allow_null=True, default=None)
    nodes_before = serializers.ListField(child=serializers.CharField(), source="source.placement.nodes")
    nodes = serializers.SerializerMethodField(help_text="Rank by rank; null until they are chosen.")
    reason = serializers.SerializerMethodField()
    reason_code = serializers.CharField(source="reason.code.value")
    expected = serializers.DictField(
        child=serializers.FloatField(allow_null=True),
        help_text="Before it was asked for. " + _PHASE_SECONDS + " Starting is measured with the wait in the queue.",
    )

    announced_nodes = serializers.ListField(
        child=serializers.CharField(), help_text="Where it was to go, as was told before; empty: nobody was told."
    )
    goes_elsewhere = serializers.BooleanField(help_text="Newer figures chose other nodes than were told.")

    def get_nodes(self, row: Continuation) -> list[str] | None:
        """Where it goes on."""
        placement = row.target.placement if row.target else row.placement
        return list(placement.nodes) if placement else (list(row.nodes) or None)

    def get_reason(self, row: Continuation) -> str:
        """Why it is where it is, or ended so."""
        return message(row.reason)

    class Meta:
        model = Continuation
        fields: tuple[str, ...] = (
            "id",
            "state",
            "reason",
            "reason_code",
            "by",
            "why",
            "source_run",
            "target_run",
            "ranks",
            "nodes_before",
            "nodes",
            "checkpoint",
            "back",
            "asked_at",
            "stopped_at",
            "starting_at",
            "ended_at",
            "expected",
            "announced_nodes",
            "goes_elsewhere",
            *_SECONDS,
            "total",
            "paused",
        )
        read_only_fields = fields


class CheckpointSerializer(serializers.ModelSerializer[Checkpoint]):
    """A checkpoint of a job: size, age, place and health."""

    problem = serializers.SerializerMethodField()

    def get_problem(self, row: Checkpoint) -> str:
        """What is wrong with it."""
        return message(row.problem)

    class Meta:
        model = Checkpoint
        fields: tuple[str, ...] = (
            "number",
            "written_at",
            "ranks",
            "bytes",
            "depots",
            "health",
            "problem",
            "arrays",
        )
        read_only_fields = fields


class RestartFileSerializer(serializers.ModelSerializer[RestartFile]):
    """A file from which a program with a restart of its own may go on: name, size, age, and whether it is whole."""

    problem = serializers.SerializerMethodField(help_text="Why a program cannot go on from it; empty where it can.")

    def get_problem(self, row: RestartFile) -> str:
        """The sentence."""
        return unusable(row.health)

    class Meta:
        model = RestartFile
        fields: tuple[str, ...] = ("name", "bytes", "written_at", "health", "problem")
        read_only_fields = fields


class RestartPointSerializer(serializers.Serializer[RestartPoint]):
    """What the job goes on from: a checkpoint by its number, or a file by its name."""

    checkpoint = serializers.IntegerField(allow_null=True)
    file = serializers.CharField(allow_blank=True)
    written_at = serializers.DateTimeField(allow_null=True)
    iteration = serializers.IntegerField(
        allow_null=True, help_text="The last that its program had reported by then; null: it reports none."
    )
    of = serializers.IntegerField(allow_null=True)


class RuntimeSupportSerializer(serializers.ModelSerializer[RuntimeSupport]):
    """What is known of a job's data (the Runtime Support System of Migration 2003, 4.1)."""

    checkpoints = serializers.SerializerMethodField()
    restart_files = serializers.SerializerMethodField()
    goes_on_from = serializers.SerializerMethodField(help_text="What it would go on from now; null: there is nothing.")

    @extend_schema_field(RestartFileSerializer(many=True))
    def get_restart_files(self, row: RuntimeSupport) -> list[dict[str, Any]]:
        """Those of a program with a restart of its own, the newest first."""
        return list(RestartFileSerializer(restart_files_of(row.job), many=True).data)

    @extend_schema_field(RestartPointSerializer(allow_null=True))
    def get_goes_on_from(self, row: RuntimeSupport) -> dict[str, Any] | None:
        """The newest that is whole."""
        point = restart_point(row.job)
        return None if point is None else dict(RestartPointSerializer(point).data)

    def get_checkpoints(self, row: RuntimeSupport) -> list[dict[str, Any]]:
        """Those in the job's folder, the newest first."""
        return list(CheckpointSerializer(checkpoints_of(row.job), many=True).data)

    class Meta:
        model = RuntimeSupport
        fields: tuple[str, ...] = (
            "stop_asked",
            "ranks",
            "hosts",
            "bytes",
            "arrays",
            "read_at",
            "freed_at",
            "goes_on_from",
            "checkpoints",
            "restart_files",
        )
        read_only_fields = fields
