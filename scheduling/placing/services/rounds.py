"""Placing goes round by round, one at a time on each cluster in this process.

Each round looks at all jobs that wait, so a second one beside it would only measure, look and ask the same again. Who
comes while one is under way leaves, and the worker of that round goes once more, with the look at the network that it
has. Other processes may place at the same time: a job is in one worker's hand, and storing checks the nodes again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from scheduling.placing.services.placing import Round
from scheduling.runs.models import Run
from scheduling.runs.services.one_at_a_time import OneAtATime, Turn
from scheduling.runs.services.starting import start_batches

#: Seconds after which a worker leaves what came meanwhile to the next one, which comes within five seconds.
_LONGEST = 60.0
_rounds = OneAtATime()


def place_and_start_all(cluster: str, pause: float = 0.0) -> int:
    """Place all jobs of a cluster that fit and hand them over; how many. 0 while another thread is at it, which then
    looks at all of them once more.

    `pause`: seconds from the begin of a round to that of the next, so that what comes one by one is placed together.
    The first begins at once.
    """
    turn = _rounds.begin(cluster)
    if turn is None:
        return 0
    with turn:
        return start_batches(_batches(cluster, turn, pause))


def _batches(cluster: str, turn: Turn, pause: float) -> Iterator[list[Run]]:
    """Round after round, as long as somebody asks."""
    until, begun = time.monotonic() + _LONGEST, time.monotonic()
    round_ = Round(cluster)
    yield from round_.batches()
    yield []  # what was placed is handed over before the pause
    while time.monotonic() < until:
        time.sleep(max(0.0, begun + pause - time.monotonic()))
        if not turn.again():
            return
        round_, begun = round_.following(), time.monotonic()
        yield from round_.batches()
        yield []
