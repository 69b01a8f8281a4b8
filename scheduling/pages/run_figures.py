"""The figures that a program has reported of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduling.jobs.models import Application


def reported_figures(result: Mapping[str, Any]) -> dict[str, Any]:
    """By name, as the program said them: of any kind."""
    figures = result.get("figures", result)
    return dict(figures) if isinstance(figures, Mapping) else {}


def figure_units(application: Application) -> dict[str, str]:
    """The unit of each figure, where the application's patterns say it."""
    return {name: each.unit for name, each in application.output_patterns.figures.items()}
