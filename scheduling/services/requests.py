"""What a person asks for, and every check of it that needs no measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from gridportal.clusters import Cluster
from gridportal.errors import ImpossibleError, InputError
from monitoring import selectors as network
from monitoring.core.figures import FORECAST, NOW, When
from scheduling.core import cluster_options, parameters, patterns, ranks, script, units
from scheduling.core.parameters import Value
from scheduling.core.patterns import Pattern
from scheduling.core.placement import CONCURRENT, CONCURRENT_METHODS, METHODS, Request
from scheduling.core.profile import SLACK
from scheduling.models import Application, Job
from scheduling.services import profiles, skeletons

MAX_CANDIDATES = 10
MAX_TIME_LIMIT = 30 * 24 * 3600
REQUIREMENTS = ("min_bandwidth", "min_cpu", "require", "compute_priority", "network", "flows")
#: Which figures of the network nodes are chosen by.
MOMENTS = {"now": NOW, "forecast": FORECAST}


@dataclass(frozen=True)
class JobRequest:
    """A job as asked for. requirements: min_bandwidth (bit/s), min_cpu (0..1), require {"site": "utk"},
    compute_priority, network (now or forecast), flows (all pairs talk at once); time_limit in seconds, None for none;
    options: what scheduling.core.cluster_options names; busy_policy: wait, again, next, or empty for the cluster's own;
    trace: record what the program calls; skeleton: choose among the candidates by running its skeleton on them, None
    for the usual way, which is to do so with the method pattern where there is one; pattern: a name, or "discovered"
    for that of the application's profile."""

    application: Application
    parameters: dict[str, Any] = field(default_factory=dict)
    node_count: int = 1
    method: str = "pattern"
    pattern: str = ""
    pattern_graph: dict[str, Any] | None = None
    candidates: int = 3
    seed: int = 0
    requirements: dict[str, Any] = field(default_factory=dict)
    time_limit: int | None = None
    name: str = ""
    cluster: str = field(default_factory=network.default_cluster)
    options: dict[str, Any] = field(default_factory=dict)
    busy_policy: str = ""
    trace: bool = False
    skeleton: bool | None = None
    request_key: UUID | None = None


@dataclass(frozen=True)
class CheckedRequest:
    """A request after every check: typed parameters, the pattern as a value, the question to the selection."""

    request: JobRequest
    values: dict[str, Value]
    pattern: Pattern | None
    question: Request
    options: dict[str, Any] = field(default_factory=dict)


def check(request: JobRequest, user: str = "") -> CheckedRequest:
    """Raises InputError for a value that cannot be accepted, ImpossibleError for what no empty cluster could do.

    `user` is the name of who asks: accounts and QOS are theirs.
    """
    application = request.application
    if not application.enabled:
        raise InputError("application", application.slug, "an application that is enabled")
    values = parameters.validate(parameters.parse(application.parameters), request.parameters)
    _whole("node_count", request.node_count, 1, 4096)
    if not ranks.allows(application.ranks, request.node_count):
        raise InputError("node_count", request.node_count, f"{ranks.words(application.ranks)} for {application.name}")
    _check_words(request)
    found = network.setting(request.cluster)
    offers, size = network.offers_and_size(request.cluster)
    chosen = _check_cluster(request, user, found, offers)
    _check_possible(request, size)
    pattern = read_pattern(request)
    if request.trace:
        profiles.library(application, request.cluster)
    if request.skeleton and skeletons.best(application, request.parameters, request.node_count) is None:
        has = f"false: {application.name} has none on {request.node_count} ranks with these parameters"
        raise InputError("skeleton", True, f"{has} that is not stale; run it once with tracing on")
    return CheckedRequest(request, values, pattern, question(request, pattern), chosen)


def effective(options: Mapping[str, Any], cluster: str) -> dict[str, Any]:
    """The options with the cluster's own partition, account and QOS where the job names none."""
    found = network.setting(cluster)
    own = {name: getattr(found, name) for name in ("partition", "account", "qos")}
    return {**{name: value for name, value in own.items() if value}, **options}


def read_pattern(request: JobRequest | Job) -> Pattern | None:
    """The pattern asked for, else the application's own; None for a method without one. Raises InputError."""
    if request.pattern_graph is not None:
        pattern = patterns.parse(request.pattern_graph)
        if pattern.ranks != request.node_count:
            raise InputError("pattern_graph", f"{pattern.ranks} ranks", f"a graph of {request.node_count} ranks")
        # The name goes into columns and comments; the graph itself is numbers only.
        return replace(pattern, name=script.one_line(pattern.name, 60))
    name = request.pattern or request.application.pattern
    if name == profiles.DISCOVERED:
        return profiles.pattern(request.application, request.parameters, request.node_count)
    if name:
        return patterns.named(name, request.node_count)
    if request.method == "pattern":
        raise InputError("pattern", "", f"one of {', '.join(patterns.NAMES)}, or a pattern of your own")
    return None


def pattern_document(pattern: Pattern) -> dict[str, Any]:
    """A pattern as the node-link document that is stored: what was checked, and nothing else of what was sent."""
    return {
        "graph": {"name": pattern.name},
        "nodes": [{"id": rank} for rank in range(pattern.ranks)],
        "links": [{"source": a, "target": b, "weight": weight} for a, b, weight in pattern.edges],
    }


def question(request: JobRequest | Job, pattern: Pattern | None) -> Request:
    """The question to scheduling.core.selection, without the nodes that are taken."""
    if request.method not in METHODS:
        raise InputError("method", request.method, "one of " + ", ".join(METHODS))
    wishes = request.requirements
    return Request(
        nodes=request.node_count,
        method=request.method,  # type: ignore[arg-type]
        pattern=pattern,
        candidates=request.candidates,
        seed=request.seed,
        compute_priority=float(wishes.get("compute_priority") or 1.0),
        min_bandwidth=float(wishes.get("min_bandwidth") or 0.0),
        min_cpu=float(wishes.get("min_cpu") or 0.0),
        require=dict(wishes.get("require") or {}),
        slack=SLACK if pattern is not None and pattern.name == profiles.DISCOVERED and not wishes.get("flows") else 0.0,
        flows=bool(wishes.get("flows")),
    )


def _check_words(request: JobRequest) -> None:
    _whole("candidates", request.candidates, 1, MAX_CANDIDATES)
    _whole("seed", request.seed, 0, 2**31 - 1)
    if request.time_limit is not None:
        _whole("time_limit", request.time_limit, 1, MAX_TIME_LIMIT)
    if len(request.name) > 120 or not request.name.isprintable():
        raise InputError("name", request.name[:40], "at most 120 printable characters")
    _check_requirements(request.requirements)
    if request.requirements.get("flows") and request.method not in CONCURRENT:
        raise InputError("flows", True, f"false, or {CONCURRENT_METHODS}")


def _check_cluster(request: JobRequest, user: str, found: Cluster, offers: Mapping[str, Any]) -> dict[str, Any]:
    """The options, checked against what the cluster offers as far as it was ever reached."""
    cluster_options.check_busy(request.busy_policy)
    chosen = cluster_options.check(request.options, found, offers, user)
    if found.queues:
        asked = effective(chosen, request.cluster)
        cluster_options.check_partition(asked.get("partition", ""), offers, request.node_count, request.time_limit)
        cluster_options.check_qos(asked.get("qos", ""), offers, request.time_limit)
    return chosen


def moment(wishes: Mapping[str, Any]) -> When:
    """The moment whose figures of the network count for a job with these requirements."""
    return MOMENTS[wishes.get("network") or "now"]


def _check_requirements(wishes: dict[str, Any]) -> None:
    for name in wishes:
        if name not in REQUIREMENTS:
            raise InputError("requirements", name, "one of " + ", ".join(REQUIREMENTS))
    _number("min_bandwidth", wishes.get("min_bandwidth"), 0.0, 1e15, "a rate in bit/s from 0")
    _number("min_cpu", wishes.get("min_cpu"), 0.0, 1.0, "a fraction from 0 to 1")
    _number("compute_priority", wishes.get("compute_priority"), 0.001, 1000.0, "a number from 0.001 to 1000")
    if wishes.get("network") not in (None, *MOMENTS):
        raise InputError("network", wishes["network"], "one of " + ", ".join(MOMENTS))
    if wishes.get("flows") not in (None, True, False):
        raise InputError("flows", wishes["flows"], "true or false")
    require = wishes.get("require") or {}
    words = [word for pair in require.items() for word in pair] if isinstance(require, dict) else [None]
    if not all(isinstance(word, str) and word.isprintable() and len(word) <= 120 for word in words):
        raise InputError("require", require, 'labels and their values, e.g. {"site": "utk"}')


def _check_possible(request: JobRequest, total: int) -> None:
    """More nodes than there are, more bandwidth than any link has, or a label that too few carry, is no matter of
    waiting."""
    _check_bandwidth(request)
    if not total:
        return
    if request.node_count > total:
        raise InputError("node_count", request.node_count, f"at most {total}, which is all that the cluster has")
    require = dict(request.requirements.get("require") or {})
    if not require:
        return
    known = network.compute_labels(request.cluster)
    matching = [labels for labels in known if all(labels.get(k) == v for k, v in require.items())]
    if len(matching) < request.node_count:
        asked = " and ".join(f"{k}={v}" for k, v in require.items())
        raise ImpossibleError(
            f"The job needs {request.node_count} nodes with {asked}, and {len(matching)} of {total} have it; "
            "ask for fewer nodes or another label."
        )


def _check_bandwidth(request: JobRequest) -> None:
    wanted = request.requirements.get("min_bandwidth") or 0.0
    peak = network.peak_bandwidth(request.cluster) if wanted else None
    if request.node_count > 1 and peak is not None and wanted > peak:
        accepted = f"at most {units.rate_text(peak)}, the peak of this network"
        raise InputError("min_bandwidth", f"{wanted / 1e6:g} Mbit/s", accepted)


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(name, value, f"a whole number from {low} to {high}")


def _number(name: str, value: object, low: float, high: float, accepted: str) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise InputError(name, value, accepted)
