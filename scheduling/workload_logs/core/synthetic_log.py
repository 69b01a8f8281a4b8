"""A made-up log of a cluster over some days, in the Standard Workload Format: the same for the same seed.

Not a model of any system: people of very different diligence, working hours and weekends, sizes in powers of two,
lengths from seconds to days, and waiting that grows with the load. Enough to fill reports.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

_DAY = 86_400
#: How busy each hour of a day is, and how busy a day at the weekend.
_HOURS = (1, 1, 1, 1, 1, 1, 2, 3, 6, 9, 10, 9, 7, 9, 10, 10, 9, 7, 5, 4, 3, 2, 2, 1)
_WEEKEND = 0.35


@dataclass(frozen=True, slots=True)
class LogSize:
    """How large a made-up log is."""

    jobs: int
    days: int = 365
    people: int = 120
    groups: int = 12
    programs: int = 25
    nodes: int = 128
    processors_per_node: int = 8


def synthetic_lines(size: LogSize, seed: int, start: int) -> Iterator[str]:
    """The lines of a log whose times begin at the second `start` (Unix): its comments, then a job a line in the order
    of submission. Cost: the number of jobs."""
    draw = Random(seed)  # noqa: S311  (a log for tests, no secret)
    yield "; Version: 2.2"
    yield "; Computer: made up by gridportal workload make"
    yield f"; UnixStartTime: {start}"
    yield f"; MaxJobs: {size.jobs}"
    yield f"; MaxNodes: {size.nodes}"
    yield f"; MaxProcs: {size.nodes * size.processors_per_node}"
    yield "; Note: no real system; for tests and demonstrations"
    for number, at in enumerate(_moments(size, draw, start), 1):
        yield _line(number, at, size, draw)


def _moments(size: LogSize, draw: Random, start: int) -> list[int]:
    """When each job is submitted: working hours have more."""
    weights = [
        _HOURS[hour] * (_WEEKEND if _weekday(start, day) >= 5 else 1.0)
        for day in range(size.days)
        for hour in range(24)
    ]
    hours = draw.choices(range(len(weights)), weights, k=size.jobs)
    return sorted(3600 * hour + draw.randrange(3600) for hour in hours)


def _weekday(start: int, day: int) -> int:
    """0 is a Monday, as 1970 began on a Thursday."""
    return (start // _DAY + day + 3) % 7


def _line(number: int, at: int, size: LogSize, draw: Random) -> str:
    person = 1 + int(size.people * draw.random() ** 2.2)
    nodes = min(size.nodes, 2 ** int(draw.triangular(0, math.log2(size.nodes) + 1, 1)))
    processors = nodes * size.processors_per_node
    status = draw.choices((1, 0, 5), (88, 8, 4))[0]
    ran = max(1, round(draw.lognormvariate(6.5, 1.6))) if status else max(1, round(draw.lognormvariate(3, 1.5)))
    waited = round(draw.expovariate(1 / 60) * (1 + nodes / 8) ** 1.5)
    if status == 5 and draw.random() < 0.5:
        ran = 0
    limit = 600 * math.ceil(max(ran, 1) * draw.uniform(1.05, 3) / 600)
    program = 1 + int(size.programs * draw.random() ** 1.7)
    values = (number, at, waited, ran, processors if ran else -1, -1, -1, processors, limit, -1, status)
    return " ".join(map(str, (*values, person, 1 + person % size.groups, program, 1 + nodes // 32, 1, -1, -1)))
