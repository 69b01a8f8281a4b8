"""What a person asks for, and every check of it that needs no measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from gridportal.errors import ImpossibleError, InputError
from monitoring import selectors as network
from scheduling.core import cluster_options, parameters, patterns, ranks, script, units
from scheduling.core.parameters import Value
from scheduling.core.patterns import Pattern
from scheduling.core.placement import METHODS, Request
from scheduling.models import Application, Job

MAX_CANDIDATES = 10
MAX_TIME_LIMIT = 30 * 24 * 3600
REQUIREMENTS = ("min_bandwidth", "min_cpu", "require", "compute_priority")


@dataclass(frozen=True)
class JobRequest:
    """A job as asked for. requirements: min_bandwidth (bit/s), min_cpu (0..1), require {"site": "utk"},
    compute_priority; time_limit in seconds, None for none; options: what scheduling.core.cluster_options names;
    busy_policy: wait, again, next, or empty for the cluster's own."""

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
    request_key: UUID | None = None


@dataclass(frozen=True)
class CheckedRequest:
    """A request after every check: typed parameters, the pattern as a value, the question to the selection."""

    request: JobRequest
    values: dict[str, Value]
    pattern: Pattern | None
    question: Request
    options: dict[str, Any] = field(default_factory=dict)


def check(request: JobRequest) -> CheckedRequest:
    """Raises InputError for a value that cannot be accepted, ImpossibleError for what no empty cluster could do."""
    application = request.application
    if not application.enabled:
        raise InputError("application", application.slug, "an application that is enabled")
    values = parameters.validate(parameters.parse(application.parameters), request.parameters)
    _whole("node_count", request.node_count, 1, 4096)
    if not ranks.allows(application.ranks, request.node_count):
        raise InputError("node_count", request.node_count, f"{ranks.words(application.ranks)} for {application.name}")
    _check_words(request)
    chosen = _check_cluster(request)
    _check_possible(request)
    pattern = read_pattern(request)
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
    )


def _check_words(request: JobRequest) -> None:
    _whole("candidates", request.candidates, 1, MAX_CANDIDATES)
    _whole("seed", request.seed, 0, 2**31 - 1)
    if request.time_limit is not None:
        _whole("time_limit", request.time_limit, 1, MAX_TIME_LIMIT)
    if len(request.name) > 120 or not request.name.isprintable():
        raise InputError("name", request.name[:40], "at most 120 printable characters")
    _check_requirements(request.requirements)


def _check_cluster(request: JobRequest) -> dict[str, Any]:
    """The options, checked against what the cluster offers as far as it was ever reached."""
    found, offers = network.setting(request.cluster), network.offers(request.cluster)
    cluster_options.check_busy(request.busy_policy)
    chosen = cluster_options.check(request.options, found, offers)
    if found.queues:
        partition = effective(chosen, request.cluster).get("partition", "")
        cluster_options.check_partition(partition, offers, request.node_count, request.time_limit)
    return chosen


def _check_requirements(wishes: dict[str, Any]) -> None:
    for name in wishes:
        if name not in REQUIREMENTS:
            raise InputError("requirements", name, "one of " + ", ".join(REQUIREMENTS))
    _number("min_bandwidth", wishes.get("min_bandwidth"), 0.0, 1e15, "a rate in bit/s from 0")
    _number("min_cpu", wishes.get("min_cpu"), 0.0, 1.0, "a fraction from 0 to 1")
    _number("compute_priority", wishes.get("compute_priority"), 0.001, 1000.0, "a number from 0.001 to 1000")
    require = wishes.get("require") or {}
    words = [word for pair in require.items() for word in pair] if isinstance(require, dict) else [None]
    if not all(isinstance(word, str) and word.isprintable() and len(word) <= 120 for word in words):
        raise InputError("require", require, 'labels and their values, e.g. {"site": "utk"}')


def _check_possible(request: JobRequest) -> None:
    """More nodes than there are, more bandwidth than any link has, or a label that too few carry, is no matter of
    waiting."""
    _check_bandwidth(request)
    known = network.compute_labels(request.cluster)
    if not known:
        return
    if request.node_count > len(known):
        raise InputError("node_count", request.node_count, f"at most {len(known)}, which is all that the cluster has")
    require = dict(request.requirements.get("require") or {})
    matching = [labels for labels in known if all(labels.get(k) == v for k, v in require.items())]
    if len(matching) < request.node_count:
        asked = " and ".join(f"{k}={v}" for k, v in require.items())
        raise ImpossibleError(
            f"The job needs {request.node_count} nodes with {asked}, and {len(matching)} of {len(known)} have it; "
            "ask for fewer nodes or another label."
        )


def _check_bandwidth(request: JobRequest) -> None:
    wanted, peak = request.requirements.get("min_bandwidth") or 0.0, network.peak_bandwidth(request.cluster)
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
