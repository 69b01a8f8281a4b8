"""Keeping what a program reported of its phases: the sums of all reports, and a thinned history of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from gridportal.runtime.progress_events import Phase
from scheduling.runs.core import phase_sums
from scheduling.runs.core.phase_sums import Report, Sums
from scheduling.runs.models import Run
from scheduling.runs.phase_models import PhaseReport, PhaseTotal

_SUMS = [field.name for field in PhaseTotal._meta.concrete_fields if field.name not in ("id", "run", "phase")]


class PhaseRows(NamedTuple):
    """Rows to be written: totals, which may be there already, and reports; and keys of reports that are to go."""

    totals: list[PhaseTotal]
    reports: list[PhaseReport]
    gone: set[int]


def first_rows(run: Run, phases: Collection[Phase]) -> PhaseRows:
    """The rows of a run that has none; nothing is written or read."""
    sums: Sums = {}
    return _rows(run, sums, phase_sums.add(sums, phases), {})


def add_phases(run: Run, phases: Collection[Phase]) -> None:
    """Count reports in, in the transaction that says that they were read. At most one worker does so for a run."""
    if not phases:
        return
    totals = PhaseTotal.objects.filter(run=run).order_by("pk")
    sums: Sums = {row.phase: row.as_sum() for row in totals}
    reports = phase_sums.add(sums, phases)
    rows = _rows(run, sums, reports, _stored(run) if _stride(sums) > 1 else {})
    PhaseReport.objects.filter(pk__in=rows.gone).delete()
    write(rows.totals, rows.reports)


def write(totals: Sequence[PhaseTotal], reports: Sequence[PhaseReport]) -> None:
    """Write rows, of totals in the place of those that are there."""
    PhaseTotal.objects.bulk_create(totals, update_conflicts=True, unique_fields=["run", "phase"], update_fields=_SUMS)
    PhaseReport.objects.bulk_create(reports)


def _rows(run: Run, sums: Sums, reports: Sequence[Report], stored: Mapping[Report, int]) -> PhaseRows:
    kept = phase_sums.thinned([*stored, *reports], _stride(sums))
    changed = {report.phase for report in reports}
    return PhaseRows(
        totals=[PhaseTotal.from_sum(run.pk, each) for each in sums.values() if each.phase in changed],
        reports=[_row(run, report, report.event) for report in kept if report.event],
        gone={stored[report] for report in stored.keys() - set(kept)},
    )


def _stride(sums: Sums) -> int:
    return phase_sums.stride(sums, phase_sums.MOST_REPORTS)


def _stored(run: Run) -> dict[Report, int]:
    """The reports that have rows, with the keys of these."""
    rows = PhaseReport.objects.filter(run=run).order_by("pk").values_list("phase", "number", "seconds", "pk")
    return {Report(phase, number, seconds): pk for phase, number, seconds, pk in rows}


def _row(run: Run, report: Report, event: Phase) -> PhaseReport:
    return PhaseReport(
        run=run,
        at=datetime.fromtimestamp(event.at, UTC),
        phase=report.phase,
        number=report.number,
        iteration=event.iteration,
        of=event.of,
        seconds=event.seconds,
        compute=event.compute,
        communicate=event.communicate,
    )
