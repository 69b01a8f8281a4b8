"""How high a rank can be that adds up aggregates times numbers, such as Sum(other.cpu) - 2 * Sum(other.cost).

The sums are one sum of what each member adds, so the best members are known: those that add most. A requirement of the
same form may be added to the rank times any number from 0 on, for it is not negative where it is satisfied; the best
such number is searched for. A Min that counts for the rank, or a Max against it, is tried at each of its values, with
the members that keep it. Source: Lagrangian relaxation, as for knapsacks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.language.ad_syntax import Binary, Call, Expression, Literal, Name, Scope, Unary
from scheduling.matching.core.sets.monotone import SIZE, Key
from scheduling.matching.core.sets.set_request import SetRequest

Numbers = NDArray[np.float64]

_DEEPEST = 40
_EPSILON = float(np.finfo(np.float64).eps)
#: Requirements that are added to the rank, and how often all of them are weighed anew.
_MOST_ADDED, _ROUNDS = 4, 2


@dataclass(frozen=True)
class LinearForm:
    """A number and each aggregate, or the size, times another."""

    constant: float
    factors: Mapping[Key, float] = field(default_factory=dict)

    def plus(self, other: LinearForm, times: float = 1.0) -> LinearForm:
        """This and so many times another."""
        keys = {*self.factors, *other.factors}
        factors = {key: self.factors.get(key, 0.0) + times * other.factors.get(key, 0.0) for key in keys}
        return LinearForm(self.constant + times * other.constant, factors)

    @property
    def is_of_sums(self) -> bool:
        """Whether each member adds something of its own, and nothing else counts."""
        return all(_is_added(key) for key in self.factors)


def linear_form(request: SetRequest, expression: Expression, depth: int = 0) -> LinearForm | None:
    """An expression as a linear form; None where it is none, or may be cut to a whole number."""
    if depth > _DEEPEST:
        return None
    if request.is_size(expression):
        return LinearForm(0.0, {SIZE: 1.0})
    match expression:
        case Literal(value=value) if isinstance(value, int | float) and not isinstance(value, bool):
            return LinearForm(float(value))
        case Call() if request.is_aggregate(expression):
            return LinearForm(0.0, {expression: 1.0})
        case Name(scope=scope, name=name) if scope is not Scope.OTHER:
            definition = request.ad.get(name)
            return None if definition is None else linear_form(request, definition, depth + 1)
        case Unary(op="-" | "+" as op, operand=operand):
            inner = linear_form(request, operand, depth + 1)
            return None if inner is None else LinearForm(0.0).plus(inner, -1.0 if op == "-" else 1.0)
        case Binary(op=op, left=left, right=right):
            first, second = linear_form(request, left, depth + 1), linear_form(request, right, depth + 1)
            return None if first is None or second is None else _joined(op, first, second, right)
    return None


def _joined(op: str, left: LinearForm, right: LinearForm, divisor: Expression) -> LinearForm | None:
    if op in ("+", "-"):
        return left.plus(right, 1.0 if op == "+" else -1.0)
    if op == "*" and not right.factors:
        return LinearForm(0.0).plus(left, right.constant)
    if op == "*" and not left.factors:
        return LinearForm(0.0).plus(right, left.constant)
    is_real = isinstance(divisor, Literal) and isinstance(divisor.value, float) and divisor.value != 0
    return LinearForm(0.0).plus(left, 1 / right.constant) if op == "/" and is_real else None


def linear_bound(
    request: SetRequest,
    columns: Mapping[Call, Numbers],
    limits: Mapping[Key, tuple[float, float]],
) -> float:
    """No set of the members with these values, within the limits, that satisfies the requirements has a higher rank;
    infinite where the rank is no linear form."""
    form = None if request.rank is None else linear_form(request, request.rank)
    if form is None or not columns or not form.factors:
        return math.inf
    return _form_bound(request, form, columns, limits)


def sum_limits(
    request: SetRequest,
    columns: Mapping[Call, Numbers],
    limits: Mapping[Key, tuple[float, float]],
) -> dict[Key, tuple[float, float]]:
    """The limits, with those of the rank's sums as the requirements leave them: for a rank of another form."""
    made = dict(limits)
    if not any(_not_negative(request, clause) for clause in request.collective):
        return made
    for key in [call for call in request.of_rank if call.function == "sum"][:_MOST_ADDED]:
        ends = [_form_bound(request, LinearForm(0.0, {key: sign}), columns, limits) for sign in (-1.0, 1.0)]
        made[key] = max(made[key][0], -ends[0]), min(made[key][1], ends[1])
    return made


def _form_bound(
    request: SetRequest,
    form: LinearForm,
    columns: Mapping[Call, Numbers],
    limits: Mapping[Key, tuple[float, float]],
) -> float:
    """No set that satisfies the requirements has a higher value of a form."""
    added = [each for clause in request.collective for each in _not_negative(request, clause)][:_MOST_ADDED]
    weights = [0.0] * len(added)

    def bound(place: int, weight: float) -> float:
        tried = [*weights[:place], weight, *weights[place + 1 :]]
        whole = form
        for each, times in zip(added, tried, strict=True):
            whole = whole.plus(each, times)
        return _Members(columns, limits).bound(whole)

    best = _Members(columns, limits).bound(form)
    for _ in range(_ROUNDS):
        for place, each in enumerate(added):
            weights[place], best = _best_weight(_weights(form, each, columns), partial(bound, place), best)
    return best


def _not_negative(request: SetRequest, clause: Expression) -> list[LinearForm]:
    """What is not negative where a clause is true: sums alone."""
    if not isinstance(clause, Binary) or clause.op not in ("<", "<=", ">", ">=", "=="):
        return []
    left, right = linear_form(request, clause.left), linear_form(request, clause.right)
    if left is None or right is None:
        return []
    above = left.plus(right, -1.0)
    signs = {"<": (-1.0,), "<=": (-1.0,), ">": (1.0,), ">=": (1.0,), "==": (1.0, -1.0)}[clause.op]
    return [LinearForm(0.0).plus(above, sign) for sign in signs] if above.is_of_sums else []


def _weights(form: LinearForm, added: LinearForm, columns: Mapping[Call, Numbers]) -> Numbers:
    """The weights at which what a member adds changes its sign, rising, from 0."""
    own, more = _contributions(form, columns), _contributions(added, columns)
    with np.errstate(all="ignore"):
        ratios = -own / more
    return np.unique([0.0, *ratios[np.isfinite(ratios) & (ratios > 0)].tolist()])


def _best_weight(weights: Numbers, bound: Callable[[float], float], best: float) -> tuple[float, float]:
    """The weight with the lowest bound, and that bound; it is convex in a weight, so that halves can be left out."""
    low, high = 0, len(weights) - 1
    while low < high:
        middle = (low + high) // 2
        if bound(float(weights[middle])) <= bound(float(weights[middle + 1])):
            high = middle
        else:
            low = middle + 1
    found = bound(float(weights[low]))
    return float(weights[low]), min(best, found)


def _contributions(form: LinearForm, columns: Mapping[Call, Numbers]) -> Numbers:
    """What each member adds."""
    made = np.full(len(next(iter(columns.values()))), form.factors.get(SIZE, 0.0))
    for key, factor in form.factors.items():
        if isinstance(key, Call) and key.function == "sum":
            made = made + factor * columns[key]
    return made


def _is_added(key: Key) -> bool:
    return key == SIZE or (isinstance(key, Call) and key.function == "sum")


@dataclass(frozen=True)
class _Members:
    """Values of the members that there may be, and limits of sets of them."""

    columns: Mapping[Call, Numbers]
    limits: Mapping[Key, tuple[float, float]]

    def bound(self, form: LinearForm) -> float:
        """Of a form over all sets."""
        added = _contributions(form, self.columns)
        sizes = [
            abs(factor) * np.abs(self.columns[key]) for key, factor in form.factors.items() if isinstance(key, Call)
        ]
        rounding = 4 * len(added) * _EPSILON * float(np.abs(added).sum() + sum(each.sum() for each in sizes))
        others = [(key, factor) for key, factor in form.factors.items() if isinstance(key, Call) and not _is_added(key)]
        highs = [max(factor * end for end in self.limits[key]) for key, factor in others]
        bounds = [self._most(added) + sum(highs)]
        for place, (key, factor) in enumerate(others):
            if factor * (1 if key.function == "min" else -1) > 0:
                bounds.append(_over_thresholds(added, factor * self.columns[key]) + sum(highs) - highs[place])
        return form.constant + min(bounds) + rounding

    def _most(self, added: Numbers) -> float:
        """The highest sum of as many members as a set may have."""
        least, most = math.ceil(self.limits[SIZE][0]), math.floor(self.limits[SIZE][1])
        falling = np.sort(added)[::-1]
        count = min(max(int((falling > 0).sum()), least), most)
        return float(falling[:count].sum())


def _over_thresholds(added: Numbers, threshold: Numbers) -> float:
    """The highest of a threshold and what the members above it add, one at least."""
    order = np.argsort(-threshold, kind="stable")
    gains, level = added[order], threshold[order]
    positive = np.cumsum(np.maximum(gains, 0.0))
    most = np.where(np.maximum.accumulate(gains) > 0, positive, np.maximum.accumulate(gains))
    return float((most + level).max())
