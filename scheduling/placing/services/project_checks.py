"""Checks of the project of a new job that capabilities above this one have, such as budgets: found by their name, so
that nothing here imports what stands on it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from scheduling.jobs.project_models import Project

#: Each is asked for every new job; it raises InputError, or says nothing.
CHECKS = ("scheduling.projects.budget_services:check_budget",)


def check_project(project: Project | None) -> None:
    """Raises InputError where no new job may belong to this project now."""
    if project is None:
        return
    for name in CHECKS:
        module, _, function = name.partition(":")
        check: Callable[[Project], None] = getattr(import_module(module), function)
        check(project)
