"""What there is to tell of a contract, for its page, its chart and REST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from gridportal.base.codes import Code
from scheduling.contracts.core.first_reports import ENOUGH, FIRST_REPORTS
from scheduling.contracts.core.limits import Limits
from scheduling.contracts.core.monitor_state import Adjustment, MonitorState
from scheduling.contracts.core.outlook import Outlook, Standing
from scheduling.contracts.models import Contract, ContractCall
from scheduling.contracts.selectors.promises import silent_for, standing_of, view_of
from scheduling.jobs.models import JobEvent
from scheduling.performance.core.phase_prediction import PhasePrediction, Prediction
from scheduling.runs.phase_models import PhaseReport


@dataclass(frozen=True, slots=True)
class PhaseRow:
    """A promised phase: seconds of one report, promised and actual on average, their ratio, and how much is done of it.

    What is not known yet is None. seconds: of all its reports.
    """

    phase: str
    promised: float
    reports: int
    mean: float | None = None
    ratio: float | None = None
    share: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class JudgedReport:
    """One report of the longest phase: its place in the run from 1, when (Unix seconds), what was promised and seen.

    average: actual over promised seconds of all phases up to it, as the contract counts; None for a report that was not
    held against the promise, since the promise was made of it.
    """

    place: int
    at: float
    promised: float
    seconds: float
    average: float | None = None


@dataclass(frozen=True, slots=True)
class ContractStory:
    """One moment of a contract. closed: its run is over, whether or not its last reports have been judged yet; quiet:
    seconds since the last report; view: None where nobody knows the end; overdue: the keys of the calls that a report
    which did not come gave occasion for."""

    contract: Contract
    promised: Prediction | None
    standing: Standing
    closed: bool
    given: Limits
    limits: Limits
    average: float | None
    quiet: float
    view: Outlook | None
    rows: tuple[PhaseRow, ...]
    main_phase: str
    reports: tuple[JudgedReport, ...]
    adjustments: tuple[Adjustment, ...]
    calls: tuple[ContractCall, ...]
    overdue: frozenset[int] = frozenset()


def story_of(contract: Contract, now: datetime | None = None) -> ContractStory:
    """What there is to tell now. Raises InputError for a row that cannot be read."""
    now = now or timezone.now()
    promised, state = contract.prediction, contract.monitor_state
    closed = contract.closed_at is not None or contract.run.ended_at is not None
    rows = tuple(_row(each, state) for each in promised.phases) if promised else ()
    main = max(rows, key=lambda row: row.seconds or 0.0, default=None)
    return ContractStory(
        contract=contract,
        promised=promised,
        standing=Standing(contract.standing) if closed else standing_of(contract, now),
        closed=closed,
        given=contract.limits,
        limits=state.limits,
        average=state.average,
        quiet=silent_for(contract, state, now),
        view=view_of(contract, now),
        rows=rows,
        main_phase=main.phase if main else "",
        reports=_reports(contract, promised, main.phase) if promised and main else (),
        adjustments=tuple(state.adjustments),
        calls=(calls := tuple(contract.calls.all())),
        overdue=_overdue(contract, calls),
    )


def contract_document(story: ContractStory) -> dict[str, Any]:
    """The contract as REST has it: seconds, ratios, shares 0..1, Unix seconds for `at`; null where nobody knows."""
    view, promised = story.view, story.promised
    return {
        "standing": story.standing.value,
        "since": story.contract.standing_since.isoformat() if story.contract.standing_since else None,
        "standings": [{"standing": standing, "at": at} for standing, at in story.contract.standings],
        "closed": story.closed,
        "model": promised.model if promised else None,
        "error": promised.error if promised else None,
        "promised_seconds": promised.total if promised else None,
        "average": story.average,
        "given": {"lower": story.given.lower, "upper": story.given.upper},
        "limits": {"lower": story.limits.lower, "upper": story.limits.upper},
        "adjustments": [_adjustment_document(each) for each in story.adjustments],
        "complete": view.complete if view else None,
        "ret_current": view.remaining if view else None,
        "refined_seconds": view.refined if view else None,
        "phases": [_phase_document(row) for row in story.rows],
        "calls": [_call_document(call, overdue=call.pk in story.overdue) for call in story.calls],
        "others": [{"model": each["model"], "error": each["error"]} for each in story.contract.others],
        "problems": story.contract.problems,
    }


def _adjustment_document(each: Adjustment) -> dict[str, Any]:
    limits = {"lower": each.limits.lower, "upper": each.limits.upper}
    return {"report": each.report, "at": each.at, "cause": each.cause.value, "average": each.average, **limits}


def _phase_document(row: PhaseRow) -> dict[str, Any]:
    figures = {"promised": row.promised, "actual": row.mean, "ratio": row.ratio, "done": row.share}
    return {"phase": row.phase, "reports": row.reports, **figures}


def _overdue(contract: Contract, calls: Sequence[ContractCall]) -> frozenset[int]:
    """The calls of which the job's life says that they came from a silence; it has the figures of the call."""
    if not calls:
        return frozenset()
    reasons = JobEvent.objects.filter(job=contract.run.job_id).values_list("reason", flat=True)
    silences = [dict(reason.facts) for reason in reasons if reason.code is Code.CONTRACT_OVERDUE]
    figures = {(each["phase"], each["seconds"], each["average"]) for each in silences}
    return frozenset(call.pk for call in calls if (call.phase, call.seconds, call.average) in figures)


def _call_document(call: ContractCall, *, overdue: bool) -> dict[str, Any]:
    figures = {"promised": call.promised, "actual": call.seconds, "average": call.average}
    outlook_then = {"complete": call.complete, "ret_current": call.ret_current}
    return {
        "at": call.at.isoformat(),
        "report": call.report,
        "phase": call.phase,
        **figures,
        **outlook_then,
        "overdue": overdue,
    }


def _row(promised: PhasePrediction, state: MonitorState) -> PhaseRow:
    mean = sum(promised.seconds) / len(promised.seconds)
    ratio = state.phases.get(promised.phase)
    if ratio is None or not ratio.count:
        return PhaseRow(promised.phase, mean, 0)
    return PhaseRow(
        promised.phase,
        ratio.predicted / ratio.count,
        ratio.count,
        mean=ratio.actual / ratio.count,
        ratio=ratio.actual / ratio.predicted,
        share=ratio.share if promised.count else None,
        seconds=ratio.actual,
    )


def _reports(contract: Contract, promised: Prediction, phase: str) -> tuple[JudgedReport, ...]:
    """Those of one phase that are kept, with what was promised of each."""
    by_phase = {each.phase: each for each in promised.phases}
    rows = list(PhaseReport.objects.filter(run=contract.run_id, phase__in=by_phase).order_by("at", "number", "pk"))
    began = _judged_since(promised, rows)
    taken, actual, predicted, found = dict.fromkeys(by_phase, 0), 0.0, 0.0, []
    for row in rows:
        expected = by_phase[row.phase]
        seconds, stands_for = expected.at(_middle(row, expected.count)), row.number + 1 - taken[row.phase]
        taken[row.phase] = row.number + 1
        is_judged = row.at > began and seconds > 0
        if is_judged:
            actual, predicted = actual + stands_for * row.seconds, predicted + stands_for * seconds
        if row.phase == phase:
            average = actual / predicted if is_judged else None
            found.append(
                JudgedReport(row.iteration or row.number + 1, row.at.timestamp(), seconds, row.seconds, average)
            )
    return tuple(found)


def _judged_since(promised: Prediction, rows: Sequence[PhaseReport]) -> datetime:
    """Reports after that were held against the promise; before, they made it."""
    if promised.model != FIRST_REPORTS:
        return datetime.min.replace(tzinfo=UTC)
    return min((row.at for row in rows if row.number >= ENOUGH - 1), default=datetime.max.replace(tzinfo=UTC))


def _middle(row: PhaseReport, count: int | None) -> float:
    if row.iteration and row.of:
        return (row.iteration - 0.5) / row.of
    return (row.number + 0.5) / count if count else 0.0
