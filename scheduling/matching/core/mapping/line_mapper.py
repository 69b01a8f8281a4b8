"""The mappers that come with the portal: a line by communication, blocks by speed, and a communication pattern.

Source of the line: Set matching 2002, 4.2. The machine with the fastest processor is first, then always the one with
the best communication to the last in the line follows; so machines of one site stand side by side. Shares are inversely
proportional to the predicted times. Cost: the square of the number of machines.
"""

from __future__ import annotations

from dataclasses import replace

from gridportal.base.work_shares import shares
from scheduling.matching.core.mapping.mapper_interface import MappedShare, MapperMachine, MapperQuestion

_BANDWIDTHS = ("bandwidth", "rbandwidth", "lbandwidth")


def line(question: MapperQuestion) -> list[MappedShare]:
    """The 1-D line. Option `total`: whole parts to deal out, as planes of a grid; else shares are fractions.

    >>> near = [MapperMachine(name, 1, 10.0) for name in ("a.utk.edu", "b.ucsd.edu", "c.utk.edu")]
    >>> [share.place for share in line(MapperQuestion(tuple(near), {"total": 9}))]
    [0, 2, 1]
    """
    machines = question.machines
    order = [max(range(len(machines)), key=lambda place: (machines[place].speed, -place))] if machines else []
    left = [place for place in range(len(machines)) if place not in order]
    while left:
        last = order[-1]
        following = max(left, key=lambda place: (*communication(question, last, place), machines[place].speed, -place))
        order.append(following)
        left.remove(following)
    return _dealt(question, order, [_weight(machines[place]) for place in order])


def cactus(question: MapperQuestion) -> list[MappedShare]:
    """The line, with the planes of the grid (`z` of the request) dealt out. Source: Set matching 2002, 3.2 and 4.2."""
    planes = question.request.get("z")
    is_count = isinstance(planes, int) and not isinstance(planes, bool)
    options = {"total": planes, **question.options} if is_count and isinstance(planes, int) else question.options
    return line(replace(question, options=options))


def block(question: MapperQuestion) -> list[MappedShare]:
    """Blocks by speed, the fastest machine first; predicted times do not count. Option `total` as of `line`."""
    machines = question.machines
    order = sorted(range(len(machines)), key=lambda place: (-machines[place].speed * machines[place].processors, place))
    return _dealt(question, order, [machines[place].speed * machines[place].processors for place in order])


def communication(question: MapperQuestion, first: int, second: int) -> tuple[float, float, float]:
    """How well two machines communicate: as measured, else by how much of their domain they share and by their ads."""
    measured = question.bandwidths.get(pair_key(first, second), 0.0)
    one, other = question.machines[first], question.machines[second]
    rates = [one.number(*_BANDWIDTHS) or 0.0, other.number(*_BANDWIDTHS) or 0.0]
    return measured, float(_common_domain(one.dns, other.dns)), min(rates)


def pair_key(first: int, second: int) -> str:
    """A pair of machines as a key of MapperQuestion.bandwidths.

    >>> pair_key(3, 1)
    '1-3'
    """
    return f"{min(first, second)}-{max(first, second)}"


def _common_domain(first: str, second: str) -> int:
    """How many parts at the end two names share, the first part of a name left out."""
    count = 0
    for one, other in zip(
        reversed(first.lower().split(".")[1:]), reversed(second.lower().split(".")[1:]), strict=False
    ):
        if one != other:
            break
        count += 1
    return count


def _weight(machine: MapperMachine) -> float:
    return 1 / machine.seconds if machine.seconds else machine.speed


def _dealt(question: MapperQuestion, order: list[int], weights: list[float]) -> list[MappedShare]:
    dealt = shares(weights, total_of(question))
    return [MappedShare(place, share) for place, share in zip(order, dealt, strict=True)]


def total_of(question: MapperQuestion) -> int | None:
    """The whole parts to deal out. Raises ValueError for what is no such number."""
    total = question.options.get("total")
    if total is None:
        return None
    if isinstance(total, bool) or not isinstance(total, int) or not 0 < total < 2**53:
        raise ValueError(f"total is {total!r}; accepted is a whole number above 0")
    return total
