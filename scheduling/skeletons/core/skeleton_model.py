"""A performance model made of a skeleton: each phase of the run that was traced, as much longer as the skeleton says.

Source: Pattern 2003, 2.5 (the skeleton predicts the seconds of the whole program); Migration 2003, 3. A skeleton knows
no phases, so all of them are taken to slow down alike. On nodes where it ran it says what it found there; elsewhere the
best that it ever found, on the processors of the slowest node there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gridportal.base.errors import ImpossibleError, InputError
from gridportal.network.topology import Topology
from scheduling.performance.core.phase_prediction import PhasePrediction

NAME = "skeleton"
_LEAST_CPU = 0.01


@dataclass(frozen=True, slots=True)
class SkeletonRuns:
    """What is known of a skeleton. traced: seconds of the program where it was recorded, and its phases there.

    tried: predicted seconds by nodes, rank by rank; best: the least of all, and its nodes.
    """

    application: str
    traced: float
    phases: tuple[PhasePrediction, ...]
    tried: Mapping[tuple[str, ...], float]
    best: tuple[tuple[str, ...], float] | None = None


class SkeletonModel:
    """The model of one skeleton.

    >>> phases = (PhasePrediction("step", 10, (1.0,)), PhasePrediction("read", 1, (2.0,)))
    >>> model = SkeletonModel(SkeletonRuns("cg", 12.0, phases, {("n1", "n2"): 18.0}))
    >>> [each.seconds for each in model.predict({}, ["n1", "n2"], Topology("t", False, "links", (), ()))]
    [(1.5,), (3.0,)]
    """

    name = NAME

    def __init__(self, runs: SkeletonRuns) -> None:
        self._runs = runs

    def applies(self, application: str) -> bool:
        """Whether it is the program whose skeleton this is."""
        return application == self._runs.application

    def predict(
        self, parameters: Mapping[str, object], nodes: Sequence[str], network: Topology
    ) -> tuple[PhasePrediction, ...]:
        """Seconds of the phases that the traced run reported. Raises ImpossibleError where the skeleton never ran,
        InputError for an unknown node."""
        slower = self._total(tuple(nodes), network) / self._runs.traced
        return tuple(
            PhasePrediction(each.phase, each.count, tuple(seconds * slower for seconds in each.seconds))
            for each in self._runs.phases
        )

    def _total(self, nodes: tuple[str, ...], network: Topology) -> float:
        runs = self._runs
        if nodes in runs.tried:
            return runs.tried[nodes]
        if runs.best is None:
            raise ImpossibleError("Its skeleton has not run to its end anywhere yet.")
        there, predicted = runs.best
        speeds = {each.id: each.speed for each in network.nodes}
        cpus = {each.id: each.effective_cpu for each in network.nodes}
        for node in (*nodes, *there):
            if node not in speeds:
                raise InputError("node", node, "a node of the cluster")
        # The best that was ever found is taken for what idle nodes give.
        return predicted * min(speeds[each] for each in there) / max(min(cpus[each] for each in nodes), _LEAST_CPU)
