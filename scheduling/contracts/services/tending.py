"""All contracts, a step on: opened, judged, closed. One thread of a process at a time, for each takes in all."""

from __future__ import annotations

from scheduling.contracts.selectors import promises
from scheduling.contracts.services.judging import judge_contracts
from scheduling.contracts.services.opening import open_contracts
from scheduling.runs.services.one_at_a_time import OneAtATime

_turns = OneAtATime()


def tend_contracts() -> int:
    """Whatever there is to do on each cluster; how many contracts were opened, or stand otherwise than before."""
    turn = _turns.begin("")
    if turn is None:
        return 0
    with turn:
        return sum(open_contracts(cluster) + judge_contracts(cluster) for cluster in promises.busy_clusters())
