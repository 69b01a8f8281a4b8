"""The network as JSON: bandwidth in bit/s, latency and ages in seconds, cpu 0..1."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from gridportal.api_words import WordedSerializer
from monitoring.models import Cluster, Link, Node
from monitoring.selectors import default_cluster


class _Measured(serializers.ModelSerializer):
    """A row with the age of its measurement; null when it was never measured."""

    age = serializers.SerializerMethodField()

    def get_age(self, row: Any) -> float | None:
        """Seconds since it was measured."""
        return (timezone.now() - row.measured_at).total_seconds() if row.measured_at else None


class NodeSerializer(_Measured):
    """A compute node, or a network node (switch, router)."""

    id = serializers.CharField(source="name")
    labels = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = Node
        fields = ("id", "kind", "speed", "labels", "cpu", "load", "closed", "busy", "free_at", "measured_at", "age")
        read_only_fields = fields


class LinkSerializer(_Measured):
    """A link; on a directed cluster one direction of it."""

    source = serializers.CharField(source="source.name")
    target = serializers.CharField(source="target.name")

    class Meta:
        model = Link
        fields = ("source", "target", "capacity", "bandwidth", "latency", "measured_at", "age")
        read_only_fields = fields


class NetworkStatusSerializer(_Measured):
    """The state of a cluster's measurements."""

    cluster = serializers.CharField(source="name")

    class Meta:
        model = Cluster
        fields = (
            "cluster", "backend", "topology", "kind", "directed", "mode", "warning", "measured_at", "age",
            "probe_seconds", "probe_bytes", "error", "error_at",
        )  # fmt: skip
        read_only_fields = fields


class NetworkGraphSerializer(serializers.Serializer):
    """What node-link readers find under `graph`."""

    name = serializers.CharField()
    kind = serializers.CharField()


class NetworkSerializer(serializers.Serializer):
    """A node-link document with what was measured and how old that is."""

    directed = serializers.BooleanField()
    multigraph = serializers.BooleanField()
    graph = NetworkGraphSerializer()
    status = NetworkStatusSerializer()
    nodes = NodeSerializer(many=True)
    links = LinkSerializer(many=True)


class ClusterChoiceSerializer(WordedSerializer):
    """Which cluster is meant."""

    cluster = serializers.CharField(default=default_cluster, max_length=60)


class MeasurementSerializer(serializers.Serializer):
    """That a measurement was asked for."""

    detail = serializers.CharField()
    cluster = serializers.CharField()
