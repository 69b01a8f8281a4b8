"""What the model says of a run, from the runs by which it was calibrated before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from gridportal.experiments.cactus.machines import machines
from gridportal.experiments.cactus.plans import PLANES, Part, cubes
from scheduling.performance.core.cactus_model import (
    POINT_BYTES,
    CactusBox,
    CactusMachine,
    Exchange,
    PointCost,
    computation,
    execution_seconds,
    lockstep_execution_seconds,
)

Results = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What was measured for a part: computing, exchanges and start-up by whether one
    site has all machines ("one") or several have."""

    cost: PointCost
    exchanges: Mapping[str, Exchange]
    start_up: Mapping[str, float]

    def hop(self, first: CactusMachine, second: CactusMachine) -> Exchange:
        """The exchange between two machines."""
        return self.exchanges.get(_sites(first, second), Exchange(0.0, 0.0))

    def seconds(self, box: CactusBox, line: list[tuple[CactusMachine, float]]) -> tuple[float, float]:
        """Of a whole run, with its start-up where that was measured: by the paper's model, and by that of
        subtasks that wait for each other."""
        start_up = self.start_up.get(_sites(*(machine for machine, _ in line)), 0.0)
        return (
            execution_seconds(box, line, self.cost, self.hop, start_up),
            lockstep_execution_seconds(box, line, self.cost, self.hop, start_up),
        )


def calibrated(facts: Mapping[str, Any], done: Results) -> Calibrated | None:
    """For a run with these facts; None where a run that is needed has failed."""
    prefix = facts["part"] + (f"/{facts['candidates']}" if "candidates" in facts else "")
    alone = [done.get(f"{prefix}/point/{size}") for size in cubes(Part(facts["part"]))]
    if alone[0] is None or alone[1] is None:
        return None
    cost = _cost(alone[0], alone[1])
    if facts["part"] == Part.COMPUTING:  # caches make small cubes faster, so each size has runs of its own
        cost = _of_size(cost, done.get(f"{prefix}/point/{facts['size']}/{facts['line'][0][0]}"))
    exchanges, start_up = {}, {}
    for sites in ("one", "several"):
        # Between sites each size of planes has a run of its own.
        is_of_size = facts["part"] == Part.COMMUNICATION and sites == "several"
        sizes = (facts["box"][0],) if is_of_size else PLANES
        pair = [done.get(f"{prefix}/exchange/{sites}/{each}") for each in sizes]
        known = [each for each in pair if each is not None]
        if len(known) == len(sizes):
            exchanges[sites] = _exchange(known[0], known[-1], cost)
            start_up[sites] = fmean(each["start_up"] for each in known)
    return Calibrated(cost, exchanges, start_up)


def _cost(small: Mapping[str, Any], large: Mapping[str, Any]) -> PointCost:
    """From what iterations of a small and of a large cube took."""
    speed = line_of_facts(small)[0][0].speed
    seconds = [each["iteration"] * speed for each in (small, large)]
    points = [box_of(each).x ** 3 for each in (small, large)]
    point = (seconds[1] - seconds[0]) / (points[1] - points[0])
    return PointCost(point, max(0.0, seconds[0] - points[0] * point))


def _of_size(cost: PointCost, alone: Mapping[str, Any] | None) -> PointCost:
    """The cost of a point of such a cube; of a machine with several processors, what they exchange is in it."""
    if alone is None:
        return cost
    machine = line_of_facts(alone)[0][0]
    seconds = alone["iteration"] * machine.speed
    return PointCost((seconds - cost.iteration) * machine.cpus / box_of(alone).x ** 3, cost.iteration)


def _exchange(small: Mapping[str, Any], large: Mapping[str, Any], cost: PointCost) -> Exchange:
    """From what two runs took beside computing, with small and with large planes; of one alone for its planes only."""
    beside = [max(0.0, each["iteration"] - _computing(each, cost)) for each in (small, large)]
    sent = [box_of(each).x ** 2 * POINT_BYTES for each in (small, large)]
    if sent[0] == sent[1]:
        return Exchange(beside[0], 0.0)
    per_byte = max(0.0, (beside[1] - beside[0]) / (sent[1] - sent[0]))
    return Exchange(max(0.0, beside[0] - sent[0] * per_byte), per_byte)


def _computing(ran: Mapping[str, Any], cost: PointCost) -> float:
    return max(computation(box_of(ran), planes, machine, cost) for machine, planes in line_of_facts(ran))


def _sites(*these: CactusMachine) -> str:
    return "one" if len({each.site for each in these}) == 1 else "several"


def box_of(facts: Mapping[str, Any]) -> CactusBox:
    """The box of a trial."""
    return CactusBox(*facts["box"])


def line_of_facts(
    facts: Mapping[str, Any], loads: Mapping[str, float] | None = None
) -> list[tuple[CactusMachine, float]]:
    """The machines of a trial with their planes; `loads`: as they were seen, where not as they were planned."""
    names = [name for name, _ in facts["line"]]
    by_name = machines(names, facts["unit"], facts["loads"] if loads is None else loads)
    return [(by_name[name], float(planes)) for name, planes in facts["line"]]
