"""What a performance model is: a name and two verbs, which plug-ins have as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from gridportal.network.topology import Topology
from scheduling.performance.core.phase_prediction import PhasePrediction

#: By this name in a package's metadata plug-ins are found (entry points).
ENTRY_POINTS = "gridportal.performance_models"


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """What a model is asked: nodes in rank order, a node once for each of its ranks; the network with cpu and speed of
    each node and what its links have to give."""

    application: str
    parameters: Mapping[str, object]
    nodes: tuple[str, ...]
    network: Topology


class PerformanceModel(Protocol):
    """Predicts the phases of a program. `name`: a word that no other model has."""

    name: str

    def applies(self, application: str) -> bool:
        """Whether it knows this application, by its short name."""
        ...

    def predict(
        self, parameters: Mapping[str, object], nodes: Sequence[str], network: Topology
    ) -> Sequence[PhasePrediction]:
        """Seconds of each phase on these nodes. Raises InputError or ImpossibleError that say why it cannot."""
        ...
