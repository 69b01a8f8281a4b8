"""Runs that are over, ended together: their files are read one by one, their rows written at once.

Only plain cases are taken: the backend says how the run ended, and its progress file is short and well formed. All
others, and everything when the rows cannot be written together, are left to the way of a single run, which is the same
step by step: whatever one run does costs the others nothing but that.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.db import models, transaction
from django.utils import timezone

from gridportal.base.batch_system import BackendState, RunStatus
from scheduling.jobs.core.states import LIFE, JobState
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.services.advance import take_over
from scheduling.jobs.services.outbox import announce
from scheduling.runs.core.run_states import JOB_STATE, RUN_LIFE
from scheduling.runs.models import Run
from scheduling.runs.services import phase_totals, reading_progress
from scheduling.runs.services.ending import Ending, ending_of
from scheduling.runs.services.isolation import isolated
from scheduling.runs.services.reading_progress import Plain
from scheduling.runs.services.submissions import exit_record

log = logging.getLogger(__name__)
#: So many are written in one transaction at most.
_MOST = 64


class _Over(NamedTuple):
    """A run that is over, what its progress file says besides what is known, how it ends, and its job with it."""

    run: Run
    read: Plain
    ending: Ending
    then: JobState


def end_together(runs: Sequence[Run], answers: Mapping[int, RunStatus]) -> list[Run]:
    """End those of some runs that are plainly over; which. `answers`: what the backend says of each, by the run's key
    in the database."""
    plain = [
        run
        for run in runs
        if answers[run.pk].state is BackendState.FINISHED and not (run.is_recalled or run.unread or run.goes_back)
    ]
    if len(plain) < 2:
        return []
    models.prefetch_related_objects(plain, "job__application")
    ended: list[Run] = []
    for at in range(0, len(plain), _MOST):
        over = [each for run in plain[at : at + _MOST] if (each := _read(run, answers[run.pk]))]
        ended += isolated(f"{len(over)} runs that are over", partial(_write, over)).value or []
    return ended


def _read(run: Run, status: RunStatus) -> _Over | None:
    """What is to be written of it; None where that takes more than one look at its files."""
    read = isolated(f"job {run.job_id}", partial(reading_progress.read_plain, run)).value
    if read is None:
        return None
    copied = copy.copy(run)  # the run itself stays as its row is, until that is written
    for name, value in read.changes.items():
        setattr(copied, name, value)
    ending = isolated(f"job {run.job_id}", lambda: ending_of(copied, status, exit_record(run))).value
    if ending is None or not RUN_LIFE.may_follow(run.state, ending.to):
        return None
    then = JOB_STATE[ending.to]
    if then is None or not LIFE.may_follow(run.job.state, then):
        return None
    return _Over(run, read, ending, then)


def _write(over: Sequence[_Over]) -> list[Run]:
    """All or nothing, but for those that somebody else moved, or read on in, meanwhile."""
    changes: list[tuple[_Over, dict[str, Any], dict[str, Any]]] = []
    with transaction.atomic():
        mine = _as_known(over)
        now = timezone.now()
        for each in (each for each in over if each.run.pk in mine):
            step = Job.step_columns(each.then, now)
            job = {"state": each.then.value, "reason": each.ending.reason, **step, **each.ending.job}
            state = {"state": each.ending.to.value, "reason": each.ending.reason}
            run = {**Run.step_columns(each.ending.to, now), **each.read.changes, **each.ending.fields, **state}
            changes.append((each, job, run))
        if not changes:
            return []
        _update(Job, {each.run.job_id: job for each, job, _ in changes})
        _update(Run, {each.run.pk: run for each, _, run in changes})
        announce(JobEvent.objects.bulk_create(_event(each) for each, _, _ in changes))
        phase_totals.write(
            [row for each, _, _ in changes for row in each.read.rows.totals],
            [row for each, _, _ in changes for row in each.read.rows.reports],
        )
    for each, job, run in changes:
        _take_over(each, job, run)
    return [each.run for each, _, _ in changes]


def _as_known(over: Sequence[_Over]) -> set[int]:
    """Which runs nobody moved or read on in meanwhile; so they stay until the end of the transaction."""
    jobs = Job.objects.select_for_update().filter(pk__in=[each.run.job_id for each in over]).order_by("pk")
    states = dict(jobs.values_list("pk", "state"))
    runs = Run.objects.select_for_update().filter(pk__in=[each.run.pk for each in over]).order_by("pk")
    rows = {pk: rest for pk, *rest in runs.values_list("pk", "state", "progress_offset")}
    return {
        run.pk
        for run in (each.run for each in over)
        if states.get(run.job_id) == run.job.state and rows.get(run.pk) == [run.state, run.progress_offset]
    }


def _update(model: type[models.Model], changes: Mapping[int, Mapping[str, Any]]) -> None:
    """Write columns that all rows share in one statement, and those in which they differ in as few as it takes."""
    every = list(changes.values())
    shared = {name: value for name, value in every[0].items() if all(_is(each, name, value) for each in every)}
    manager = model._default_manager
    if shared:
        manager.filter(pk__in=changes).update(**shared)
    alike: dict[tuple[str, ...], list[models.Model]] = {}
    for pk, each in changes.items():
        columns = {name: value for name, value in each.items() if name not in shared}
        alike.setdefault(tuple(columns), []).append(model(pk=pk, **columns))
    for names, rows in alike.items():
        if names:
            manager.bulk_update(rows, names)


def _is(columns: Mapping[str, Any], name: str, value: Any) -> bool:
    return name in columns and type(columns[name]) is type(value) and bool(columns[name] == value)


def _event(each: _Over) -> JobEvent:
    run, ending = each.run, each.ending
    return JobEvent(
        job_id=run.job_id,
        run_number=run.number,
        from_state=run.job.state,
        to_state=each.then.value,
        reason=ending.reason,
    )


def _take_over(each: _Over, job: Mapping[str, Any], run: Mapping[str, Any]) -> None:
    """Let the values in memory be those of the rows."""
    code, state = each.ending.fields["exit_code"], each.run.job.state
    log.info("job %s: %s to %s by portal, exit code %s", each.run.job_id, state, each.then, code)
    take_over(each.run.job, job)
    take_over(each.run, run)
