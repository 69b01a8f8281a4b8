"""A sweep: some parameters, or the number of ranks, have several values, and each combination of them is a job."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence

from gridportal.base.errors import InputError
from scheduling.jobs.core import ranks
from scheduling.jobs.core.parameters import Parameter, Value
from scheduling.jobs.core.ranks import Limits

#: How many jobs one sweep may be.
MOST_JOBS = 200
#: The axis that is no parameter: no application may call a parameter so.
RANKS = "ranks"
#: Each axis with its values, in the order of the application's parameters, ranks last.
Axes = Mapping[str, tuple[Value, ...]]
_RANGE = re.compile(r"\s*([+-]?[0-9]{1,9})\s*\.\.\s*([+-]?[0-9]{1,9})\s*(?::\s*([0-9]{1,9})\s*)?")


def read_axes(
    parameters: Sequence[Parameter], limits: Limits, given: Mapping[str, object]
) -> dict[str, tuple[Value, ...]]:
    """The axes of a sweep: `given` has for each a text such as "1,2,4" or "1..8", or a list. Raises InputError.

    >>> from scheduling.jobs.core.parameters import parse
    >>> declared = parse([{"name": "n", "type": "int", "min": 1}])
    >>> read_axes(declared, {"max": 8}, {"n": "1..3, 7", "ranks": [2, 4]})
    {'n': (1, 2, 3, 7), 'ranks': (2, 4)}
    """
    names = [*(parameter.name for parameter in parameters), RANKS]
    for name in given:
        if name not in names:
            raise InputError("sweep", name, "one of " + ", ".join(names))
    by_name = {parameter.name: parameter for parameter in parameters}
    axes = {name: read_axis(by_name.get(name), limits, given[name]) for name in names if name in given}
    check_size(axes)
    return axes


def read_axis(parameter: Parameter | None, limits: Limits, given: object) -> tuple[Value, ...]:
    """The values of one parameter, of the number of ranks where it is None. Raises InputError."""
    name = f"sweep.{parameter.name if parameter else RANKS}"
    is_number = parameter is None or parameter.type in ("int", "float")
    values = tuple(_value(parameter, limits, raw, name) for raw in _parts(given, name, is_number=is_number))
    if len(values) > MOST_JOBS:
        raise InputError(name, f"{len(values)} values", f"at most {MOST_JOBS} values")
    for value in values:
        if values.count(value) > 1:
            raise InputError(name, value, "each value once")
    return values


def check_size(axes: Axes) -> None:
    """Raises InputError for a sweep of one job, or of too many."""
    count = size(axes)
    if not 2 <= count <= MOST_JOBS:
        raise InputError("sweep", f"{count} job{'s' if count != 1 else ''}", f"values that make 2 to {MOST_JOBS} jobs")


def size(axes: Axes) -> int:
    """How many jobs it is.

    >>> size({"n": (1, 2, 3), "ranks": (2, 4)})
    6
    """
    return math.prod(len(values) for values in axes.values())


def points(axes: Axes) -> list[dict[str, Value]]:
    """Each combination of the values, the last axis changing fastest.

    >>> points({"n": (1, 2), "ranks": (4, 8)})[1]
    {'n': 1, 'ranks': 8}
    """
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def point_text(point: Mapping[str, object]) -> str:
    """A combination in a few words.

    >>> point_text({"n": 1, "ranks": 8})
    'n 1, ranks 8'
    """
    return ", ".join(f"{name} {value}" for name, value in point.items())


def _parts(given: object, name: str, *, is_number: bool) -> list[object]:
    if isinstance(given, str):
        given = [part.strip() for part in given.split(",")]
    if not isinstance(given, Sequence) or not given:
        raise InputError(name, given, "several values, such as 1,2,4 or 1..8 or 10..50:20")
    return [each for part in given[: MOST_JOBS + 1] for each in _expanded(part, name, is_number=is_number)]


def _expanded(part: object, name: str, *, is_number: bool) -> Sequence[object]:
    """The whole numbers of a range, in steps where it names some; anything else as it is.

    >>> list(_expanded("10..50:20", "n", is_number=True)), _expanded("1..2", "n", is_number=False)
    ([10, 30, 50], ['1..2'])
    """
    match = _RANGE.fullmatch(part) if is_number and isinstance(part, str) else None
    if match is None:
        return [part]
    low, high, step = int(match[1]), int(match[2]), int(match[3] or 1)
    if not (step and 0 <= (high - low) // step < MOST_JOBS):
        raise InputError(name, part, f"a range from a lower to a higher number, of at most {MOST_JOBS} numbers")
    return range(low, high + 1, step)


def _value(parameter: Parameter | None, limits: Limits, raw: object, name: str) -> Value:
    if parameter is None:
        return _ranks(limits, raw, name)
    try:
        return parameter.read(raw)
    except InputError as error:
        raise InputError(name, raw, error.accepted) from error


def _ranks(limits: Limits, raw: object, name: str) -> int:
    text = str(raw)
    count = int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0
    if isinstance(raw, bool) or not ranks.allows(limits, count):
        raise InputError(name, raw, ranks.accepted(limits))
    return count
