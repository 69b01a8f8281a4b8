"""First values of the submit form from the `#SBATCH` lines of a person's own script, and what they cannot fill."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from gridportal.accounts.models import User
from monitoring.clusters import selectors
from scheduling.jobs.core import cluster_options
from scheduling.jobs.core.batch_lines import BatchLines, read_batch_lines
from scheduling.jobs.core.program_start import UPLOADED
from scheduling.jobs.models import Application
from scheduling.jobs.ownership_models import OwnProgram
from scheduling.jobs.selectors import viewable_jobs
from scheduling.messages import batch_line_messages as messages

#: Options whose fields are lists where the cluster says what it has: another value would be left out there.
_LISTED = ("partition", "account", "qos", "reservation")


def batch_values(application: Application, user: User) -> dict[str, Any]:
    """What the uploaded script asks for, by the names of the form; nothing for other programs.

    Where several ranks share a node, sbatch's memory and GRES of a node are shared out among them on clusters that have
    no field for those of a node.
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
    return first | _memory(lines) | _gres(lines) | _options(lines) | _dependencies(lines, user)


def unread_messages(text: str, user: User) -> list[str]:
    """A sentence for each thing in the #SBATCH lines that the form does not take: also for options of a cluster, such
    as --partition, where no cluster of this portal has any."""
    lines = read_batch_lines(text)
    unread = [messages.unread_option(each) for each in lines.unread]
    unread += _not_offered(lines, user) if _with_options() else _without_cluster(lines)
    if named := _named_jobs(lines):
        seen = _seen(lines, user)
        unread += [messages.unknown_job(number) for number in sorted(named - seen)]
        unread += [messages.after_begin(number) for number in lines.dependencies.after_begin if number in seen]
    return unread + ([messages.passed_lines(lines.passed)] if lines.passed else [])


def _without_cluster(lines: BatchLines) -> Iterator[str]:
    for name, value in lines.options.items():
        if name == "gres" and not _gres(lines):
            yield messages.gres_not_shared(value, _ranks_on_node(lines))
        elif name not in ("memory", "gres"):
            yield messages.no_cluster_options(name, value)


def _not_offered(lines: BatchLines, user: User) -> Iterator[str]:
    for cluster in _with_options():
        choices = cluster_options.choices(selectors.offers(cluster), user.username)
        for name in _LISTED:
            if choices[name] and (value := lines.options.get(name)) and value not in choices[name]:
                yield messages.not_offered(name, value, cluster, choices[name])


def _named_jobs(lines: BatchLines) -> set[int]:
    return {*lines.dependencies.after, *lines.dependencies.after_ok}


def _seen(lines: BatchLines, user: User) -> set[int]:
    """Those of the jobs that are named which this person can see."""
    return set(viewable_jobs(user).filter(pk__in=_named_jobs(lines)).values_list("pk", flat=True))


def _dependencies(lines: BatchLines, user: User) -> dict[str, Any]:
    fields = {"after": lines.dependencies.after, "after_ok": lines.dependencies.after_ok}
    seen = _seen(lines, user) if any(fields.values()) else set()
    return {name: kept for name, numbers in fields.items() if (kept := tuple(n for n in numbers if n in seen))}


def _memory(lines: BatchLines) -> dict[str, Any]:
    memory = lines.options.get("memory")
    if not memory or _with_options() or "memory_per_rank" in lines.fields:
        return {}
    return {"memory_per_rank": max(1, int(memory) // _ranks_on_node(lines))}


def _gres(lines: BatchLines) -> dict[str, Any]:
    """GRES of a node as those of each of its ranks; nothing where they cannot be shared out evenly."""
    gres, ranks = lines.options.get("gres"), _ranks_on_node(lines)
    if not gres or _with_options():
        return {}
    counts = cluster_options.gres_counts(str(gres))
    if any(count % ranks for count in counts.values()):
        return {}
    return {"gres_per_rank": ",".join(f"{kind}:{count // ranks}" for kind, count in counts.items())}


def _ranks_on_node(lines: BatchLines) -> int:
    """How many ranks a node has at most, by what the script says; one where it says nothing."""
    counts = {name: int(value) for name, value in lines.fields.items() if isinstance(value, int)}
    if "ranks_per_node" in counts:
        return counts["ranks_per_node"]
    return math.ceil(counts.get("ranks", 1) / counts.get("node_count", counts.get("ranks", 1)))


def _options(lines: BatchLines) -> dict[str, Any]:
    return {f"{cluster}-{name}": value for cluster in _with_options() for name, value in lines.options.items()}


def _with_options() -> Sequence[str]:
    """The clusters of which jobs may ask more than nodes."""
    return [name for name, found in selectors.configured().items() if found.traits.has_options]
