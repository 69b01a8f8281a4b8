"""What was measured is a record: it is read here, not edited."""

from __future__ import annotations

from django.contrib import admin

from gridportal.accounts.admin import ReadOnlyAdmin
from monitoring.clusters.models import Cluster, Link, Node
from monitoring.telemetry.models import Source


@admin.register(Cluster)
class ClusterAdmin(ReadOnlyAdmin):
    list_display = ("name", "backend", "topology", "kind", "mode", "measured_at", "error")


@admin.register(Node)
class NodeAdmin(ReadOnlyAdmin):
    list_display = ("name", "cluster", "kind", "speed", "cpu", "load", "measured_at")
    list_filter = ("cluster", "kind")
    list_select_related = ("cluster",)
    search_fields = ("name",)


@admin.register(Link)
class LinkAdmin(ReadOnlyAdmin):
    list_display = ("source", "target", "capacity", "bandwidth", "latency", "measured_at")
    list_filter = ("cluster",)
    list_select_related = ("source", "target")
    search_fields = ("source__name", "target__name")


@admin.register(Source)
class SourceAdmin(ReadOnlyAdmin):
    list_display = ("name", "cluster", "kind", "last_ok", "error", "lag", "samples")
    list_filter = ("cluster", "kind")
    list_select_related = ("cluster",)
