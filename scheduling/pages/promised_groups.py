"""What each group that a person may take for a job promises, side by side."""

from __future__ import annotations

from dataclasses import dataclass

from scheduling.jobs.core import candidates
from scheduling.jobs.models import Job
from scheduling.placing.models import Placement
from scheduling.placing.services.taking import takeable
from scheduling.skeletons.models import SkeletonRun


@dataclass(frozen=True, slots=True)
class PromisedGroup:
    """A group to take. place: in the order of the selection; predicted: seconds of the job by its skeleton, where it
    gave any; bandwidth: bit/s of its slowest pair; cpu: of its least free node; fastest: nobody predicts less."""

    place: int
    nodes: list[str]
    predicted: float | None
    bandwidth: float | None
    cpu: float | None
    fastest: bool


def promised_groups(job: Job, placement: Placement | None) -> list[PromisedGroup]:
    """Those that may be taken now, in the selection's order; none where none may."""
    takes = takeable(job)
    if placement is None or not takes:
        return []
    groups = candidates.placed(placement.candidates)
    rows = SkeletonRun.objects.filter(placement=placement).values_list("candidate", "predicted")
    predicted = {place: seconds for place, seconds in rows if seconds is not None}
    least = min((predicted[place] for place in takes if place in predicted), default=None)
    return [
        PromisedGroup(
            place,
            nodes,
            predicted.get(place),
            groups[place].objective.min_bandwidth,
            groups[place].objective.min_cpu,
            fastest=place in predicted and predicted[place] == least,
        )
        for place, nodes in takes.items()
    ]
