"""Addresses of the network that need to know nothing of jobs; scheduling.urls has the others."""

from __future__ import annotations

from django.urls import URLPattern, path

from monitoring.views import subjects, topology

urlpatterns: list[URLPattern] = [
    path("topology/measure", topology.measure, name="measure"),
    path("topology/links/<str:source>/<str:target>/", subjects.link, name="link"),
]
