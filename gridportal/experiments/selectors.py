"""Reading experiments: rows, what their folders hold, and the portal's own folder of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings

from gridportal.experiments import record, registry
from gridportal.experiments.models import Experiment

_LISTED = 100


def base() -> Path:
    """The folder of the portal's experiments."""
    return Path(settings.PORTAL.home).resolve() / "experiments"


def listed() -> list[Experiment]:
    """The newest ones first."""
    return list(Experiment.objects.select_related("started_by")[:_LISTED])


def newest(name: str) -> Experiment | None:
    """The newest one of this name."""
    return Experiment.objects.filter(name=name).first()


def names_run() -> set[str]:
    """Of which experiments there is any."""
    return set(Experiment.objects.order_by().values_list("name", flat=True).distinct())


def trials(row: Experiment) -> dict[str, dict[str, Any]]:
    """What its trials measured, in their order, and under `trial` its key; empty where its folder is gone."""
    return {key: {"trial": key, **each} for key, each in record.read_trials(Path(row.folder)).items()}


def finding(row: Experiment) -> str:
    """What was found so far, in one sentence; empty before the first trial is over, and of an experiment that was
    taken out of the portal."""
    experiment = registry.find(row.name)
    return experiment.finding(row.result) if experiment and row.result else ""
