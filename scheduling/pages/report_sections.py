"""Reports as sections: a sentence that can be quoted, and a table. The page, the CSV and the PDF show the same ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from typing import Any

from gridportal.accounts.models import User
from gridportal.web.templatetags.units import mbit_text
from scheduling.jobs.core.units import share_text
from scheduling.rescheduling.core.decision_states import DecisionState
from scheduling.rescheduling.decision_messages import moved_summary
from scheduling.usage import ranges
from scheduling.usage.core.node_use import NONE, NodeTime, NodeUse
from scheduling.usage.ranges import Range

#: So many rows of a table stand on a page or in a PDF; the CSV has all.
MOST_ROWS = 40
_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Head:
    """A column: its name in the CSV, its heading for people, and whether it holds numbers."""

    name: str
    label: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """One table with its sentence. rows: texts for people; values: the same as plain values for other programs."""

    key: str
    title: str
    finding: str
    heads: tuple[Head, ...]
    rows: tuple[tuple[str, ...], ...]
    values: tuple[tuple[Any, ...], ...]
    note: str = ""

    @property
    def shown(self) -> tuple[tuple[str, ...], ...]:
        """The rows of a page."""
        return self.rows[:MOST_ROWS]

    @property
    def numbers(self) -> frozenset[int]:
        """The places of the columns that hold numbers."""
        return frozenset(at for at, head in enumerate(self.heads) if head.number)

    @property
    def left_out(self) -> int:
        """How many rows only the CSV has."""
        return len(self.rows) - len(self.shown)


def use_sections(person: User, span: Range) -> list[Section]:
    """Node-hours by day, user, group, project and site, and the utilization of nodes."""
    found, counts = ranges.node_use(person, span), ranges.nodes_of_clusters()
    before = span.before
    return [
        _compared(found, ranges.node_use(person, before), before),
        _time(found, span, sum(counts.values())),
        _people(found),
        _named("groups", "Node-hours by group", "Group", found.groups, found),
        _named("projects", "Node-hours by project", "Project", found.projects, found),
        _sites(found),
        _nodes(found, span, sum(counts.values())),
    ]


def network_sections(person: User, span: Range) -> list[Section]:
    """Utilization of links."""
    return [_links(span)]


def slowdown_sections(person: User, span: Range) -> list[Section]:
    """Slowdown suffered and avoided."""
    return [_slowdown(span)]


def move_sections(person: User, span: Range) -> list[Section]:
    """Moves, gains, overrides, and how they ended."""
    return [_moves(span)]


#: What each tab of the report shows; plain users see only their own use.
TABS: Mapping[str, tuple[str, Callable[[User, Range], list[Section]]]] = {
    "people": ("People, sites and time", use_sections),
    "network": ("Links", network_sections),
    "slowdown": ("Slowdown", slowdown_sections),
    "moves": ("Moves", move_sections),
}
OWN_TABS = ("people",)


def _compared(found: NodeUse, then: NodeUse, before: Range) -> Section:
    """Against as long a time before."""
    now_hours, then_hours = found.whole.seconds / _HOUR, then.whole.seconds / _HOUR
    pairs: list[tuple[str, int | float, int | float]] = [
        ("Node-hours", round(now_hours, 3), round(then_hours, 3)),
        ("Jobs", len(found.whole.jobs), len(then.whole.jobs)),
        ("People", len(found.people), len(then.people)),
        ("Nodes used", len(found.nodes), len(then.nodes)),
    ]
    heads = (
        Head("figure", "Figure"),
        Head("now", "This time", number=True),
        Head("before", "Time before", number=True),
        Head("change_percent", "Change, %", number=True),
    )
    values = [(name, now, earlier, _change(now, earlier)) for name, now, earlier in pairs]
    note = f"The time before: as long, {before.begin:%Y-%m-%d %H:%M} to {before.until:%Y-%m-%d %H:%M} UTC."
    finding = _compared_finding(now_hours, then_hours)
    return _section("compared", "Against the time before", finding, heads, values, note)


def _compared_finding(now: float, then: float) -> str:
    figures = f"{now:,.2f} node-hours after {then:,.2f} in as long a time before"
    change = _change(now, then)
    if not isinstance(change, float):
        return f"{figures}."
    return f"{figures}: {abs(change):,.0f} % {'more' if change >= 0 else 'less'}."


def _change(now: float, then: float) -> float | str:
    """In percent; none where there was nothing before."""
    return round(100 * (now - then) / then, 1) if then else NONE


def _time(found: NodeUse, span: Range, nodes: int) -> Section:
    heads = (Head("day", "Day, UTC"), Head("jobs", "Jobs", True), Head("node_hours", "Node-hours", True))
    values = [(day.isoformat(), len(each.jobs), _hours(each)) for day, each in sorted(found.days.items())]
    busiest = max(found.days.items(), key=lambda item: item[1].seconds, default=None)
    hours = found.whole.seconds / _HOUR
    jobs, people = _count(len(found.whole.jobs), "job"), _count(len(found.people), "person", "people")
    finding = f"{jobs} of {people} used {hours:,.2f} node-hours"
    part = found.whole.seconds / (nodes * span.seconds) if nodes and span.seconds > 0 else None
    finding += f": {share_text(min(1.0, part))} of what the {nodes} nodes could give" if part is not None else ""
    finding += f"; most on {_day(busiest[0])}, {busiest[1].seconds / _HOUR:,.2f}." if busiest else "."
    return _section("time", "Node-hours by day", finding, heads, values)


def _people(found: NodeUse) -> Section:
    rows = sorted((each.seconds for each in found.people.values()), reverse=True)
    sums = list(accumulate(rows))
    most = 1 + sum(1 for each in sums if each < 0.75 * found.whole.seconds)
    finding = (
        f"{most} of {_count(len(rows), 'person', 'people')} used three quarters of the node-hours." if rows else ""
    )
    section = _named("people", "Node-hours by user", "User", found.people, found)
    return Section(section.key, section.title, finding or section.finding, section.heads, section.rows, section.values)


def _named(key: str, title: str, word: str, parts: Mapping[str, NodeTime], found: NodeUse) -> Section:
    heads = (Head(word.lower(), word), *_USE)
    ordered = sorted(parts.items(), key=lambda item: (-item[1].seconds, item[0]))
    values = [(name, *_use(each, found.whole)) for name, each in ordered]
    first = ordered[0] if ordered else None
    finding = (
        f"{_known(first[0], word)} used most: {_part(first[1], found.whole)}." if first else "Nothing ran in this time."
    )
    return _section(key, title, finding, heads, values, "What belongs to none stands as “none”.")


def _sites(found: NodeUse) -> Section:
    heads = (Head("cluster", "Cluster"), Head("site", "Site"), *_USE)
    ordered = sorted(found.sites.items(), key=lambda item: (-item[1].seconds, item[0]))
    values = [(*place, *_use(each, found.whole)) for place, each in ordered]
    first = ordered[0] if ordered else None
    where = (first[0][0] if first[0][1] == NONE else f"{first[0][1]} of {first[0][0]}") if first else ""
    finding = f"{where} gave most: {_part(first[1], found.whole)}." if first else "Nothing ran in this time."
    return _section("sites", "Node-hours by site", finding, heads, values, "Sites are those of the topology file.")


def _nodes(found: NodeUse, span: Range, count: int) -> Section:
    place = (Head("cluster", "Cluster"), Head("node", "Node"), Head("jobs", "Jobs", True))
    heads = (*place, Head("node_hours", "Node-hours", True), Head("utilization", "In use, %", True))
    ordered = sorted(found.nodes.items(), key=lambda item: (-item[1].seconds, item[0]))
    values = [
        (*place, len(each.jobs), _hours(each), round(100 * min(1.0, each.seconds / span.seconds), 1))
        for place, each in ordered
    ]
    idle = max(0, count - len(found.nodes))
    finding = f"{_count(idle, 'node')} of {count} had no job."
    if ordered:
        (_, name), each = ordered[0]
        finding = f"{name} was used most, {share_text(min(1.0, each.seconds / span.seconds))} of the time; {finding}"
    return _section("nodes", "Utilization of nodes", finding, heads, values, "By jobs of the portal alone.")


def _links(span: Range) -> Section:
    found = ranges.link_use(span)
    place = (Head("cluster", "Cluster"), Head("source", "From"), Head("target", "To"))
    shares = (Head("mean", "In use, %", True), Head("p95", "At p95, %", True))
    heads = (*place, Head("peak_mbit", "Peak, Mbit/s", True), *shares)
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
    finding = "No link was measured in this time."
    if found:
        worst = found[0]
        finding = (
            f"{worst.source}–{worst.target} of {worst.cluster} was used most: {share_text(worst.mean)} of its peak on "
            f"average, {share_text(worst.p95)} at the 95th percentile."
        )
    note = f"Of each cluster the {ranges.MOST_LINKS} links that are most in use now, as measured in this time."
    return _section("links", "Utilization of links", finding, heads, values, note)


def _slowdown(span: Range) -> Section:
    found = ranges.slowdown(span)
    heads = (Head("what", "What"), Head("count", "Of", True), Head("node_hours", "Node-hours", True))
    values = [
        ("suffered: beyond what contracts promised", found.slow, round(found.suffered / _HOUR, 3)),
        ("avoided by trying candidate groups, predicted", found.trials, round(found.by_trials / _HOUR, 3)),
        ("avoided by moves, after their cost", found.moves, round(found.by_moves / _HOUR, 3)),
    ]
    avoided = (found.by_trials + found.by_moves) / _HOUR
    finding = (
        f"{found.slow} of {_count(found.runs, 'run')} with a contract took longer than promised and lost "
        f"{found.suffered / _HOUR:,.2f} node-hours; choosing and moving avoided {avoided:,.2f}."
    )
    return _section("slowdown", "Slowdown suffered and avoided", finding, heads, values)


def _moves(span: Range) -> Section:
    found = ranges.moves_report(span)
    heads = (Head("what", "Decisions"), Head("count", "Number", True))
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
        values += [("seconds saved", round(turned.saved, 1))]
    total = sum(found.states.values())
    finding = moved_summary(turned) or (
        f"{_count(total, 'move')} weighed; none can be judged yet." if total else "No move was weighed."
    )
    return _section("moves", "Moves, and how they ended", finding, heads, values)


_USE = (Head("jobs", "Jobs", True), Head("node_hours", "Node-hours", True), Head("percent", "%", True))


def _use(each: NodeTime, whole: NodeTime) -> tuple[int, float, float]:
    return len(each.jobs), _hours(each), round(100 * each.seconds / whole.seconds, 1) if whole.seconds else 0.0


def _section(
    key: str, title: str, finding: str, heads: tuple[Head, ...], values: Sequence[tuple[Any, ...]], note: str = ""
) -> Section:
    rows = tuple(tuple(_text(cell) for cell in row) for row in values)
    return Section(key, title, finding, heads, rows, tuple(values), note if values else "")


def _hours(each: NodeTime) -> float:
    return round(each.seconds / _HOUR, 3)


def _text(cell: Any) -> str:
    return f"{cell:,.2f}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else str(cell)


def _part(each: NodeTime, whole: NodeTime) -> str:
    return (
        f"{each.seconds / _HOUR:,.2f} node-hours, {share_text(each.seconds / whole.seconds if whole.seconds else 0.0)}"
    )


def _known(name: str, word: str) -> str:
    return f"People of no {word.lower()}" if name == NONE else name


def _count(number: int, word: str, several: str = "") -> str:
    return f"{number:,} {word if number == 1 else several or word + 's'}"


def _day(day: date) -> str:
    return f"{day.day} {day:%B}"
