"""How high the rank of a set can be at most, without a search: from what its size and its aggregates can be.

Of k members a Sum is at most that of the k largest values, a Min at most the k-th largest and a Max at least the k-th
smallest. Requirements such as SetSize <= 4, Min(other.cpu) >= 0.5 or Sum(other.cost) <= 90 say which members, sizes and
values are left. The rank's limits are worked out for each size (for ranges of sizes in large pools), and the highest of
them holds for every set. Where the rank has a Min or Max, that is done for parts of the values that it may have. Cost:
some hundred evaluations of rank and requirements by their form, after a sort for each aggregate and part. Source: ours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.columns.column import INT
from scheduling.matching.core.language.ad_syntax import Binary, Call, Expression, Name, Scope
from scheduling.matching.core.sets.linear_bounds import linear_bound, linear_form, sum_limits
from scheduling.matching.core.sets.monotone import SIZE, Key, Shapes
from scheduling.matching.core.sets.set_candidates import Candidates
from scheduling.matching.core.sets.set_request import SetRequest

Limits = Mapping[Key, tuple[float, float]]
Numbers = NDArray[np.float64]

#: Sizes that are looked at one by one, and ranges of larger ones: relatively as wide as each other.
_SINGLE, _RANGES = 12, 40
#: Parts of the values of a Min or Max, each with a bound of its own.
_MOST_PARTS = 12
#: How often requirements narrow what is left.
_ROUNDS = 3
_DEEPEST = 40
_EPSILON = float(np.finfo(np.float64).eps)
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def rank_bound(candidates: Candidates) -> float:
    """No set that satisfies the requirements has a higher rank; infinite where nothing is known, minus infinite where
    no set satisfies them."""
    request = candidates.request
    if not candidates.is_clean or not candidates.size:
        return math.inf
    values = _Values.of(candidates)
    left = _left(request, values, values.limits(1, candidates.size))
    if left is None:
        return -math.inf
    left = _with_sums(request, *left)
    parts = (_left(request, left[0], limits) for limits in _parts(request, *left))
    return max((_bound(request, *part) for part in parts if part is not None), default=-math.inf)


def _bound(request: SetRequest, values: _Values, limits: Limits) -> float:
    return min(_highest(request, values, limits), linear_bound(request, values.columns, limits))


def _with_sums(request: SetRequest, values: _Values, limits: Limits) -> tuple[_Values, Limits]:
    """Where the rank is no linear form the limits of its sums are narrowed as that form would be."""
    if request.rank is None or linear_form(request, request.rank) is not None or not values.columns:
        return values, limits
    narrowed = sum_limits(request, values.columns, limits)
    return values, limits if _within(limits, narrowed) is None else narrowed


def _left(request: SetRequest, values: _Values, limits: Limits) -> tuple[_Values, Limits] | None:
    """The members and limits that the requirements leave; None where they leave no set."""
    for _ in range(_ROUNDS):
        narrowed = _narrowed_by_all(request, limits)
        if narrowed is None:
            return None
        values = values.kept(narrowed)
        least, most = values.sizes(narrowed)
        possible = _within(values.limits(least, most), narrowed) if least <= most else None
        if possible is None:
            return None
        limits = possible
    return values, limits


def _parts(request: SetRequest, values: _Values, limits: Limits) -> list[Limits]:
    """The limits in parts, by the values that the rank's first Min or Max may have: the higher a Min is, the fewer
    members are left."""
    key = next((call for call in request.of_rank if call.function in ("min", "max")), None)
    if key is None:
        return [limits]
    low, high = limits[key]
    levels = np.unique(values.columns[key])
    levels = levels[(levels >= low) & (levels <= high)]
    if len(levels) <= _MOST_PARTS:
        return [{**limits, key: (level, level)} for level in levels.tolist()]
    ends = levels[np.linspace(0, len(levels) - 1, _MOST_PARTS + 1).astype(int)].tolist()
    return [{**limits, key: each} for each in pairwise(ends)]


def _highest(request: SetRequest, values: _Values, limits: Limits) -> float:
    """The highest rank over ranges of sizes."""
    if request.rank is None:
        return 0.0
    first, last = math.ceil(limits[SIZE][0]), math.floor(limits[SIZE][1])
    edges = _edges(first, last + 1)
    highest = -math.inf
    for least, behind in pairwise(edges):
        of_range = _within(values.limits(least, behind - 1), limits)
        of_range = None if of_range is None else _narrowed_by_all(request, of_range)
        if of_range is None:
            continue
        shape = Shapes(request, of_range).of(request.rank)
        highest = max(highest, math.inf if shape is None else shape.high)
    return highest


def _edges(first: int, behind: int) -> list[int]:
    """Where ranges of sizes begin, and the end of the last.

    >>> _edges(2, 5), _edges(1, 60)[-3:]
    ([2, 3, 4, 5], [56, 58, 60])
    """
    single = range(first, min(behind, first + _SINGLE))
    wide = np.geomspace(single[-1] + 1, behind, _RANGES + 1).round().astype(int).tolist() if len(single) else []
    return sorted({*single, *wide, behind})


@dataclass(frozen=True)
class _Values:
    """The values of the aggregates for the candidates that may be members."""

    columns: Mapping[Call, Numbers]
    #: Whether a sum may differ by the order of its parts.
    is_rounded: Mapping[Call, bool]
    size: int

    @classmethod
    def of(cls, candidates: Candidates) -> _Values:
        pairs = list(zip(candidates.request.aggregates, candidates.columns, strict=True))
        columns = {call: np.broadcast_to(column.as_reals, candidates.size) for call, column in pairs}
        return cls(columns, {call: bool((column.kinds > INT).any()) for call, column in pairs}, candidates.size)

    def kept(self, limits: Limits) -> _Values:
        """Without those that no set within the limits has: too low for a Min, too high for a Max."""
        mask = np.ones(self.size, bool)
        for call, values in self.columns.items():
            low, high = limits[call]
            if call.function == "min":
                mask &= values >= low
            elif call.function == "max":
                mask &= values <= high
        columns = {call: values[mask] for call, values in self.columns.items()}
        return _Values(columns, self.is_rounded, int(mask.sum()))

    def limits(self, least: int, most: int) -> Limits:
        """Of the size and each aggregate, over all sets of so many members."""
        found: dict[Key, tuple[float, float]] = {SIZE: (float(least), float(most))}
        for call in self.columns:
            rising, low_sums, high_sums = self._sorted[call]
            if call.function == "sum":
                below, above = int((rising < 0).sum()), int((rising > 0).sum())
                fewest, largest = (min(max(count, least), most) for count in (below, above))
                found[call] = float(low_sums[fewest]), float(high_sums[largest])
            elif call.function == "min":
                found[call] = float(rising[0]), float(rising[self.size - least])
            else:
                found[call] = float(rising[least - 1]), float(rising[-1])
        return found

    def sizes(self, limits: Limits) -> tuple[int, int]:
        """The fewest and the most members of a set within the limits; (1, 0) where there is none."""
        counts = np.arange(self.size + 1)
        possible = (counts >= max(1.0, limits[SIZE][0])) & (counts <= limits[SIZE][1])
        for call in self.columns:
            if call.function == "sum":
                _, low_sums, high_sums = self._sorted[call]
                low, high = limits[call]
                possible &= (low_sums <= high) & (high_sums >= low)
        left = np.flatnonzero(possible)
        return (int(left[0]), int(left[-1])) if len(left) else (1, 0)

    @cached_property
    def _sorted(self) -> Mapping[Call, tuple[Numbers, Numbers, Numbers]]:
        """Of each aggregate the rising values, and the lowest and highest sums of 0, 1, 2... of them."""
        made = {}
        for call, values in self.columns.items():
            rising = np.sort(values)
            sums = [np.concatenate([[0.0], np.cumsum(order)]) for order in (rising, rising[::-1])]
            margin = float(np.abs(values).sum()) * self.size * _EPSILON if self.is_rounded[call] else 0.0
            made[call] = rising, sums[0] - margin, sums[1] + margin
        return made


def _within(one: Limits, other: Limits) -> Limits | None:
    """What is in both; None where nothing is."""
    made = {key: (max(low, other[key][0]), min(high, other[key][1])) for key, (low, high) in one.items()}
    return None if any(low > high for low, high in made.values()) else made


def _narrowed_by_all(request: SetRequest, limits: Limits) -> Limits | None:
    """Limits of sets that satisfy the requirements; None where none does."""
    narrowed: Limits | None = limits
    for clause in request.collective:
        narrowed = None if narrowed is None else _narrowed(request, clause, narrowed)
    return narrowed


def _narrowed(request: SetRequest, clause: Expression, limits: Limits, depth: int = 0) -> Limits | None:
    """Limits of sets for which a clause is true; None where there are none. What it is not sure of it leaves."""
    if depth > _DEEPEST:
        return limits
    if isinstance(clause, Name) and clause.scope is not Scope.OTHER and not request.is_size(clause):
        definition = request.ad.get(clause.name)
        return limits if definition is None else _narrowed(request, definition, limits, depth + 1)
    if not isinstance(clause, Binary):
        return limits
    if clause.op == "&&":
        first = _narrowed(request, clause.left, limits, depth + 1)
        return None if first is None else _narrowed(request, clause.right, first, depth + 1)
    if clause.op == "||":
        return _around([_narrowed(request, side, limits, depth + 1) for side in (clause.left, clause.right)])
    if clause.op in ("==", "is"):
        for op in ("<=", ">="):
            held = _held(request, op, (clause.left, clause.right), limits)
            if held is None:
                return None
            limits = held
        return limits
    return _held(request, clause.op, (clause.left, clause.right), limits) if clause.op in _MIRRORED else limits


def _held(request: SetRequest, op: str, sides: tuple[Expression, Expression], limits: Limits) -> Limits | None:
    """The same for an order between two sides: where one of them is the size or an aggregate, it is narrowed."""
    shapes = Shapes(request, limits)
    left, right = (shapes.of(side) for side in sides)
    if left is None or right is None:
        return limits
    made = dict(limits)
    for side, other, order in ((sides[0], right, op), (sides[1], left, _MIRRORED[op])):
        key = _key_of(request, side)
        if key is None or key not in made:
            continue
        low, high = made[key]
        if order in ("<", "<="):
            most = math.ceil(other.high) - 1 if key == SIZE and order == "<" else other.high
            made[key] = low, min(high, most)
        else:
            least = math.floor(other.low) + 1 if key == SIZE and order == ">" else other.low
            made[key] = max(low, least), high
        if made[key][0] > made[key][1]:
            return None
    return made


def _key_of(request: SetRequest, side: Expression) -> Key | None:
    if request.is_size(side):
        return SIZE
    return side if isinstance(side, Call) and request.is_aggregate(side) else None


def _around(parts: Sequence[Limits | None]) -> Limits | None:
    """The limits of what is in any of them."""
    some = [part for part in parts if part is not None]
    if not some:
        return None
    return {key: (min(part[key][0] for part in some), max(part[key][1] for part in some)) for key in some[0]}
