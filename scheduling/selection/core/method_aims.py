"""What each method maximises, and what decides among groups that are equal in that."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gridportal.network.narrowest import Worth, bandwidth
from scheduling.selection.core.aims import Aim
from scheduling.selection.core.placement import Request

#: Any link will do.
ANY_LINK = Worth(lambda *_: np.inf, lambda links: np.full(len(links.bandwidth), np.inf))


def share_of(reference: float | None) -> Worth:
    """bwfactor, or where capacities are unequal what is free of a reference link's bit/s (Selection 1999, 3.3)."""
    if reference is None:
        return Worth(lambda link, _: link.bwfactor, lambda links: links.bandwidth / links.capacity)
    return Worth(lambda link, part: bandwidth(link, part) / reference, lambda links: links.bandwidth / reference)


def caps_of(request: Request, cpu: Sequence[float]) -> list[float]:
    """The most that a group may score with each node: its cpu divided by the priority of computation.

    A priority of 2 makes 50 % of a processor count as 25 % of a link. Source: Selection 1999, 3.3.
    """
    return [each / request.compute_priority for each in cpu]


def aims_of(request: Request, cpu: Sequence[float], *, talks: bool) -> list[tuple[str, Aim]]:
    """The aims with their names, the method's own first. `cpu`: of each usable node; `talks`: whether any pair does.

    Bandwidth stands there again behind cpu: the next best groups only reach a level of bandwidth, and of two with as
    much cpu the one with more than that is better.

    >>> [name for name, _ in aims_of(Request(2, "balanced"), [0.5, 1.0], talks=True)]
    ['score', 'cpu', 'bandwidth']
    """
    by_cpu, by_bandwidth = ("cpu", Aim(ANY_LINK, cpu)), ("bandwidth", Aim(bandwidth))
    if not talks:
        return [by_cpu]
    if request.method == "compute":
        return [by_cpu, by_bandwidth]
    decides = any(each != cpu[0] for each in cpu)
    if request.method == "balanced":
        score = "score", Aim(share_of(request.reference_bandwidth), caps_of(request, cpu))
        return [score, by_cpu, by_bandwidth] if decides else [score, by_bandwidth]
    return [by_bandwidth, by_cpu, by_bandwidth] if decides else [by_bandwidth]
