"""The page of a link or a measured pair: its figures now and over time, what is forecast, and by which predictor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from gridportal.network.routes import Routes
from gridportal.web.templatetags.units import mbit_fine, mbit_text, rate
from monitoring.clusters.models import Cluster
from monitoring.clusters.selectors import structure
from monitoring.forecasting import selectors
from monitoring.forecasting.core.contest import Contest, contest
from monitoring.history.charts.history import ForecastLine, Mark
from monitoring.history.core.samples import Forecast, History, Live, Series
from monitoring.history.selectors import series
from monitoring.status.selectors.picture import LinkFigures, Picture, bounded, picture, too_old
from monitoring.status.views.panels import Panel, Wanted, panel, ranges, span_of
from monitoring.status.views.topology import requested_cluster

#: So many of the latest readings the predictors are tried on; they take about half a millisecond for each.
TRIED = 300
_FEWEST = 3
#: So many of the pairs that cross a link are named, the fastest first, and so many pairs are looked at for them.
MOST_NAMED, _MOST_TRIED = 6, 500
#: Over fewer forecasts than this the errors of predictors say nothing of which is better.
_COMPARED = 10


@dataclass(frozen=True)
class _Ends:
    """What the page is about: the link, or else the path between two compute nodes."""

    source: str
    target: str
    link: LinkFigures | None
    path: list[LinkFigures]
    capacity: float


def link(request: HttpRequest, source: str, target: str, *, marks: Sequence[Mark] = ()) -> HttpResponse:
    """A link, one direction of it, or the path between two compute nodes. `marks`: what its charts show besides."""
    cluster = requested_cluster(request)
    shown = picture(cluster) if cluster else None
    ends = _ends(shown, source, target) if shown else None
    if cluster is None or shown is None or ends is None:
        raise Http404(f"No link or path goes from {source[:80]} to {target[:80]}.")
    span, live = span_of(request), series.live(cluster.name)
    subject = _subject(cluster, ends, live)
    wanted = Wanted(
        "bandwidth", "Available bandwidth", [("available", subject, "bandwidth")], "Mbit/s", rate, 1e6, ends.capacity
    )
    plain = panel(cluster, span, wanted, marks=marks)
    tried = _tried(plain.histories[0])
    forecast = selectors.forecast(cluster.name, subject, "bandwidth")
    context = {
        "cluster": cluster,
        "ends": ends,
        "link": ends.link,
        "back": _find(shown, ends.target, ends.source) if cluster.directed else None,
        "finding": _finding(ends, live),
        "forecast": forecast,
        "likely": bounded(forecast.value, forecast.error, ends.capacity) if forecast else (None, None),
        "probed": _probed(live.get((subject, "bandwidth"))),
        "bandwidth": panel(cluster, span, wanted, forecast=_forecast_line(plain.histories[0], tried), marks=marks)
        if tried
        else plain,
        "others": _others(cluster, ends, live, request),
        "through": _through(shown, ends, live),
        "contest": tried,
        "predictors": (rows := _predictors(tried, forecast)),
        "compared": _compared(rows, plain.histories[0]) if rows else "",
        **ranges(request, span),
    }
    return render(request, "monitoring/link.html", context)


def _ends(shown: Picture, source: str, target: str) -> _Ends | None:
    found = _find(shown, source, target)
    if found is None and not shown.cluster.directed:
        found = _find(shown, target, source)
    if found is not None:
        return _Ends(found.source, found.target, found, [], found.capacity)
    compute = {node.name for node in shown.nodes if node.kind == "compute"}
    if source == target or not compute.issuperset((source, target)):
        return None
    path = _path(shown, source, target)
    return _Ends(source, target, None, path, min(part.capacity for part in path)) if path else None


def _path(shown: Picture, source: str, target: str) -> list[LinkFigures]:
    """The links on the way; empty without one."""
    return _way(_routes(shown), shown, source, target)


def _routes(shown: Picture) -> Routes:
    peaks = ((one.source, one.target, one.capacity) for one in shown.links)
    return Routes(structure(shown.cluster, shown.nodes, peaks))


def _way(routes: Routes, shown: Picture, source: str, target: str) -> list[LinkFigures]:
    way = routes.path(source, target)
    return [shown.links[arc >> 1] for arc in way.arcs] if way else []


def _subject(cluster: Cluster, ends: _Ends, live: Mapping[Series, Live]) -> str:
    """Under which name its readings are kept: a link that serves both directions may have them under the other one."""
    there, back = f"{ends.source}>{ends.target}", f"{ends.target}>{ends.source}"
    is_other = ends.link is not None and not cluster.directed and (there, "bandwidth") not in live
    return back if is_other and (back, "bandwidth") in live else there


@dataclass(frozen=True, slots=True)
class _Crossing:
    """A measured pair of nodes whose path crosses a link, with what it got, bit/s."""

    source: str
    target: str
    rate: float


def _through(shown: Picture, ends: _Ends, live: Mapping[Series, Live]) -> list[_Crossing] | None:
    """The fastest pairs that cross a link of which itself no reading is kept, since its figure comes from them; None
    for one that has readings of its own, and for a path."""
    if ends.link is None or shown.cluster.kind != "links":
        return None
    if (_subject(shown.cluster, ends, live), "bandwidth") in live:
        return None
    pairs = sorted(_measured_pairs(shown, live), key=lambda pair: (-pair.rate, pair.source, pair.target))[:_MOST_TRIED]
    routes = _routes(shown)
    crossing = (pair for pair in pairs if ends.link in _way(routes, shown, pair.source, pair.target))
    return list(islice(crossing, MOST_NAMED))


def _measured_pairs(shown: Picture, live: Mapping[Series, Live]) -> Iterator[_Crossing]:
    compute = {node.name for node in shown.nodes if node.kind == "compute"}
    for subject, metric in live:
        source, _, target = subject.partition(">")
        if metric == "bandwidth" and source in compute and target in compute:
            yield _Crossing(source, target, live[subject, metric].value)


def _find(shown: Picture, source: str, target: str) -> LinkFigures | None:
    return next((one for one in shown.links if (one.source, one.target) == (source, target)), None)


def _finding(ends: _Ends, live: Mapping[Series, Live]) -> str:
    """One sentence of what is available now."""
    name = f"{ends.source}–{ends.target}"
    if ends.link is not None and ends.link.bandwidth is not None:
        rest = f"{mbit_text(ends.link.bandwidth)} of {mbit_text(ends.capacity)} Mbit/s"
        return f"{name} has {rest} available{', a stale figure' if ends.link.stale else ''}."
    found = live.get((f"{ends.source}>{ends.target}", "bandwidth"))
    if found is not None:
        old = ", a stale figure" if too_old(datetime.fromtimestamp(found.at, UTC)) else ""
        return f"{name} got {mbit_text(found.value)} of {mbit_text(ends.capacity)} Mbit/s end to end{old}."
    measured = [part for part in ends.path if part.bandwidth is not None]
    if measured:
        worst = min(measured, key=lambda part: part.bandwidth or 0.0)
        figure = f"{mbit_text(worst.bandwidth or 0.0)} of {mbit_text(worst.capacity)} Mbit/s"
        return f"{worst.source}–{worst.target} is the bottleneck of the path: {figure}."
    return f"Nothing is measured of {name}; its peak is {mbit_text(ends.capacity)} Mbit/s."


@dataclass(frozen=True, slots=True)
class _Probed:
    """The newest rate that was measured from end to end, bit/s."""

    value: float
    at: datetime
    source: str
    stale: bool


def _probed(newest: Live | None) -> _Probed | None:
    if newest is None:
        return None
    at = datetime.fromtimestamp(newest.at, UTC)
    return _Probed(newest.value, at, newest.source, too_old(at))


def _others(cluster: Cluster, ends: _Ends, live: Mapping[Series, Live], request: HttpRequest) -> list[Panel]:
    """Latency, and traffic that counters told of, where there is any."""
    there, back = f"{ends.source}>{ends.target}", f"{ends.target}>{ends.source}"
    charts = []
    if (there, "latency") in live:
        charts.append(Wanted("latency", "Latency", [("one way", there, "latency")], "ms", _milli, 1e-3))
    counted = [(f"{ends.source} to {ends.target}", there, "tx"), (f"{ends.target} to {ends.source}", back, "tx")]
    if not any(one[1:] in live for one in counted):
        counted = [
            (f"{label} of {subject}", subject, metric)
            for subject, metric in live
            for label in ({"tx": "sent", "rx": "received"}.get(metric),)
            if label and subject.partition(":")[0] in (ends.source, ends.target) and ":" in subject and ends.link
        ]
    here = [one for one in counted if one[1:] in live]
    if here:
        charts.append(Wanted("counted", "Counted traffic", here[:4], "Mbit/s", rate, 1e6, ends.capacity))
    return [panel(cluster, span_of(request), wanted) for wanted in charts]


def _tried(history: History) -> Contest | None:
    return contest(history.value[-TRIED:]) if len(history) >= _FEWEST else None


def _forecast_line(history: History, tried: Contest) -> ForecastLine:
    """What was forecast, with a last point as far ahead as readings usually are apart."""
    at = history.at[-TRIED:]
    step = float(np.median(np.diff(at)))
    following = np.append(at, at[-1] + step)
    return ForecastLine(following, tried.forecasts.value, tried.forecasts.error)


@dataclass(frozen=True, slots=True)
class _Predictor:
    """A predictor with its mean error and what it says of the next value, both in the unit of the history."""

    name: str
    error: float
    forecast: float
    chosen: bool = False
    mixture: bool = False


def _predictors(tried: Contest | None, chosen: Forecast | None) -> list[_Predictor]:
    """The predictors, that with the least error first; the mixture before others that are as good."""
    if tried is None:
        return []
    name = chosen.predictor if chosen else None
    rows = [_Predictor(each.predictor, each.error, each.forecast, each.predictor == name) for each in tried.entries]
    mixed = _Predictor("the mixture", tried.error, float(tried.forecasts.value[-1]), mixture=True)
    return sorted([*rows, mixed], key=lambda row: (np.isnan(row.error), row.error, not row.mixture))


def _compared(rows: Sequence[_Predictor], history: History) -> str:
    """One sentence: which predictor did best, where the readings tell them apart. The first reading has no forecast."""
    many = min(TRIED, len(history))
    readings = f"{many} readings" if history.resolution == "raw" else f"{many} means of {history.resolution}s"
    if many - 1 < _COMPARED:
        return f"Too few readings to compare predictors: {readings}; it takes {_COMPARED + 1}."
    errors = [row.error for row in rows if not np.isnan(row.error)]
    error = f"{mbit_fine(errors[0])} Mbit/s on average"
    if np.ptp(errors) <= 1e-9 * max(errors):
        return f"All predictors had the same error over the latest {readings}: {error}."
    name = rows[0].name
    return f"{name[:1].upper()}{name[1:]} had the lowest error over the latest {readings}: {error}."


def _milli(value: float) -> str:
    return f"{value * 1000:.3g} ms"
