"""Events with the work of their rounds, where ranks have more to do in turn so that it matters who waits for whom.

With the mean of each rank nobody in a skeleton waits for whoever has more to do in a round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean, pstdev

from scheduling.profiles.core.trace import Loop, Process, Trace, weighted
from scheduling.skeletons.core.skeleton.kept_rounds import RoundChoice
from scheduling.skeletons.core.skeleton.ops import Event
from scheduling.skeletons.core.skeleton.replay import critical_path

#: The cpu seconds of work that is always the same differ by 2 to 3 % (caches, interrupts), and by this at most.
_NOISE = 0.04
#: What is gained in a round has to be more than this, in seconds: gaps that are too short for the cpu clock count with
#: the kernel's interrupts, which take as long.
_LEAST_GAIN = 2e-5
#: Rounds in a row that are tried, of the blocks that the trace has; the longest where it does as well, for ranks that
#: take turns have to be seen to. Where work stays with a rank for some rounds, more and shorter blocks see more ranks.
_LENGTHS = (8, 4, 2, 1)

Lines = Sequence[list[Event]]


def varied(trace: Trace, lines: Lines, target: float, read: Callable[[RoundChoice], Lines]) -> Lines:
    """`lines`, of which each execution has its mean, or what `read` makes of them where that tells more about who waits
    for whom: a critical path that is clearly nearer to that of all rounds kept. O(events * log ranks)."""
    if not any(map(_varies, trace.processes)):
        return lines
    whole = max(sum(event.working + event.inside for event in line) for line in lines)
    rounds = max(sum(node.count for node in process.body if isinstance(node, Loop)) for process in trace.processes)
    means, real = critical_path(lines, trace.comms), critical_path(read(RoundChoice()), trace.comms)
    if not whole or real - means <= max(_by_chance(trace.ranks) * whole, _LEAST_GAIN * rounds):
        return lines
    best, off = lines, real - means
    for length in _LENGTHS:
        tried = read(RoundChoice(length, min(1.0, target / whole)))
        apart = abs(critical_path(tried, trace.comms) - real)
        if apart < off - _NOISE * real:
            best, off = tried, apart
    return best


def _varies(process: Process) -> bool:
    """Whether the kept rounds of a rank differ by more than noise; whether only this rank's do is not known here."""
    for node in process.body:
        if not isinstance(node, Loop) or not node.rounds:
            continue
        totals = [0.0] * len(node.rounds)
        for call, times in weighted(node.body, node.count):
            for place, seconds in enumerate(call.compute.rounds):
                totals[place] += seconds * times / node.count
        if pstdev(totals) > _NOISE * fmean(totals):
            return True
    return False


def _by_chance(ranks: int) -> float:
    """The share by which the slowest of so many ranks lies above their mean at most, where there is only noise."""
    return _NOISE * math.sqrt(2.0 * math.log(ranks))
