"""All contracts, a step on: opened, judged, closed. One thread of a process at a time, for each takes in all."""

from __future__ import annotations

from scheduling.contracts.selectors import promises
from scheduling.contracts.services.judging import judge_contracts
from scheduling.contracts.services.opening import Tell, open_contracts
from scheduling.runs.services.one_at_a_time import OneAtATime

_turns = OneAtATime()


def tend_contracts(tell: Tell | None = None) -> int:
    """Whatever there is to do on each cluster; how many contracts were opened, or stand otherwise than before.
    tell: of models that failed; without it nobody is told."""
    turn = _turns.begin("")
    if turn is None:
        return 0
    with turn:
        clusters = promises.busy_clusters()
        return sum(open_contracts(cluster, tell) + judge_contracts(cluster) for cluster in clusters)
