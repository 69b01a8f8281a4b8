"""Machines in the rank order of a communication pattern, by node selection on what is known of their pairs."""

from __future__ import annotations

import random
import time

from gridportal.base.work_shares import shares
from gridportal.network.topology import parse
from scheduling.jobs.core.patterns import named
from scheduling.matching.core.mapping.line_mapper import communication, total_of
from scheduling.matching.core.mapping.mapper_interface import MappedShare, MapperQuestion
from scheduling.selection.core.selection import Request, select

#: Above so many machines the search on pairs takes too long for a mapper.
MOST = 64


def pattern(question: MapperQuestion) -> list[MappedShare]:
    """The order in which a pattern (option `pattern`: ring, mesh-2d:4x4, ...; else line) has the best worst pair.

    Shares go by speed; option `total` as of the line mapper. Raises InputError, ValueError. Source: Pattern 2003.
    """
    machines = question.machines
    if len(machines) > MOST:
        raise ValueError(f"{len(machines)} machines; accepted are at most {MOST}")
    name = str(question.options.get("pattern", "line"))
    order = list(range(len(machines))) if len(machines) < 2 else _ordered(question, name)
    dealt = shares([machines[place].speed for place in order], total_of(question))
    return [MappedShare(place, share) for place, share in zip(order, dealt, strict=True)]


def _ordered(question: MapperQuestion, name: str) -> list[int]:
    size = len(question.machines)
    links = [
        {"source": str(a), "target": str(b), "capacity": 1e12, "bandwidth": _rate(communication(question, a, b))}
        for b in range(size)
        for a in range(b)
    ]
    nodes = [{"id": str(place), "cpu": 1.0} for place in range(size)]
    network = parse({"graph": {"kind": "pairs"}, "nodes": nodes, "links": links})
    request = Request(size, "pattern", named(name, size), time_budget=2.0)
    rng = random.Random(0)  # noqa: S311 - which of equal orders
    chosen = select(network, request, rng=rng, clock=time.perf_counter)
    return [int(node) for node in chosen.nodes]


def _rate(parts: tuple[float, float, float]) -> float:
    """Bandwidth as measured, else one that a common domain makes ten times higher for each part, and the ads decide."""
    measured, domain, stated = parts
    return min(1e12, measured or 10 ** (3 + domain) * (1 + min(stated, 1e6) / 1e7))
