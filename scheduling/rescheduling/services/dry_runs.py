"""What the rescheduler would do now: the whole series of moves of a cluster in order, each taking its nodes away from
the next, and giving its old ones free. Nothing is written and nothing is stopped.

Source: Migration 2003, 4.3: one queue over all jobs, one application at a time. What jobs that would leave their nodes
do there is measured as it is, so nodes that become free look as loaded as they are now.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from django.conf import settings

from gridportal.base.errors import InputError
from scheduling.checkpoints.services.reserving import PlannedMove
from scheduling.rescheduling import selectors
from scheduling.rescheduling.core.opportunities import Opportunity, in_order
from scheduling.rescheduling.core.weighing import MoveMode, Weighing
from scheduling.rescheduling.models import MoveDecision
from scheduling.rescheduling.services import weighing_jobs
from scheduling.runs.models import Run
from scheduling.runs.services.isolation import isolated

#: So many jobs are weighed, and so many moves made; a page waits for the answer for so many seconds at most.
MOST_JOBS, MOST_MOVES, MOST_SECONDS = 50, 20, 20.0


@dataclass(frozen=True, slots=True)
class DryRun:
    """The moves in their order, as decisions that are not kept, and those of the jobs that stay. left_out: how many
    jobs were not weighed to the end, for want of time or because there are too many."""

    cluster: str
    moves: tuple[MoveDecision, ...]
    stays: tuple[MoveDecision, ...]
    left_out: int = 0
    problems: tuple[str, ...] = field(default=())

    @property
    def saves(self) -> float:
        """Seconds by which all jobs together would end sooner."""
        return sum(each.saves or 0.0 for each in self.moves)


class _Weighed(NamedTuple):
    weighing: Weighing
    decision: MoveDecision
    lost: float


def unknown(cluster: str) -> InputError:
    """What is to be said of a cluster that there is not."""
    return InputError("cluster", cluster, f"one of {', '.join(sorted(settings.CLUSTERS))}")


def dry_run(cluster: str, clock: Callable[[], float] = time.monotonic) -> DryRun:
    """Simulate the series of moves of a cluster. Raises InputError for one that there is not.

    After each move all other jobs are weighed anew, with its nodes taken and those it left free; a job moves once.
    Cost: jobs times moves choices of nodes, at most MOST_SECONDS.
    """
    if cluster not in settings.CLUSTERS:
        raise unknown(cluster)
    deadline = clock() + MOST_SECONDS
    rows = list(selectors.movable_runs().filter(job__cluster=cluster).select_related("job__application", "placement"))
    waiting, moves, problems = rows[:MOST_JOBS], list[MoveDecision](), dict[int, str]()
    is_late = partial(_late, clock, deadline)
    weighed = _weighed(waiting, moves, problems, is_late)
    while len(moves) < MOST_MOVES and (best := _best(weighed)) is not None and not is_late():
        moves.append(weighed[best].decision)
        waiting = [run for run in waiting if run.job_id != best]
        weighed = _weighed(waiting, moves, problems, is_late)
    stays = tuple(each.decision for each in weighed.values())
    left = len(rows) - len(moves) - len(stays) - len(problems)
    return DryRun(cluster, tuple(moves), stays, left, tuple(problems.values()))


def _weighed(
    runs: Sequence[Run], moves: Sequence[MoveDecision], problems: dict[int, str], is_late: Callable[[], bool]
) -> dict[int, _Weighed]:
    """Decisions on these jobs as if `moves` had been made."""
    planned = [PlannedMove(each.job, tuple(each.nodes_now), tuple(each.nodes)) for each in moves]
    found: dict[int, _Weighed] = {}
    for run in runs:
        if is_late():
            break
        outcome = isolated(f"job {run.job_id}", partial(_weigh, run, planned))
        if outcome.value is None:
            problems[run.job_id] = f"Job {run.job_id} cannot be weighed: {outcome.failure}"
        else:
            found[run.job_id] = outcome.value
    return found


def _weigh(run: Run, planned: Sequence[PlannedMove]) -> _Weighed:
    weighing, decision = weighing_jobs.weighed(run, MoveMode.OPPORTUNISTIC, planned)
    decision.take_weighing(weighing)
    return _Weighed(weighing, decision, selectors.lost_work(run, decision.created_at))


def _best(weighed: dict[int, _Weighed]) -> int | None:
    """The job that moves next."""
    order = in_order(Opportunity(job, each.weighing, each.lost) for job, each in weighed.items())
    return order[0].job if order else None


def _late(clock: Callable[[], float], deadline: float) -> bool:
    return clock() > deadline
