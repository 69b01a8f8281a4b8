"""What pointing at a node or link of the map shows, and a click beside it: each figure with its age and origin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone

from gridportal.web.templatetags.units import age_text, mbit_text, milli, percent, rate
from monitoring.status.charts.network_map import Wire
from monitoring.status.selectors.picture import LinkFigures, NodeFigures

ORIGINS = {"probe": "probe", "counter": "byte counters"}
Row = tuple[str, str] | tuple[str, str, str]


def of_links(cluster: str, lines: Iterable[Wire], links: Iterable[LinkFigures]) -> dict[str, Any]:
    """By "a>b": title, address, and a part with rows for the link, or for each of its directions. A row is a word and
    a value, or a word, words for an age and the moment that it counts from."""
    by_ends = {(link.source, link.target): link for link in links}
    found = {}
    for wire in lines:
        ways = [by_ends[ends] for ends in ((wire.a, wire.b), (wire.b, wire.a)) if ends in by_ends]
        parts = [
            {"head": f"{way.source} to {way.target}" if len(ways) > 1 else "", "rows": link_rows(way)} for way in ways
        ]
        href = f"{reverse('link', args=[wire.a, wire.b])}?cluster={cluster}"
        found[f"{wire.a}>{wire.b}"] = {"title": f"{wire.a}–{wire.b}", "href": href, "parts": parts}
    return found


def of_nodes(cluster: str, nodes: Iterable[NodeFigures], held: Mapping[str, int]) -> dict[str, Any]:
    """By name: title, address, and one part with rows."""
    return {
        node.name: {
            "title": node.name,
            "href": f"{reverse('node', args=[node.name])}?cluster={cluster}",
            "parts": [{"head": "", "rows": node_rows(node, held)}],
        }
        for node in nodes
    }


def link_rows(link: LinkFigures) -> list[Row]:
    """The figures of one direction, those that there are."""
    rows: list[Row] = [("available", rate(link.bandwidth)), ("peak", rate(link.capacity))]
    rows.append(("in use", percent(link.in_use)))
    if link.used is not None:
        rows.append(("counted traffic", rate(link.used)))
    if link.forecast is not None:
        rows.append(("forecast", _band(link)))
    if link.latency is not None:
        rows.append(("latency", f"{milli(link.latency)} ms"))
    return [*rows, *_measured(link.measured_at, ORIGINS.get(link.origin, link.origin), link.stale)]


def node_rows(node: NodeFigures, held: Mapping[str, int]) -> list[Row]:
    """The figures of a node, those that there are."""
    rows: list[Row] = [("kind", node.get_kind_display()), ("speed", f"{node.speed:g}")]
    if node.kind == "compute":
        rows += [("processor free", percent(node.cpu))]
        if node.forecast is not None:
            between = f" ({percent(node.low)} to {percent(node.high)})" if node.error is not None else ""
            rows.append(("forecast", percent(node.forecast) + between))
        if node.load is not None:
            rows.append(("load", f"{node.load:.2f}"))
        if node.load_runs:
            rows.append(("load by jobs", f"{node.load_runs:.2f}"))
        rows.append(("used by", f"job {held[node.name]}" if node.name in held else "no job"))
        rows += _measured(node.measured_at, "", node.stale)
    rows += [(name, str(value)) for name, value in node.labels.items()]
    if node.closed or node.busy:
        rows.append(("closed" if node.closed else "busy", node.closed or _until(node)))
    return rows


def hover_texts(facts: Mapping[str, Any]) -> dict[str, str]:
    """The same as lines for pointing at it."""
    return {
        name: "<br>".join([f"<b>{_plain(fact['title'])}</b>", *_lines(fact["parts"])]) for name, fact in facts.items()
    }


def _lines(parts: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for part in parts:
        if part["head"]:
            yield f"<i>{_plain(part['head'])}</i>"
        yield from (f"{_plain(row[0])}: {_plain(row[1])}" for row in part["rows"])


def _plain(text: str) -> str:
    """Plotly reads a few tags in its texts."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _measured(at: datetime | None, origin: str, stale: bool) -> list[Row]:
    if at is None:
        return [("measured", "never, or too long before")]
    rows: list[Row] = [("stale, measured" if stale else "measured", age_text(_age(at)), at.isoformat())]
    return [*rows, ("by", origin)] if origin else rows


def _age(at: datetime) -> float:
    return (timezone.now() - at).total_seconds()


def _band(link: LinkFigures) -> str:
    middle = f"{mbit_text(link.forecast or 0.0)} Mbit/s"
    if link.low is None or link.high is None:
        return middle
    return f"{middle} ({mbit_text(link.low)} to {mbit_text(link.high)})"


def _until(node: NodeFigures) -> str:
    return f"until {node.free_at:%d %B %H:%M} UTC at most" if node.free_at else "by a job that the cluster runs"
