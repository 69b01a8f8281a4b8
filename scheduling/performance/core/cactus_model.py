"""What the Cactus application needs and how long it takes on a line of machines: memory, contention, time.

Source: Set matching 2002, 4.1: time = (computation(0) + communication(0)) * slowdown(load) + start-up, of the machine
that is done last; computation and communication as of [28] there: so much for each point, and for each plane that is
exchanged its latency and its bytes by the bandwidth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gridportal.base.errors import InputError

#: Bytes of a point of the plane that neighbours exchange.
POINT_BYTES = 8
#: Processors up to which the paper's formula of contention holds.
_PROVED = 2


def memory_mb(x: int, y: int, z: int) -> float:
    """The memory that a box of so many points needs at least, MB.

    >>> round(memory_mb(100, 100, 100), 3)
    15.557
    """
    return 1.757 + 0.0000138 * x * y * z


def slowdown(load: float, cpus: int) -> float:
    """How much longer a job takes on a machine with so many busy processes of others.

    The job has a subtask on each processor. For one and two processors it is the paper's (2 cpus - 1 + load) /
    (2 cpus - 1); for more, of which the paper says nothing, what a fair scheduler gives (`fair_slowdown`).
    Raises InputError for a load below 0 or no processor.

    >>> slowdown(2, 1), slowdown(3, 2), slowdown(4, 4)
    (3.0, 2.0, 2.0)
    """
    _check(load, cpus)
    if cpus > _PROVED:
        return fair_slowdown(load, cpus)
    return (2 * cpus - 1 + load) / (2 * cpus - 1)


def fair_slowdown(load: float, cpus: int) -> float:
    """The same under a scheduler that gives all processes of a machine the same: (cpus + load) / cpus.

    On one processor it is the paper's; on two it is more, by half as the load grows: there the subtasks of the paper
    got more of the processors than others did. It leaves out what subtasks wait for each other (`lockstep_slowdown`).
    Raises InputError as `slowdown`.

    >>> fair_slowdown(2, 1), fair_slowdown(3, 2)
    (3.0, 2.5)
    """
    _check(load, cpus)
    return (cpus + load) / cpus


def lockstep_slowdown(load: float, cpus: int) -> float:
    """The same where processors have queues of their own, as with today's Linux, and subtasks wait for each other in
    each iteration: 1 + the busy processes beside the subtask that has most of them, for that one is done last.

    Busy processes are spread evenly: one alone stops both subtasks of two processors as two do. On one processor it is
    the paper's. A load that is no whole number lies between its neighbours.
    Raises InputError as `slowdown`.

    >>> lockstep_slowdown(2, 1), lockstep_slowdown(1, 2), lockstep_slowdown(2, 2), lockstep_slowdown(2.5, 2)
    (3.0, 2.0, 2.0, 2.5)
    """
    _check(load, cpus)
    whole = math.floor(load)
    below, above = (1.0 + math.ceil(each / cpus) for each in (whole, whole + 1))
    return below + (load - whole) * (above - below)


def _check(load: float, cpus: int) -> None:
    if not load >= 0:
        raise InputError("load", load, "0 or more busy processes")
    if cpus < 1:
        raise InputError("cpus", cpus, "1 or more")


@dataclass(frozen=True, slots=True)
class CactusBox:
    """A run: points along x, y and z, and iterations."""

    x: int
    y: int
    z: int
    iterations: int


@dataclass(frozen=True, slots=True)
class CactusMachine:
    """A machine. speed: of one of its processors, in parts of the reference one; load: busy processes of others on all
    of it; site: where it stands."""

    name: str
    speed: float
    cpus: int = 1
    load: float = 0.0
    site: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the exchange of a plane with a neighbour takes: seconds however small it is, and seconds for each byte."""

    fixed: float
    per_byte: float


@dataclass(frozen=True, slots=True)
class PointCost:
    """What computing takes on one reference processor: seconds for each point, and for each iteration besides."""

    point: float
    iteration: float = 0.0


Contention = Callable[[float, int], float]
Hop = Callable[[CactusMachine, CactusMachine], Exchange]
#: A machine on the line and how many planes it has.
Placed = tuple[CactusMachine, float]


def computation(box: CactusBox, planes: float, machine: CactusMachine, cost: PointCost) -> float:
    """Seconds that an iteration computes without contention: its subtasks divide the planes among them."""
    return (box.x * box.y * planes / machine.cpus * cost.point + cost.iteration) / machine.speed


def communication(box: CactusBox, line: Sequence[Placed], place: int, hop: Hop) -> float:
    """Seconds that an iteration spends on exchanging planes with the machines before and after on the line."""
    machine = line[place][0]
    beside = [line[at][0] for at in (place - 1, place + 1) if 0 <= at < len(line)]
    exchanges = [hop(machine, other) for other in beside]
    return sum(each.fixed + box.x * box.y * POINT_BYTES * each.per_byte for each in exchanges)


def iteration_seconds(
    box: CactusBox, line: Sequence[Placed], cost: PointCost, hop: Hop, contention: Contention = slowdown
) -> float:
    """Seconds of an iteration: those of the machine that is done last."""
    return max(
        (computation(box, planes, machine, cost) + communication(box, line, place, hop))
        * contention(machine.load, machine.cpus)
        for place, (machine, planes) in enumerate(line)
    )


def execution_seconds(
    box: CactusBox,
    line: Sequence[Placed],
    cost: PointCost,
    hop: Hop,
    start_up: float,
    contention: Contention = slowdown,
) -> float:
    """Seconds of a whole run. `start_up`: as measured within one site, or over several (the paper: 25 and 40 s)."""
    return box.iterations * iteration_seconds(box, line, cost, hop, contention) + start_up


def lockstep_execution_seconds(
    box: CactusBox, line: Sequence[Placed], cost: PointCost, hop: Hop, start_up: float
) -> float:
    """The same as today's machines have it (beyond the paper): computing is slowed down as by `lockstep_slowdown`, what
    is on its way is not, for ranks sleep that wait for it, and the start-up is, for most of it computes."""
    slowest = max(
        computation(box, planes, machine, cost) * lockstep_slowdown(machine.load, machine.cpus)
        + communication(box, line, place, hop)
        for place, (machine, planes) in enumerate(line)
    )
    return box.iterations * slowest + start_up * max(lockstep_slowdown(each.load, each.cpus) for each, _ in line)


def power(machine: CactusMachine, contention: Contention = slowdown) -> float:
    """Reference processors that a machine comes to under its load: shares of the work are in proportion to it (4.2)."""
    return machine.speed * machine.cpus / contention(machine.load, machine.cpus)
