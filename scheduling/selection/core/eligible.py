"""Which nodes a request may use, and the sentence for a request that too few nodes satisfy."""

from __future__ import annotations

import math
import sys

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.topology import Node, Topology
from scheduling.jobs.core import label_conditions
from scheduling.jobs.core.methods import CONCURRENT, CONCURRENT_METHODS, METHODS
from scheduling.selection.core.placement import Request


def check(request: Request) -> None:
    """Raise InputError for the first field of a request that no topology could accept."""
    _check_size(request)
    _whole(request.candidates, "candidates")
    _whole(request.seed, "seed", low=0)
    if request.method not in METHODS:
        raise InputError("method", request.method, "one of " + ", ".join(METHODS))
    _number(request.min_bandwidth, "min_bandwidth", "a bandwidth of 0 bit/s or more", low=0.0)
    _number(request.min_cpu, "min_cpu", "a fraction from 0 to 1", low=0.0, high=1.0)
    _number(request.compute_priority, "compute_priority", "a factor above 0", low=0.0, above=True)
    _number(request.time_budget, "time_budget", "a number of seconds above 0", low=0.0, above=True)
    if request.reference_bandwidth is not None:
        _number(request.reference_bandwidth, "reference_bandwidth", "a bandwidth above 0 bit/s", low=0.0, above=True)
    _number(request.slack, "slack", "a fraction from 0 to 0.9", low=0.0, high=0.9)
    if request.flows and request.method not in CONCURRENT:
        raise InputError("flows", request.flows, f"{CONCURRENT_METHODS} with it")
    if label_conditions.LATENCY in request.require:
        raise InputError("require", label_conditions.LATENCY, "conditions on labels, memory and speed")
    if request.by_pattern:
        _check_pattern(request)


def _check_size(request: Request) -> None:
    if request.ranks is None and request.nodes is None:
        raise InputError("ranks", None, "a number of ranks or of nodes")
    for name in ("nodes", "ranks", "ranks_per_node"):
        if getattr(request, name) is not None:
            _whole(getattr(request, name), name)


def usable_nodes(topology: Topology, request: Request) -> tuple[Node, ...]:
    """The compute nodes that satisfy exclude, require and min_cpu. Raises InputError, ImpossibleError.

    Each failing requirement is named with the number of nodes that satisfy it and those checked before it.
    """
    nodes = topology.compute_nodes()
    if request.exclude:
        ids = {node.id for node in nodes}
        for name in sorted(request.exclude - ids):
            raise InputError("exclude", name, "the id of a compute node")
    asked = f"{request.rank_count} {'was' if request.rank_count == 1 else 'were'} asked for"
    if len(nodes) < request.rank_count:
        raise ImpossibleError(f"The topology has only {_count(len(nodes), 'compute node')}, {asked}.")
    left = tuple(node for node in nodes if node.id not in request.exclude) if request.exclude else nodes
    if len(left) < request.rank_count:
        raise ImpossibleError(f"Only {len(left)} of {_count(len(nodes), 'node')} are not excluded, {asked}.")
    conditions: list[str] = []
    for key, value in sorted(request.require.items()):
        conditions.append(label_conditions.written(key, value))
        left = tuple(node for node in left if label_conditions.meets(_figure(node, key), value))
        if len(left) < request.rank_count:
            have = "has" if len(left) == 1 else "have"
            raise ImpossibleError(
                f"Only {len(left)} of {_count(len(nodes), 'node')} {have} {' and '.join(conditions)}, {asked}."
            )
    return _with_cpu(left, request, asked, conditions)


def _figure(node: Node, name: str) -> str | None:
    return label_conditions.with_speed(node.labels, node.speed).get(name)


def _with_cpu(nodes: tuple[Node, ...], request: Request, asked: str, conditions: list[str]) -> tuple[Node, ...]:
    left = tuple(node for node in nodes if node.cpu >= request.min_cpu) if request.min_cpu > 0 else nodes
    if len(left) >= request.rank_count:
        return left
    top = sorted((node.cpu for node in nodes), reverse=True)[request.rank_count - 1]
    best = math.floor(top * 1000) / 1000
    wanted = " and ".join([*conditions, f"cpu >= {request.min_cpu:g}"])
    have = "node has" if len(left) == 1 else "nodes have"
    raise ImpossibleError(
        f"Only {len(left)} {have} {wanted}, {asked}: the best {request.rank_count} have cpu >= {best:g}."
    )


def _check_pattern(request: Request) -> None:
    if request.pattern is None:
        raise InputError("pattern", None, "a pattern, which the method pattern needs (ring, all-to-all, cg, ...)")
    if request.pattern.ranks != request.rank_count:
        wanted = f"{request.pattern.ranks}, the number of ranks of the pattern {request.pattern.name}"
        raise InputError("nodes", request.rank_count, wanted)


def _whole(value: object, field: str, low: int = 1) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise InputError(field, value, f"a whole number from {low}")


def _number(
    value: object, field: str, accepted: str, *, low: float, high: float = math.inf, above: bool = False
) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(field, value, accepted)
    if not low <= value <= min(high, sys.float_info.max) or (above and value == low):
        raise InputError(field, value, accepted)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
