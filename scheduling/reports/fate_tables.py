"""How long jobs waited, and why they failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gridportal.accounts.models import User
from gridportal.base.rates import rounded_percent
from gridportal.base.reasons import Code, Reason
from scheduling.jobs.models import Job
from scheduling.messages import message
from scheduling.messages.failure_labels import failure_label
from scheduling.reports.report_section import Cell, Chart, Head, Section
from scheduling.reports.use_cells import counted, slowdown, waiting
from scheduling.reports.use_tables import compared_use
from scheduling.usage import period_sums
from scheduling.usage.core.logarithmic_histogram import bucket
from scheduling.usage.core.use_parts import CANCELLED_EARLY, Figures, UsePart, together
from scheduling.usage.ranges import Range

#: Up to how many seconds a band of waiting goes, and its name.
_BANDS = (
    (1.0, "up to 1 s"),
    (60.0, "up to 1 min"),
    (600.0, "up to 10 min"),
    (3600.0, "up to 1 h"),
    (6 * 3600.0, "up to 6 h"),
    (24 * 3600.0, "up to 1 d"),
    (7 * 24 * 3600.0, "up to 7 d"),
)
_LONGER = "longer"
_LIMITS = (Code.TIMED_OUT, Code.OVER_TIME_LIMIT)


def fate_sections(person: User, span: Range) -> list[Section]:
    """Waiting by its length, and failures by their reason."""
    found = period_sums.uses(person, span, [UsePart.WHOLE, UsePart.FAILURE])
    whole = together(figures for key, figures in found.items() if key.part is UsePart.WHOLE)
    failures: dict[str, Figures] = {}
    for key, figures in found.items():
        if key.part is UsePart.FAILURE and key.name != CANCELLED_EARLY:
            failures.setdefault(failure_label(key.name), Figures()).add(figures)
    return [compared_use(person, span), _waiting(whole), _failures(failures, whole)]


def _waiting(whole: Figures) -> Section:
    heads = (Head("waited", "Waited"), Head("jobs", "Jobs", Cell.NUMBER), Head("percent", "Share, %", Cell.PERCENT))
    bands = Counter[str]()
    for number, count in whole.waits.items():
        bands[_band(number)] += count
    names = [name for _, name in _BANDS] + [_LONGER]
    total = sum(bands.values())
    values = tuple((name, bands[name], rounded_percent(bands[name] / total)) for name in names) if total else ()
    finding = "No job that had run ended in this time; a longer one can be chosen above."
    if total:
        median, high = (Head("", "", Cell.SECONDS).text(waiting(whole, share)) for share in (0.5, 0.95))
        finding = (
            f"Of {counted(total, 'job')} that ended, half waited {median} at most and 19 of 20 waited {high} at most; "
            f"the median slowdown is {slowdown(whole):,.2f}."
        )
    counts = tuple(float(bands[name]) for name in names)
    chart = Chart("Jobs", tuple(names), counts, is_count=True) if total else None
    note = ""
    if total:
        note = (
            "From submission to the start of the first run, without the time for which a job was held back. Slowdown: "
            "the time from submission to end, divided by the time of running; 1 is a job that never waited."
        )
        note += _held_back(whole)
    return Section("waiting", "Waiting", finding, heads, values, note, chart)


def _held_back(whole: Figures) -> str:
    if not whole.held_jobs:
        return ""
    mean = Head("", "", Cell.SECONDS).text(whole.held / 1e6 / whole.held_jobs)
    was = "was" if whole.held_jobs == 1 else "were"
    return f" {counted(whole.held_jobs, 'job')} {was} held back for other jobs or a budget, {mean} on average."


def _band(number: int) -> str:
    return next((name for limit, name in _BANDS if number <= bucket(limit)), _LONGER)


def _failures(failures: Mapping[str, Figures], whole: Figures) -> Section:
    heads = (
        Head("reason", "Reason"),
        Head("jobs", "Jobs", Cell.NUMBER),
        Head("percent", "Of failed, %", Cell.PERCENT),
        Head("such_as", "Such as"),
        Head("newest_job", "Newest job"),
    )
    ordered = sorted(failures.items(), key=lambda item: (-item[1].jobs, item[0]))
    sentences = _sentences([each.newest for _, each in ordered])
    values = tuple(
        (
            label,
            each.jobs,
            rounded_percent(each.jobs / max(1, whole.failed)),
            sentences.get(each.newest, ""),
            f"job {each.newest}",
        )
        for label, each in ordered
    )
    finding = (
        f"{whole.failed:,} of {counted(whole.jobs, 'job')} failed." if whole.jobs else "No job ended in this time."
    )
    if ordered:
        finding = f"{finding[:-1]}, most for one reason: {ordered[0][0]} ({ordered[0][1].jobs:,})."
    chart = None
    if len(ordered) > 1:
        chart = Chart(
            "Failed jobs",
            tuple(label for label, _ in ordered[:12]),
            tuple(float(each.jobs) for _, each in ordered[:12]),
            is_count=True,
        )
    return Section("failures", "Failures by reason", finding, heads, values, "", chart)


def _sentences(numbers: list[int]) -> dict[int, str]:
    """Why each of these jobs failed, in words; of one at its time limit without its log, which tells of no failure."""
    return {pk: _sentence(reason) for pk, reason in Job.objects.filter(pk__in=numbers).values_list("pk", "reason")}


def _sentence(reason: Reason) -> str:
    why = reason.facts.get("why")
    return message(why if isinstance(why, Reason) and why.code in _LIMITS else reason)
