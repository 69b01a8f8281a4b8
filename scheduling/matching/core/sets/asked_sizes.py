"""What a request says of the size of its set, held against how many machines it may have."""

from __future__ import annotations

import math

from scheduling.matching.core.columns.pair_evaluation import Pool
from scheduling.matching.core.language.ad_syntax import Binary, Expression, Literal, Name, Record, Scope
from scheduling.matching.core.language.paper_forms import SET_SIZE, is_set_request
from scheduling.matching.core.sets.set_request import SetRequest

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


def clause_against(ad: Record, least: int, most: int) -> Expression | None:
    """The clause of a request with which no set of `least` to `most` machines goes, by plain comparisons of SetSize
    with a whole number; None where there is none.

    >>> from scheduling.matching.core.language.ad_reader import read_ad
    >>> ad = read_ad('[ Type = "Set"; requirements = SetSize >= 2 && 4 > SetSize ]').ad
    >>> [clause_against(ad, size, size) is None for size in (1, 2, 3, 4)]
    [False, True, True, False]
    """
    if not is_set_request(ad):
        return None
    low, high = float(least), float(most)
    for clause in SetRequest(ad, Pool([])).clauses:
        first, last = _bounds(clause)
        low, high = max(low, first), min(high, last)
        if low > high:
            return clause
    return None


def _bounds(clause: Expression) -> tuple[float, float]:
    """The sizes that a clause leaves: the least and the most."""
    if not isinstance(clause, Binary) or clause.op not in _MIRRORED:
        return -math.inf, math.inf
    left, right, op = clause.left, clause.right, clause.op
    if isinstance(left, Literal):
        left, right, op = right, left, _MIRRORED[op]
    is_size = isinstance(left, Name) and left.scope is Scope.NEAREST and left.key == SET_SIZE
    if not is_size or not isinstance(right, Literal) or isinstance(right.value, bool):
        return -math.inf, math.inf
    if not isinstance(right.value, int):
        return -math.inf, math.inf
    asked = right.value
    return {
        "<": (-math.inf, asked - 1),
        "<=": (-math.inf, asked),
        ">": (asked + 1, math.inf),
        ">=": (asked, math.inf),
        "==": (asked, asked),
    }[op]
