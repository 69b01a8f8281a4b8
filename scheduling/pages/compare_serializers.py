"""Runs side by side as JSON."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from scheduling.pages.output_serializers import PhaseSerializer
from scheduling.pages.serializers import CHECK_PASSED, VERIFIED


class _ComparedRunSerializer(serializers.Serializer[Any]):
    """One run, or a job that has not run yet (`run` null). Seconds are null where nobody knows; bandwidth in bit/s."""

    job = serializers.IntegerField()
    run = serializers.IntegerField(allow_null=True)
    name = serializers.CharField(allow_blank=True)
    application = serializers.CharField()
    state = serializers.CharField()
    method = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())
    network_measured = serializers.DateTimeField(allow_null=True)
    slowest_pair = serializers.FloatField(allow_null=True)
    least_free_cpu = serializers.FloatField(allow_null=True)
    elapsed = serializers.FloatField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    promised = serializers.FloatField(allow_null=True)
    predicted = serializers.FloatField(allow_null=True)
    verified = serializers.BooleanField(allow_null=True, help_text=VERIFIED)
    check_passed = serializers.BooleanField(allow_null=True, help_text=CHECK_PASSED)
    phases = PhaseSerializer(many=True)


class _ComparedRowSerializer(serializers.Serializer[Any]):
    """One fact, a text of each run in their order."""

    name = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField())
    differs = serializers.BooleanField()


class _ComparedPartSerializer(serializers.Serializer[Any]):
    head = serializers.CharField()
    rows = _ComparedRowSerializer(many=True)


class ComparisonSerializer(serializers.Serializer[Any]):
    """What the page shows: the finding, what to keep in mind, figures of each run, and all facts as texts."""

    finding = serializers.CharField()
    reservations = serializers.ListField(child=serializers.CharField())
    runs = _ComparedRunSerializer(many=True)
    parts = _ComparedPartSerializer(many=True)


class ComparedNamesSerializer(serializers.Serializer[Any]):
    """Which ones: 12 for the newest run of job 12, 12.2 for its second; 2 to 6 of them with commas between."""

    runs = serializers.CharField(max_length=200)
