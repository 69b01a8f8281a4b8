"""The network as JSON: bandwidth in bit/s, latency and ages in seconds, cpu 0..1."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework import serializers

from gridportal.base.errors import InputError
from gridportal.network.flows import Flow
from gridportal.network.importers.hostlist import expand
from gridportal.web.api_errors import WordedSerializer
from monitoring.clusters.models import Cluster, Link, Node
from monitoring.clusters.selectors import default_cluster
from monitoring.status.core.remos import parse_forecast_over, parse_window
from monitoring.status.selectors.remos_queries import MOST_FLOWS, MOST_NODES
from monitoring.telemetry.core.figures import FORECAST, NOW, When


class _Measured(serializers.ModelSerializer[Any]):
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

    source = serializers.CharField(source="source.name")  # type: ignore[assignment]  # not DRF's own
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
            "cluster",
            "backend",
            "topology",
            "kind",
            "directed",
            "mode",
            "warning",
            "measured_at",
            "age",
            "probe_seconds",
            "probe_bytes",
            "error",
            "error_at",
        )
        read_only_fields = fields


class NetworkGraphSerializer(serializers.Serializer[Any]):
    """What node-link readers find under `graph`."""

    name = serializers.CharField()
    kind = serializers.CharField()
    routing = serializers.JSONField(required=False, help_text="As in a topology file; left out where it is short.")


class NetworkSerializer(serializers.Serializer[Any]):
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


class MomentSerializer(ClusterChoiceSerializer):
    """Which cluster, and which moment: now, a past window, or what is forecast."""

    window = serializers.CharField(required=False, max_length=20, help_text="15m, 1h, 7d, or seconds; else now")
    forecast = serializers.BooleanField(default=False)
    ahead = serializers.CharField(required=False, max_length=20, help_text="forecast of the mean over the next 15m, 1h")

    def when(self) -> When:
        """The moment that is asked about, after is_valid(). Raises InputError."""
        window, forecast = self.validated_data.get("window"), self.validated_data["forecast"]
        ahead = self.validated_data.get("ahead")
        if window is not None and (forecast or ahead is not None):
            raise InputError(
                "ahead" if forecast is False else "forecast", ahead or forecast, "either window or forecast"
            )
        if ahead is not None:
            return parse_forecast_over(ahead)
        if window is not None:
            return parse_window(window)
        return FORECAST if forecast else NOW


class FlowSerializer(WordedSerializer):
    """Traffic between two compute nodes."""

    source = serializers.CharField(max_length=80)  # type: ignore[assignment]  # not DRF's own
    target = serializers.CharField(max_length=80)
    demand = serializers.FloatField(required=False, help_text="bit/s that it wants at most")
    weight = serializers.FloatField(required=False, help_text="2 counts as two flows")


class FlowQuerySerializer(MomentSerializer):
    """Flows that are asked together."""

    flows = FlowSerializer(many=True, allow_empty=False, max_length=MOST_FLOWS)  # type: ignore[call-arg]  # for the list
    half_duplex = serializers.BooleanField(default=False, help_text="Both directions of a link share one medium.")

    def asked(self) -> list[Flow]:
        """The flows, after is_valid()."""
        return [Flow(**flow) for flow in self.validated_data["flows"]]


class LogicalQuerySerializer(MomentSerializer):
    """The nodes that matter."""

    nodes = serializers.CharField(max_length=20_000, help_text="Names with commas between, or a host list as n[1-4]")

    def names(self) -> list[str]:
        """The nodes, after is_valid(). Raises InputError."""
        found = expand(self.validated_data["nodes"])
        if not 1 <= len(found) <= MOST_NODES:
            raise InputError("nodes", self.validated_data["nodes"], f"1 to {MOST_NODES} names")
        return found


class WhenSerializer(serializers.Serializer[Any]):
    """The moment of an answer; `seconds` is the length of a window, or how far a forecast goes (0: the next figure)."""

    kind = serializers.ChoiceField(choices=["now", "window", "forecast"])
    seconds = serializers.FloatField()


class AboutSerializer(serializers.Serializer[Any]):
    """Of which network and moment an answer is."""

    cluster = serializers.CharField()
    topology = serializers.CharField()
    when = WhenSerializer()
    warning = serializers.CharField(allow_blank=True)


class LinkEndsSerializer(serializers.Serializer[Any]):
    """A link, in the direction of a flow."""

    source = serializers.CharField()  # type: ignore[assignment]  # not DRF's own
    target = serializers.CharField()


class FlowRateSerializer(LinkEndsSerializer):
    """What a flow would get: bit/s, with the extremes of what is known; latency and age in seconds."""

    bandwidth = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    latency = serializers.FloatField(allow_null=True)
    path = serializers.ListField(child=serializers.CharField())
    held_by = serializers.ChoiceField(choices=["link", "demand", "no path"])
    binding = LinkEndsSerializer(allow_null=True)
    several_paths = serializers.BooleanField()
    measured_at = serializers.FloatField(allow_null=True, help_text="Unix seconds; of the oldest figure on the path")
    age = serializers.FloatField(allow_null=True)
    origins = serializers.ListField(child=serializers.CharField())


class FlowsSerializer(AboutSerializer):
    """The answer to a flow query, in the order of the question."""

    flows = FlowRateSerializer(many=True)


class LogicalPartSerializer(LinkEndsSerializer):
    """A link with what is known of it: bit/s and seconds."""

    through = serializers.ListField(child=serializers.CharField())
    capacity = serializers.FloatField()
    bandwidth = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    used = serializers.FloatField(allow_null=True)
    latency = serializers.FloatField()
    measured_at = serializers.FloatField(allow_null=True)
    age = serializers.FloatField(allow_null=True)
    origin = serializers.CharField(allow_blank=True)


class LogicalLinkSerializer(LogicalPartSerializer):
    """A link of a logical topology; `made_of`: the chain that it stands for, empty for a link as it is."""

    made_of = LogicalPartSerializer(many=True)


class LogicalSerializer(AboutSerializer):
    """A logical topology: a node-link document of the part that matters for the nodes."""

    directed = serializers.BooleanField()
    multigraph = serializers.BooleanField()
    graph = NetworkGraphSerializer()
    nodes = serializers.ListField(child=serializers.DictField())
    links = LogicalLinkSerializer(many=True)
    left_out = serializers.DictField(child=serializers.IntegerField())


class MeasurementSerializer(serializers.Serializer[Any]):
    """That a measurement was asked for."""

    detail = serializers.CharField()
    cluster = serializers.CharField()
