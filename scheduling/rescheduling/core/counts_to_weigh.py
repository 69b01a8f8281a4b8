"""On how many ranks a job may go on after a move: which numbers are worth a prediction.

Source: Migration 2003, 3 and 8.1: the performance modeler decides on the final nodes, and a factorization goes from
four nodes of one site to all eight of another. How it finds the number the paper does not say.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduling.jobs.core import ranks
from scheduling.jobs.core.ranks import Limits


def worth_weighing(now: int, limits: Limits, sites: Iterable[int]) -> list[int]:
    """The number that it has first; then half and twice of it, and as many as a site has nodes, between these two.

    A site as a whole needs no slow link between sites. `limits`: the numbers that the application takes.

    >>> worth_weighing(4, {}, [4, 8]), worth_weighing(8, {}, [6, 2]), worth_weighing(4, {"choices": [4, 9]}, [5])
    ([4, 2, 8], [8, 4, 6, 16], [4])
    """
    least, most = max(1, now // 2), 2 * now
    others = {least, most, *(count for count in sites if least <= count <= most)} - {now}
    return [now, *sorted(count for count in others if ranks.allows(limits, count))]
