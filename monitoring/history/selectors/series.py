"""Live values, histories and sources."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from gridportal.base.errors import InputError
from monitoring.history.core import tiers as spans
from monitoring.history.core.blocks import Column
from monitoring.history.core.directory import LiveValues
from monitoring.history.core.rollup import as_rolled, rolled
from monitoring.history.core.samples import History, Live, Series
from monitoring.history.models import Snapshot
from monitoring.history.selectors import store


def live(cluster_name: str) -> Mapping[Series, Live]:
    """The newest value of every series of a cluster, by (subject, metric). One query."""
    stored = store.stored_series(cluster_name)
    return LiveValues(stored.directory, stored.figures) if stored and stored.figures else {}


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
    column = store.column(place, oldest, newest, tier)
    if resolution == "auto" and tier == spans.RAW and len(column) > 2 * spans.MOST_POINTS:
        tier, column = spans.MINUTES, rolled(column, spans.STEP[spans.MINUTES])
    return _as_history(column, tier, now)


def recorded() -> list[str]:
    """The clusters of which anything was ever recorded, also those that are not set up any more."""
    return list(Snapshot.objects.order_by("cluster").values_list("cluster__name", flat=True))


def _fitting(seconds: float, age: float) -> int:
    portal = settings.PORTAL
    return spans.fitting(seconds, age, portal.collect_every, portal.keep_raw, portal.keep_minutes)


def _as_history(column: Column, tier: int, now: float) -> History:
    at = column.at / 1000
    mean, low, high, _ = as_rolled(column).values
    return History(at, mean, low, high, spans.NAMES[tier], now - float(at[-1]) if len(at) else None)
