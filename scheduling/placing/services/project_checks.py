"""What capabilities above this one have to say of jobs of a project, such as budgets: found by their name, so that
nothing here imports what stands on it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gridportal.base.reasons import NOTHING, Reason
from scheduling.jobs.project_models import Project

#: Each is asked for every new job of a project; it raises InputError, or says why the job waits, or says nothing.
CHECKS = ("scheduling.projects.budget_services:check_budget",)
#: Each lets jobs go on that have waited for that, and is called whenever jobs are taken a step on.
SETTLERS = ("scheduling.projects.budget_waiting:settle_budgets",)


def check_project(project: Project | None) -> Reason:
    """Why a new job of this project has to wait; nothing where it need not. Raises InputError where it may not be."""
    if project is None:
        return NOTHING
    reasons: list[Reason] = [_called(name, project) for name in CHECKS]
    return next((reason for reason in reasons if reason), NOTHING)


def settle_projects() -> None:
    """Let jobs go on that waited for something of their project."""
    for name in SETTLERS:
        _called(name)


def _called(name: str, *arguments: Any) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)(*arguments)
