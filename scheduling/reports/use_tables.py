"""Who used what, and how jobs fared: by day, person, group, project, application, cluster, site, node and size."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import accumulate
from typing import Any

from django.contrib.auth.models import Group

from gridportal.accounts.models import ROLES, User
from gridportal.base.rates import rounded_percent
from scheduling.jobs.core.units import hours_text, share_text
from scheduling.jobs.models import Application
from scheduling.jobs.project_models import Project
from scheduling.reports.cluster_nodes import cluster_nodes
from scheduling.reports.compared import SECONDS, Figure, compared
from scheduling.reports.report_section import Cell, Chart, Head, Section
from scheduling.reports.use_cells import (
    HIGH,
    MEDIAN,
    NONE,
    NOTE,
    USE,
    bars,
    counted,
    hours,
    part_text,
    slowdown,
    use_cells,
    waiting,
)
from scheduling.usage import period_sums
from scheduling.usage.core import hourly
from scheduling.usage.core.use_parts import Figures, UseKey, UsePart, together
from scheduling.usage.ranges import Range

_HOUR = 3600e6  # microseconds
#: A chart of a longer time has a point for each week.
_MOST_DAYS = 100
Named = Mapping[str, Figures]
_NO_NODES = "It is known of no job of this time on which nodes it ran."
_NOTHING = "No job ran in this time; a longer one can be chosen above."


def people_sections(person: User, span: Range) -> list[Section]:
    """By day, user, group and project."""
    found = period_sums.uses(person, span, [UsePart.PERSON, UsePart.PROJECT, UsePart.FAILURE])
    names = _names(User, "username", found, UsePart.PERSON)
    people = _merged(found, UsePart.PERSON, names)
    projects = _merged(found, UsePart.PROJECT, _names(Project, "name", found, UsePart.PROJECT))
    whole = together(people.values())
    return [
        compared_use(person, span, (whole, len(people))),
        _time(person, span, whole, len(people)),
        _people(people, whole),
        named("groups", "By group", "Group", _groups(people), whole),
        named("projects", "By project", "Project", projects, whole),
    ]


def program_sections(person: User, span: Range) -> list[Section]:
    """By application and by the number of nodes."""
    found = period_sums.uses(person, span, [UsePart.APPLICATION, UsePart.SIZE])
    programs = _merged(found, UsePart.APPLICATION, _names(Application, "name", found, UsePart.APPLICATION))
    sizes = _merged(found, UsePart.SIZE, {})
    whole = together(programs.values())
    return [
        compared_use(person, span),
        named("applications", "By application", "Application", programs, whole),
        _sizes(sizes, whole),
    ]


def place_sections(person: User, span: Range) -> list[Section]:
    """By cluster, site and node, with what was in use of them."""
    found = period_sums.uses(person, span, [UsePart.WHOLE, UsePart.SITE, UsePart.NODE])
    whole = together(figures for key, figures in found.items() if key.part is UsePart.WHOLE)
    return [
        compared_use(person, span),
        _clusters(_places(found, UsePart.WHOLE), span, whole),
        _sites(_places(found, UsePart.SITE), whole),
        _nodes(_places(found, UsePart.NODE), span),
    ]


def compared_projects(person: User, span: Range) -> Section:
    """Node-hours of projects beside those of the time before."""
    now, then = (period_sums.uses(person, each, [UsePart.PROJECT]) for each in (span, span.before))
    return compared(_project_figures(now), _project_figures(then), span.before)


def _project_figures(found: Mapping[UseKey, Figures]) -> list[Figure]:
    of_projects = [figures for key, figures in found.items() if key.name]
    whole = together(found.values())
    return [
        Figure("Node-hours of projects", hours(together(of_projects).node_time)),
        Figure("Node-hours of no project", hours(whole.node_time - together(of_projects).node_time)),
        Figure("Projects that used any", len({key.name for key, each in found.items() if key.name and each.node_time})),
    ]


def compared_use(person: User, span: Range, read: tuple[Figures, int] | None = None) -> Section:
    """All figures beside those of the time before. `read`: what all used in this time, and how many people, where that
    is read already."""
    now = _whole_figures(*(read or period_sums.whole_and_people(person, span)))
    then = _whole_figures(*period_sums.whole_and_people(person, span.before))
    section = compared(now, then, span.before)
    early = _cancelled_early(period_sums.cancelled_early(person, span))
    return replace(section, note=f"{section.note}{early}")


def _cancelled_early(count: int) -> str:
    if not count:
        return ""
    was, it, are = ("was", "it", "is") if count == 1 else ("were", "they", "are")
    return f" {counted(count, 'job')} {was} cancelled before {it} started; {it} {are} in no figure of this page."


def _whole_figures(whole: Figures, people: int) -> list[Figure]:
    return [
        Figure("Node-hours", hours(whole.node_time)),
        Figure("Cpu-hours", hours(whole.cpu_time)),
        Figure("Jobs", whole.jobs),
        Figure("Failed jobs", whole.failed),
        Figure("People", people),
        Figure("Waiting, median", waiting(whole, MEDIAN), SECONDS),
        Figure("Waiting, p95", waiting(whole, HIGH), SECONDS),
        Figure("Slowdown, median", slowdown(whole)),
    ]


def named(key: str, title: str, word: str, parts: Named, whole: Figures) -> Section:
    """A table of sums by one name."""
    heads = (Head(word.lower(), word), *USE)
    ordered = _most_first(parts)
    values = tuple((name, *use_cells(each, whole)) for name, each in ordered)
    finding = _NOTHING
    if ordered:
        first, each = ordered[0]
        first = f"Jobs of no {word.lower()}" if first == NONE else first
        finding = f"{first} used most: {part_text(each, whole)}."
    note = f"Jobs that belong to none stand as “none”. {NOTE}" if values else ""
    return Section(key, title, finding, heads, values, note, bars(ordered))


def _people(people: Named, whole: Figures) -> Section:
    section, finding = named("people", "By user", "User", people, whole), _people_finding(people, whole)
    return replace(section, finding=finding, note=NOTE) if finding else section


def _people_finding(people: Named, whole: Figures) -> str:
    """How few people used most; empty where nobody used anything."""
    rows = [(name, each.node_time) for name, each in _most_first(people) if each.node_time]
    if not rows:
        return ""
    first, used = rows[0]
    if len(rows) == 1:
        return f"1 person used all node-hours: {first}."
    if len(rows) == 2:
        second, rest = rows[1]
        shares = [share_text(each / whole.node_time) for each in (used, rest)]
        return f"{first} used {shares[0]} and {second} {shares[1]} of the node-hours."
    most = 1 + sum(1 for each in accumulate(used for _, used in rows) if each < 0.75 * whole.node_time)
    if most == len(rows):
        least, highest = (share_text(each / whole.node_time) for each in (rows[-1][1], used))
        spread = least if least == highest else f"between {least} and {highest}"
        return f"Each of {most:,} people used {spread} of the node-hours."
    if most == 1:
        return f"{first} used {share_text(used / whole.node_time)} of the node-hours."
    return f"{most} of {counted(len(rows), 'person', 'people')} used three quarters of the node-hours."


def _groups(people: Named) -> dict[str, Figures]:
    """A person in several groups counts in each of them."""
    groups = defaultdict[str, list[str]](list)
    rows = Group.objects.exclude(name__in=ROLES).filter(user__username__in=list(people))
    for name, group in rows.values_list("user__username", "name"):
        groups[name].append(group)
    found: dict[str, Figures] = defaultdict(Figures)
    for name, figures in people.items():
        for group in groups.get(name) or [NONE]:
            found[group].add(figures)
    return dict(found)


def _time(person: User, span: Range, whole: Figures, people: int) -> Section:
    days = period_sums.uses_by_day(person, span)
    then = period_sums.uses_by_day(person, span.before, with_spread=False) if span.is_in_days else {}
    title, head = ("By month", "Month, UTC") if span.is_in_months else ("By day", "Day, UTC")
    heads = (Head("month" if span.is_in_months else "day", head), *USE)
    if not days:
        return Section("time", title, _NOTHING, heads, ())
    newest_first = sorted(days.items(), reverse=True)
    values = tuple((_day_name(day, span), *use_cells(each, whole)) for day, each in newest_first)
    finding = f"{_used(span, whole, people)}{_busiest(days, span)}"
    chart = _trend(days, then, span) if span.is_in_days else _short_trend(person, span)
    return Section("time", title, finding, heads, values, NOTE, chart)


def _used(span: Range, whole: Figures, people: int) -> str:
    nodes = sum(cluster_nodes().values())
    part = whole.node_time / 1e6 / (nodes * span.seconds) if nodes and span.seconds > 0 else None
    used = f"used {hours_text(whole.node_time / _HOUR)} node-hours"
    share = f": {share_text(part)} of what the {nodes} nodes could give" if part is not None and part <= 1 else ""
    return f"{counted(whole.jobs, 'job')} of {counted(people, 'person', 'people')} {used}{share}"


def _busiest(days: Mapping[date, Figures], span: Range) -> str:
    day, most = max(days.items(), key=lambda item: item[1].node_time)
    when = f"in {day:%B %Y}" if span.is_in_months else f"on {_day(day)}"
    return f"; most {when}: {hours_text(most.node_time / _HOUR)}."


def _day_name(day: date, span: Range) -> str:
    return f"{day:%Y-%m}" if span.is_in_months else day.isoformat()


def _trend(days: Mapping[date, Figures], then: Mapping[date, Figures], span: Range) -> Chart | None:
    """Node-hours by day, by week of a long time or by month of a longer one, beside those of the time before."""
    starts, starts_before = (_starts(each, span) for each in (span, span.before))
    now, before = _steps(days, starts), _steps(then, starts_before)
    if not any(now):
        return None
    names = tuple(day.isoformat() for day in starts)
    each = "month" if span.is_in_months else "day" if span.seconds <= _MOST_DAYS * 86_400 else "week"
    before = [*before, *[0.0] * len(now)][: len(now)]
    return Chart(f"Node-hours a {each}", names, tuple(now), tuple(before) if any(before) else (), is_line=True)


def _starts(shown: Range, span: Range) -> list[date]:
    """The first days of the steps of `shown`, which are as long as those of `span`."""
    if span.is_in_months:
        return list(period_sums.months(shown))
    step = 1 if span.seconds <= _MOST_DAYS * 86_400 else 7
    count = -(-((shown.until.date() - shown.begin.date()).days + 1) // step)
    return [shown.begin.date() + timedelta(days=step * at) for at in range(count)]


def _short_trend(person: User, span: Range) -> Chart | None:
    """Node-hours by hour, or every five minutes, of a time that has no days to show."""
    step = hourly.step_of(span.until - span.begin)
    names = tuple(f"{at:%Y-%m-%d %H:%M}" for at in hourly.steps(span.begin, span.until, step))
    times = (period_sums.node_time_by_step(person, each, step) for each in (span, span.before))
    now, before = ([hours(each) for each in found] for found in times)
    if not any(now):
        return None
    before = [*before, *[0.0] * len(now)][: len(now)]
    label = "Node-hours in each hour" if step == timedelta(hours=1) else "Node-hours in each 5 min"
    return Chart(label, names, tuple(now), tuple(before) if any(before) else (), is_line=True)


def _steps(found: Mapping[date, Figures], starts: Sequence[date]) -> list[float]:
    """Node-hours of each step; the last one ends with what there is."""
    sums = [0] * len(starts)
    for day, figures in found.items():
        at = bisect_right(starts, day) - 1
        if at >= 0:
            sums[at] += figures.node_time
    return [hours(each) for each in sums]


def _sizes(sizes: Named, whole: Figures) -> Section:
    section = named("sizes", "By number of nodes", "Nodes", sizes, whole)
    ordered = sorted(sizes.items(), key=lambda item: int(item[0]))
    values = tuple((int(name), *use_cells(each, whole)) for name, each in ordered)
    heads = (Head("nodes", "Nodes", Cell.NUMBER), *USE)
    finding = _NOTHING
    if ordered:
        name, each = max(ordered, key=lambda item: item[1].node_time)
        finding = f"Jobs on {counted(int(name), 'node')} used most: {part_text(each, whole)}."
    chart = bars([(name, each) for name, each in ordered])
    return Section(section.key, section.title, finding, heads, values, NOTE if values else "", chart)


def _clusters(clusters: Mapping[tuple[str, str], Figures], span: Range, whole: Figures) -> Section:
    nodes = cluster_nodes()
    heads = (Head("cluster", "Cluster"), *USE, Head("utilization", "In use, %", Cell.PERCENT))
    ordered = sorted(clusters.items(), key=lambda item: (-item[1].node_time, item[0]))
    values = tuple(
        (name, *use_cells(each, whole), _in_use(each.node_time, nodes[name], span)) for (name, _), each in ordered
    )
    finding = _NOTHING
    if ordered:
        (name, _), each = ordered[0]
        finding = f"The cluster {name} gave most: {part_text(each, whole)}."
    chart = bars([(name, each) for (name, _), each in ordered])
    note = f"In use: of what all nodes of the cluster could give in this time. {NOTE}" if values else ""
    return Section("clusters", "By cluster", finding, heads, values, note, chart)


def _sites(sites: Mapping[tuple[str, str], Figures], whole: Figures) -> Section:
    heads = (Head("cluster", "Cluster"), Head("site", "Site"), *USE)
    ordered = sorted(sites.items(), key=lambda item: (-item[1].node_time, item[0]))
    values = tuple((cluster, site or NONE, *use_cells(each, whole)) for (cluster, site), each in ordered)
    finding = _NOTHING
    if ordered:
        (cluster, site), each = ordered[0]
        where = f"The site {site} of {cluster}" if site else f"Nodes of {cluster} without a site"
        finding = f"{where} gave most: {part_text(each, whole)}."
    note = f"Sites are those of the topology file. {NOTE}" if values else ""
    return Section("sites", "By site", finding, heads, values, note)


def _nodes(nodes: Mapping[tuple[str, str], Figures], span: Range) -> Section:
    place = (Head("cluster", "Cluster"), Head("node", "Node"), Head("jobs", "Jobs", Cell.NUMBER))
    shares = (Head("node_hours", "Node-hours", Cell.NUMBER), Head("utilization", "In use, %", Cell.PERCENT))
    ordered = sorted(nodes.items(), key=lambda item: (-item[1].node_time, item[0]))
    values = tuple(
        (*place, each.jobs, hours(each.node_time), _in_use(each.node_time, 1, span)) for place, each in ordered
    )
    count = sum(cluster_nodes().values())
    finding = _NO_NODES
    if ordered:
        (_, name), each = ordered[0]
        used = min(1.0, each.node_time / 1e6 / span.seconds) if span.seconds else 0.0
        idle = f"{counted(max(0, count - len(nodes)), 'node')} of {count} had no job"
        finding = f"Node {name} was used most, {share_text(used)} of the time; {idle}."
    note = "By jobs of the portal alone, as far as it is known on which nodes they ran." if values else ""
    by_name = [(f"{name}, {cluster}", each) for (cluster, name), each in ordered]
    return Section("nodes", "Utilization of nodes", finding, (*place, *shares), values, note, bars(by_name))


def _in_use(time: int, nodes: int, span: Range) -> float | None:
    """In percent of what so many nodes could give; None where nobody knows how many there are."""
    return rounded_percent(min(1.0, time / 1e6 / (nodes * span.seconds))) if nodes and span.seconds > 0 else None


def _names(model: Any, column: str, found: Iterable[UseKey], part: UsePart) -> dict[str, str]:
    """The names of rows by their keys as text."""
    keys = {key.name for key in found if key.part is part and key.name}
    rows = model.objects.filter(pk__in=[int(key) for key in keys])
    return {str(pk): name for pk, name in rows.values_list("pk", column)}


def _merged(found: Mapping[UseKey, Figures], part: UsePart, names: Mapping[str, str]) -> dict[str, Figures]:
    """The sums of a part over all clusters, by name; what is gone keeps its number."""
    sums: dict[str, Figures] = defaultdict(Figures)
    for key, figures in found.items():
        if key.part is part:
            sums[names.get(key.name, key.name) or NONE].add(figures)
    return dict(sums)


def _places(found: Mapping[UseKey, Figures], part: UsePart) -> dict[tuple[str, str], Figures]:
    return {(key.cluster, key.name): figures for key, figures in found.items() if key.part is part}


def _most_first(parts: Named) -> list[tuple[str, Figures]]:
    return sorted(parts.items(), key=lambda item: (-item[1].node_time, item[0]))


def _day(day: date) -> str:
    return f"{day.day} {day:%B}"
