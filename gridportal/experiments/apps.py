"""The Django app of experiments."""

from __future__ import annotations

from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    name = "gridportal.experiments"
    label = "experiments"
