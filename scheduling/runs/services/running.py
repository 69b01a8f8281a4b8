"""Following the runs of all jobs, those of each cluster by one question to it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from monitoring.clusters.selectors import traits
from scheduling.jobs.core.states import JobState
from scheduling.runs.core.run_states import OPEN, RunState
from scheduling.runs.models import Run
from scheduling.runs.services.ending_together import end_together
from scheduling.runs.services.follow import Answers, Step, follow_all
from scheduling.runs.services.one_at_a_time import OneAtATime
from scheduling.runs.services.ordinary_run import OrdinaryRun, note_reason
from scheduling.runs.services.poll_lock import poll_lock
from scheduling.runs.services.submissions import name_of

log = logging.getLogger(__name__)
_polls = OneAtATime()


@dataclass
class Followed:
    """What became of some runs. changed: their jobs changed state; withdrawn: they are out of the queue of their
    cluster, because the portal took them out, and other nodes are to be found."""

    changed: list[Run] = field(default_factory=list)
    withdrawn: list[Run] = field(default_factory=list)


def follow_runs(cluster: str = "") -> Followed:
    """Follow every run that a backend has, or those of one cluster. A backend that is silent is asked again later. One
    question to each cluster, however many runs it has. Nothing while another thread is at it: it would read the same
    files and write the same rows."""
    followed = Followed()
    turn = _polls.begin(cluster)
    if turn is None:
        return followed
    with turn:
        runs: dict[str, list[Run]] = defaultdict(list)
        for run in _followed().filter(**({"job__cluster": cluster} if cluster else {})):
            runs[run.job.cluster].append(run)
        for name, theirs in runs.items():
            _poll(name, theirs, followed)
    return followed


def clusters_with_runs() -> list[str]:
    """The clusters that have runs to follow."""
    return list(_followed().order_by("job__cluster").values_list("job__cluster", flat=True).distinct())


def cancel_run(job_id: int) -> Followed:
    """Tell the backend to stop the run of a job that is being cancelled; follow_runs says so again until it has."""
    followed = Followed()
    run = _followed().filter(job_id=job_id, job__state=JobState.CANCELLING).first()
    if run is not None:
        _follow_all(run.job.cluster, [run], followed)
    return followed


def _followed() -> QuerySet[Run]:
    """The runs that may be at their backends."""
    states = [state for state in OPEN if state != RunState.PREPARED]
    return Run.objects.filter(state__in=states).select_related("job__owner")


def _poll(cluster: str, runs: Sequence[Run], followed: Followed) -> None:
    with poll_lock(cluster) as mine:
        if mine:
            _follow_all(cluster, runs, followed)


def _follow_all(cluster: str, runs: Sequence[Run], found: Followed) -> None:
    followed = [OrdinaryRun(run) for run in runs]

    def silent(error: str) -> None:
        for run in runs:
            _unreachable(run, error)

    def together(answers: Answers) -> set[OrdinaryRun]:
        ended = {run.pk for run in end_together(runs, {run.pk: answers[name_of(run)] for run in runs})}
        return {each for each in followed if each.row.pk in ended}

    for each, step in follow_all(cluster, followed, silent, together) or ():
        if step is Step.WITHDRAWN:
            found.withdrawn.append(each.row)
        elif step is Step.CHANGED:
            found.changed.append(each.row)


def _unreachable(run: Run, error: str) -> None:
    kind = traits(run.job.cluster)
    reason = kind.reason(kind.away, cluster=run.job.cluster, error=error)
    if not run.is_stopping and note_reason(run, reason):
        log.warning("job %s: %s", run.job_id, reason.dump())
