"""The experiments there are, for the help page, which belongs to another app."""

from __future__ import annotations

from django import template

from gridportal.experiments import registry
from gridportal.experiments.interface import Experiment

register = template.Library()


@register.simple_tag
def experiments_there_are() -> tuple[Experiment, ...]:
    """All of them in the order of lists."""
    return registry.experiments()
