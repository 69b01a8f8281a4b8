"""Quantiles of many seconds from counts in buckets whose limits grow by one factor, so that sums can be added up.

Source: Masson, Rim, Lee: DDSketch, VLDB 2019, without its collapsing: seconds of a year need few buckets.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log

#: Each bucket ends at so many times where the one below it ends: a quantile is at most 2.5 % off.
FACTOR = 1.05
_LOG = log(FACTOR)
#: Everything below a tenth of a second is in the lowest bucket, and counts as none.
LEAST = 0.1
_LOWEST = 0


def bucket(seconds: float) -> int:
    """The number of the bucket of a value; 0 for everything below LEAST.

    >>> bucket(0.0), bucket(0.1), bucket(3600.0)
    (0, 1, 217)
    """
    return _LOWEST if seconds < LEAST else 1 + ceil(log(seconds / LEAST) / _LOG - 1e-9)


def quantile(counts: Mapping[int, int], share: float) -> float | None:
    """The value below which so large a share of all is (the nearest rank), within 2.5 %; None of nothing. Cost: the
    number of buckets, sorted.

    >>> round(quantile({bucket(2.0): 3, bucket(50.0): 1}, 0.5) or 0.0, 1)
    2.0
    """
    total = sum(counts.values())
    wanted, seen = max(1, ceil(share * total)), 0
    for number in sorted(counts):
        seen += counts[number]
        if seen >= wanted:
            return _middle(number)
    return None


def _middle(number: int) -> float:
    """The value in a bucket that is off by the same share from both of its ends."""
    if number == _LOWEST:
        return 0.0
    upper = LEAST * FACTOR ** (number - 1)
    return 2 * upper / (1 + FACTOR)
