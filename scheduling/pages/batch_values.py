"""First values of the submit form from the `#SBATCH` lines of a person's own batch script."""

from __future__ import annotations

import math
from typing import Any

from monitoring.clusters import selectors
from scheduling.jobs.core.batch_lines import BatchLines, read_batch_lines
from scheduling.jobs.core.program_start import UPLOADED
from scheduling.jobs.models import Application
from scheduling.jobs.ownership_models import OwnProgram


def batch_values(application: Application) -> dict[str, Any]:
    """What the uploaded script asks for, by the names of the form; nothing for other programs.

    Where several ranks share a node, sbatch's memory of a node is shared out among them on clusters that have no field
    for that of a node.
    """
    if UPLOADED not in application.command:
        return {}
    program = OwnProgram.objects.filter(pk=application.pk, content__isnull=False).first()
    if program is None:
        return {}
    lines = read_batch_lines(program.text)
    counts = {name: value for name, value in lines.fields.items() if name != "time_limit"}
    says_count = {"ranks", "node_count", "ranks_per_node"} & counts.keys()
    first: dict[str, Any] = dict(lines.fields)
    if says_count and "ranks" not in counts:
        first["ranks"] = None
    return first | _memory(lines) | _options(lines)


def unused_options(text: str) -> tuple[str, ...]:
    """The options of #SBATCH to which nothing in the form answers, as they were written: also those of a cluster, such
    as --partition, where no cluster of this portal has any."""
    lines = read_batch_lines(text)
    if any(each.traits.has_options for each in _clusters()):
        return lines.unread
    without = (f"--{name}={value}" for name, value in lines.options.items() if name != "memory")
    return (*lines.unread, *without)


def _memory(lines: BatchLines) -> dict[str, Any]:
    memory, with_field = lines.options.get("memory"), any(each.traits.has_options for each in _clusters())
    if not memory or with_field or "memory_per_rank" in lines.fields:
        return {}
    return {"memory_per_rank": max(1, int(memory) // _ranks_on_node(lines))}


def _ranks_on_node(lines: BatchLines) -> int:
    """How many ranks a node has at most, by what the script says; one where it says nothing."""
    counts = {name: int(value) for name, value in lines.fields.items() if isinstance(value, int)}
    if "ranks_per_node" in counts:
        return counts["ranks_per_node"]
    return math.ceil(counts.get("ranks", 1) / counts.get("node_count", counts.get("ranks", 1)))


def _options(lines: BatchLines) -> dict[str, Any]:
    with_options = [each.name for each in _clusters() if each.traits.has_options]
    return {f"{cluster}-{name}": value for cluster in with_options for name, value in lines.options.items()}


def _clusters() -> list[Any]:
    return list(selectors.configured().values())
