"""The utilization of links, the slowdown that jobs suffered, and what moves brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gridportal.accounts.models import User
from gridportal.base.name_lists import all_listed
from gridportal.base.rates import rounded_percent
from gridportal.web.templatetags.units import mbit_text
from monitoring.status.selectors.picture import LinkFigures
from scheduling.jobs.core.units import share_text
from scheduling.reports.brought_tables import brought_sections
from scheduling.reports.compared import SECONDS, Figure, compared
from scheduling.reports.random_tables import random_section
from scheduling.reports.report_section import MOST_BARS, Cell, Chart, Head, Seconds, Section
from scheduling.reports.use_cells import counted
from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.core.hindsight import Hindsight, MovesSum
from scheduling.rescheduling.decision_messages import moved_summary
from scheduling.rescheduling.other_moves import KindCount, other_moves_between
from scheduling.rescheduling.place_messages import KINDS
from scheduling.usage import ranges
from scheduling.usage.core.prediction_quality import KEPT
from scheduling.usage.predictions import prediction_qualities
from scheduling.usage.ranges import LinkUse, MovesReport, Range, Slowdown

_HOUR = 3600.0
_PLACE = (
    *(Head("cluster", "Cluster"), Head("source", "From"), Head("target", "To")),
    Head("peak_mbit", "Peak, Mbit/s", Cell.NUMBER),
)
_MOVES_NOTE = (
    "Right: the job ended sooner by it, by more than 5 % of the time that staying would have taken; wrong: later by "
    "more; even: between the two. Verified: the job is over, and what the move brought is known. Gains are shares of "
    "the time that staying would have taken, after the cost of the move."
)
_NO_MOVES = (
    "No move was weighed in this time. Moves are weighed for jobs that have a contract and an application that can be "
    "stopped with a checkpoint."
)


def network_sections(person: User, span: Range) -> list[Section]:
    """Utilization of links."""
    found, before = ranges.link_use(span), ranges.link_use(span.before)
    estimated = ranges.estimated_links(found)
    now = ranges.links_now(estimated)
    sections = [_links(found, estimated), *([_links_now(now)] if now else [])]
    if not found and not before:
        return sections  # the sentence of the links says why nothing can be compared
    return [compared(_link_figures(found), _link_figures(before), span.before), *sections]


def slowdown_sections(person: User, span: Range) -> list[Section]:
    """Slowdown suffered and avoided, and how far predictions were off."""
    judged = ranges.judged_runs(span)
    found, then = ranges.slowdown(span, judged), ranges.slowdown(span.before, ranges.judged_runs(span.before))
    kept = compared(_slowdown_figures(found), _slowdown_figures(then), span.before)
    slowdown, trials, predictions = brought_sections(found, prediction_qualities(span, judged))
    return [kept, slowdown, trials, random_section(span), predictions]


def move_sections(person: User, span: Range) -> list[Section]:
    """Moves, gains, overrides, and how they ended."""
    found, then = ranges.moves_report(span), ranges.moves_report(span.before)
    others, before = (other_moves_between(each.begin, each.until) for each in (span, span.before))
    now, past = [*_move_figures(found), _other_figure(others)], [*_move_figures(then), _other_figure(before)]
    return [compared(now, past, span.before), _moves(found), *([_others(others)] if others else [])]


def _other_figure(others: Sequence[KindCount]) -> Figure:
    return Figure("Moves without a decision", sum(each.number for each in others))


def _others(others: Sequence[KindCount]) -> Section:
    heads = (
        *(
            Head("kind", "What it was"),
            Head("count", "Number", Cell.NUMBER),
            Head("ended_well", "Ended well", Cell.NUMBER),
        ),
        Head("cost_s", "Mean cost", Cell.SECONDS),
    )
    values = [(KINDS[each.kind], each.number, each.went_well, each.cost) for each in others]
    moves = counted(sum(each.number for each in others), "move")
    rule = "Those that somebody asked for count where moves are not to come too often."
    finding = f"{moves} had no decision: nothing was predicted. {rule}"
    return Section("others", "Moves without a decision", finding, heads, tuple(values))


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
        Figure(f"Promises kept, to within {share_text(KEPT)}", found.kept),
        Figure("Node-hours avoided by trials", round(found.by_trials / _HOUR, 3)),
        Figure("Node-hours avoided by moves", round(found.by_moves / _HOUR, 3)),
    ]


def _move_figures(found: MovesReport) -> list[Figure]:
    return [
        Figure("Moves weighed", sum(found.states.values())),
        Figure("Moves verified", found.states.get(DecisionState.VERIFIED, 0)),
        Figure("Approved by people", found.by_people),
        Figure("Overridden by people", found.overridden),
        Figure("Right", found.turned_out.right),
        Figure("Wrong", found.turned_out.wrong),
        Figure("Time saved", round(found.turned_out.saved, 1), SECONDS),
    ]


def _links(found: list[LinkUse], estimated: Sequence[str]) -> Section:
    shares = (Head("mean", "In use, %", Cell.PERCENT), Head("p95", "At p95, %", Cell.PERCENT))
    heads = (*_PLACE, *shares)
    values = [
        (
            each.cluster,
            each.source,
            each.target,
            mbit_text(each.capacity),
            *(rounded_percent(x) for x in (each.mean, each.p95)),
        )
        for each in found
    ]
    finding = "No link was measured in this time. The page Telemetry says which sources measure, and what they lack."
    if estimated:
        finding = _of_pairs(estimated)
    if found:
        worst = found[0]
        finding = (
            f"{worst.source}–{worst.target} of {worst.cluster} was used most: {share_text(worst.mean)} of its peak on "
            f"average, {share_text(worst.p95)} at the 95th percentile."
        )
    note = f"Of each cluster the {ranges.MOST_LINKS} links that are most in use now, as measured in this time."
    note = f"{note} {_of_pairs(estimated)}" if estimated else note
    names = tuple(f"{each.source}–{each.target}, {each.cluster}" for each in found[:12])
    chart = (
        Chart("In use, %", names, tuple(rounded_percent(each.mean) for each in found[:12])) if len(found) > 1 else None
    )
    return Section("links", "Utilization of links", finding, heads, tuple(values), note if values else "", chart)


def _links_now(found: Sequence[tuple[str, LinkFigures]]) -> Section:
    """What links have now of which there is no history."""
    heads = (*_PLACE, Head("rate_mbit", "Rate, Mbit/s", Cell.NUMBER), Head("in_use", "In use, %", Cell.PERCENT))
    values = tuple(
        (cluster, link.source, link.target, mbit_text(link.capacity), mbit_text(link.bandwidth or 0.0), _percent(link))
        for cluster, link in found
    )
    cluster, most = found[0]
    finding = (
        f"{most.source}–{most.target} of {cluster} is used most now: {share_text(most.in_use or 0.0)} of its peak."
    )
    note = (
        "As estimated from the newest transfers between pairs of nodes, whatever time is chosen above. Of each cluster "
        f"the {ranges.MOST_LINKS} links that are most in use."
    )
    names = tuple(f"{link.source}–{link.target}, {cluster}" for cluster, link in found[:MOST_BARS])
    chart = (
        Chart("In use, %", names, tuple(_percent(link) for _, link in found[:MOST_BARS])) if len(found) > 1 else None
    )
    return Section("links_now", "Links now", finding, heads, values, note, chart)


def _percent(link: LinkFigures) -> float:
    return rounded_percent(link.in_use or 0.0)


def _of_pairs(clusters: Sequence[str]) -> str:
    """Why links that have figures now have none of a time."""
    return (
        f"The links of {all_listed(clusters)} have no history: transfers are measured between pairs of nodes, and what "
        "each link has is estimated from these for now alone. The pages of the pairs have the readings."
    )


def _moves(found: MovesReport) -> Section:
    number, changed = Head("count", "Number", Cell.NUMBER), Head("overridden", "Overridden by people", Cell.NUMBER)
    heads = (Head("what", "Decisions"), number, changed)
    shown = [(state.value, found.states[state.value]) for state in DecisionState if state.value in found.states]
    values: list[tuple[Any, ...]] = [(name, count, found.overridden_states.get(name, 0)) for name, count in shown]
    values += [("approved by people", found.by_people, None)]
    ways = (Hindsight.RIGHT, Hindsight.EVEN, Hindsight.WRONG)
    turned, others = found.turned_out, found.overridden_turned_out
    values += [(way.value, getattr(turned, way.value), getattr(others, way.value)) for way in ways]
    if found.promised is not None and found.real is not None:
        values += [
            ("gain promised, mean, %", round(100 * found.promised, 2), None),
            ("gain real, mean, %", round(100 * found.real, 2), None),
        ]
        values += [("time saved", Seconds(round(turned.saved, 1)), Seconds(round(others.saved, 1)))]
    chart = (
        Chart("Decisions", tuple(name for name, _ in shown), tuple(float(count) for _, count in shown), is_count=True)
        if shown
        else None
    )
    note = _MOVES_NOTE if shown else ""
    return Section("moves", "Moves, and how they ended", _moves_finding(found), heads, tuple(values), note, chart)


def _moves_finding(found: MovesReport) -> str:
    total = sum(found.states.values())
    if not total:
        return _NO_MOVES
    weighed = f"{counted(total, 'move')} {'was' if total == 1 else 'were'} weighed"
    judged = moved_summary(found.turned_out)
    parts = [f"{weighed}.", judged] if judged else [f"{weighed}; none can be judged before its job is over."]
    if found.promised is not None and found.real is not None:
        parts.append(
            f"Moves promised a gain of {share_text(found.promised)} on average and brought {_signed(found.real)}."
        )
    if found.overridden:
        people = f"People chose other nodes or another count in {counted(found.overridden, 'of them', 'of them')}"
        parts.append(f"{people}{_overridden_ended(found.overridden_turned_out)}.")
    return " ".join(parts)


def _signed(share: float) -> str:
    return f"{'−' if share < 0 else ''}{share_text(abs(share))}"


def _overridden_ended(turned: MovesSum) -> str:
    if not turned.verified:
        return "; none of these can be judged yet"
    return f"; of these {turned.right} turned out right, {turned.even} even and {turned.wrong} wrong"
