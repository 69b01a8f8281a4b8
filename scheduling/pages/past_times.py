"""How long an application took with the same parameters on several numbers of ranks: from runs, else from skeletons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from scheduling.jobs.core import speedup
from scheduling.jobs.core.scaling_table import ScalingTable, Seconds
from scheduling.jobs.core.speedup import Point
from scheduling.jobs.models import Application
from scheduling.runs.core.run_states import RunState
from scheduling.runs.models import Run
from scheduling.skeletons.services import stored_skeletons

#: So many of the latest runs are looked at.
_LATEST = 200


@dataclass(frozen=True)
class PastTimes:
    """points: by ranks; runs: how many runs each time is the median of, 0 where a skeleton predicted it, or the
    application's table has it. table: of what the prediction for other nodes is made, None where nothing is known."""

    points: tuple[Point, ...]
    runs: Mapping[int, int]
    table: ScalingTable | None = None

    @property
    def rows(self) -> list[tuple[Point, int]]:
        """The points with how many runs they are of."""
        return [(point, self.runs[point.ranks]) for point in self.points]


def past_times(application: Application, parameters: Mapping[str, Any], cluster: str) -> PastTimes:
    """No points where fewer than two numbers of ranks are known. The application's own table goes before both."""
    if application.scaling:
        table = ScalingTable.read(application.scaling)
        seconds = {ranks: each.compute + each.communicate for ranks, each in table.seconds.items()}
        return PastTimes(speedup.curve(seconds), dict.fromkeys(seconds, 0), table)
    by_ranks: dict[int, list[float]] = {}
    runs = Run.objects.filter(job__application=application, job__parameters=dict(parameters), job__cluster=cluster)
    runs = runs.filter(state=RunState.SUCCEEDED, started_at__isnull=False, ended_at__isnull=False)
    for ranks, began, ended in runs.order_by("-job_id").values_list("job__ranks", "started_at", "ended_at")[:_LATEST]:
        if began and ended:
            by_ranks.setdefault(ranks, []).append((ended - began).total_seconds())
    seconds = {ranks: median(times) for ranks, times in by_ranks.items()}
    predicted = _predicted(application, parameters, cluster)
    counts = {ranks: len(times) for ranks, times in by_ranks.items()} | {
        ranks: 0 for ranks in predicted if ranks not in seconds
    }
    points = speedup.curve(predicted | seconds)
    return PastTimes(points, counts, ScalingTable({each.ranks: Seconds(each.seconds) for each in points}))


def _predicted(application: Application, parameters: Mapping[str, Any], cluster: str) -> dict[int, float]:
    """What the newest skeleton of each number of ranks predicted at best on this cluster."""
    found: dict[int, float] = {}
    for row in stored_skeletons.usable(application):
        best = row.reference
        if best is not None and best.cluster == cluster and row.parameters == dict(parameters):
            found.setdefault(row.ranks, best.predicted)
    return found
