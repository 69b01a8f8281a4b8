"""The model of the program `cactus` as a plug-in: its machines are those of the network, a point is measured here.

Source: Set matching 2002, 4.1, with the contention of today's processors (`lockstep_slowdown`). `start-up` is no phase
of the program, so it is left out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from gridportal.base.checked_numbers import whole
from gridportal.base.errors import ImpossibleError, InputError
from gridportal.base.work_shares import shares
from gridportal.network.flows import Flow, flow_query
from gridportal.network.topology import Node, Topology
from gridportal.workloads.wave_stencil import advance, chunk_of
from scheduling.performance.core.cactus_model import (
    CactusBox,
    CactusMachine,
    Exchange,
    PointCost,
    iteration_seconds,
    lockstep_slowdown,
    power,
)
from scheduling.performance.core.phase_prediction import PhasePrediction

_APPLICATION = "cactus"
#: Reports of the iterations that the program makes.
_REPORTS = 20
#: Seconds of an exchange beside latency and bytes, and of an iteration beside its points.
_MESSAGE, _ITERATION = 5e-4, 3e-4
_LEAST_CPU = 0.01
_TRIES = 5


class CactusPlugin:
    """Predicts the phases of the program on a line of nodes."""

    name = "cactus"

    def applies(self, application: str) -> bool:
        """Whether it is this program."""
        return application == _APPLICATION

    def predict(
        self, parameters: Mapping[str, object], nodes: Sequence[str], network: Topology
    ) -> tuple[PhasePrediction, ...]:
        """Seconds of init, evolve and verify. Raises InputError for parameters that are none, or an unknown node,
        ImpossibleError for neighbours without a path."""
        box = CactusBox(*(whole(name, parameters.get(name), 1, 10**9) for name in ("x", "y", "z", "iterations")))
        line = [(machine, 0.0) for machine in machines_of(nodes, network)]
        planes = shares([power(machine, lockstep_slowdown) for machine, _ in line], box.z)
        placed = [(machine, part) for (machine, _), part in zip(line, planes, strict=True)]
        cost = PointCost(seconds_of_point(), _ITERATION)
        seconds = iteration_seconds(
            box, placed, cost, lambda one, other: _exchange(network, one, other), lockstep_slowdown
        )
        every = math.ceil(box.iterations / _REPORTS)
        reports = math.ceil(box.iterations / every)
        return (
            PhasePrediction("init", 1, (seconds,)),
            PhasePrediction("evolve", reports, (seconds * box.iterations / reports,)),
            PhasePrediction("verify", 1, (2 * seconds,)),
        )


def machines_of(nodes: Sequence[str], network: Topology) -> list[CactusMachine]:
    """The machines in rank order, one for neighbouring ranks of the same node. Raises InputError."""
    by_name = {node.id: node for node in network.nodes}
    found = []
    for name, ranks in groupby(nodes):
        if name not in by_name:
            raise InputError("node", name, "a node of the cluster")
        found.append(_machine(by_name[name], len(list(ranks))))
    return found


def _machine(node: Node, ranks: int) -> CactusMachine:
    """`cpu` is what one more process on each processor gets: so many busy processes of others there are on each."""
    load = ranks * (1 / max(node.cpu, _LEAST_CPU) - 1)
    return CactusMachine(node.id, node.speed, ranks, load, node.labels.get("site", ""))


def _exchange(network: Topology, one: CactusMachine, other: CactusMachine) -> Exchange:
    if one.name == other.name:
        return Exchange(_MESSAGE, 0.0)
    (rate,) = flow_query(network, [Flow(one.name, other.name)])
    if rate.bandwidth <= 0:
        raise ImpossibleError(f"Nothing gets from {one.name} to {other.name}: there is no path left.")
    return Exchange(_MESSAGE + (rate.latency or 0.0), 8 / rate.bandwidth)


def seconds_of_point(side: int = 64) -> float:
    """Seconds of a processor of this machine for a point: the least of several tries."""
    now, before = np.zeros((side + 2, side, side)), np.zeros((side + 2, side, side))
    buffer, best = np.empty((chunk_of(side, side, side), side, side)), math.inf
    for _ in range(_TRIES):
        began = time.process_time()
        advance(now, before, buffer)
        best = min(best, time.process_time() - began)
    return best / side**3


MODEL = CactusPlugin()
