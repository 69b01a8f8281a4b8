"""Placements and previews as JSON. Bandwidth in bit/s, times in seconds, cpu 0..1."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from gridportal.web.api_errors import WordedSerializer
from scheduling.placing.models import Placement

EXPLANATION = (
    "Why other nodes were not taken (counts, nodes), what a better link would buy (next_link), among which nodes or "
    "sets alone it was chosen (among), and what is not used of a mapper's answer (remarks)."
)


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
    after = serializers.CharField(allow_blank=True, help_text="For which jobs it would wait before that.")
    on_free_nodes = serializers.BooleanField()
    ways = serializers.ListField(child=serializers.DictField())
    trial = serializers.CharField(allow_blank=True, help_text="Whether its skeleton would be tried on the groups.")
    requirements = serializers.DictField(
        allow_null=True,
        help_text="What it asks of its nodes, as GET /api/jobs/{id}/requirements; `warnings` says what means nothing.",
    )
    explanation = serializers.DictField(help_text=EXPLANATION)
