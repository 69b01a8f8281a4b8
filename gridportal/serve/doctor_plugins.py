"""The plug-ins of packages here, as `gridportal doctor` lists them: mappers and performance models."""

from __future__ import annotations

from gridportal.base.plugin_processes import SharedName, plugin_names, shared_names

#: What people call the plug-ins of each group of entry points.
GROUPS = {"mappers": "gridportal.mappers", "performance models": "gridportal.performance_models"}


def plugins(topic: str) -> tuple[list[str], list[str]]:
    """The names of one kind, and a sentence for each name that more than one package uses."""
    group = GROUPS[topic]
    return plugin_names(group), [_of_shared(each) for each in shared_names(group)]


def _of_shared(shared: SharedName) -> str:
    """
    >>> _of_shared(SharedName("line", "gridportal", ("their-mappers",)))
    'line is the one of gridportal; that of their-mappers is not used'
    """
    return f"{shared.name} is the one of {shared.used}; that of {', '.join(shared.unused)} is not used"
