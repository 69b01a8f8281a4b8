"""The utilization of links, the slowdown that jobs suffered, and what moves brought."""

from __future__ import annotations

from typing import Any

from gridportal.accounts.models import User
from gridportal.web.templatetags.units import mbit_text
from scheduling.jobs.core.units import share_text
from scheduling.reports.brought_tables import brought_sections
from scheduling.reports.compared import SECONDS, Figure, compared
from scheduling.reports.report_section import Cell, Chart, Head, Seconds, Section
from scheduling.reports.use_cells import counted
from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.decision_messages import moved_summary
from scheduling.usage import ranges
from scheduling.usage.predictions import prediction_qualities
from scheduling.usage.ranges import LinkUse, MovesReport, Range, Slowdown

_HOUR = 3600.0
_NO_MOVES = (
    "No move was weighed in this time. Moves are weighed for jobs that have a contract and an application that can be "
    "stopped with a checkpoint."
)


def network_sections(person: User, span: Range) -> list[Section]:
    """Utilization of links."""
    found = ranges.link_use(span)
    then = _link_figures(ranges.link_use(span.before))
    return [compared(_link_figures(found), then, span.before), _links(found)]


def slowdown_sections(person: User, span: Range) -> list[Section]:
    """Slowdown suffered and avoided, and how far predictions were off."""
    found, then = ranges.slowdown(span), ranges.slowdown(span.before)
    kept = compared(_slowdown_figures(found), _slowdown_figures(then), span.before)
    return [kept, *brought_sections(found, prediction_qualities(span))]


def move_sections(person: User, span: Range) -> list[Section]:
    """Moves, gains, overrides, and how they ended."""
    found, then = ranges.moves_report(span), ranges.moves_report(span.before)
    return [compared(_move_figures(found), _move_figures(then), span.before), _moves(found)]


def _link_figures(found: list[LinkUse]) -> list[Figure]:
    means = [100 * each.mean for each in found]
    return [
        Figure("Mean utilization of the busiest links, %", round(sum(means) / len(means), 1) if means else None),
        Figure("Most used link, %", round(max(means), 1) if means else None),
        Figure("Highest p95 of a link, %", round(max(100 * each.p95 for each in found), 1) if found else None),
        Figure(f"Busiest links, at most {ranges.MOST_LINKS}", len(found)),
    ]


def _slowdown_figures(found: Slowdown) -> list[Figure]:
    return [
        Figure("Node-hours lost", round(found.suffered / _HOUR, 3)),
        Figure("Runs with a contract", found.runs),
        Figure("Runs that took longer", found.slow),
        Figure("Node-hours avoided by trials", round(found.by_trials / _HOUR, 3)),
        Figure("Node-hours avoided by moves", round(found.by_moves / _HOUR, 3)),
    ]


def _move_figures(found: MovesReport) -> list[Figure]:
    return [
        Figure("Moves weighed", sum(found.states.values())),
        Figure("Moves verified", found.states.get(DecisionState.VERIFIED, 0)),
        Figure("Approved by people", found.by_people),
        Figure("Right", found.turned_out.right),
        Figure("Wrong", found.turned_out.wrong),
        Figure("Time saved", round(found.turned_out.saved, 1), SECONDS),
    ]


def _links(found: list[LinkUse]) -> Section:
    place = (Head("cluster", "Cluster"), Head("source", "From"), Head("target", "To"))
    shares = (Head("mean", "In use, %", Cell.PERCENT), Head("p95", "At p95, %", Cell.PERCENT))
    heads = (*place, Head("peak_mbit", "Peak, Mbit/s", Cell.NUMBER), *shares)
    values = [
        (
            each.cluster,
            each.source,
            each.target,
            mbit_text(each.capacity),
            *(round(100 * x, 1) for x in (each.mean, each.p95)),
        )
        for each in found
    ]
    finding = "No link was measured in this time. The page Telemetry says which sources measure, and what they lack."
    if found:
        worst = found[0]
        finding = (
            f"{worst.source}–{worst.target} of {worst.cluster} was used most: {share_text(worst.mean)} of its peak on "
            f"average, {share_text(worst.p95)} at the 95th percentile."
        )
    note = f"Of each cluster the {ranges.MOST_LINKS} links that are most in use now, as measured in this time."
    names = tuple(f"{each.source}–{each.target}, {each.cluster}" for each in found[:12])
    chart = (
        Chart("In use, %", names, tuple(round(100 * each.mean, 1) for each in found[:12])) if len(found) > 1 else None
    )
    return Section("links", "Utilization of links", finding, heads, tuple(values), note if values else "", chart)


def _moves(found: MovesReport) -> Section:
    heads = (Head("what", "Decisions"), Head("count", "Number", Cell.NUMBER))
    values: list[tuple[Any, ...]] = [
        (state.value, found.states[state.value]) for state in DecisionState if state.value in found.states
    ]
    values += [("approved by people", found.by_people), ("overridden: other nodes or count", found.overridden)]
    values += [("overridden and verified", found.overridden_verified)]
    turned = found.turned_out
    values += [("right", turned.right), ("even", turned.even), ("wrong", turned.wrong)]
    if found.promised is not None and found.real is not None:
        values += [
            ("gain promised, mean, %", round(100 * found.promised, 1)),
            ("gain real, mean, %", round(100 * found.real, 1)),
        ]
        values += [("time saved", Seconds(round(turned.saved, 1)))]
    total = sum(found.states.values())
    finding = moved_summary(turned) or (
        f"{counted(total, 'move')} weighed; none can be judged before its job is over." if total else _NO_MOVES
    )
    shown = [(state.value, found.states[state.value]) for state in DecisionState if state.value in found.states]
    chart = (
        Chart("Decisions", tuple(name for name, _ in shown), tuple(float(count) for _, count in shown))
        if shown
        else None
    )
    return Section("moves", "Moves, and how they ended", finding, heads, tuple(values), "", chart)
