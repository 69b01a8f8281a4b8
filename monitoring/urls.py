"""Addresses of the network that need to know nothing of jobs; scheduling.urls has the others."""

from __future__ import annotations

from django.urls import URLPattern, path

from monitoring.status.views import flows, series_download, telemetry_page, topology

urlpatterns: list[URLPattern] = [
    path("topology/measure", topology.measure, name="measure"),
    path("topology/fact", topology.fact, name="topology-fact"),
    path("topology/flows", flows.ask, name="topology-flows"),
    path("topology/series/<path:subject>/<str:metric>.csv", series_download.series_csv, name="series-csv"),
    path("telemetry/", telemetry_page.telemetry, name="telemetry"),
]
