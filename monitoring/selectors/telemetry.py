"""Live values, histories and sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from gridportal.errors import InputError
from monitoring.core import spans
from monitoring.core.blocks import Column
from monitoring.core.directory import LiveValues, forecast_of
from monitoring.core.forecasting import PREDICTORS
from monitoring.core.rollup import as_rolled, rolled
from monitoring.core.samples import Forecast, History, Live, Series
from monitoring.models import Snapshot, Source
from monitoring.selectors import store

_MISSED = 3


def live(cluster_name: str) -> Mapping[Series, Live]:
    """The newest value of every series of a cluster, by (subject, metric). One query."""
    found = store.known(cluster_name)
    return LiveValues(found.directory, found.figures) if found and found.figures else {}


def history(
    cluster_name: str, subject: str, metric: str, since: datetime, until: datetime, *, resolution: str = "auto"
) -> History:
    """A series between two moments, both included: every sample ("raw"), or points of minutes or hours with their
    extremes; "auto" takes the finest that gives about two thousand points and still has them. Two queries.

    What was rolled up long ago is missing in finer resolutions. Raises InputError for another resolution.
    """
    if resolution != "auto" and resolution not in spans.TIERS:
        raise InputError("resolution", resolution, "one of auto, " + ", ".join(spans.TIERS))
    now = timezone.now().timestamp()
    oldest, newest = int(since.timestamp() * 1000), int(until.timestamp() * 1000)
    tier = _fitting((newest - oldest) / 1000, now - oldest / 1000) if resolution == "auto" else spans.TIERS[resolution]
    place = store.place_of(cluster_name, (subject, metric))
    if place is None or newest < oldest:
        return _as_history(store.NOTHING, tier, now)
    found = store.column(place, oldest, newest, tier)
    if resolution == "auto" and tier == spans.RAW and len(found) > 2 * spans.MOST_POINTS:
        tier, found = spans.MINUTES, rolled(found, spans.STEP[spans.MINUTES])
    return _as_history(found, tier, now)


def forecast(cluster_name: str, subject: str, metric: str) -> Forecast | None:
    """What the next value of a series will be, as the best predictor so far says; None while nothing is known. One
    query."""
    found = store.known(cluster_name)
    number = found.directory.numbers.get((subject, metric)) if found else None
    if found is None or found.figures is None or number is None:
        return None
    return forecast_of(found.figures, number, PREDICTORS)


def recorded() -> list[str]:
    """The clusters of which anything was ever recorded, also those that are not set up any more."""
    return list(Snapshot.objects.order_by("cluster").values_list("cluster__name", flat=True))


def agents_heard(cluster_name: str, nodes: Sequence[str]) -> dict[str, float]:
    """When the agents of `nodes` last answered, Unix seconds: every answer tells how far its clock is off."""
    found = live(cluster_name)
    told = ((node, found.get((node, "clock_offset"))) for node in nodes)
    return {node: one.at for node, one in told if one is not None}


def sources(cluster_name: str) -> list[Source]:
    """The sources of a cluster by name, each with `age` (seconds since it last answered; None: never), `stale`:
    it failed, or missed three polls, and `partly`: it did answer when it was last asked, and told of trouble."""
    now, every = timezone.now(), settings.KNOBS.collect_every
    rows = list(Source.objects.filter(cluster__name=cluster_name).order_by("name"))
    for row in rows:
        row.age = (now - row.last_ok).total_seconds() if row.last_ok else None
        row.stale = bool(row.error) or row.age is None or row.age > _MISSED * every
        asked = row.polled_at or now
        row.partly = bool(row.error and row.last_ok) and (asked - row.last_ok).total_seconds() < every / 2
    return rows


def _fitting(seconds: float, age: float) -> int:
    knobs = settings.KNOBS
    return spans.fitting(seconds, age, knobs.collect_every, knobs.keep_raw, knobs.keep_minutes)


def _as_history(found: Column, tier: int, now: float) -> History:
    at = found.at / 1000
    mean, low, high, _ = as_rolled(found).values
    return History(at, mean, low, high, spans.NAMES[tier], now - float(at[-1]) if len(at) else None)
