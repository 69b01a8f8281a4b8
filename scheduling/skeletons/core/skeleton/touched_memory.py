"""How much memory the ranks of a trace touch while they compute: what a skeleton's work has to touch as well."""

from __future__ import annotations

from dataclasses import dataclass

from scheduling.profiles.core.trace import Trace

#: Looks of all ranks together that say something, and bytes that every first-level cache leaves to others.
_LEAST_LOOKS, _LEAST_REGION = 8, 256 * 1024


@dataclass(frozen=True, slots=True)
class TouchedMemory:
    """`rate`: bytes that a rank touches in each cpu second; `region`: the bytes in which it does, between two calls."""

    rate: float
    region: float


def touched_memory(trace: Trace) -> TouchedMemory | None:
    """What all ranks together tell; None where they looked too seldom, or touch less than counts.

    The region is the mean of the gaps by their cpu seconds: those that compute for long have the program's arrays.
    """
    looks = [process.touched for process in trace.processes]
    seconds = sum(each.n * each.cpu for each in looks)
    if sum(each.n for each in looks) < _LEAST_LOOKS or not seconds > 0:
        return None
    region = sum(each.n * each.cpu * each.region for each in looks) / seconds
    if region < _LEAST_REGION:
        return None
    return TouchedMemory(sum(each.n * each.bytes for each in looks) / seconds, region)
