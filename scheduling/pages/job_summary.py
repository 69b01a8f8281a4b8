"""What was asked of the portal, as words and values: for the page of a job."""

from __future__ import annotations

from gridportal.base.clusters import BUSY
from gridportal.web.templatetags.units import duration
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.application_specification import ApplicationSpecification, GroupLink, RankGroup
from scheduling.jobs.core.input_files import read_all, size_text
from scheduling.jobs.core.requirements import Requirements
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import COLUMNS, without_cpus
from scheduling.messages.parts import ranks_text
from scheduling.pages import rank_fields

#: What a file of the job is headed by.
INPUT_FILE = "input file"
#: What the page shows by sentences of its own or in another place; of all else that was asked it has the name and the
#: value.
SHOWN_ELSEWHERE = frozenset(
    [
        "application",
        "parameters",
        *rank_fields.FIELDS.values(),
        "method",
        "pattern",
        "pattern_graph",
        "specification",
        "candidates",
        "seed",
        "requirements",
        "classad",
        "time_limit",
        "name",
        "cluster",
        "options",
        "busy_policy",
        "trace",
        "skeleton",
        "continues",
        "by_hand",
        "after",
        "after_ok",
    ]
)


def _count(number: int | None) -> str:
    return f"{number:,}" if number else ""


def _ranks_asked(job: Job) -> list[tuple[str, str]]:
    """Ranks and nodes, and what each rank needs."""
    asked = job.rank_request
    rows = [("ranks", f"{asked.total:,}"), ("nodes", _count(asked.nodes_asked) or "as the selection decides")]
    if asked.ranks_per_node:
        rows.append(("ranks a node, at most", str(asked.ranks_per_node)))
    if asked.cpus_per_rank > 1:
        rows.append(("threads of each rank", str(asked.cpus_per_rank)))
    if asked.memory_per_rank:
        rows.append(("memory of each rank", f"{asked.memory_per_rank} MB"))
    if asked.gres_per_rank:
        rows.append(("GRES of each rank", asked.gres_per_rank))
    return rows


def asked_rows(job: Job, *, names_files: bool) -> list[tuple[str, str]]:
    """What was asked, as words and values."""
    requirements = job.requirements
    rows = [(name, str(value)) for name, value in job.parameters.items() if value != ""]
    rows += _ranks_asked(job)
    if job.method != "log":  # of a job that was read from a log nobody asked for nodes
        rows += [("method", job.method), ("candidate groups", str(job.candidates))]
    # Without one all pairs count.
    has_pattern = job.pattern_graph or job.pattern or job.application.pattern
    if job.method == "pattern" or (job.method == "balanced" and requirements.flows and has_pattern):
        name = job.pattern or (job.application.pattern if job.method == "balanced" else "")
        links = "the links between its groups" if job.specification.links else name or "none"
        rows.append(("pattern", "a graph of its own" if job.pattern_graph else links))
    rows += _specification_asked(job.specification)
    rows += _requirements_asked(job.requirements)
    rows += [
        (name, f"{value / 2**20:g} MiB" if name == "memory" else str(value))
        for name, value in without_cpus(job.options).document().items()
    ]
    if job.classad:
        rows.append(("request in ClassAds", " ".join(job.classad.split())))
    if job.busy_policy:
        rows.append(("busy nodes", BUSY.get(job.busy_policy, job.busy_policy)))
    if job.trace:
        rows.append(("recorded", "its communication, for the application's profile"))
    rows += [
        (words, ", ".join(map(str, numbers)))
        for words, numbers in (("after jobs", job.after), ("after success of jobs", job.after_ok))
        if numbers
    ]
    rows += _inputs_asked(job, names_files)
    if job.continues:
        rows.append(("at its time limit", "goes on by itself"))
    if job.by_hand:
        rows.append(("its group", "taken by hand, once the groups are tried"))
    if job.skeleton is not None:
        rows.append(("by its skeleton", "yes" if job.skeleton else "no"))
    rows += [("node label", label_conditions.written(*pair)) for pair in requirements.require.items()]
    plain = {name: getattr(job, name) for name in COLUMNS if name not in SHOWN_ELSEWHERE}
    rows += [(name, f"cannot be read: {why}") for name, why in job.unreadable.items()]
    rows += [(name.replace("_", " "), str(value)) for name, value in plain.items() if value not in (None, "", False)]
    seed = "seed of the selection" if "seed" in job.parameters else "seed"
    return [*rows, (seed, str(job.seed)), ("time limit", duration(job.time_limit) if job.time_limit else "none")]


def _inputs_asked(job: Job, names_files: bool) -> list[tuple[str, str]]:
    """Each file; how many there are to whoever may not read them."""
    inputs = read_all(job.inputs)
    if names_files or not inputs:
        return [(INPUT_FILE, f"{each.name}, {size_text(each.size)}") for each in inputs]
    return [("input files", str(len(inputs)))]


def _specification_asked(asked: ApplicationSpecification) -> list[tuple[str, str]]:
    """Groups with what they need, who talks, and where ranks must or must not run."""
    rows = [(f"group {group.name}", _group(group)) for group in asked.groups]
    rows += [("talk", f"{link.source} and {link.target}{_inside(link)}") for link in asked.links]
    rows += [(f"{_who(pin.what)} pinned to", " or ".join(pin.nodes)) for pin in asked.pins]
    return rows + ([("excluded nodes", " ".join(asked.exclude))] if asked.exclude else [])


def _group(group: RankGroup) -> str:
    needs = [label_conditions.written(*pair) for pair in group.require.items()]
    needs += [f"the most {group.most}"] if group.most else []
    return f"{ranks_text(group.count)}{' with ' * bool(needs)}{' and '.join(needs)}"


def _inside(link: GroupLink) -> str:
    return f", {link.pattern}" if link.pattern else ""


def _who(what: int | str) -> str:
    return f"rank {what}" if isinstance(what, int) else what


def _requirements_asked(requirements: Requirements) -> list[tuple[str, str]]:
    """What the nodes must have, without their labels."""
    rows = []
    if requirements.min_bandwidth:
        rows.append(("bandwidth at least", f"{requirements.min_bandwidth / 1e6:g} Mbit/s"))
    if requirements.min_cpu:
        rows.append(("free processor at least", f"{requirements.min_cpu:g}"))
    if requirements.compute_priority:
        rows.append(("compute priority", f"{requirements.compute_priority:g}"))
    if requirements.reference_bandwidth:
        rows.append(("reference capacity", f"{requirements.reference_bandwidth / 1e6:g} Mbit/s"))
    if requirements.network == "forecast":
        rows.append(("chosen by", "what was forecast of the network"))
    if requirements.flows:
        rows.append(("pairs talk", "all at once"))
    return rows
