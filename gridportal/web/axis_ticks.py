"""The ticks of an axis of a Plotly figure that counts something."""

from __future__ import annotations

from collections.abc import Sequence

#: So many numbers have a tick each: of more Plotly leaves out some, and of few it would mark halves.
_MOST = 10


def whole_ticks(numbers: Sequence[int]) -> dict[str, int]:
    """Fields of the axis that keep halves of these numbers off it.

    >>> whole_ticks([2, 3]), whole_ticks([1, 40]), whole_ticks([])
    ({'dtick': 1}, {}, {})
    """
    return {"dtick": 1} if numbers and max(numbers) - min(numbers) < _MOST else {}
