"""How a row changes state: by one conditional UPDATE, with its event in the same transaction.

A step is taken by whoever's UPDATE finds the row as it expected it; everyone else learns that it lost and does
nothing. So a step is never doubled, whatever number of workers try and whenever one of them is killed.

A noun is a model that says three things beside its columns: `life`, its table of steps; `step_columns`, what a step
writes besides; and `step_event`, the row that tells of it, if any does.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from django.db import transaction
from django.db.models import Case, Manager, Model, Value, When
from django.utils import timezone

from gridportal.base.lifecycle import Lifecycle
from gridportal.base.reasons import NOTHING, Reason
from scheduling.jobs.core.states import LIFE, JobState
from scheduling.jobs.models import Job, JobEvent
from scheduling.jobs.services.leases import still_leased
from scheduling.jobs.services.outbox import announce

log = logging.getLogger(__name__)


class StatefulRow(Protocol):
    """A row that has a state."""

    life: ClassVar[Lifecycle[Any]]
    state: str
    _default_manager: ClassVar[Manager[Any]]

    @property
    def pk(self) -> Any: ...

    def step_columns(self, to: str, now: datetime) -> dict[str, Any]:
        """What the step to `to` writes besides."""

    def step_event(self, before: str, to: str, facts: Mapping[str, Any]) -> Model | None:
        """The row that tells of it, not written yet. `facts`: its reason and actor, where they are given."""


def advance(
    row: StatefulRow,
    to: StrEnum,
    *,
    expected: Collection[StrEnum] = (),
    holder: str | None = None,
    event: Mapping[str, Any] | None = MappingProxyType({}),
    **fields: Any,
) -> bool:
    """Take `row` to the state `to`, and write `fields` along with it; in memory too.

    False, and nothing written, when its table forbids the step, when it is not in a state of `expected` (default: the
    one that `row` has in memory) any more, or when `holder` no longer has its lease. `event`: columns of the event;
    None: no event is written.
    """
    with transaction.atomic():
        changes = step(row, to, expected=expected, holder=holder, event=event, **fields)
    if changes is None:
        return False
    take_over(row, changes)
    return True


def step(
    row: StatefulRow,
    to: StrEnum,
    *,
    expected: Collection[StrEnum] = (),
    holder: str | None = None,
    event: Mapping[str, Any] | None = MappingProxyType({}),
    **fields: Any,
) -> Mapping[str, Any] | None:
    """The same inside a transaction, for steps of several rows: what was written, and is to be taken over into memory
    once all of them are; None where nothing was."""
    manager = type(row)._default_manager
    before = _state_now(manager, row, expected) if expected else row.state
    if before is None or not row.life.may_follow(before, to):
        return None
    changes = {"state": to.value, **row.step_columns(to, timezone.now()), **fields}
    rows = manager.filter(pk=row.pk, state=before)
    if not (rows if holder is None else rows.filter(lease_holder=holder)).update(**changes):
        return None
    if event is not None:
        event_made = row.step_event(before, to, {"reason": fields.get("reason", NOTHING), **event})
        if event_made is not None:
            event_made.save(force_insert=True)
            announce([event_made])
    log.info("%s: %s to %s%s", row, before, to, _why(fields.get("reason")))
    return changes


def advance_all(
    jobs: Sequence[Job], to: JobState, reasons: Mapping[int, Reason] | Reason = NOTHING, **fields: Any
) -> set[int]:
    """As `advance` for jobs that one worker leases, in a handful of statements; the ids of those that went on.

    `reasons`: one for all, or by id. Not for final states, which free the lease.
    """
    by_job = reasons if isinstance(reasons, Mapping) else {job.pk: reasons for job in jobs}
    with transaction.atomic():
        mine = still_leased(jobs)
        moved = [job for job in jobs if job.pk in mine and LIFE.may_follow(job.state, to)]
        if moved:
            changes = {"state": to.value, "reason": _by_job(moved, by_job), **fields}
            Job.objects.filter(pk__in=[job.pk for job in moved]).update(**changes)
            events = [
                JobEvent(job_id=job.pk, from_state=job.state, to_state=to.value, reason=by_job[job.pk]) for job in moved
            ]
            announce(JobEvent.objects.bulk_create(events))
    for job in moved:
        log.info("%s: %s to %s%s", job, job.state, to, _why(by_job[job.pk]))
        take_over(job, {"state": to.value, "reason": by_job[job.pk], **fields})
    return {job.pk for job in moved}


def take_over(row: object, changes: Mapping[str, Any]) -> None:
    """Let the values in memory be those that were written."""
    for name, value in changes.items():
        setattr(row, name, value)


def _state_now(manager: Manager[Any], row: StatefulRow, expected: Collection[StrEnum]) -> str | None:
    """Which of the states it is in, until the end of the transaction."""
    rows = manager.select_for_update().filter(pk=row.pk, state__in=[state.value for state in expected])
    state: str | None = rows.values_list("state", flat=True).first()
    return state


def _by_job(jobs: Sequence[Job], reasons: Mapping[int, Reason]) -> Any:
    alike: dict[Reason, list[int]] = {}
    for job in jobs:
        alike.setdefault(reasons[job.pk], []).append(job.pk)
    if len(alike) == 1:
        return next(iter(alike))
    return Case(*(When(pk__in=ids, then=Value(reason.dump())) for reason, ids in alike.items()))


def _why(reason: object) -> str:
    return f" ({reason.dump() if isinstance(reason, Reason) else reason})" if reason else ""
