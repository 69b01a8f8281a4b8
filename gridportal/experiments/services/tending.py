"""Experiments that run beside the portal: one child process at a time, followed by its folder and its lock.

The child ends with the worker that started it; the next look then takes the experiment up again in the same folder,
where every finished trial is kept. What somebody starts from the command line in the portal's own folder is followed in
the same way.
"""

from __future__ import annotations

import os
import socket
import subprocess
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from gridportal.base import file_lock
from gridportal.base.errors import GridPortalError
from gridportal.base.lease import Lease
from gridportal.base.reasons import NOTHING, Code, Reason
from gridportal.database.row_lease import RowLease
from gridportal.experiments import exclusive, record, registry, selectors
from gridportal.experiments.engine import count, summary
from gridportal.experiments.models import Experiment
from gridportal.experiments.plan import Plan
from gridportal.experiments.services import child
from gridportal.experiments.states import OPEN, OVER, ExperimentState
from scheduling.jobs.services.advance import advance, take_over

_MOST_RESTARTS = 3
_lease = RowLease(Experiment, "running", lambda: Lease(timedelta(seconds=60)))
_children: dict[int, subprocess.Popen[bytes]] = {}


def tend() -> None:
    """Follow what runs, take note of what ended, start the next. May be called by any number of workers at once."""
    if not selectors.base().exists() and not Experiment.objects.filter(state=ExperimentState.QUEUED).exists():
        return
    selectors.base().mkdir(parents=True, exist_ok=True)
    with file_lock.hold(selectors.base() / "tending.lock", patience=0.0) as ours:
        if not ours:
            return
        active = exclusive.running(selectors.base())
        _adopt(active)
        for row in Experiment.objects.filter(state__in=OPEN):
            _follow(row, active)
        if active is None:
            _start_next()


def _adopt(active: Path | None) -> None:
    """Make rows of what was run from the command line; what it goes on with is running again."""
    if active is not None:
        for row in Experiment.objects.filter(folder=str(active)):
            advance(row, ExperimentState.RUNNING, expected=OVER | {ExperimentState.QUEUED})
    folders = set(Experiment.objects.values_list("folder", flat=True))
    for file in selectors.base().glob("*/plan.json"):
        folder = file.parent.resolve()
        plan = Plan.of_document(record.read_json(file) or {})
        if plan is not None and str(folder) not in folders:
            _adopt_one(plan, folder, file.stat().st_mtime, active)


def _adopt_one(plan: Plan, folder: Path, began: float, active: Path | None) -> None:
    experiment = registry.find(plan.name)
    if experiment is None:
        return
    row = Experiment.objects.create(
        **plan.document(),
        folder=str(folder),
        state=ExperimentState.RUNNING,
        of=count(experiment, plan, folder),
        started_at=datetime.fromtimestamp(began, tz=timezone.get_current_timezone()),
    )
    _follow(row, active)


def _follow(row: Experiment, active: Path | None) -> None:
    """Bring a row up to what its folder says; `active` is the folder of what runs on this machine."""
    if row.state == ExperimentState.QUEUED or not _lease_here(row):
        return
    _note_progress(row)
    if active != Path(row.folder):
        _note_end(row)
    elif row.state == ExperimentState.STOPPING:
        record.stop(active)  # again: a child that has just begun forgets what was wanted before


def _lease_here(row: Experiment) -> bool:
    """Lease it for this machine; False while another runs it and is not silent."""
    here, rows = socket.gethostname(), Experiment.objects.filter(pk=row.pk)
    return _lease.renew(here, rows) or bool(_lease.acquire(rows, here))


def _note_progress(row: Experiment) -> None:
    progress = record.read_json(Path(row.folder) / "progress.json") or {}
    done, of = _count(progress.get("done")), _count(progress.get("of")) or row.of
    now = str(progress.get("now", ""))[:200]
    if (done, of, now) == (row.done, row.of, row.now):
        return
    result = row.result
    experiment = registry.find(row.name)
    if experiment is not None and (done != row.done or result is None):
        result = summary(experiment, row.plan, Path(row.folder), selectors.trials(row))
    changes = {"done": done, "of": of, "now": now, "result": result}
    if Experiment.objects.filter(pk=row.pk, state=row.state).update(**changes):
        take_over(row, changes)


def _count(value: Any) -> int:
    """What the column can hold: one row that cannot be followed would hold up all others."""
    return value if type(value) is int and 0 <= value < 2**31 else 0


def _note_end(row: Experiment) -> None:
    """Its process is gone: it has ended, was stopped, gave up, or was killed and is taken up again."""
    folder = Path(row.folder)
    process = _children.pop(row.pk, None)
    code = process.wait() if process else None
    progress, result = (record.read_json(folder / name) or {} for name in ("progress.json", "result.json"))
    orderly = progress.get("now") == ""  # only who ends in order says that it is at no trial
    if orderly and result.get("complete"):
        advance(row, ExperimentState.DONE, result=result, reason=NOTHING)
    elif orderly or row.state == ExperimentState.STOPPING or row.started_by is None:
        reason = NOTHING if orderly else Reason.of(Code.EXPERIMENT_CUT_SHORT)
        advance(row, ExperimentState.STOPPED, reason=reason)
    elif code in (1, 2) or row.restarts >= _MOST_RESTARTS:
        reason = Reason.of(Code.EXPERIMENT_FAILED, exit_code=code, error=child.last_message(folder))
        advance(row, ExperimentState.FAILED, reason=reason)
    else:
        advance(row, ExperimentState.QUEUED, restarts=row.restarts + 1)


def _start_next() -> None:
    row = Experiment.objects.filter(state=ExperimentState.QUEUED).order_by("pk").first()
    if row is None:
        return
    folder = Path(row.folder)
    lock = exclusive.acquire(selectors.base(), folder)
    if lock is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if _lease_here(row) and advance(row, ExperimentState.RUNNING):  # if not, it was cancelled this moment
            _children[row.pk] = child.start(row.plan, folder, lock)
    except (GridPortalError, OSError) as error:
        advance(row, ExperimentState.FAILED, reason=Reason.of(Code.EXPERIMENT_NOT_STARTED, error=str(error)))
    finally:
        os.close(lock)  # the child has it now
