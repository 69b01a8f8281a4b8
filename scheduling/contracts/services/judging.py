"""Judging contracts: the progress of runs read on, held against what was promised, and the rescheduler called.

A contract has its own place in the progress file. Whoever moves that on writes what came of the lines, nobody else: so
each line is judged once, whatever is killed in between.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from gridportal.base.reasons import Code, Reason
from gridportal.runtime.progress_events import Phase
from scheduling.contracts.core import first_reports
from scheduling.contracts.core.monitor import Monitor, Signal
from scheduling.contracts.core.monitor_state import Call
from scheduling.contracts.core.outlook import Outlook, outlook
from scheduling.contracts.models import Contract, ContractCall
from scheduling.contracts.selectors import promises
from scheduling.contracts.services.closing import close
from scheduling.contracts.services.new_reports import NewReports, has_more, next_reports
from scheduling.jobs.models import Job
from scheduling.performance.core.phase_prediction import Prediction
from scheduling.runs.selectors import directory_of
from scheduling.runs.services import phase_totals
from scheduling.runs.services.isolation import isolated

#: What one pass reads of a run, in seconds: others wait.
_MOST_SECONDS = 1.0
MOST_STANDINGS = 50


def judge_contracts(cluster: str) -> int:
    """Judge all contracts of a cluster that are not closed; how many stand otherwise than before."""
    changed = 0
    for contract in promises.unclosed(cluster):
        changed += bool(isolated(f"contract of {contract.run.key}", partial(judge, contract)).value)
    return changed


def judge(contract: Contract) -> bool:
    """Read on in what its run reports; close it where the run is over and nothing is left. Whether it changed."""
    over = contract.run.ended_at is not None
    until = time.monotonic() + _MOST_SECONDS
    changed, left = False, True
    while left and time.monotonic() < until:
        changed, left = _next(contract) or changed, has_more(contract)
    if left:
        return changed
    if over:
        close(contract)
    elif directory_of(contract.run) is not None:
        _judge_silence(contract)
    return changed


def _next(contract: Contract) -> bool:
    """Judge the next lines, and write down what came of them; whether it stands otherwise than before."""
    before, new = contract.read_offset, next_reports(contract)
    calls = _take(contract, new.phases)
    changed = _stand(contract)
    if new.offset == before and not changed:
        return False
    contract.read_offset = new.offset
    if new.position:
        contract.log_position = new.position.document()
    return _write(contract, before, new, calls) and changed


class _Called(NamedTuple):
    """A call, and how the run looked at that moment; code: what its job's life says of it."""

    call: Call
    view: Outlook | None
    code: Code = Code.CONTRACT_BROKEN


def _judge_silence(contract: Contract) -> None:
    """Hold the time since the last report against the promise: on crowded nodes the next may take many times that."""
    promised, now = contract.prediction, timezone.now()
    if promised is None:
        return
    monitor = contract.monitor_of(promised)
    quiet = promises.quiet_for(contract, monitor.state, now)
    if monitor.overdue(quiet, now.timestamp()) is Signal.CALL and (call := monitor.state.call):
        called = _Called(call, promises.view_of(contract, now), Code.CONTRACT_OVERDUE)
        contract.monitor = monitor.state.document()
        _write(contract, contract.read_offset, NewReports((), contract.read_offset), [called])


def _take(contract: Contract, reports: Sequence[Phase]) -> list[_Called]:
    """Hold reports against the promise, or make one of them."""
    promised, is_read = contract.prediction, bool(reports)
    if promised is None:
        promised, reports = _first(contract, reports)
    if promised is None:
        return []
    monitor = contract.monitor_of(promised)
    before = monitor.state.predicted
    calls = _observe(monitor, reports)
    if is_read:
        monitor.state.heard(timezone.now().timestamp(), monitor.state.predicted - before)
    contract.monitor = monitor.state.document()
    return calls


def _observe(monitor: Monitor, reports: Sequence[Phase]) -> list[_Called]:
    calls = []
    for report in reports:
        if monitor.observe(report) is Signal.CALL and (call := monitor.state.call):
            calls.append(_Called(call, outlook(monitor.promised, monitor.state, monitor.state.clock)))
    return calls


def _first(contract: Contract, reports: Sequence[Phase]) -> tuple[Prediction | None, Sequence[Phase]]:
    """Wait for the first reports to be enough; then the promise, and the reports that came after."""
    min_cpu = contract.run.placement.objective.min_cpu
    if min_cpu is not None and min_cpu < first_reports.IDLE:
        return None, ()
    for at, report in enumerate(reports):
        if first_reports.collect(contract.first_reports, report):
            promised = first_reports.promise(contract.first_reports, reports[: at + 1])
            contract.promised, contract.first_reports = promised.document(), {}
            return promised, reports[at + 1 :]
    return None, ()


def _stand(contract: Contract) -> bool:
    now = timezone.now()
    found = promises.standing_of(contract, now)
    if found == contract.standing and contract.standing_since:
        return False
    contract.standing, contract.standing_since = found.value, now
    contract.standings = [*contract.standings, [found.value, now.isoformat()]][-MOST_STANDINGS:]
    return True


def _write(contract: Contract, offset: int, new: NewReports, calls: Sequence[_Called]) -> bool:
    """Write it down, unless somebody else has read these lines. What a log tells nobody else adds up."""
    names = (
        *("read_offset", "log_position", "promised", "monitor", "first_reports"),
        *("standing", "standing_since", "standings"),
    )
    fields: dict[str, Any] = {name: getattr(contract, name) for name in names}
    with transaction.atomic():
        unchanged = Contract.objects.filter(
            pk=contract.pk, read_offset=offset, version=contract.version, closed_at=None
        )
        if not unchanged.update(**fields, version=F("version") + 1):
            contract.refresh_from_db()
            return False
        if new.position:
            phase_totals.add_phases(contract.run, new.phases)
        contract.version += 1
        if calls and not contract.calls.filter(answer={}).exists():  # else the rescheduler is called already
            _record(contract, *calls[0])
    return True


def _record(contract: Contract, call: Call, view: Outlook | None, code: Code) -> None:
    """Keep a call with what was known then, and tell it in the job's life."""
    ContractCall.objects.create(
        contract=contract,
        at=datetime.fromtimestamp(call.at, UTC),
        report=call.report,
        phase=call.phase,
        promised=call.promised,
        seconds=call.seconds,
        average=call.average,
        complete=view.complete if view else None,
        ret_current=view.remaining if view else None,
    )
    job = Job.objects.select_for_update().get(pk=contract.run.job_id)
    facts = {"phase": call.phase, "promised": call.promised, "seconds": call.seconds, "average": call.average}
    job.step_event(job.state, job.state, {"reason": Reason.of(code, **facts)}).save()
