"""Sweeps as JSON: what is asked, and what came of each job. Times in seconds."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from gridportal.base.errors import InputError
from scheduling.jobs.core import parameters
from scheduling.jobs.core.parameters import Value
from scheduling.jobs.core.sweep import RANKS, read_axes
from scheduling.jobs.group_models import JobGroup
from scheduling.pages.submit_serializers import SubmitSerializer
from scheduling.pages.sweep_results import sweep_table


class SubmitSweepSerializer(SubmitSerializer):
    """A job as asked for, with several values of some parameters, or of `ranks`; each combination becomes a job."""

    sweep = serializers.DictField(help_text='Values by parameter, or by ranks: {"class": ["S", "W"], "ranks": "1..8"}')

    class Meta(SubmitSerializer.Meta):
        fields = (*SubmitSerializer.Meta.fields, "sweep")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """A sweep over ranks says how many there are."""
        names = {RANKS, *(each.name for each in parameters.parse(attrs["application"].parameters))}
        has_fault = not attrs["sweep"] or not names.issuperset(attrs["sweep"])  # which `axes` tells
        self.partial_counts = RANKS in attrs["sweep"] or has_fault
        return super().validate(attrs)

    def axes(self) -> dict[str, tuple[Value, ...]]:
        """The values of each axis, after is_valid(); what is left is a job as asked for. Raises InputError."""
        asked = self.validated_data.pop("sweep")
        application = self.validated_data["application"]
        if not asked:
            raise InputError("sweep", asked, "several values of at least one parameter, or of ranks")
        return read_axes(parameters.parse(application.parameters), application.rank_limits, asked)


class SweepSerializer(serializers.ModelSerializer[JobGroup]):
    """A sweep in a list."""

    owner = serializers.CharField(source="owner.username", read_only=True)
    application = serializers.CharField(source="application.slug", read_only=True)
    axes = serializers.ListField(child=serializers.DictField(), read_only=True, help_text="List of {name, values}.")

    class Meta:
        model = JobGroup
        fields: tuple[str, ...] = ("id", "name", "owner", "application", "axes", "created_at")
        read_only_fields = fields


class SweepJobSerializer(serializers.Serializer[Any]):
    """One job of a sweep."""

    id = serializers.IntegerField()
    state = serializers.CharField()
    values = serializers.DictField(help_text="Of each axis.")
    node_count = serializers.IntegerField()
    warning = serializers.CharField(help_text="What is odd about how its ranks were started; empty: nothing.")
    figures = serializers.DictField(
        child=serializers.FloatField(),
        help_text="seconds by the program's own report, running from start to end, waiting, and what it reported.",
    )


class SweepDetailSerializer(SweepSerializer):
    """A sweep with all its jobs."""

    jobs = serializers.SerializerMethodField()

    class Meta(SweepSerializer.Meta):
        fields = (*SweepSerializer.Meta.fields, "jobs")
        read_only_fields = fields

    @extend_schema_field(SweepJobSerializer(many=True))
    def get_jobs(self, group: JobGroup) -> list[dict[str, Any]]:
        """In the order of the combinations."""
        return [
            {
                "id": row.job.pk,
                "state": row.job.state,
                "values": row.values,
                "node_count": row.job.node_count,
                "warning": row.warning,
                "figures": row.figures,
            }
            for row in sweep_table(group).rows
        ]
