"""The columns of use that every table of the report has, and their values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from gridportal.base.rates import rounded_percent
from scheduling.jobs.core.units import hours_text, share_text
from scheduling.reports.report_section import MOST_BARS, Cell, Chart, Head, Section
from scheduling.usage.core.logarithmic_histogram import quantile
from scheduling.usage.core.use_parts import Figures

NONE = "none"
_HOUR = 3600e6  # microseconds
MEDIAN, HIGH = 0.5, 0.95
USE = (
    Head("jobs", "Jobs", Cell.NUMBER),
    Head("node_hours", "Node-hours", Cell.NUMBER),
    Head("percent", "Share, %", Cell.PERCENT),
    Head("cpu_hours", "Cpu-hours", Cell.NUMBER),
    Head("wait_median_seconds", "Waiting, median", Cell.SECONDS),
    Head("wait_p95_seconds", "Waiting, p95", Cell.SECONDS),
    Head("slowdown_median", "Slowdown, median", Cell.NUMBER),
    Head("failed", "Failed", Cell.NUMBER),
)
NOTE = (
    "Jobs: those that ended in this time or still run. Share: of all node-hours. Waiting and slowdown (time from "
    "submission to end by time of running, at least 10 s): of those that ended; medians within 2.5 %. Time for which a "
    "job was held back for other jobs or a budget counts in neither."
)


def hours(time: int) -> float:
    """Microseconds as hours."""
    return round(time / _HOUR, 4)


def waiting(figures: Figures, share: float) -> float | None:
    """Seconds that so large a share of the jobs that ended waited at most; None of none."""
    found = quantile(figures.waits, share)
    return None if found is None else round(found, 1)


def slowdown(figures: Figures) -> float | None:
    """The median of the bounded slowdown; None of no job."""
    found = quantile(figures.slowdowns, MEDIAN)
    return None if found is None else round(max(1.0, found), 2)


def use_cells(each: Figures, whole: Figures) -> tuple[Any, ...]:
    """The values of USE."""
    part = rounded_percent(each.node_time / whole.node_time) if whole.node_time else 0.0
    waits = (waiting(each, MEDIAN), waiting(each, HIGH))
    return (each.jobs, hours(each.node_time), part, hours(each.cpu_time), *waits, slowdown(each), each.failed)


def part_text(each: Figures, whole: Figures) -> str:
    """Node-hours with their share of the whole, in words."""
    part = each.node_time / whole.node_time if whole.node_time else 0.0
    return f"{hours_text(each.node_time / _HOUR)} node-hours, {share_text(part)} of all"


def counted(number: int, word: str, several: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {word if number == 1 else several or word + 's'}"


def with_columns(section: Section, names: Collection[str]) -> Section:
    """A table of use with those of the columns of USE alone that are among `names`; any other section as it is."""
    if not {head.name for head in USE} <= {head.name for head in section.heads}:
        return section
    left_out = {head.name for head in USE} - set(names)
    places = [at for at, head in enumerate(section.heads) if head.name not in left_out]
    values = tuple(tuple(row[at] for at in places) for row in section.values)
    return replace(section, heads=tuple(section.heads[at] for at in places), values=values)


def bars(ordered: list[tuple[str, Figures]]) -> Chart | None:
    """Node-hours of the greatest ones."""
    shown = [(name, each) for name, each in ordered[:MOST_BARS] if each.node_time]
    if len(shown) < 2:
        return None
    names, figures = zip(*shown, strict=True)
    return Chart("Node-hours", tuple(names), tuple(hours(each.node_time) for each in figures))
