"""The steps of a run, along with which its job goes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Case, Value, When
from django.utils import timezone

from gridportal.base.reasons import Reason
from scheduling.jobs.core.states import JobState
from scheduling.jobs.services.advance import step, take_over
from scheduling.runs.core.run_states import JOB_STATE, RunState
from scheduling.runs.models import Run


class _OvertakenError(Exception):
    """Somebody else was faster with one of the two rows."""


def advance_run(
    run: Run,
    to: RunState,
    reason: Reason,
    *,
    actor: str = "portal",
    holder: str | None = None,
    expected: Collection[RunState] = (),
    job: Mapping[str, Any] | None = None,
    **fields: Any,
) -> bool:
    """Take a run to `to`, and its job along with it, in one transaction with one event; False, and nothing written,
    when somebody else was faster with either. `job`: columns of the job that are written when it goes along.

    The reason is that of the row which goes furthest: of the job, and of the run with it, where the job's state
    changes; else it is told by the event alone, if there is one. A run that fails on nodes to which its job was moved,
    and has not read its data yet, does not fail the job, which goes back.
    """
    then = JobState.MOVING if to is RunState.FAILED and run.goes_back else JOB_STATE[to]
    along = then is not None and then != run.job.state
    try:
        with transaction.atomic():
            of_job: Mapping[str, Any] | None = {}
            if then is not None and along:
                event = {"actor": actor, "run_number": run.number}
                of_job = step(run.job, then, holder=holder, event=event, reason=reason, **(job or {}))
                fields["reason"] = reason
            of_run = step(run, to, expected=expected, event=None if along else {"actor": actor}, **fields)
            if of_job is None or of_run is None:
                raise _OvertakenError
    except _OvertakenError:
        return False
    take_over(run.job, of_job)
    take_over(run, of_run)
    return True


def note_submitted(ids: Mapping[int, str]) -> None:
    """Write down what backends know runs by: {pk of the run: id}. Those that were prepared are submitted now; what
    became of another meanwhile stays."""
    runs = Run.objects.filter(pk__in=ids)
    names = Case(*(When(pk=pk, then=Value(backend_id)) for pk, backend_id in ids.items()))
    submitted = {"state": RunState.SUBMITTED.value, "state_since": timezone.now()}
    if runs.filter(state=RunState.PREPARED).update(backend_id=names, **submitted) < len(ids):
        runs.update(backend_id=names)
