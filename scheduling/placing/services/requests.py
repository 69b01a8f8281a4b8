"""What a person asks for, and every check of it that needs no measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from gridportal.base.clusters import Cluster
from gridportal.base.errors import ImpossibleError, InputError
from monitoring.clusters import selectors
from monitoring.clusters.core.offers import Offers
from scheduling.jobs.core import cluster_options, label_conditions, parameters, patterns, ranks, units
from scheduling.jobs.core.application_specification import check_links
from scheduling.jobs.core.cluster_options import ClusterOptions
from scheduling.jobs.core.methods import CONCURRENT, CONCURRENT_METHODS, METHODS
from scheduling.jobs.core.parameters import Value
from scheduling.jobs.core.patterns import Pattern
from scheduling.jobs.core.rank_request import RankRequest
from scheduling.jobs.core.unreadable import Unreadable
from scheduling.jobs.models import Job
from scheduling.jobs.services.job_spec import JobSpec
from scheduling.matching.services.checked_texts import check_job_request, check_set_size
from scheduling.placing.services.rank_room import check_node_options, least_nodes
from scheduling.placing.services.specification_room import check_specification_room
from scheduling.profiles.core.profile import SLACK
from scheduling.profiles.services import stored_profiles
from scheduling.runs.core import script
from scheduling.runs.selectors import last_run
from scheduling.runs.services import recording_library
from scheduling.selection.core.placement import Request
from scheduling.skeletons.services import stored_skeletons

MAX_CANDIDATES = 10
MAX_TIME_LIMIT = 30 * 24 * 3600


@dataclass(frozen=True)
class CheckedRequest:
    """A request after every check. spec: what is stored of it, with typed parameters, the pattern by name or as a
    checked graph; question: what the selection is asked; least_nodes: on how many nodes it runs at least."""

    spec: JobSpec
    pattern: Pattern | None
    question: Request
    least_nodes: int


def check(request: JobSpec, user: str = "") -> CheckedRequest:
    """Raises InputError for a value that cannot be accepted, ImpossibleError for what no empty cluster could do.

    `user` is the name of who asks: accounts and QOS are theirs.
    """
    application = request.application
    if not application.enabled:
        raise InputError("application", application.slug, "an application that is enabled")
    values = parameters.validate(parameters.parse(application.parameters), request.parameters)
    asked = request.rank_request
    if request.classad.strip():
        check_job_request(request.classad)
        if not request.ranks_open:
            check_set_size(request.classad, asked)
    if not request.ranks_open and not ranks.allows(application.rank_limits, asked.total):
        field = "node_count" if request.ranks is None and request.node_count else "ranks"
        raise InputError(field, asked.total, f"{ranks.accepted(application.rank_limits)} for {application.name}")
    _check_plain_values(request)
    _check_specification(request)
    configured = selectors.setting(request.cluster)
    offers, size = selectors.offers_and_size(request.cluster)
    _check_cluster(request, user, configured, offers)
    least = _check_possible(request, size, offers)
    pattern = read_pattern(request)
    if request.trace:
        recording_library.library(application, request.cluster)
    if request.skeleton and stored_skeletons.best(application, request.parameters, asked.total) is None:
        has = f"false: {application.name} has none on {asked.total} ranks with these parameters"
        raise InputError("skeleton", True, f"{has} that is not stale; run it once with tracing on")
    asks = question(request, pattern)
    check_specification_room(asks, request.rank_request, request.cluster)
    return CheckedRequest(_stored(request, values, pattern), pattern, asks, least)


def _stored(request: JobSpec, values: dict[str, Value], pattern: Pattern | None) -> JobSpec:
    """The request as its row keeps it; Slurm is asked for the processors of each rank by an option of its own."""
    is_graph = request.pattern_graph is not None
    is_named = pattern is not None and not is_graph and not request.specification.links
    cpus = request.rank_request.cpus_per_rank
    has_option = cpus > 1 and selectors.traits(request.cluster).has_options
    return replace(
        request,
        cpus_per_rank=cpus,
        options=replace(request.options, cpus_per_rank=cpus if has_option else request.options.cpus_per_rank),
        parameters=values,
        name=request.name.strip(),
        pattern=pattern.name if pattern and is_named else "",
        pattern_graph=pattern_document(pattern) if pattern and is_graph else None,
    )


def with_cluster_defaults(options: ClusterOptions, cluster: str) -> ClusterOptions:
    """The options with the cluster's own partition, account and QOS where the job names none."""
    configured = selectors.setting(cluster)
    return options.or_else(ClusterOptions(configured.partition, configured.account, configured.qos))


def read_pattern(request: JobSpec | Job) -> Pattern | None:
    """The pattern asked for, else the application's own; None for a method without one. Raises InputError."""
    own, total = request.specification.pattern(), request.rank_request.total
    if own is not None:
        return own
    if request.pattern_graph is not None:
        pattern = _own_pattern(request.pattern_graph)
        if pattern.ranks != total:
            raise InputError("pattern_graph", f"{pattern.ranks} ranks", f"a graph of {total} ranks")
        # The name goes into columns and comments; the graph itself is numbers only.
        return replace(pattern, name=script.one_line(pattern.name, 60))
    name = request.pattern or request.application.pattern
    if name == stored_profiles.DISCOVERED:
        return stored_profiles.pattern(request.application, request.parameters, total)
    if name:
        return _named_pattern(name, request, total)
    if request.method == "pattern":
        raise InputError("pattern", "", f"one of {', '.join(patterns.NAMES)}, or a pattern of your own")
    return None


def _own_pattern(document: Mapping[str, Any]) -> Pattern:
    """Raises InputError whose field is one of the request."""
    try:
        return patterns.parse(document)
    except InputError as error:
        inside = error.field.removeprefix("pattern")
        field = "pattern_graph.nodes" if inside == "nodes" else f"pattern_graph{inside}"
        raise InputError(field, error.value, error.accepted) from error


def _named_pattern(name: str, request: JobSpec | Job, total: int) -> Pattern:
    """Raises InputError whose field is one of the request: its ranks are the nodes of a pattern."""
    try:
        return patterns.named(name, total)
    except InputError as error:
        if error.field != "nodes":
            raise
        raise InputError(_counted_by(request.rank_request), error.value, error.accepted) from error


def _counted_by(asked: RankRequest) -> str:
    """The field that says how many ranks there are."""
    return "ranks" if asked.ranks or not asked.nodes else "node_count"


def _too_many(asked: RankRequest, least: int, total: int) -> InputError:
    """More nodes than there are, in the field that asks for them."""
    if asked.nodes:
        return InputError("node_count", least, f"at most {total}, which is all that the cluster has")
    most = total * (asked.ranks_per_node or 1)
    field = "ranks" if asked.ranks else "ranks_per_node"
    return InputError(field, asked.total, f"at most {most}, for the cluster has {total} nodes")


def pattern_document(pattern: Pattern) -> dict[str, Any]:
    """A pattern as the node-link document that is stored: what was checked, and nothing else of what was sent."""
    return {
        "graph": {"name": pattern.name},
        "nodes": [{"id": rank} for rank in range(pattern.ranks)],
        "links": [{"source": a, "target": b, "weight": weight} for a, b, weight in pattern.edges],
    }


def question(request: JobSpec | Job, pattern: Pattern | None) -> Request:
    """The question to scheduling.selection.core.selection, without the nodes that are taken."""
    if request.method not in METHODS:
        raise InputError("method", request.method, "one of " + ", ".join(METHODS))
    asked = request.requirements
    for name, value in (
        ("requirements", asked),
        ("options", request.options),
        ("specification", request.specification),
    ):
        if isinstance(value, Unreadable):
            raise InputError(name, value.raw, f"what can be read: {value.why}")
    ranks_asked = request.rank_request
    is_discovered = pattern is not None and pattern.name == stored_profiles.DISCOVERED
    return Request(
        nodes=ranks_asked.nodes_asked,
        method=request.method,
        pattern=pattern,
        candidates=request.candidates,
        differ=1 if request.method == "random" else settings.PORTAL.candidates_differ,
        seed=request.seed,
        compute_priority=float(asked.compute_priority or 1.0),
        min_bandwidth=float(asked.min_bandwidth or 0.0),
        min_cpu=float(asked.min_cpu or 0.0),
        require=dict(asked.require),
        reference_bandwidth=asked.reference_bandwidth,
        slack=SLACK if is_discovered and not asked.flows else 0.0,
        flows=bool(asked.flows),
        ranks=ranks_asked.total,
        ranks_per_node=ranks_asked.ranks_per_node,
        specification=request.specification if request.specification.document() else None,
        avoid=_nodes_compared(request),
    )


def _nodes_compared(request: JobSpec | Job) -> frozenset[str]:
    """The nodes of the job that is submitted once more on random nodes: on the same ones nothing would be compared."""
    if not isinstance(request, Job) or request.method != "random" or request.resubmitted_from is None:
        return frozenset()
    run = last_run(request.resubmitted_from)
    return frozenset(run.placement.nodes) if run else frozenset()


def _check_plain_values(request: JobSpec) -> None:
    cluster_options.check_gres_once("gres_per_rank", request.gres_per_rank)
    _whole("candidates", request.candidates, 1, MAX_CANDIDATES)
    _whole("seed", request.seed, 0, 2**31 - 1)
    if request.time_limit is not None:
        _whole("time_limit", request.time_limit, 1, MAX_TIME_LIMIT)
    if len(request.name) > 120 or not request.name.isprintable():
        raise InputError("name", request.name[:40], "at most 120 printable characters")
    if request.by_hand and request.skeleton is False:
        raise InputError("by_hand", True, "false, or a choice by its skeleton: without one no group is tried")
    if request.requirements.flows and request.method not in CONCURRENT:
        raise InputError("flows", True, f"false, or {CONCURRENT_METHODS}")
    for name in ("compute_priority", "reference_bandwidth"):
        value = getattr(request.requirements, name)
        if value and request.method != "balanced":
            raise InputError(name, value, "the method balanced with it")


def _check_specification(request: JobSpec) -> None:
    """What the rest of the request and the names of the cluster's nodes, as far as these are known, say of it."""
    asked, total = request.specification, request.rank_request.total
    graph = "a graph of its own" if request.pattern_graph is not None else None
    check_links(asked, request.method, request.pattern or graph)
    for pin in asked.pins:
        if isinstance(pin.what, int) and pin.what >= total:
            raise InputError("specification.pins", pin.what, f"a rank from 0 to {total - 1}")
    named = [*asked.exclude, *(node for pin in asked.pins for node in pin.nodes)]
    names = selectors.compute_names(request.cluster) if named else []
    for name in named:
        if names and name not in names:
            where = "exclude" if name in asked.exclude else "pins"
            raise InputError(f"specification.{where}", name, f"a compute node of {request.cluster}")


def _check_cluster(request: JobSpec, user: str, cluster: Cluster, offers: Offers) -> None:
    """The options against what the cluster offers, as far as it was ever reached."""
    cluster_options.check_busy(request.busy_policy)
    cluster_options.check(request.options, cluster, offers, user)
    if cluster.traits.has_options:
        asked = with_cluster_defaults(request.options, request.cluster)
        cluster_options.check_partition(asked.partition, offers, request.rank_request.least_nodes(), request.time_limit)
        cluster_options.check_qos(asked.qos, offers, request.time_limit)


def _check_possible(request: JobSpec, total: int, offers: Offers) -> int:
    """More nodes than there are, more ranks than they have room for, more bandwidth than any link has, or a label that
    too few carry, is no matter of waiting. On how many nodes the job runs at least."""
    _check_bandwidth(request)
    least = request.rank_request.least_nodes()
    if not total:
        return least
    if least > total:
        raise _too_many(request.rank_request, least, total)
    if least > total - len(set(request.specification.exclude)):
        accepted = f"at most {total - least} of {total} nodes, since the job needs {least}"
        raise InputError("specification.exclude", f"{len(set(request.specification.exclude))} nodes", accepted)
    partition = _partition(request, offers)
    check_node_options(request.options, request.cluster, partition)
    least = least_nodes(request.rank_request, request.cluster, partition)
    require = request.requirements.require
    if not require:
        return least
    of_nodes = selectors.compute_labels(request.cluster)
    matching = [labels for labels in of_nodes if label_conditions.all_met(labels, require)]
    if len(matching) < least:
        asked = " and ".join(label_conditions.written(*pair) for pair in require.items())
        if least == 1:
            raise ImpossibleError(
                f"The job needs a node with {asked}, and none of {total} has it; ask for another label."
            )
        raise ImpossibleError(
            f"The job needs {least} nodes with {asked}, and {len(matching)} of {total} have it; "
            "ask for fewer nodes or another label."
        )
    return least


def _partition(request: JobSpec, offers: Offers) -> str:
    """Where the job would run: its own partition, the cluster's setting, or the one that Slurm takes by default."""
    wanted = with_cluster_defaults(request.options, request.cluster).partition
    return wanted or cluster_options.default_partition(offers)


def _check_bandwidth(request: JobSpec) -> None:
    wanted = request.requirements.min_bandwidth or 0.0
    peak = selectors.peak_bandwidth(request.cluster) if wanted else None
    if request.rank_request.least_nodes() > 1 and peak is not None and wanted > peak:
        accepted = f"at most {units.rate_text(peak)}, the peak of this network"
        raise InputError("min_bandwidth", f"{wanted / 1e6:g} Mbit/s", accepted)


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(name, value, f"a whole number from {low} to {high}")
